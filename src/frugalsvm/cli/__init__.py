"""Command line: ``python -m frugalsvm``."""
