"""Prediction: FrugalSVCCV beside other selectors, and beside GridSearchCV.

Everyone gets the same budget, the same outer folds, the same inner folds to tune the C
of the weights by balanced accuracy, and balanced class weights where a class has less
than a third of the samples. Selection, scaling and tuning see the training part only.
Data sets with few samples are cut into folds several times, since a fold of twelve
samples says little. Differences come with corrected intervals (Nadeau and Bengio): the
folds of a data set share samples, so their scores vary less than those of new data.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from frugalsvm import FrugalSVC, FrugalSVCCV

from ..cells import Cell, cell
from ..datasets import LARGE, SMALL, DataSet, scaled
from ..experiment import Settings, benchmark
from ..store import Results, Row
from ..tables import Lines, columns, distinct, two
from .feature_selectors import FORWARD, OURS, SELECTORS, outer_parts, scores_of
from .timing import timed, warm_up

BUDGETS = (5, 10)
FOLDS, INNER = 5, 5
# Folds are repeated until so many samples have been predicted, so often at most.
PREDICTED, MOST_REPEATS = 400, 10
# Most features for which forward selection, whose time grows as n B, is tried.
MOST_FORWARD = 40
SCORES = ("balanced_accuracy", "auc", "features", "seconds")
# The groups of data sets: all, and those like genomics.
ALL, WIDE = "all sets", "more features than samples"


# --- data sets of scikit-learn --------------------------------------------------------


def _digits(positive: list[int], negative: list[int]) -> tuple[np.ndarray, np.ndarray]:
    sample = load_digits()
    chosen = np.isin(sample.target, positive + negative)
    return sample.data[chosen], np.where(
        np.isin(sample.target[chosen], positive), 1, -1
    )


def _wine(positive: int) -> tuple[np.ndarray, np.ndarray]:
    sample = load_wine()
    return sample.data, np.where(sample.target == positive, 1, -1)


# Its breast cancer data are wdbc; iris has no more than four features.
SCIKIT_LEARN: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "digits 3/8": partial(_digits, [3], [8]),
    "digits odd": partial(_digits, [1, 3, 5, 7, 9], [0, 2, 4, 6, 8]),
    "wine 1/rest": partial(_wine, 1),
}


# --- scores ---------------------------------------------------------------------------


def repeats(m: int) -> int:
    """How often a data set of m samples is cut into folds."""
    return min(-(-PREDICTED // m), MOST_REPEATS)


def predict(data: DataSet | None, *, name: str, B: int, peer: str) -> Row:
    """Scores of a peer on all folds of a data set."""
    X, y = SCIKIT_LEARN[name]() if data is None else (data.X, data.y)
    if peer == FORWARD and X.shape[1] > MOST_FORWARD:
        return {"rows": []}
    is_rare = bool(min((y > 0).mean(), (y < 0).mean()) < 1 / 3)
    cuts: dict[str, Any] = {"folds": FOLDS, "inner": INNER, "repeats": repeats(len(y))}
    rows = []
    for sizes, part, X_test, y_test in outer_parts(X, y, B, is_rare=is_rare, **cuts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, (score, features) = timed(scores_of, peer, part, X_test)
        row = {"set": name, **sizes, "features": features, "seconds": seconds}
        predicted = np.where(score > 0, 1, -1)
        row["balanced_accuracy"] = balanced_accuracy_score(y_test, predicted)
        rows.append(row | {"auc": roc_auc_score(y_test, score)})
    return {"rows": rows}


def _predict_plan(settings: Settings) -> list[Cell]:
    # In the order of the paper, then scikit-learn's.
    names = settings.chosen((*SMALL, *LARGE, *SCIKIT_LEARN), SMALL[:2])
    return [
        cell("predict", "" if name in SCIKIT_LEARN else name, name=name, B=B, peer=peer)
        for B in settings.pick(BUDGETS[:1], BUDGETS)
        for name in names
        for peer in (OURS, *SELECTORS)
    ]


def mean(rows: list[Row], peer: Any, score: str = "balanced_accuracy") -> float:
    """Mean over data sets of the means of their folds."""
    sets: dict[str, list[float]] = {}
    for row in rows:
        if row["peer"] == peer:
            sets.setdefault(row["set"], []).append(row[score])
    means = [np.mean(values) for values in sets.values()]
    return float(np.mean(means)) if means else np.nan


def ahead(rows: list[Row], peer: Any) -> tuple[float, float, int]:
    """Mean balanced accuracy of ours less a peer's, half its interval, number of sets.

    Over those data sets that the peer took part in.
    """
    ours = {
        (row["set"], row["part"]): row["balanced_accuracy"]
        for row in rows
        if row["peer"] == OURS
    }
    gains: dict[str, list[float]] = {}
    ratios = {}
    for row in rows:
        if row["peer"] == peer:
            gain = ours[row["set"], row["part"]] - row["balanced_accuracy"]
            gains.setdefault(row["set"], []).append(gain)
            ratios[row["set"]] = row["ratio"]
    variances = [
        np.var(values, ddof=1) * (1 / len(values) + ratios[name])
        for name, values in gains.items()
    ]
    half = 1.96 * np.sqrt(np.sum(variances)) / len(gains)
    return float(np.mean([np.mean(v) for v in gains.values()])), half, len(gains)


def _predict_rows(rows: list[Row], **_: Any) -> list[Row]:
    """Rows of each data set and peer, and of groups of data sets, by ``kind``."""
    summaries = []
    for B in distinct(rows, "B"):
        scores = [row for row in rows if row["B"] == B]
        for name in distinct(scores, "set"):
            of_set = [row for row in scores if row["set"] == name]
            first = {key: of_set[0][key] for key in ("set", "B", "m", "n")}
            first = {"kind": "set", **first, "repeats": repeats(first["m"])}
            summaries += [_summary(first, of_set, p) for p in distinct(of_set, "peer")]
        wide = [row for row in scores if row["n"] > row["m"]]
        for group, members in ((ALL, scores), (WIDE, wide)):
            for peer in distinct(members, "peer"):
                first = {"kind": "group", "group": group, "B": B}
                first["sets"] = len({r["set"] for r in members if r["peer"] == peer})
                row = _summary(first, members, peer)
                ours = row["balanced_accuracy"] + row["ours_less"]
                summaries.append(row | {"ours_on_these": ours})
    return summaries


def _summary(first: Row, rows: list[Row], peer: str) -> Row:
    """Mean scores of a peer, and ours less its with a corrected interval."""
    means = {score: mean(rows, peer, score) for score in SCORES}
    gain, half, _ = ahead(rows, peer)
    return {**first, "peer": peer, **means, "ours_less": gain, "half_width": half}


def _of_kind(results: Results, kind: str, budget: int) -> list[Row]:
    return [row for row in results.rows if (row["kind"], row["B"]) == (kind, budget)]


def set_table(results: Results, budget: int) -> Lines:
    """Balanced accuracy by data set and peer."""
    rows = _of_kind(results, "set", budget)
    peers = distinct(rows, "peer")
    table = [["data set", "samples", "features", *peers]]
    for name in distinct(rows, "set"):
        by_peer = {row["peer"]: row for row in rows if row["set"] == name}
        first = next(iter(by_peer.values()))
        scores = [
            f"{by_peer[peer]['balanced_accuracy']:.3f}" if peer in by_peer else ""
            for peer in peers
        ]
        table.append([name, f"{first['m']:,}", f"{first['n']:,}", *scores])
    return table


def mean_table(results: Results, budget: int, group: str = ALL) -> Lines:
    """Means over data sets, and differences in points with corrected intervals."""
    rows = _of_kind(results, "group", budget)
    return columns(
        [row for row in rows if row["group"] == group],
        {
            "": "{peer}",
            "sets": "{sets}",
            "balanced accuracy": "{balanced_accuracy:.3f}",
            "AUC": "{auc:.3f}",
            "features": "{features:.1f}",
            "CPU in s": "{seconds:.2f}",
            "ours, same sets": "{ours_on_these:.3f}",
            "ours less": lambda row: f"{100 * row['ours_less']:+.2f}",
            "+/-": lambda row: f"{100 * row['half_width']:.2f}",
        },
    )


def summary_table(results: Results, group: str = ALL) -> Lines:
    """Mean balanced accuracy of those that took part on all of them, by budget."""
    rows = [row for row in results.rows if row["kind"] == "group"]
    rows = [row for row in rows if row["group"] == group]
    n_sets = max(row["sets"] for row in rows)
    head = f"balanced accuracy, mean of {n_sets} data sets"
    table = [[head, *(f"B = {B}" for B in distinct(rows, "B"))]]
    for peer in distinct((row for row in rows if row["sets"] == n_sets), "peer"):
        scores = [row["balanced_accuracy"] for row in rows if row["peer"] == peer]
        table.append([peer, *(f"{score:.3f}" for score in scores)])
    return table


PREDICT = benchmark(
    "predict",
    "Balanced accuracy of models with few features, beside other selectors",
    "FrugalSVCCV, L1 penalties, abess if installed, RFE, SelectKBest and forward "
    "selection on the paper's data sets and three of scikit-learn, B = 5 and 10.",
    _predict_plan,
    [predict],
    rows=_predict_rows,
    figures={
        "predict-5": lambda results: set_table(results, 5),
        "predict-10": lambda results: set_table(results, 10),
        "predict-mean-5": lambda results: mean_table(results, 5),
        "predict-mean-10": lambda results: mean_table(results, 10),
        "predict-summary": summary_table,
        "predict-wide": lambda results: summary_table(results, WIDE),
    },
    sets=(*SMALL, *LARGE, *SCIKIT_LEARN),
)


# --- cross-validation -----------------------------------------------------------------

CV_C = (0.01, 0.1, 1.0, 10.0, 100.0)
CV_BUDGETS: dict[str, tuple[int, ...]] = {
    "wdbc": tuple(range(1, 16)),
    "arrhythmia": (5, 10, 20),
}
QUICK_CV_BUDGETS: dict[str, tuple[int, ...]] = {"wdbc": (2, 4, 6)}
# A fold's objective may be worse by this fraction.
ALLOWED = 1e-3


def cv(data: DataSet, *, effort: str, budgets: tuple[int, ...], threads: int) -> Row:
    """FrugalSVCCV and GridSearchCV over FrugalSVC, with the same effort and folds."""
    X, y = scaled(data.X), data.y
    warm_up()
    FrugalSVCCV([1], [0.01], cv=2, effort="fast").fit(X[:, :5], y)
    folds: dict[str, Any] = {"cv": StratifiedKFold(5), "n_jobs": threads}
    same: dict[str, Any] = {"scale": False, "refit_C": "same", "scoring": "accuracy"}
    model: dict[str, Any] = {"effort": effort, "random_state": 0}
    ours = FrugalSVCCV(budgets, CV_C, **folds, **same, **model)
    params = {"C": CV_C, "max_features": budgets}
    scoring = {"scoring": _score_and_objective, "refit": "score"}
    grid = GridSearchCV(FrugalSVC(**model), params, **folds, **scoring)
    wall, cpu, grid_wall, grid_cpu = *_fit_times(ours, X, y), *_fit_times(grid, X, y)
    # Parameters are sorted by name: C first, then max_features, as in FrugalSVCCV.
    objectives, theirs = (
        np.array([model.cv_results_[name.format(k)] for k in range(5)])
        for model, name in (
            (ours, "split{}_objective"),
            (grid, "split{}_test_objective"),
        )
    )
    ratios = objectives / theirs
    return {
        "seconds": wall,
        "grid": grid_wall,
        "CPU": cpu,
        "grid CPU": grid_cpu,
        "ratio": grid_cpu / cpu,
        "worst": ratios.max() - 1,
        "worse": (ratios > 1 + ALLOWED).sum(),
        "better": (ratios < 1 - ALLOWED).sum(),
        "of": ratios.size,
    }


def _score_and_objective(model: FrugalSVC, X: Any, y: Any) -> dict[str, float]:
    return {"score": model.score(X, y), "objective": model.objective_}


def _fit_times(model: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Wall and processor time of a fit."""
    wall, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return time.perf_counter() - wall, time.process_time() - cpu


def _cv_plan(
    settings: Settings, *, threads: int, efforts: tuple[str, ...]
) -> list[Cell]:
    grids = settings.pick(QUICK_CV_BUDGETS, CV_BUDGETS)
    return [
        cell("cv", name, effort=effort, budgets=grids[name], threads=threads)
        for name in settings.chosen(grids)
        for effort in efforts
    ]


def cv_table(results: Results) -> Lines:
    """FrugalSVCCV beside GridSearchCV over FrugalSVC: processor times, objectives."""
    return columns(
        results.rows,
        {
            "data set": "{set}",
            "effort": "{effort}",
            "times as fast": lambda row: two(row["ratio"]),
            "worse by more than 0.1 %": "{worse} of {of}",
            "better": "{better}",
            "worst": lambda row: f"{two(100 * row['worst'])} %",
        },
    )


CV = benchmark(
    "cv",
    "Cross-validation, five folds and five C: FrugalSVCCV beside GridSearchCV",
    "Objectives are compared fold by fold, budget by budget and C by C; worse and "
    "better count those beyond 0.1 %. With several threads CPU times mean nothing.",
    _cv_plan,
    [cv],
    options={"threads": 1, "efforts": ("fast",)},
    figures={"cv": cv_table},
    sets=tuple(CV_BUDGETS),
)
