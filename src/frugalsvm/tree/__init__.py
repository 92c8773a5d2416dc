"""Exact methods: branch and bound, and its certificates."""
