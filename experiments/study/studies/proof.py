"""Beyond the paper: accuracy, objective and proved gap as C changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cells import Cell, Outcomes, cell
from ..charts import COLOURS, canvas, legend_above
from ..report import Figure, ReportTable, StudyReport
from ..sources import LARGE
from ..statistics import half_interval, mean, numbers, rounded
from ..study import Settings, Study, marked, value

BUDGET = 10
ALL_C = (0.001, 0.01, 0.1, 1.0, 10.0)
FOLDS, QUICK_FOLDS = 10, 3


def tree_cell(name: str, C: float, seconds: float) -> Cell:
    """The native tree on a large data set, as in ``benchmarks``.

    Parameters
    ----------
    name : str
        Of a data set.
    C : float
    seconds : float

    Returns
    -------
    Cell
    """
    return cell("method", name, seconds, method="branch-and-bound", B=BUDGET, C=C)


def _folds(settings: Settings, name: str, C: float) -> list[Cell]:
    folds = settings.pick(QUICK_FOLDS, FOLDS)
    limit = settings.limit("accuracy")
    return [
        cell("fold", name, limit, model="fast", B=BUDGET, C=C, fold=k, folds=folds)
        for k in range(folds)
    ]


def _plan(settings: Settings) -> list[Cell]:
    cells = []
    for name in settings.chosen(LARGE):
        for C in ALL_C:
            cells += [tree_cell(name, C, settings.limit("tree"))]
            cells += _folds(settings, name, C)
    return cells


def _report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    rows: list[list[Any]] = []
    gaps: dict[str, list[float]] = {}
    scores: dict[str, list[float]] = {}
    for name in settings.chosen(LARGE):
        gaps[name], scores[name] = [], []
        for C in ALL_C:
            own = tree_cell(name, C, settings.limit("tree"))
            found = outcomes[own].values
            cells = _folds(settings, name, C)
            folds = numbers(outcomes, cells, "accuracy")
            gap = 100.0 * found["gap"] if "gap" in found else None
            gaps[name].append(np.nan if gap is None else gap)
            scores[name].append(mean(folds) or np.nan)
            rows.append(
                [name, C, value(outcomes, own, "objective"), found.get("bound"),
                 rounded(gap, 2), found.get("nodes"), rounded(found.get("seconds"), 1),
                 marked(outcomes, cells, rounded(mean(folds), 1)),
                 rounded(half_interval(folds), 1)]
            )  # fmt: skip
    columns = (
        "data", "C", "objective", "bound", "gap %", "nodes", "seconds", "accuracy",
        "accuracy +-",
    )  # fmt: skip
    title = f"Proved gap and cross-validated accuracy as C changes, B = {BUDGET}"
    return StudyReport(
        [ReportTable(title, columns, rows)],
        [Figure(title, lambda: _draw(gaps, scores))],
        [
            "Gaps are between the objective of our tree's solution and its recomputed "
            "bound, on all samples. Accuracies [%] are of our default with effort fast "
            "on folds, with half 95 % intervals."
        ],
    )


def _draw(gaps: dict[str, list[float]], scores: dict[str, list[float]]) -> Any:
    figure, (left, right) = canvas(1, 2, 9.0, 3.8)
    for name, colour in zip(gaps, COLOURS, strict=False):
        style = {"color": colour, "marker": "o", "markersize": 4}
        left.plot(ALL_C, gaps[name], label=name, **style)
        right.plot(ALL_C, scores[name], **style)
    left.set(xscale="log", xlabel="C", ylabel="proved gap [%]")
    right.set(xscale="log", xlabel="C", ylabel="accuracy [%]")
    legend_above(figure, list(gaps))
    return figure


PROOF = Study(
    "proof",
    "Where proofs are within reach: gap and accuracy as C changes",
    f"Beyond the paper: our tree on the large data sets, B = {BUDGET}, C = 0.001..10.",
    _plan,
    _report,
    columns=("tree", "accuracy"),
)
