"""Beyond the paper: accuracy and stability compared with popular methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cells import Cell, Outcomes, cell
from ..charts import bars, rank_chart
from ..datasets import LARGE, SMALL
from ..experiment import Experiment, Settings, marked
from ..report import Chart, Report
from ..statistics import (
    corrected_half_interval,
    critical_difference,
    mean,
    mean_ranks,
    nogueira,
    numbers,
    rounded,
)
from ..tables import ReportTable
from ..tasks.selection import SELECTORS, installed_methods

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
    params: dict[str, Any] = {"B": _budget(settings, name)}
    params |= {
        "Cs": settings.pick(QUICK_C, ALL_C),
        "method": method,
        "folds": folds,
        "inner": inner,
    }
    limit = settings.limit(method, QUICK_LIMIT)
    return [
        cell("nested", name, limit, fold=fold, repeat=repeat, **params)
        for repeat in range(repeats)
        for fold in range(folds)
    ]


def _plan(settings: Settings) -> list[Cell]:
    return [
        target
        for name in _sets(settings)
        for method in installed_methods()
        for target in _cells(settings, name, method)
    ]


def _report(settings: Settings, outcomes: Outcomes) -> Report:
    methods, names = installed_methods(), _sets(settings)
    share = 1.0 / settings.pick(QUICK, FULL)[0]
    rows: list[dict[str, Any]] = []
    means = np.full((len(names), len(methods)), np.nan)
    for i, name in enumerate(names):
        for k, method in enumerate(methods):
            cells = _cells(settings, name, method)
            scores = [outcomes[target].values.get("accuracy") for target in cells]
            if method == OURS:
                ours = scores
            usable = [score for score in scores if score is not None]
            gains = [
                a - b
                for a, b in zip(ours, scores, strict=True)
                if a is not None and b is not None
            ]
            average = mean(usable)
            means[i, k] = np.nan if average is None else average
            row = {"data": name, "B": _budget(settings, name), "method": method}
            row["accuracy"] = marked(outcomes, cells, rounded(average, 2))
            row["+-"] = rounded(corrected_half_interval(usable, share), 2)
            gain, half = mean(gains), corrected_half_interval(gains, share)
            row["ours - it"] = None if method == OURS else rounded(gain, 2)
            row["+- of it"] = None if method == OURS else rounded(half, 2)
            row["seconds"] = rounded(mean(numbers(outcomes, cells, "seconds")), 2)
            rows.append(row)
    title = "Test accuracy [%] at equal B, C chosen by inner folds"
    missing = [name for name in SELECTORS if name not in methods]
    complete = means[~np.isnan(means).any(axis=1)]
    return Report(
        [ReportTable.of(title, rows), _rank_table(methods, complete)],
        [
            Chart(
                "Mean ranks of accuracies; methods under one bar do not differ at 5 %",
                lambda: rank_chart(methods, complete),
            )
        ],
        [_NOTE + (f" Not installed: {', '.join(missing)}." if missing else "")],
    )


_NOTE = (
    "Repeated stratified folds, features scaled inside. +- are half 95 % intervals of "
    "Nadeau and Bengio, which allow for overlapping training sets; those of "
    "differences are paired by fold. Ranks, and Nemenyi's critical difference, take "
    "data sets as the sample: with few of them, few differences are significant. A "
    "cell at its limit has tried fewer values of C. Seconds are those of a cell, all "
    "inner fits included."
)


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


PEERS = Experiment(
    "peers",
    "Accuracy at equal B compared with popular methods",
    "Beyond the paper: RFE, forward selection, SelectKBest, L1 LinearSVC, L1 logistic "
    "regression, abess and FasterRisk if installed; nested choice of C for all alike.",
    _plan,
    _report,
    columns=tuple(SELECTORS),
)


def _stability_report(settings: Settings, outcomes: Outcomes) -> Report:
    methods, names = installed_methods(), _sets(settings)
    rows: list[list[Any]] = []
    series: dict[str, list[float | None]] = {method: [] for method in methods}
    for name in names:
        row: list[Any] = [name, _budget(settings, name)]
        for method in methods:
            cells = _cells(settings, name, method)
            # The features selected by each fold, as rows of a boolean matrix.
            folds = [outcomes[target].values for target in cells]
            supports = [fold["support"] for fold in folds if "support" in fold]
            masks = np.zeros((len(supports), settings.n_features(name)), dtype=bool)
            for mask, support in zip(masks, supports, strict=True):
                mask[support] = True
            agreement = nogueira(masks)
            series[method].append(agreement)
            row.append(marked(outcomes, cells, rounded(agreement, 3)))
        rows.append(row)
    averages = [
        rounded(mean([entry for entry in series[method] if entry is not None]), 3)
        for method in methods
    ]
    rows.append(["mean", None, *averages])
    title = "Stability of the selected features over folds"
    return Report(
        [ReportTable(title, ("data", "B", *methods), rows)],
        [Chart(title, lambda: bars(names, series, "stability"))],
        [
            "The measure of Nogueira, Sechidis and Brown: 1 if all folds select the "
            "same, about 0 for features chosen at random. Training sets of folds share "
            "many of their samples. The cells are those of the experiment peers; where "
            "one ended at its limit, C was chosen among fewer values."
        ],
    )


STABILITY = Experiment(
    "stability",
    "Stability of the selected features",
    "Beyond the paper: how well folds agree on features (Nogueira's measure), from the "
    "cells of the experiment peers.",
    _plan,
    _stability_report,
    columns=tuple(SELECTORS),
)
