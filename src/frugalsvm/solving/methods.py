"""The methods of ``solve`` by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..problem.options import METHOD_NAMES, Options
from ..search.restarts import SwapOptions
from ..tree.branch_and_bound import TreeOptions
from .contract import Context, Method, Outcome
from .search import RoundOptions, branch_and_bound, relax_and_round, swap

__all__ = [
    "Context",
    "Method",
    "Outcome",
    "check_method",
    "find_method",
]

_NATIVE = {
    "auto": Method(branch_and_bound, TreeOptions),
    "branch-and-bound": Method(branch_and_bound, TreeOptions),
    "relax-and-round": Method(relax_and_round, RoundOptions),
    "swap": Method(swap, SwapOptions),
}


def find_method(name: str) -> Method:
    """A method by its name."""
    if name in _NATIVE:
        return _NATIVE[name]
    if name in METHOD_NAMES:
        # Imported here, so that the paper package is loaded only if it is needed.
        from ..paper.methods import METHODS

        return METHODS[name]
    raise ValueError(f"method must be one of {list(METHOD_NAMES)}, got {name!r}.")


def check_method(
    method: str, method_options: Mapping[str, Any] | None, n_features: int
) -> Options:
    """The validated options object of a method."""
    kind = find_method(method).options
    allowed = {f.name for f in fields(kind)}
    given = dict(method_options or {})
    for name in given:
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise ValueError(
                f"method_options has {name!r}, which method {method!r} does not take; "
                f"it takes: {known}."
            )
    options = kind(**given)
    options.check_for(n_features)
    return options
