"""Tasks that train on some of the samples and test on the rest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

from frugalsvm import Problem, Status

from ..datasets import DataSet
from .methods import solved

#: The paper's penalties of EN-SVM, the largest first.
ALPHAS = tuple(2.0**i for i in range(10, -1, -1))
EN_TOL = 1e-6
# Models of the paper's Figures 3 and 4: the method of solve, or of L1FrugalSVC.
L2_METHODS = {
    "l2": "branch-and-bound",
    "l2 KS": "kernel-search",
    "auto": "auto",
    "fast": "auto",
}
L1_METHODS = {"l1": "exact", "l1 KS": "kernel-search"}

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def stratified_splits(
    y: np.ndarray, folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Shuffled folds with the same share of both classes."""
    folding = StratifiedKFold(folds, shuffle=True, random_state=seed)
    yield from folding.split(np.zeros((y.size, 1)), y)


def fold_parts(data: DataSet, fold: int, folds: int, seed: int = 0) -> Parts:
    """Training and test samples of a stratified fold, scaled by the former."""
    train, test = list(stratified_splits(data.y, folds, seed))[fold]
    return scaled_parts(data.X[train], data.y[train], data.X[test], data.y[test])


def split_parts(data: DataSet, seed: int, test_size: float) -> Parts:
    """Training and test samples of a stratified split, scaled by the former."""
    X, X_test, y, y_test = train_test_split(
        data.X, data.y, test_size=test_size, stratify=data.y, random_state=seed
    )
    return scaled_parts(X, y, X_test, y_test)


def scaled_parts(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> Parts:
    """Both parts scaled by mean and variance of the first."""
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def accuracy(X: np.ndarray, y: np.ndarray, coef: np.ndarray, b: float) -> float:
    """Percentage of correctly classified samples."""
    return 100.0 * float(np.mean(np.where(X @ coef + b > 0, 1.0, -1.0) == y))


def fold(
    data: DataSet,
    *,
    limit: float | None,
    model: str,
    B: int,
    C: float,
    fold: int,
    folds: int,
) -> dict[str, Any]:
    """Test accuracy of l2-FS-SVM or l1-FS-SVM on one fold."""
    X, y, X_test, y_test = fold_parts(data, fold, folds)
    if model in L1_METHODS:
        from frugalsvm.paper.baselines import L1FrugalSVC

        l1 = L1FrugalSVC(B, C=C, method=L1_METHODS[model], time_limit=limit)
        l1.fit(X, y)
        coef, b = l1.coef_[0], float(l1.intercept_[0])
        status = l1.status_
    else:
        effort = "fast" if model == "fast" else "normal"
        problem = Problem(X, y, C=C, max_features=B)
        result = solved(problem, L2_METHODS[model], limit, effort=effort)
        coef, b, status = result.coef, result.intercept, str(result.status)
    return {
        "accuracy": accuracy(X_test, y_test, coef, b),
        "features": int(np.count_nonzero(coef)),
        "status": status,
        "capped": status == Status.TIME_LIMIT,
    }


def split_fs(
    data: DataSet, *, limit: float | None, B: int, C: float, seed: int, test_size: float
) -> dict[str, Any]:
    """FS-SVM by the default method on a split."""
    X, y, X_test, y_test = split_parts(data, seed, test_size)
    result = solved(Problem(X, y, C=C, max_features=B), "auto", limit)
    return {
        "train": accuracy(X, y, result.coef, result.intercept),
        "test": accuracy(X_test, y_test, result.coef, result.intercept),
        "features": int(result.selected.size),
        "gap": float(result.gap),
        "capped": result.status is Status.TIME_LIMIT,
    }


def split_en(
    data: DataSet, *, limit: float | None, B: int, C: float, seed: int, test_size: float
) -> dict[str, Any]:
    """EN-SVM on a split, with the paper's choice of alpha.

    The path begins with the largest alpha, where models are small; when time is up,
    smaller values are skipped.
    """
    from frugalsvm.paper.baselines.elastic_net import solve_path

    started = time.perf_counter()
    X, y, X_test, y_test = split_parts(data, seed, test_size)
    problem = Problem(X, y, C=C)
    models: list[dict[str, Any]] = []
    for point in solve_path(problem, ALPHAS, EN_TOL):
        models.append(
            {
                "alpha": point.alpha,
                "features": int(np.count_nonzero(point.coef)),
                "train": accuracy(X, y, point.coef, point.intercept),
                "test": accuracy(X_test, y_test, point.coef, point.intercept),
            }
        )
        if limit is not None and time.perf_counter() - started > limit:
            break
    chosen = papers_choice(models, B)
    return (chosen or {}) | {"capped": len(models) < len(ALPHAS), "tried": len(models)}


def papers_choice(models: list[dict[str, Any]], B: int) -> dict[str, Any] | None:
    """The best training accuracy within B features, else the fewest (at least one)."""
    usable = [model for model in models if model["features"] > 0]
    within = [model for model in usable if model["features"] <= B]
    if within:
        return max(within, key=lambda model: model["train"])
    return min(usable, key=lambda model: model["features"], default=None)
