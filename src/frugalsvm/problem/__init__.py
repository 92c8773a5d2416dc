"""Data and constraints, validated once, and the plain types that all layers pass on.

``problem`` holds :class:`Problem`, ``validation`` what it is checked by, ``sources``
data that are not one dense matrix; ``solution``, ``options`` and ``certificate`` are
passed on, and ``files`` writes what is to be kept. Names are loaded when they are first
used: a certificate can be read without the compiler.
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
