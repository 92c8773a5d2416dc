"""Infrastructure of a run: clock, signals, progress, threads, compilation."""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
