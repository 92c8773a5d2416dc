"""Beyond the paper: generators from the literature with known true features."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..cells import Cell, Outcomes, cell
from ..charts import bars
from ..report import Figure, ReportTable, StudyReport
from ..statistics import mean, numbers, rounded
from ..study import Settings, Study, marked

METHODS = ("auto", "branch-and-bound", "kernel-search", "L1 LinearSVC")
QUICK_SEEDS, SEEDS = 2, 5
C = 1.0


class Shape(NamedTuple):
    """A generator with its sizes."""

    kind: str
    m: int
    n: int
    k: int
    rho: float

    def __str__(self) -> str:
        return f"{self.kind} {self.m} x {self.n}, rho {self.rho:g}"


QUICK = (
    Shape("logistic", 500, 500, 10, 0.5),
    Shape("logistic", 500, 500, 10, 0.9),
    Shape("hinge", 500, 1000, 30, 0.3),
)
FULL = (
    *(
        Shape("logistic", size, size, 10, rho)
        for size in (500, 1000, 2000, 4000)
        for rho in (0.1, 0.5, 0.9)
    ),
    Shape("hinge", 500, 1000, 30, 0.3),
)


def _cells(settings: Settings, shape: Shape, method: str) -> list[Cell]:
    seeds = settings.pick(QUICK_SEEDS, SEEDS)
    limit = settings.limit(method)
    return [
        cell("design", "", limit, method=method, seed=seed, C=C, **shape._asdict())
        for seed in range(seeds)
    ]


def _plan(settings: Settings) -> list[Cell]:
    return [
        one
        for shape in settings.pick(QUICK, FULL)
        for method in METHODS
        for one in _cells(settings, shape, method)
    ]


def _report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    rows: list[list[Any]] = []
    shapes = settings.pick(QUICK, FULL)
    series: dict[str, list[float | None]] = {method: [] for method in METHODS}
    for shape in shapes:
        for method in METHODS:
            cells = _cells(settings, shape, method)
            found = mean(numbers(outcomes, cells, "recovered"))
            series[method].append(found)
            gap = mean(numbers(outcomes, cells, "gap"))
            excess = [
                outcomes[one].values["objective"]
                / outcomes[one].values["true objective"]
                for one in cells
                if "objective" in outcomes[one].values
            ]
            seconds = rounded(mean([outcomes[one].seconds for one in cells]), 1)
            rows.append(
                [str(shape), shape.k, method, rounded(found, 1),
                 rounded(None if gap is None else 100 * gap, 1),
                 rounded(mean(excess), 4), marked(outcomes, cells, seconds)]
            )  # fmt: skip
    columns = (
        "data", "B", "method", "recovered %", "gap %", "objective / true", "seconds",
    )  # fmt: skip
    title = "True features found, proved gap and time; means over seeds"
    names = [f"{shape.kind} {shape.m}, {shape.rho:g}" for shape in shapes]
    return StudyReport(
        [ReportTable(title, columns, rows)],
        [Figure(title, lambda: bars(names, series, "true features found [%]"))],
        [
            f"C = {C:g}, B = number of true features. 'objective / true' compares with "
            "the SVM on the true features: below 1 means that other features fit the "
            "sample better, so that the objective does not favour recovery. Seconds "
            "are those of whole cells."
        ],
    )


DESIGNS = Study(
    "designs",
    "Synthetic data: are the true features found?",
    "Beyond the paper: the correlated Gaussian design with logistic labels (OKRidge, "
    "Liu et al.), and the hinge design of SubsetSelectionCIO's experiments.",
    _plan,
    _report,
    columns=METHODS,
)
