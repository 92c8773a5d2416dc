"""Validated data and constraints, and the plain types shared by all layers.

``problem`` holds :class:`Problem`, ``validation`` its checks, and ``sources`` data that
are not one dense matrix. ``solution`` and ``certificate`` hold types that all layers
share; ``certificate`` also writes files. Names are loaded on first use, so that a
certificate can be read without the compiler.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .problem import Problem

__all__ = ["Problem"]


def __getattr__(name: str) -> Any:
    if name != "Problem":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .problem import Problem

    return Problem
