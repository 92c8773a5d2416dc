"""Cells that several studies share, so that each is computed once."""

from __future__ import annotations

from collections.abc import Iterable
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
# Seconds for searches and programs of large data sets in the quick grid.
QUICK_LIMIT = 10.0
# Seconds for the solution needed before a program is built.
START_LIMIT = 20.0
# Methods of ``solve`` by column: Algorithm 3 with either search, Algorithm 4, and ours.
SEARCHES: dict[str, dict[str, Any]] = {
    "H-LS": {"method": "heuristic", "strategy": "local-search"},
    "H-KS": {"method": "heuristic"},
    "Exact KS": {"method": "exact"},
    "auto": {"method": "auto"},
    "swap": {"method": "swap"},
    "tree": {"method": "branch-and-bound"},
}

#: A data set and a budget.
Instance = tuple[str, int]
#: The cells of each row of a table, by column.
TableCells = dict[Instance, dict[str, Cell]]


def instances(settings: Settings) -> list[Instance]:
    """Data sets and budgets of the paper's large tables, all budgets."""
    return [(name, B) for name in settings.chosen(LARGE) for B in BUDGETS]


def scip_instances(settings: Settings) -> list[Instance]:
    """Data sets and budgets of the grid for SCIP."""
    names = settings.chosen(LARGE, QUICK_SCIP_SETS)
    return [(name, B) for name in names for B in BUDGETS]


def tree_instances(settings: Settings) -> list[Instance]:
    """Data sets and budgets of the grid for trees: all data sets, some budgets."""
    budgets = settings.pick(QUICK_BUDGETS, BUDGETS)
    return [pair for pair in instances(settings) if pair[1] in budgets]


def column_cell(settings: Settings, column: str, name: str, B: int) -> Cell:
    """A search, or a program by SCIP: BigMP, CoP, or CoP* that starts from H-KS."""
    limit = settings.limit(column, QUICK_LIMIT)
    if column in SEARCHES:
        return cell("method", name, limit, B=B, C=C, **SEARCHES[column])
    needs: tuple[Cell, ...] = ()
    if column == "BigMP":
        needs = (start_cell(name, B),)
    elif column == "CoP*":
        needs = (column_cell(settings, "H-KS", name, B),)
    return cell("program", name, limit, needs, model=column, B=B, C=C)


def table_cells(
    settings: Settings, pairs: Iterable[Instance], columns: Iterable[str]
) -> TableCells:
    """The cells of a table with a row for each instance."""
    names = list(columns)
    return {
        pair: {column: column_cell(settings, column, *pair) for column in names}
        for pair in pairs
    }


def flat(table: TableCells) -> list[Cell]:
    """All cells of a table, row by row."""
    return [target for row in table.values() for target in row.values()]


def start_cell(name: str, B: int, C: float = C) -> Cell:
    """A quick solution, whose objective determines M."""
    return cell("method", name, START_LIMIT, method="swap", effort="fast", B=B, C=C)


def relaxed(settings: Settings, name: str, B: int, model: str = "DSCoP") -> Cell:
    """DSCoP or SVM by the native kernel."""
    limit = settings.limit("DSCoP")
    return cell("relaxation", name, limit, model=model, B=B, C=C)


def root(settings: Settings, name: str, B: int, model: str) -> Cell:
    """The root of BigMP or CoP by SCIP."""
    limit = settings.limit(model, QUICK_LIMIT)
    needs = (start_cell(name, B),) if model == "BigMP" else ()
    return cell("root bound", name, limit, needs, model=model, B=B, C=C)
