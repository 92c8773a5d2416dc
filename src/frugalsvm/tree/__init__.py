"""Exact methods: branch and bound, and its certificates."""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
