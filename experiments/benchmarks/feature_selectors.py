"""Selectors of features within a budget, of two classes or several.

All get the same training data, weights of samples and inner folds. The features of our
peers get weights afterwards, whose C is tuned by balanced accuracy as ours is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.class_weight import compute_sample_weight

from frugalsvm import FrugalSVCCV

from ..tasks.selection import abess_features, eliminate, select_forward, select_k_best

REFIT_C = tuple(10.0 ** np.arange(-2.5, 1.6, 0.5))
# Values of C between which that of an l1 model is searched.
L1_C = (1e-4, 1e3)
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


def outer_parts(
    X: np.ndarray,
    y: np.ndarray,
    B: int,
    *,
    folds: int,
    inner: int,
    repeats: int,
    is_rare: bool,
    most: int | None = None,
) -> Iterator[tuple[dict[str, Any], TrainingPart, np.ndarray, np.ndarray]]:
    """Sizes of each fold, its training part of at most so many samples, its test part.

    Both parts are scaled by the former.
    """
    for repeat in range(repeats):
        outer = StratifiedKFold(folds, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(outer.split(X, y)):
            if most is not None and train.size > most:
                train = train_test_split(
                    train, train_size=most, stratify=y[train], random_state=0
                )[0]
            scaler = StandardScaler().fit(X[train])
            part = TrainingPart(scaler.transform(X[train]), y[train], B, is_rare, inner)
            sizes = {
                "m": y.size,
                "n": X.shape[1],
                "trained": train.size,
                "part": f"{repeat} {fold}",
                "ratio": test.size / train.size,
            }
            yield sizes, part, scaler.transform(X[test]), y[test]


def bisect(
    weights: Callable[[float], np.ndarray],
    budget: int,
    low: float,
    high: float,
    steps: int,
) -> Iterator[np.ndarray]:
    """Weights of l1 models by bisection over C, until the budget is met."""
    for _ in range(steps):
        middle = float(np.sqrt(low * high))
        values = weights(middle)
        yield values
        count = np.count_nonzero(values)
        if count == budget:
            break
        low, high = (low, middle) if count > budget else (middle, high)


def _rfe(part: TrainingPart) -> np.ndarray:
    svm = LinearSVC(C=0.1, dual="auto", random_state=0)
    return eliminate(svm, part.X, part.y, part.budget, sample_weight=part.weight)


def _k_best(part: TrainingPart) -> np.ndarray:
    return select_k_best(part.X, part.y, part.budget)


# --- two classes ----------------------------------------------------------------------


def _l1_svm(part: TrainingPart) -> np.ndarray:
    options: dict[str, Any] = {"penalty": "l1", "dual": False, "max_iter": 3000}
    return _l1_support(part, lambda C: LinearSVC(C=C, **options))


def _l1_logistic(part: TrainingPart) -> np.ndarray:
    options: dict[str, Any] = {"penalty": "l1", "solver": "liblinear"}
    return _l1_support(part, lambda C: LogisticRegression(C=C, **options))


def _l1_support(part: TrainingPart, model: Callable[[float], Any]) -> np.ndarray:
    """The support with most features that fits the budget."""
    path = bisect(lambda C: part.fitted(model(C)).coef_[0], part.budget, *L1_C, 30)
    supports = map(np.flatnonzero, path)
    small = (support for support in supports if support.size <= part.budget)
    return max(small, key=len, default=np.empty(0, dtype=int))


def _forward(part: TrainingPart) -> np.ndarray:
    svm = LinearSVC(C=0.1, class_weight=part.class_weight, dual="auto", random_state=0)
    options = {"scoring": "balanced_accuracy", "cv": part.inner}
    return select_forward(svm, part.X, part.y, part.budget, **options)


SELECTORS: dict[str, Callable[[TrainingPart], np.ndarray]] = {
    "L1 SVM": _l1_svm,
    "L1 logistic": _l1_logistic,
    "abess": lambda part: abess_features(part.X, part.y, part.budget, part.weight),
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
    options = {"penalty": "l1", "dual": False, "max_iter": 3000, "random_state": 0}

    def weights(C: float) -> np.ndarray:
        return np.abs(part.fitted(LinearSVC(C=C, **options)).coef_).max(axis=0)

    size = np.zeros(part.X.shape[1])
    for values in bisect(weights, part.budget, *L1_C, 15):
        if np.count_nonzero(values) >= part.budget:
            size = values
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
