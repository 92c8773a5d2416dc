"""Validated data and constraints, and the plain types shared by all layers.

``problem`` holds :class:`Problem`, ``validation`` its checks, and ``sources`` data that
are not one dense matrix. ``solution`` and ``certificate`` hold types that all layers
share; ``certificate`` also writes files. Names are loaded on first use, so that a
certificate can be read without the compiler.
"""

from .._lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, __file__)
