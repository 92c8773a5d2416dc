"""Cross-validation: predictions for held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..api.estimators.cross_validation import svm_on
from ..driver.solving import run_or_raise
from ..output.portable.calibration import Sigmoid, fit_sigmoid
from ..problem.problem import Problem
from ..tables import (
    Preparation,
    Table,
    Target,
)
from .study import Conditions, PreparedTable, Search, choose, splitter

# Inner folds of the training rows, from which probabilities are learned.
INNER_FOLDS = 3


@dataclass(frozen=True)
class Validation:
    """Predictions for held-out rows.

    Attributes
    ----------
    folds : ndarray of int
        The fold of each row.
    scores : ndarray
    probabilities : ndarray or None
    selected : tuple of frozensets of str
        The features of each fold's model.
    chosen : tuple of (budget, C)
        Of each fold.
    """

    folds: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    selected: tuple[frozenset[str], ...]
    chosen: tuple[tuple[int | None, float], ...]

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.selected)

    def times_selected(self, feature: str) -> int:
        """In how many folds a feature was selected."""
        return sum(feature in one for one in self.selected)

    def calibration(self, positive: np.ndarray) -> Sigmoid:
        """The calibration of scores, learned from the scores of held-out rows."""
        return fit_sigmoid(self.scores, positive)


def possible_folds(target: Target, folds: int) -> int:
    """The number of folds that the rarer class allows; 0 if it allows none."""
    most = min(folds, *target.counts)
    return most if most >= 2 else 0


def cross_validate(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    folds: int,
    *,
    on_fold: Callable[[int, int], None] = lambda k, n: None,
    probabilities: bool = False,
) -> Validation:
    """Repeat all steps in every fold, and score the held-out rows.

    The searches use the effort of the fit, but prove nothing.
    """
    if search.time_limit is not None:
        search = replace(search, time_limit=search.time_limit / folds)
    numbers = np.full(data.n_rows, -1)
    scores = np.zeros(data.n_rows)
    chances = np.zeros(data.n_rows) if probabilities else None
    selected, chosen = [], []
    for k, (train, test) in enumerate(splits(data.target, folds, search.seed)):
        on_fold(k + 1, folds)
        own = conditions
        if own.is_open:
            own, _ = choose(data, own, search, folds, train)
        preparation = data.prepare(train)
        model = _fold_model(data, own, search, preparation, train)
        numbers[test] = k
        scores[test] = _scores(preparation, data.table, test, *model)
        if chances is not None:
            sigmoid = _inner_sigmoid(data, own, preparation, train, model[0], search)
            chances[test] = sigmoid.probability(scores[test])
        names = preparation.features
        selected.append(frozenset(names[j] for j in np.flatnonzero(model[0])))
        chosen.append((own.budget, own.loss))
    return Validation(numbers, scores, chances, tuple(selected), tuple(chosen))


def _fold_model(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    preparation: Preparation,
    train: np.ndarray,
) -> tuple[np.ndarray, float]:
    X = preparation.transform(data.table, train)
    problem = conditions.problem(preparation, X, data.target.signs[train])
    options = replace(search.options, method="swap", proof=False)
    result = run_or_raise(problem, options)
    return result.coef, result.intercept


def _scores(
    preparation: Preparation,
    table: Table,
    rows: np.ndarray,
    coef: np.ndarray,
    intercept: float,
) -> np.ndarray:
    used = np.flatnonzero(coef)
    return _features(preparation, table, rows, used) @ coef[used] + intercept


def _features(
    preparation: Preparation, table: Table, rows: np.ndarray, used: np.ndarray
) -> np.ndarray:
    """Some of the standardised features; only their columns are prepared."""
    small = preparation.restricted(used.tolist())
    place = {name: k for k, name in enumerate(small.features)}
    chosen = [place[preparation.features[j]] for j in used]
    return small.transform(table, rows)[:, chosen]


def _inner_sigmoid(
    data: PreparedTable,
    conditions: Conditions,
    preparation: Preparation,
    train: np.ndarray,
    coef: np.ndarray,
    search: Search,
) -> Sigmoid:
    """Probabilities for scores, learned from the training rows alone.

    The features stay the same. In each inner fold, their weights are learned from some
    of the rows, and score the others.
    """
    used = np.flatnonzero(coef)
    X = _features(preparation, data.table, train, used)
    positive = data.target.positive[train]
    signs = np.where(positive, 1.0, -1.0)
    scores = np.zeros(train.size)
    n_folds = min(INNER_FOLDS, int(positive.sum()), int((~positive).sum()))
    if used.size == 0 or n_folds < 2:
        return fit_sigmoid(scores, positive)
    for part, rest in splitter(positive, n_folds, search.seed).split(X, positive):
        problem = Problem(X[part], signs[part], C=conditions.loss)
        model = svm_on(problem, np.arange(used.size))
        scores[rest] = X[rest] @ model.coef + model.intercept
    return fit_sigmoid(scores, positive)


def splits(
    target: Target, folds: int, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Training and test rows of all folds."""
    folding = splitter(target.positive, folds, seed)
    yield from folding.split(np.zeros((target.positive.size, 1)), target.positive)
