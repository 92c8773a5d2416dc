"""Task: nested cross-validation of popular feature selection methods.

Every method chooses at most B features on training data for a given C; a linear SVM
with that C (or the method's own model) is then fitted on them. C is chosen by inner
folds in the same way for all methods.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from sklearn.feature_selection import RFE, SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC, l1_min_c

from frugalsvm import Problem

from ..datasets import DataSet
from .methods import solved
from .validation import fold_parts, scaled_parts, stratified_splits

# Penalties of l1 methods, as multiples of the smallest that selects a feature.
L1_STEPS = np.logspace(0.01, 3.0, 40)
# Number of folds for forward selection.
FORWARD_FOLDS = 3
# Recursive elimination drops a tenth at a time above this number of features.
MANY_FEATURES = 100

#: From training data, B and C to the features selected.
Selector = Callable[[np.ndarray, np.ndarray, int, float], np.ndarray]
Rule = Callable[[np.ndarray], np.ndarray]


def _svm(C: float) -> SVC:
    return SVC(kernel="linear", C=C)


def _frugal(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    problem = Problem(X, y, C=C, max_features=B)
    return solved(problem, "auto", None, effort="fast").selected


def _rfe(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    step = 0.1 if X.shape[1] > MANY_FEATURES else 1
    selector = RFE(_svm(C), n_features_to_select=B, step=step).fit(X, y)
    return np.flatnonzero(selector.support_)


def _forward(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    if X.shape[1] <= B:
        return np.arange(X.shape[1])
    selector = SequentialFeatureSelector(
        _svm(C), n_features_to_select=B, cv=FORWARD_FOLDS
    )
    return np.flatnonzero(selector.fit(X, y).support_)


def _k_best(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    k = min(B, X.shape[1])
    return np.flatnonzero(SelectKBest(k=k).fit(X, y).get_support())


def _l1_path(make: Callable[[float], Any], loss: str) -> Selector:
    """The last model with at most B features as the penalty falls; C is ignored."""

    def select(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
        support = np.empty(0, dtype=int)
        for weight in l1_min_c(X, y, loss=loss) * L1_STEPS:
            selected = np.flatnonzero(make(float(weight)).fit(X, y).coef_[0])
            if selected.size > B:
                break
            support = selected
        return support

    return select


def _abess(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    from abess import LogisticRegression as Abess

    size = min(B, X.shape[1])
    model = Abess(support_size=[size]).fit(X, (y > 0).astype(int))
    return np.flatnonzero(np.ravel(model.coef_))


def _faster_risk(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    from fasterrisk.fasterrisk import RiskScoreOptimizer

    optimizer = RiskScoreOptimizer(X=X, y=y, k=min(B, X.shape[1]))
    optimizer.optimize()
    *_, betas = optimizer.get_models()
    return np.flatnonzero(np.ravel(betas[0]))


def _l1_svm(weight: float) -> LinearSVC:
    return LinearSVC(penalty="l1", C=weight, tol=1e-3, random_state=0)


def _l1_logistic(weight: float) -> LogisticRegression:
    # scikit-learn 1.8 renamed this parameter.
    is_old = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)
    norm: dict[str, Any] = {"penalty": "l1"} if is_old else {"l1_ratio": 1.0}
    return LogisticRegression(C=weight, solver="liblinear", random_state=0, **norm)


#: Selection methods by name.
SELECTORS: dict[str, Selector] = {
    "frugalsvm": _frugal,
    "RFE": _rfe,
    "forward": _forward,
    "SelectKBest": _k_best,
    "L1 LinearSVC": _l1_path(_l1_svm, "squared_hinge"),
    "L1 logistic": _l1_path(_l1_logistic, "log"),
    "abess": _abess,
    "FasterRisk": _faster_risk,
}
# Methods whose final model is a logistic regression.
LOGISTIC = ("L1 logistic", "abess", "FasterRisk")
PACKAGES = {"abess": "abess", "FasterRisk": "fasterrisk"}


def installed_methods() -> list[str]:
    """Methods whose packages are installed."""
    return [
        name for name in SELECTORS if name not in PACKAGES or find_spec(PACKAGES[name])
    ]


def fitted(
    method: str, X: np.ndarray, y: np.ndarray, B: int, C: float
) -> tuple[np.ndarray, Rule]:
    """Features, and a decision rule based on them."""
    support = SELECTORS[method](X, y, B, C)
    if support.size == 0:
        label = 1.0 if np.sum(y) > 0 else -1.0
        return support, lambda Z: np.full(len(Z), label)
    model = LogisticRegression(C=C) if method in LOGISTIC else _svm(C)
    model.fit(X[:, support], y)
    return support, lambda Z: np.asarray(model.predict(Z[:, support]))


def nested(
    data: DataSet,
    *,
    limit: float | None,
    method: str,
    B: int,
    fold: int,
    folds: int,
    repeat: int,
    inner: int,
    Cs: tuple[float, ...],
) -> dict[str, Any]:
    """Test accuracy on an outer fold, with C chosen by inner folds.

    When time is up, C is chosen among the values tried so far, at least the first.
    """
    started = time.perf_counter()

    def late() -> bool:
        return limit is not None and time.perf_counter() - started > limit

    X, y, X_test, y_test = fold_parts(data, fold, folds, seed=repeat)
    scores: dict[float, float] = {}
    splits = list(stratified_splits(y, inner, seed=0))
    for C in Cs:
        hits = []
        for train, test in splits:
            parts = scaled_parts(X[train], y[train], X[test], y[test])
            _, rule = fitted(method, *parts[:2], B, C)
            hits.append(np.mean(rule(parts[2]) == parts[3]))
        scores[C] = float(np.mean(hits))
        if late():
            break
    best = max(scores, key=lambda C: scores[C])
    support, rule = fitted(method, X, y, B, best)
    return {
        "accuracy": 100.0 * float(np.mean(rule(X_test) == y_test)),
        "C": best,
        "support": [int(j) for j in support],
        "n": X.shape[1],
        "seconds": time.perf_counter() - started,
        "capped": len(scores) < len(Cs),
    }
