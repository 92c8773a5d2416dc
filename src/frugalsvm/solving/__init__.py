"""``solve``: run a method, polish its solution, recompute objective and bound.

``solver`` holds the run, ``methods`` the named methods, and ``result`` the result.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .solver import solve

__all__ = ["solve"]


def __getattr__(name: str) -> Any:
    if name != "solve":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .solver import solve

    return solve
