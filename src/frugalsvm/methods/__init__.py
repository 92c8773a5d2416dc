"""The methods that solve knows by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..algorithms.exact_procedure import ExactOptions
from ..algorithms.heuristic import HeuristicOptions
from ..algorithms.kernel_search import KernelSearchOptions
from ..algorithms.local_search import LocalSearchOptions
from ..options import Options
from ..search.restarts import SwapOptions
from ..tree.branch_and_bound import TreeOptions
from .contract import Context, Method, Outcome
from .paper import run_exact, run_heuristic, run_kernel_search, run_local_search
from .search import RoundOptions, branch_and_bound, relax_and_round, swap

__all__ = ["METHODS", "Context", "Method", "Outcome", "check_method"]

METHODS = {
    "auto": Method(branch_and_bound, TreeOptions),
    "branch-and-bound": Method(branch_and_bound, TreeOptions),
    "exact": Method(run_exact, ExactOptions),
    "heuristic": Method(run_heuristic, HeuristicOptions),
    "kernel-search": Method(run_kernel_search, KernelSearchOptions),
    "local-search": Method(run_local_search, LocalSearchOptions),
    "relax-and-round": Method(relax_and_round, RoundOptions),
    "swap": Method(swap, SwapOptions),
}


def check_method(
    method: str, method_options: Mapping[str, Any] | None, n_features: int
) -> Options:
    """The validated options object of a method."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}.")
    kind = METHODS[method].options
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
