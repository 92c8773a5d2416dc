"""Cells that several studies share, so that each is computed once."""

from __future__ import annotations

from typing import Any

from ..cells import Cell, cell
from ..datasets import LARGE
from ..experiment import Settings

#: C of the paper's large instances.
C = 10.0
BUDGETS = (10, 20, 30)
# The quick grid has one budget for data sets with slow trees.
QUICK_BUDGETS = (10,)
# On the other large sets SCIP has neither a solution nor a bound after tens of seconds
# of presolving, for any limit.
QUICK_SCIP_SETS = ("arrhythmia",)
# Seconds for programs of large data sets in the quick grid.
QUICK_SCIP = 10.0
QUICK_SEARCH = 10.0
# Seconds for the solution needed before a program is built.
KNOWN = 20.0


def instances(settings: Settings) -> list[tuple[str, int]]:
    """Data sets and budgets of the paper's large tables, all budgets."""
    return [(name, B) for name in settings.chosen(LARGE) for B in BUDGETS]


def scip_instances(settings: Settings) -> list[tuple[str, int]]:
    """Data sets and budgets of the grid for SCIP."""
    names = settings.chosen(LARGE, QUICK_SCIP_SETS)
    return [(name, B) for name in names for B in BUDGETS]


def tree_instances(settings: Settings) -> list[tuple[str, int]]:
    """Data sets and budgets of the grid for trees: all data sets, some budgets."""
    budgets = settings.pick(QUICK_BUDGETS, BUDGETS)
    return [pair for pair in instances(settings) if pair[1] in budgets]


def _search(
    settings: Settings, column: str, name: str, B: int, method: str, **options: Any
) -> Cell:
    """A method of ``solve``, with the limit of its column."""
    limit = settings.limit(column, QUICK_SEARCH)
    return cell("method", name, limit, method=method, B=B, C=C, **options)


def h_ls(settings: Settings, name: str, B: int) -> Cell:
    """H-LS: Algorithm 3 with the local search."""
    return _search(settings, "H-LS", name, B, "heuristic", strategy="local-search")


def h_ks(settings: Settings, name: str, B: int) -> Cell:
    """H-KS: Algorithm 3 with the kernel search."""
    return _search(settings, "H-KS", name, B, "heuristic")


def auto(settings: Settings, name: str, B: int) -> Cell:
    """The default method."""
    return _search(settings, "auto", name, B, "auto")


def swap(settings: Settings, name: str, B: int) -> Cell:
    """The swap search without a tree."""
    return _search(settings, "swap", name, B, "swap")


def known(name: str, B: int, C: float = C) -> Cell:
    """A quick solution, whose objective determines M."""
    return cell("method", name, KNOWN, method="swap", effort="fast", B=B, C=C)


def tree(settings: Settings, name: str, B: int) -> Cell:
    """The native branch and bound."""
    return _search(settings, "tree", name, B, "branch-and-bound")


def exact_ks(settings: Settings, name: str, B: int) -> Cell:
    """Exact KS: Algorithm 4."""
    return _search(settings, "Exact KS", name, B, "exact")


def big_mp(settings: Settings, name: str, B: int) -> Cell:
    """BigMP by SCIP."""
    limit = settings.limit("BigMP", QUICK_SCIP)
    needs = (known(name, B),)
    return cell("program", name, limit, needs, model="BigMP", B=B, C=C)


def co_p(settings: Settings, name: str, B: int) -> Cell:
    """CoP by SCIP."""
    limit = settings.limit("CoP", QUICK_SCIP)
    return cell("program", name, limit, model="CoP", B=B, C=C)


def co_p_star(settings: Settings, name: str, B: int) -> Cell:
    """CoP by SCIP, started from H-KS."""
    limit = settings.limit("CoP*", QUICK_SCIP)
    needs = (h_ks(settings, name, B),)
    return cell("program", name, limit, needs, model="CoP*", B=B, C=C)


def relaxed(settings: Settings, name: str, B: int, model: str = "DSCoP") -> Cell:
    """DSCoP or SVM by the native kernel."""
    limit = settings.limit("DSCoP")
    return cell("relaxation", name, limit, model=model, B=B, C=C)


def root(settings: Settings, name: str, B: int, model: str) -> Cell:
    """The root of BigMP or CoP by SCIP."""
    limit = settings.limit(model, QUICK_SCIP)
    needs = (known(name, B),) if model == "BigMP" else ()
    return cell("root bound", name, limit, needs, model=model, B=B, C=C)
