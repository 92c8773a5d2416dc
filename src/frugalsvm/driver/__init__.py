"""``solve``: run a method, polish its solution, recompute objective and bound.

``solving`` holds the driver, ``methods`` the named methods, and ``result`` the result.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .solving import solve

__all__ = ["solve"]


def __getattr__(name: str) -> Any:
    if name != "solve":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .solving import solve

    return solve
