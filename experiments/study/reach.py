"""Beyond the paper: proofs as C changes, and synthetic data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..cells import Cell, Outcomes, cell
from ..charts import COLOURS, bars, canvas, legend_above
from ..datasets import LARGE
from ..experiment import Experiment, Settings, marked, value
from ..report import Chart, Report
from ..statistics import half_interval, mean, numbers, rounded
from ..tables import ReportTable

# --- Gap and accuracy as C changes ----------------------------------------------------


BUDGET = 10
ALL_C = (0.001, 0.01, 0.1, 1.0, 10.0)
FOLDS, QUICK_FOLDS = 10, 3


def _reach_cells(settings: Settings, name: str, C: float) -> list[Cell]:
    """A tree on all samples, and the folds."""
    tree, accuracy = settings.limit("tree"), settings.limit("accuracy")
    folds = settings.pick(QUICK_FOLDS, FOLDS)
    same: dict[str, Any] = {"B": BUDGET, "C": C}
    return [
        cell("method", name, tree, method="branch-and-bound", **same),
        *[
            cell("fold", name, accuracy, model="fast", fold=k, folds=folds, **same)
            for k in range(folds)
        ],
    ]


def _reach_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows: list[dict[str, Any]] = []
    gaps: dict[str, list[float]] = {}
    scores: dict[str, list[float]] = {}
    for name in settings.chosen(LARGE):
        gaps[name], scores[name] = [], []
        for C in ALL_C:
            target, *cells = _reach_cells(settings, name, C)
            tree = outcomes[target].values
            folds = numbers(outcomes, cells, "accuracy")
            gap = 100.0 * tree["gap"] if "gap" in tree else None
            gaps[name].append(np.nan if gap is None else gap)
            scores[name].append(mean(folds) or np.nan)
            rows.append(
                {
                    "data": name,
                    "C": C,
                    "objective": value(outcomes, target, "objective"),
                    "bound": tree.get("bound"),
                    "gap %": rounded(gap, 2),
                    "nodes": tree.get("nodes"),
                    "seconds": rounded(tree.get("seconds"), 1),
                    "accuracy": marked(outcomes, cells, rounded(mean(folds), 1)),
                    "accuracy +-": rounded(half_interval(folds), 1),
                }
            )
    title = f"Proved gap and cross-validated accuracy as C changes, B = {BUDGET}"
    return Report(
        [ReportTable.of(title, rows)],
        [Chart(title, lambda: _draw(gaps, scores))],
        [
            "Gaps are between the objective of our tree's solution and its recomputed "
            "bound, on all samples. Accuracies [%] are of our default with effort fast "
            "on folds, with half 95 % intervals."
        ],
    )


def _draw(gaps: dict[str, list[float]], scores: dict[str, list[float]]) -> Any:
    figure, (gap_axes, score_axes) = canvas(1, 2, 9.0, 3.8)
    for name, colour in zip(gaps, COLOURS, strict=False):
        style = {"color": colour, "marker": "o", "markersize": 4}
        gap_axes.plot(ALL_C, gaps[name], label=name, **style)
        score_axes.plot(ALL_C, scores[name], **style)
    gap_axes.set(xscale="log", xlabel="C", ylabel="proved gap [%]")
    score_axes.set(xscale="log", xlabel="C", ylabel="accuracy [%]")
    legend_above(figure, list(gaps))
    return figure


REACH = Experiment(
    "reach",
    "Where proofs are within reach: gap and accuracy as C changes",
    f"Beyond the paper: our tree on the large data sets, B = {BUDGET}, C = 0.001..10.",
    lambda settings: [
        target
        for name in settings.chosen(LARGE)
        for C in ALL_C
        for target in _reach_cells(settings, name, C)
    ],
    _reach_report,
    columns=("tree", "accuracy"),
)


# --- Synthetic data -------------------------------------------------------------------


METHODS = ("auto", "branch-and-bound", "kernel-search", "L1 LinearSVC")
QUICK_SEEDS, SEEDS = 2, 5
DESIGN_C = 1.0


class Shape(NamedTuple):
    """A generator with its sizes."""

    kind: str
    m: int
    n: int
    k: int
    rho: float

    def __str__(self) -> str:
        return f"{self.kind} {self.m} x {self.n}, rho {self.rho:g}"


QUICK_SHAPES = (
    Shape("logistic", 500, 500, 10, 0.5),
    Shape("logistic", 500, 500, 10, 0.9),
    Shape("hinge", 500, 1000, 30, 0.3),
)
FULL_SHAPES = (
    *(
        Shape("logistic", size, size, 10, rho)
        for size in (500, 1000, 2000, 4000)
        for rho in (0.1, 0.5, 0.9)
    ),
    Shape("hinge", 500, 1000, 30, 0.3),
)


def _design_cells(settings: Settings, shape: Shape, method: str) -> list[Cell]:
    params = {"method": method, "C": DESIGN_C, **shape._asdict()}
    return [
        cell("design", "", settings.limit(method), seed=seed, **params)
        for seed in range(settings.pick(QUICK_SEEDS, SEEDS))
    ]


def _design_report(settings: Settings, outcomes: Outcomes) -> Report:
    rows: list[dict[str, Any]] = []
    shapes = settings.pick(QUICK_SHAPES, FULL_SHAPES)
    series: dict[str, list[float | None]] = {method: [] for method in METHODS}
    for shape in shapes:
        for method in METHODS:
            cells = _design_cells(settings, shape, method)
            share = mean(numbers(outcomes, cells, "recovered"))
            series[method].append(share)
            gap = mean(numbers(outcomes, cells, "gap"))
            values = [outcomes[target].values for target in cells]
            excess = [
                v["objective"] / v["true objective"] for v in values if "objective" in v
            ]
            seconds = rounded(mean([outcomes[target].seconds for target in cells]), 1)
            rows.append(
                {
                    "data": str(shape),
                    "B": shape.k,
                    "method": method,
                    "recovered %": rounded(share, 1),
                    "gap %": rounded(None if gap is None else 100 * gap, 1),
                    "objective / true": rounded(mean(excess), 4),
                    "seconds": marked(outcomes, cells, seconds),
                }
            )
    title = "True features found, proved gap and time; means over seeds"
    names = [f"{shape.kind} {shape.m}, {shape.rho:g}" for shape in shapes]
    return Report(
        [ReportTable.of(title, rows)],
        [Chart(title, lambda: bars(names, series, "true features found [%]"))],
        [
            f"C = {DESIGN_C:g}, B = number of true features. 'objective / true' "
            "compares with the SVM on the true features: below 1 means that other "
            "features fit the sample better, so that the objective does not favour "
            "recovery. Seconds are those of whole cells."
        ],
    )


DESIGNS = Experiment(
    "designs",
    "Synthetic data: are the true features found?",
    "Beyond the paper: the correlated Gaussian design with logistic labels (OKRidge, "
    "Liu et al.), and the hinge design of SubsetSelectionCIO's experiments.",
    lambda settings: [
        target
        for shape in settings.pick(QUICK_SHAPES, FULL_SHAPES)
        for method in METHODS
        for target in _design_cells(settings, shape, method)
    ],
    _design_report,
    columns=METHODS,
)
