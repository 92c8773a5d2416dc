"""Selectors of features within a budget, of two classes or several.

All get the same training data, weights of samples and inner folds. The features of our
peers get weights afterwards, whose C is tuned by balanced accuracy as ours is.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.feature_selection import RFE, SelectKBest, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

from frugalsvm import FrugalSVCCV

REFIT_C = tuple(10.0 ** np.arange(-2.5, 1.6, 0.5))
# Values of C between which that of an l1 model is searched, and steps of bisection.
L1_C = (1e-4, 1e3)
L1_STEPS, L1_CLASS_STEPS = 30, 15
# Recursive elimination drops a tenth at a time above this number of features.
MANY_FEATURES = 100
OURS, FORWARD = "FrugalSVCCV", "forward"
# Kinds of weights of several classes.
HINGE, SQUARED, MULTINOMIAL = "hinge", "squared hinge", "multinomial"


class TrainingPart:
    """Training data, their weights and inner folds."""

    def __init__(
        self, X: np.ndarray, y: np.ndarray, budget: int, is_rare: bool, inner: int
    ):
        self.X, self.y, self.budget = X, y, min(budget, X.shape[1])
        self.class_weight = "balanced" if is_rare else None
        self.weight = compute_sample_weight(self.class_weight, y)
        self.inner = StratifiedKFold(inner, shuffle=True, random_state=1)

    def fitted(self, model: Any, support: np.ndarray | None = None) -> Any:
        """A model of scikit-learn on all features or some, with weights of samples."""
        X = self.X if support is None else self.X[:, support]
        return model.fit(X, self.y, sample_weight=self.weight)

    def tuned(self, support: np.ndarray, **options: Any) -> LinearSVC:
        """LinearSVC on some features, its C tuned by balanced accuracy."""
        params = {"sample_weight": self.weight}
        models = [
            LinearSVC(C=C, max_iter=20_000, random_state=0, **options) for C in REFIT_C
        ]
        means = [
            cross_val_score(
                model,
                self.X[:, support],
                self.y,
                cv=self.inner,
                scoring="balanced_accuracy",
                params=params,
            ).mean()
            for model in models
        ]
        return self.fitted(models[int(np.argmax(means))], support)


def frugal(part: TrainingPart) -> FrugalSVCCV:
    """Ours."""
    return FrugalSVCCV(
        [part.budget],
        cv=part.inner,
        effort="fast",
        class_weight=part.class_weight,
        scale=False,
        refit_C=REFIT_C,
        random_state=0,
    ).fit(part.X, part.y)


def _rfe(part: TrainingPart) -> np.ndarray:
    svm = LinearSVC(C=0.1, dual="auto", random_state=0)
    step = 0.1 if part.X.shape[1] > MANY_FEATURES else 1
    selector = RFE(svm, n_features_to_select=part.budget, step=step)
    return np.flatnonzero(part.fitted(selector).support_)


def _k_best(part: TrainingPart) -> np.ndarray:
    return SelectKBest(k=part.budget).fit(part.X, part.y).get_support(indices=True)


# --- two classes ----------------------------------------------------------------------


def _l1_svm(part: TrainingPart) -> np.ndarray:
    options: dict[str, Any] = {"penalty": "l1", "dual": False, "max_iter": 3000}
    return _l1_support(part, lambda C: LinearSVC(C=C, **options))


def _l1_logistic(part: TrainingPart) -> np.ndarray:
    options: dict[str, Any] = {"penalty": "l1", "solver": "liblinear"}
    return _l1_support(part, lambda C: LogisticRegression(C=C, **options))


def _l1_support(part: TrainingPart, model: Callable[[float], Any]) -> np.ndarray:
    """The support with most features that fits the budget, by bisection over C."""
    low, high = np.log(L1_C)
    best = np.empty(0, dtype=int)
    for _ in range(L1_STEPS):
        middle = 0.5 * (low + high)
        support = np.flatnonzero(part.fitted(model(np.exp(middle))).coef_[0])
        if support.size > part.budget:
            high = middle
            continue
        low, best = middle, max(best, support, key=len)
        if support.size == part.budget:
            break
    return best


def _forward(part: TrainingPart) -> np.ndarray:
    if part.budget == part.X.shape[1]:
        return np.arange(part.budget)
    svm = LinearSVC(C=0.1, class_weight=part.class_weight, dual="auto", random_state=0)
    selector = SequentialFeatureSelector(
        svm,
        n_features_to_select=part.budget,
        scoring="balanced_accuracy",
        cv=part.inner,
    ).fit(part.X, part.y)
    return np.flatnonzero(selector.support_)


def _abess(part: TrainingPart) -> np.ndarray:
    from abess import LogisticRegression as Abess

    # It refuses constant features.
    varying = np.flatnonzero(np.ptp(part.X, axis=0) > 0)
    model = Abess(support_size=[min(part.budget, varying.size)])
    model.fit(part.X[:, varying], (part.y > 0).astype(int), sample_weight=part.weight)
    return varying[np.flatnonzero(np.ravel(model.coef_))]


SELECTORS: dict[str, Callable[[TrainingPart], np.ndarray]] = {
    "L1 SVM": _l1_svm,
    "L1 logistic": _l1_logistic,
    "abess": _abess,
    "RFE": _rfe,
    "SelectKBest": _k_best,
    FORWARD: _forward,
}


def scores_of(peer: str, part: TrainingPart, X: np.ndarray) -> tuple[np.ndarray, int]:
    """Scores of samples by a peer's model of two classes, and its features."""
    if peer == OURS:
        model = frugal(part)
        return model.decision_function(X), model.get_support().sum()
    support = SELECTORS[peer](part)
    if support.size == 0:
        return np.ones(len(X)), 0
    tuned = part.tuned(support, loss="hinge")
    return tuned.decision_function(X[:, support]), support.size


# --- several classes ------------------------------------------------------------------

#: Features, and a function that predicts with weights of some kind, if there is one.
Selection = tuple[np.ndarray, Callable[[np.ndarray], np.ndarray] | None, str | None]


def _frugal_classes(part: TrainingPart) -> Selection:
    model = frugal(part)
    return model.get_support(indices=True), model.predict, HINGE


def _l1_classes(part: TrainingPart) -> Selection:
    """The features with the largest weights where an l1 penalty leaves enough."""
    low, high = np.log(L1_C)
    size = np.zeros(part.X.shape[1])
    for _ in range(L1_CLASS_STEPS):
        middle = 0.5 * (low + high)
        model = LinearSVC(
            penalty="l1", dual=False, C=np.exp(middle), max_iter=3000, random_state=0
        )
        largest = np.abs(part.fitted(model).coef_).max(axis=0)
        count = np.count_nonzero(largest)
        if count < part.budget:
            low = middle
            continue
        high, size = middle, largest
        if count == part.budget:
            break
    return np.sort(np.argsort(-size)[: part.budget]), None, None


def _abess_classes(part: TrainingPart) -> Selection:
    from abess import MultinomialRegression

    # It refuses constant features.
    varying = np.flatnonzero(np.ptp(part.X, axis=0) > 0)
    model = MultinomialRegression(support_size=[min(part.budget, varying.size)])
    model.fit(part.X[:, varying], part.y, sample_weight=part.weight)
    support = varying[np.flatnonzero(model.coef_.any(axis=1))]
    return support, lambda X: model.predict(X[:, varying]), MULTINOMIAL


CLASS_SELECTORS: dict[str, Callable[[TrainingPart], Selection]] = {
    OURS: _frugal_classes,
    "L1 SVM": _l1_classes,
    "RFE": lambda part: (_rfe(part), None, None),
    "SelectKBest": lambda part: (_k_best(part), None, None),
    "abess": _abess_classes,
}
if not find_spec("abess"):
    del SELECTORS["abess"], CLASS_SELECTORS["abess"]
