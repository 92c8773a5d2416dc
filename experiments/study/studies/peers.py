"""Beyond the paper: accuracy and stability compared with popular methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cells import Cell, Outcomes, cell
from ..charts import bars, canvas
from ..report import Figure, ReportTable, StudyReport
from ..sources import LARGE, SMALL
from ..statistics import (
    corrected_half_interval,
    critical_difference,
    mean,
    mean_ranks,
    nogueira,
    numbers,
    rounded,
)
from ..study import Settings, Study, marked
from ..tasks.peers import SELECTORS, installed_methods

OURS = "frugalsvm"
QUICK_SETS = ("wbc", "cleveland", "parkinsons", "wholesale", "ionosphere")
QUICK_LIMIT = 6.0
BUDGETS, QUICK_BUDGET = {1: 5, 2: 10}, 3
# Outer folds, repeats, inner folds, and the values of C for the inner folds.
FULL, QUICK = (10, 3, 5), (3, 1, 2)
ALL_C, QUICK_C = tuple(10.0**r for r in range(-3, 4)), (0.1, 1.0, 10.0)


def _sets(settings: Settings) -> list[str]:
    return settings.chosen((*SMALL, *LARGE), QUICK_SETS)


def _budget(settings: Settings, name: str) -> int:
    return settings.pick(QUICK_BUDGET, BUDGETS[1 if name in SMALL else 2])


def _cells(settings: Settings, name: str, method: str) -> list[Cell]:
    folds, repeats, inner = settings.pick(QUICK, FULL)
    limit = settings.limit(method, QUICK_LIMIT)
    return [
        cell(
            "nested", name, limit, method=method, B=_budget(settings, name), fold=fold,
            folds=folds, repeat=repeat, inner=inner, Cs=settings.pick(QUICK_C, ALL_C),
        )
        for repeat in range(repeats)
        for fold in range(folds)
    ]  # fmt: skip


def _plan(settings: Settings) -> list[Cell]:
    return [
        one
        for name in _sets(settings)
        for method in installed_methods()
        for one in _cells(settings, name, method)
    ]


def _report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    methods, names = installed_methods(), _sets(settings)
    share = 1.0 / settings.pick(QUICK, FULL)[0]
    rows: list[list[Any]] = []
    means = np.full((len(names), len(methods)), np.nan)
    for i, name in enumerate(names):
        ours = _scores(settings, outcomes, name, OURS)
        for k, method in enumerate(methods):
            scores = _scores(settings, outcomes, name, method)
            usable = [one for one in scores if one is not None]
            gains = [
                a - b for a, b in zip(ours, scores, strict=True)
                if a is not None and b is not None
            ]  # fmt: skip
            average = mean(usable)
            means[i, k] = np.nan if average is None else average
            cells = _cells(settings, name, method)
            row = [name, _budget(settings, name), method]
            row += [marked(outcomes, cells, rounded(average, 2))]
            row += [rounded(corrected_half_interval(usable, share), 2)]
            row += _gain(gains, share) if method != OURS else [None, None]
            row += [rounded(mean(numbers(outcomes, cells, "seconds")), 2)]
            rows.append(row)
    title = "Test accuracy [%] at equal B, C chosen by inner folds"
    complete = means[~np.isnan(means).any(axis=1)]
    return StudyReport(
        [
            ReportTable(title, _COLUMNS, rows),
            _rank_table(methods, complete),
        ],
        [Figure("Mean ranks of accuracies; methods under one bar do not differ at 5 %",
                lambda: _rank_figure(methods, complete))],
        [_NOTE + _absent()],
    )  # fmt: skip


_COLUMNS = (
    "data", "B", "method", "accuracy", "+-", "ours - it", "+- of it", "seconds",
)  # fmt: skip
_NOTE = (
    "Repeated stratified folds, features scaled inside. +- are half 95 % intervals of "
    "Nadeau and Bengio, which allow for overlapping training sets; those of "
    "differences are paired by fold. Ranks, and Nemenyi's critical difference, take "
    "data sets as the sample: with few of them, few differences are significant. A "
    "cell at its limit has tried fewer values of C. Seconds are those of a cell, all "
    "inner fits included."
)


def _absent() -> str:
    missing = [name for name in SELECTORS if name not in installed_methods()]
    return f" Not installed: {', '.join(missing)}." if missing else ""


def _gain(gains: list[float], share: float) -> list[Any]:
    return [
        rounded(mean(gains), 2), rounded(corrected_half_interval(gains, share), 2)
    ]  # fmt: skip


def _scores(
    settings: Settings, outcomes: Outcomes, name: str, method: str
) -> list[float | None]:
    cells = _cells(settings, name, method)
    return [outcomes[one].values.get("accuracy") for one in cells]


def _rank_table(methods: list[str], means: np.ndarray) -> ReportTable:
    rows: list[list[Any]] = [[method, None] for method in methods]
    if len(means):
        ranks = mean_ranks(means)
        rows = [[methods[k], round(float(ranks[k]), 2)] for k in np.argsort(ranks)]
    distance = critical_difference(len(methods), max(1, len(means)))
    title = (
        f"Mean ranks over {len(means)} data sets; critical difference {distance:.2f}"
    )
    return ReportTable(title, ("method", "mean rank"), rows, "-ranks")


def _rank_figure(methods: list[str], means: np.ndarray) -> Any:
    """Critical difference diagram as in Demšar."""
    figure, (ax,) = canvas(1, 1, 6.5, 1.2 + 0.3 * len(methods))
    ax.spines[["left"]].set_visible(False)
    ax.set_yticks([])
    ax.set_xlabel("mean rank (1 is best)")
    if not len(means):
        return figure
    ranks = mean_ranks(means)
    order = np.argsort(ranks)
    distance = critical_difference(len(methods), len(means))
    for row, k in enumerate(order):
        ax.plot(ranks[k], -row, "o", color="#0072B2")
        ax.annotate(methods[k], (ranks[k], -row), (6, -3), textcoords="offset points")
    sorted_ranks = ranks[order]
    reach = bars_drawn = 0
    for first in range(len(order)):
        last = int(np.searchsorted(sorted_ranks, sorted_ranks[first] + distance)) - 1
        if last > reach and last > first:
            reach = last
            bars_drawn += 1
            y = 0.25 + 0.25 * bars_drawn
            ax.plot([sorted_ranks[first], sorted_ranks[last]], [y, y], color="black")
    ax.plot([1.0, 1.0 + distance], [-len(order)] * 2, color="#7f7f7f", marker="|")
    ax.annotate(
        "critical difference", (1.0, -len(order)), (4, 4), textcoords="offset points",
        color="#7f7f7f",
    )  # fmt: skip
    ax.set_xlim(0.8, len(methods) + 1.2)
    ax.set_ylim(-len(order) - 0.6, max(1.2, 0.5 + 0.25 * bars_drawn))
    return figure


PEERS = Study(
    "peers",
    "Accuracy at equal B compared with popular methods",
    "Beyond the paper: RFE, forward selection, SelectKBest, L1 LinearSVC, L1 logistic "
    "regression, abess and FasterRisk if installed; nested choice of C for all alike.",
    _plan,
    _report,
    columns=tuple(SELECTORS),
)


def _stability_report(settings: Settings, outcomes: Outcomes) -> StudyReport:
    methods, names = installed_methods(), _sets(settings)
    rows: list[list[Any]] = []
    series: dict[str, list[float | None]] = {method: [] for method in methods}
    for name in names:
        row: list[Any] = [name, _budget(settings, name)]
        for method in methods:
            found = nogueira(_masks(settings, outcomes, name, method))
            series[method].append(found)
            cells = _cells(settings, name, method)
            row.append(marked(outcomes, cells, rounded(found, 3)))
        rows.append(row)
    averages = [
        rounded(mean([one for one in series[method] if one is not None]), 3)
        for method in methods
    ]
    rows.append(["mean", None, *averages])
    title = "Stability of the selected features over folds"
    return StudyReport(
        [ReportTable(title, ("data", "B", *methods), rows)],
        [Figure(title, lambda: bars(names, series, "stability"))],
        [
            "The measure of Nogueira, Sechidis and Brown: 1 if all folds select the "
            "same, about 0 for features chosen at random. Training sets of folds share "
            "many of their samples. The cells are those of the experiment peers; where "
            "one ended at its limit, C was chosen among fewer values."
        ],
    )


def _masks(
    settings: Settings, outcomes: Outcomes, name: str, method: str
) -> np.ndarray:
    """The features selected by each fold, as rows of a boolean matrix."""
    found = [outcomes[one].values for one in _cells(settings, name, method)]
    usable = [one for one in found if "support" in one]
    masks = np.zeros((len(usable), settings.n_features(name)), dtype=bool)
    for mask, one in zip(masks, usable, strict=True):
        mask[one["support"]] = True
    return masks


STABILITY = Study(
    "stability",
    "Stability of the selected features",
    "Beyond the paper: how well folds agree on features (Nogueira's measure), from the "
    "cells of the experiment peers.",
    _plan,
    _stability_report,
    columns=tuple(SELECTORS),
)
