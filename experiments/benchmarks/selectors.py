"""Selectors: features within a budget, of two classes or several.

Selectors of two classes get the hinge loss, its C tuned by balanced accuracy, as ours.
Those of several say which weights they have besides, if any.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.feature_selection import (
    RFE,
    SelectKBest,
    SequentialFeatureSelector,
    f_classif,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

from frugalsvm import FrugalSVCCV

REFIT_C = tuple(10.0 ** np.arange(-2.5, 1.6, 0.5))
# Values of C between which that of an l1 model with at most B features is searched.
L1_C = (1e-4, 1e3)
L1_STEPS, L1_CLASS_STEPS = 30, 15
OURS, FORWARD = "FrugalSVCCV", "forward"
# Kinds of weights of several classes.
HINGE, SQUARED, MULTINOMIAL = "hinge", "squared hinge", "multinomial"
# Inner folds of several classes.
INNER = 3

#: A classifier on some features, and these features.
Chosen = tuple[Any, np.ndarray]
#: Features, and a function that predicts with weights of some kind, if there is one.
Selection = tuple[np.ndarray, Callable[[np.ndarray], np.ndarray] | None, str | None]


# --- two classes ----------------------------------------------------------------------


class _Linear:
    """Weights and an intercept, as a classifier."""

    def __init__(self, coef: np.ndarray, intercept: float):
        self.coef, self.intercept = coef, intercept

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Scores, as those of scikit-learn."""
        return X @ self.coef + self.intercept


def _refit(
    X: np.ndarray, y: np.ndarray, support: np.ndarray, weight: str | None, inner: Any
) -> Chosen:
    """A linear SVM on some features, its C tuned by balanced accuracy."""
    if support.size == 0:
        return _Linear(np.empty(0), 1.0), support
    part = X[:, support]
    models = [
        LinearSVC(C=C, loss="hinge", class_weight=weight, max_iter=20_000)
        for C in REFIT_C
    ]
    means = [
        cross_val_score(model, part, y, cv=inner, scoring="balanced_accuracy").mean()
        for model in models
    ]
    return models[int(np.argmax(means))].fit(part, y), support


def _frugal(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    model = FrugalSVCCV(
        [budget],
        cv=inner,
        effort="fast",
        class_weight=weight,
        scale=False,
        refit_C=REFIT_C,
        random_state=0,
    ).fit(X, y)
    support = model.get_support(indices=True)
    return _Linear(model.coef_[0, support], model.intercept_[0]), support


def _l1_svm(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    def coefs(C: float) -> np.ndarray:
        model = LinearSVC(
            penalty="l1", dual=False, C=C, class_weight=weight, max_iter=3000
        )
        return model.fit(X, y).coef_[0]

    return _refit(X, y, _l1_support(coefs, budget), weight, inner)


def _l1_logistic(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    def coefs(C: float) -> np.ndarray:
        model = LogisticRegression(
            penalty="l1", solver="liblinear", C=C, class_weight=weight
        )
        return model.fit(X, y).coef_[0]

    return _refit(X, y, _l1_support(coefs, budget), weight, inner)


def _l1_support(coefs: Callable[[float], np.ndarray], budget: int) -> np.ndarray:
    """The support with most features that fits the budget, by bisection over C."""
    low, high = np.log(L1_C)
    best = np.empty(0, dtype=int)
    for _ in range(L1_STEPS):
        middle = 0.5 * (low + high)
        support = np.flatnonzero(coefs(np.exp(middle)))
        if support.size > budget:
            high = middle
            continue
        low, best = middle, max(best, support, key=len)
        if support.size == budget:
            break
    return best


def _rfe(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    svm = LinearSVC(C=0.1, class_weight=weight, dual="auto")
    step = 0.1 if X.shape[1] > 100 else 1
    selector = RFE(svm, n_features_to_select=budget, step=step).fit(X, y)
    return _refit(X, y, np.flatnonzero(selector.support_), weight, inner)


def _k_best(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    selector = SelectKBest(f_classif, k=min(budget, X.shape[1])).fit(X, y)
    return _refit(X, y, selector.get_support(indices=True), weight, inner)


def _forward(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    if budget >= X.shape[1]:
        return _refit(X, y, np.arange(X.shape[1]), weight, inner)
    svm = LinearSVC(C=0.1, class_weight=weight, dual="auto")
    selector = SequentialFeatureSelector(
        svm, n_features_to_select=budget, scoring="balanced_accuracy", cv=inner
    ).fit(X, y)
    return _refit(X, y, np.flatnonzero(selector.support_), weight, inner)


def _abess(
    X: np.ndarray, y: np.ndarray, budget: int, weight: str | None, inner: Any
) -> Chosen:
    from abess import LogisticRegression as Abess

    # It refuses constant features.
    varying = np.flatnonzero(np.ptp(X, axis=0) > 0)
    each = np.ones(len(y))
    if weight:
        each = np.where(y > 0, 0.5 / (y > 0).mean(), 0.5 / (y < 0).mean())
    model = Abess(support_size=[min(budget, varying.size)]).fit(
        X[:, varying], (y > 0).astype(int), sample_weight=each
    )
    return _refit(X, y, varying[np.flatnonzero(np.ravel(model.coef_))], weight, inner)


FORWARD_NAME = "forward"


PEERS = {
    OURS: _frugal,
    "L1 SVM": _l1_svm,
    "L1 logistic": _l1_logistic,
    "abess": _abess,
    "RFE": _rfe,
    "SelectKBest": _k_best,
    FORWARD: _forward,
}


# --- several classes ------------------------------------------------------------------


class TrainingPart:
    """Training data, their weights and inner folds."""

    def __init__(self, X: np.ndarray, y: np.ndarray, budget: int, is_rare: bool):
        self.X, self.y, self.budget = X, y, min(budget, X.shape[1])
        self.class_weight = "balanced" if is_rare else None
        self.weight = compute_sample_weight(self.class_weight, y)
        self.inner = StratifiedKFold(INNER, shuffle=True, random_state=1)


def _frugal_classes(part: TrainingPart) -> Selection:
    model = FrugalSVCCV(
        [part.budget],
        cv=part.inner,
        effort="fast",
        class_weight=part.class_weight,
        scale=False,
        refit_C=REFIT_C,
        random_state=0,
    ).fit(part.X, part.y)
    return model.get_support(indices=True), model.predict, HINGE


def _l1_classes(part: TrainingPart) -> Selection:
    """The features with the largest weights where an l1 penalty leaves enough."""
    low, high = np.log(L1_C)
    size = np.zeros(part.X.shape[1])
    for _ in range(L1_CLASS_STEPS):
        middle = 0.5 * (low + high)
        model = LinearSVC(
            penalty="l1", dual=False, C=np.exp(middle), max_iter=3000, random_state=0
        ).fit(part.X, part.y, sample_weight=part.weight)
        largest = np.abs(model.coef_).max(axis=0)
        count = np.count_nonzero(largest)
        if count < part.budget:
            low = middle
            continue
        high, size = middle, largest
        if count == part.budget:
            break
    return np.sort(np.argsort(-size)[: part.budget]), None, None


def _rfe_classes(part: TrainingPart) -> Selection:
    svm = LinearSVC(C=0.1, dual="auto", random_state=0)
    step = 0.1 if part.X.shape[1] > 100 else 1
    selector = RFE(svm, n_features_to_select=part.budget, step=step)
    selector.fit(part.X, part.y, sample_weight=part.weight)
    return np.flatnonzero(selector.support_), None, None


def _k_best_classes(part: TrainingPart) -> Selection:
    selector = SelectKBest(f_classif, k=part.budget).fit(part.X, part.y)
    return selector.get_support(indices=True), None, None


def _abess_classes(part: TrainingPart) -> Selection:
    from abess import MultinomialRegression

    # It refuses constant features.
    varying = np.flatnonzero(np.ptp(part.X, axis=0) > 0)
    model = MultinomialRegression(support_size=[min(part.budget, varying.size)])
    model.fit(part.X[:, varying], part.y, sample_weight=part.weight)
    support = varying[np.flatnonzero(model.coef_.any(axis=1))]
    return support, lambda X: model.predict(X[:, varying]), MULTINOMIAL


CLASS_PEERS = {
    OURS: _frugal_classes,
    "L1 SVM": _l1_classes,
    "RFE": _rfe_classes,
    "SelectKBest": _k_best_classes,
    "abess": _abess_classes,
}
if not find_spec("abess"):
    del PEERS["abess"], CLASS_PEERS["abess"]
