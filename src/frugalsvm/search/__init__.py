"""Searches for good supports."""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
