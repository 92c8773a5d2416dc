"""Searches for good supports."""
