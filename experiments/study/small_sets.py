"""The data sets, and times on the small ones: Tables 1 and 2, and Figure 1."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..catalogue import CATALOGUE
from ..cells import Cell, CellOutcome, Outcomes, cell
from ..charts import bars
from ..datasets import LARGE, SMALL
from ..experiment import Experiment, Settings
from ..report import Chart, Report
from ..statistics import mean, rounded
from ..tables import Marked, ReportTable
from .instances import start_cell

# --- Tables 1 and 2: the data ---------------------------------------------------------


def _facts_plan(names: tuple[str, ...], settings: Settings) -> list[Cell]:
    return [cell("facts", name) for name in settings.chosen(names)]


def _remarks(name: str, facts: dict[str, Any]) -> str:
    """Differences of a data set from the paper's, and from the reference copy."""
    info = CATALOGUE[name]
    m, n, first, second = info.paper
    remarks = [info.remark, facts["differences"]]
    if (facts["m"], facts["n"]) != (m, n):
        remarks.insert(0, "different shape")
    if facts["shares"] == [second, first] and first != second:
        remarks.insert(0, "classes swapped")
    elif facts["shares"] != [first, second]:
        remarks.insert(0, "different class proportions")
    return "; ".join(filter(None, remarks))


TITLE = "m, n and class proportions, as printed and in our copies"


def _facts_report(
    names: tuple[str, ...], settings: Settings, outcomes: Outcomes
) -> Report:
    rows = []
    for name in settings.chosen(names):
        m, n, first, second = CATALOGUE[name].paper
        facts = outcomes[cell("facts", name)].values
        row = {"data": name, "paper m": m, "paper n": n, "paper %": f"{first}/{second}"}
        row |= {"m": facts.get("m"), "n": facts.get("n")}
        row["%"] = "/".join(map(str, facts["shares"])) if "shares" in facts else None
        row["constant"] = facts.get("constant")
        row["remark"] = _remarks(name, facts) if "shares" in facts else "failed"
        rows.append(row)
    return Report(
        [ReportTable.of(TITLE, rows)],
        notes=["Constant columns count; nothing is scaled here."],
    )


def _facts(number: int, subject: str, label: str, names: tuple[str, ...]) -> Experiment:
    return Experiment(
        f"table{number}",
        f"Table {number}: {subject}",
        "The data: as described in the paper, and our copies.",
        partial(_facts_plan, names),
        partial(_facts_report, names),
        label,
    )


TABLE_1 = _facts(1, "First small datasets", "table:small_datasets", SMALL)
TABLE_2 = _facts(2, "Second large datasets", "table:big_datasets", LARGE)


# --- Figure 1: times of BigMP, CoP and the tree ---------------------------------------


QUICK_LIMIT = 3.0
QUICK_BUDGETS, QUICK_C = (2, 5), (0.1, 10.0)
ALL_C = tuple(10.0**r for r in range(-3, 4))
SERIES = ("BigMP", "CoP", "tree")
# The paper's text: CoP was faster than BigMP by this factor on average.
PUBLISHED_FACTOR = 1.4


def _time_cells(settings: Settings, name: str, column: str) -> list[Cell]:
    n = settings.n_features(name)
    every = tuple(range(1, n + 1))
    budgets = [B for B in settings.pick(QUICK_BUDGETS, every) if B in every]
    limit = settings.limit(column, QUICK_LIMIT)
    cells = []
    for B in budgets:
        for C in settings.pick(QUICK_C, ALL_C):
            if column == "tree":
                target = cell(
                    "method", name, limit, method="branch-and-bound", B=B, C=C
                )
            else:
                needs = (start_cell(name, B, C),) if column == "BigMP" else ()
                target = cell("program", name, limit, needs, model=column, B=B, C=C)
            cells.append(target)
    return cells


def _time_plan(settings: Settings) -> list[Cell]:
    return [
        target
        for name in settings.chosen(SMALL)
        for column in SERIES
        for target in _time_cells(settings, name, column)
    ]


def _time_report(settings: Settings, outcomes: Outcomes) -> Report:
    names = settings.chosen(SMALL)
    rows: list[dict[str, Any]] = []
    series: dict[str, list[float | None]] = {column: [] for column in SERIES}
    for name in names:
        row: dict[str, Any]
        row = {"data": name, "cells": len(_time_cells(settings, name, "tree"))}
        for column in SERIES:
            cells = _time_cells(settings, name, column)
            ended = [outcomes[target] for target in cells if not outcomes[target].error]
            average = mean(
                [outcome.values.get("seconds", outcome.seconds) for outcome in ended]
            )
            proved = sum(outcome.values.get("status") == "optimal" for outcome in ended)
            series[column].append(average)
            shown = rounded(average, 3)
            row[f"{column} s"] = _time(shown, ended, proved == len(cells))
            row[f"{column} proved"] = proved
        rows.append(row)
    title = "Mean seconds over B and C, and how many cells were proved (gap 1e-4)"
    return Report(
        [ReportTable.of(title, rows)],
        [Chart(title, lambda: bars(names, series, "mean seconds", log=True))],
        [_factor(series), _M_RULE],
    )


def _time(shown: Any, ended: list[CellOutcome], is_proved: bool) -> Any:
    """A mean, marked if not all of its cells were proved."""
    if not ended:
        return "failed"
    return shown if is_proved else Marked(shown)


_M_RULE = (
    "M of BigMP: the largest weight that dual points of DSCoP, of SVM and of a joint "
    "descent allow any solution as good as that of a fast swap search (the paper's "
    "bound problems in their tight form, none of them solved); it is not part of the "
    "time. Times of SCIP include building the program with CVXPY, about 0.1 "
    "s. Cells at their limit count with the time they took, so that such means are "
    "too small. The paper's source has no numbers of this figure."
)


def _factor(series: dict[str, list[float | None]]) -> str:
    pairs = zip(series["BigMP"], series["CoP"], strict=True)
    ratio = mean([big / cop for big, cop in pairs if big and cop])
    shown = "-" if ratio is None else f"{ratio:.2f}"
    return (
        f"Mean time of BigMP over that of CoP by SCIP, averaged over data sets: "
        f"{shown}; the paper has {PUBLISHED_FACTOR} by Gurobi, with all cells solved."
    )


FIGURE_1 = Experiment(
    "figure1",
    "Figure 1: mean times of BigMP and CoP on the small data sets",
    "BigMP and CoP by SCIP and our tree over B = 1..n and C = 10^-3..10^3; the quick "
    "grid has B = 2, 5 and C = 0.1, 10.",
    _time_plan,
    _time_report,
    "fig:mean_time_small_data",
    SERIES,
)
