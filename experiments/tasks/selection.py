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

#: From training data, B and C to the features selected.
Selector = Callable[[np.ndarray, np.ndarray, int, float], np.ndarray]
Rule = Callable[[np.ndarray], np.ndarray]


def _svm(C: float) -> SVC:
    return SVC(kernel="linear", C=C)


def _frugal(X: np.ndarray, y: np.ndarray, B: int, C: float) -> np.ndarray:
    problem = Problem(X, y, C=C, max_features=B)
    return solved(problem, "auto", None, effort="fast").selected


def eliminate(
    model: Any, X: np.ndarray, y: np.ndarray, B: int, **options: Any
) -> np.ndarray:
    """Recursive elimination, of many features a tenth at a time."""
    selector = RFE(model, n_features_to_select=B, step=0.1 if X.shape[1] > 100 else 1)
    return np.flatnonzero(selector.fit(X, y, **options).support_)


def select_forward(
    model: Any, X: np.ndarray, y: np.ndarray, B: int, **options: Any
) -> np.ndarray:
    """Forward selection by cross-validation."""
    if X.shape[1] <= B:
        return np.arange(X.shape[1])
    selector = SequentialFeatureSelector(model, n_features_to_select=B, **options)
    return np.flatnonzero(selector.fit(X, y).support_)


def select_k_best(X: np.ndarray, y: np.ndarray, B: int) -> np.ndarray:
    """The features that differ most between the classes, one by one."""
    k = min(B, X.shape[1])
    return SelectKBest(k=k).fit(X, y).get_support(indices=True)


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


def abess_features(
    X: np.ndarray, y: np.ndarray, B: int, weight: np.ndarray | None = None
) -> np.ndarray:
    """Best subset of a logistic regression; abess refuses constant features."""
    from abess import LogisticRegression as Abess

    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    model = Abess(support_size=[min(B, varying.size)])
    model.fit(X[:, varying], (y > 0).astype(int), sample_weight=weight)
    return varying[np.flatnonzero(np.ravel(model.coef_))]


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
    "RFE": lambda X, y, B, C: eliminate(_svm(C), X, y, B),
    "forward": lambda X, y, B, C: select_forward(_svm(C), X, y, B, cv=3),
    "SelectKBest": lambda X, y, B, C: select_k_best(X, y, B),
    "L1 LinearSVC": _l1_path(_l1_svm, "squared_hinge"),
    "L1 logistic": _l1_path(_l1_logistic, "log"),
    "abess": lambda X, y, B, C: abess_features(X, y, B),
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
