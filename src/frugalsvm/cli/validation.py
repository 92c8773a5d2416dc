"""Cross-validation: predictions for held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..estimators import (
    ChoiceCallback,
    FoldJob,
    Linear,
    possible_folds,
    run_folds,
    stratified_splits,
    svm_on,
)
from ..export import Sigmoid, fit_sigmoid
from ..problem import Problem
from ..run import Shared
from ..solving import run_or_raise
from ..tables import Preparation
from .choosing import MOST_SAMPLES, choose
from .panel import Panel
from .session import Deadline
from .study import Conditions, PreparedTable, Search

# Inner folds of the training rows, from which probabilities are learned, and with which
# budget and C are chosen in the folds of large tables, or with little effort.
INNER_FOLDS = 3
NEVER = Deadline()


@dataclass(frozen=True)
class Validation:
    """Predictions for held-out rows.

    Attributes
    ----------
    folds : ndarray of int
        The fold of each row; -1 for rows of folds that were left out.
    scores : ndarray
    probabilities : ndarray or None
    selected : tuple of frozensets of str
        The features of each fold's model.
    chosen : tuple of (budget, C)
        Of each fold.
    n_late : int
        Number of folds in which the time limit ended the choice.
    n_planned : int
        Number of folds, including those that the time limit has left out.
    """

    folds: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    selected: tuple[frozenset[str], ...]
    chosen: tuple[tuple[int | None, float], ...]
    n_late: int = 0
    n_planned: int = 0

    @property
    def held_out(self) -> np.ndarray:
        """Mask of the rows that have a score."""
        return self.folds >= 0

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.selected)

    def times_selected(self, feature: str) -> int:
        """Number of folds in which a feature was selected."""
        return sum(feature in features for features in self.selected)

    def calibration(self, positive: np.ndarray) -> Sigmoid:
        """The calibration of scores, learned from the scores of held-out rows."""
        rows = self.held_out
        return fit_sigmoid(self.scores[rows], positive[rows])


@dataclass(frozen=True)
class TableFold:
    """A fold of a table, with a preparation learned from its training rows.

    Attributes
    ----------
    data : PreparedTable
    preparation : Preparation
    train, test : ndarray of int
    """

    data: PreparedTable
    preparation: Preparation
    train: np.ndarray
    test: np.ndarray

    @classmethod
    def of(cls, data: PreparedTable, job: FoldJob) -> TableFold:
        """Learn from the training rows."""
        return cls(data, data.prepare(job.train), job.train, job.test)

    @property
    def signs(self) -> np.ndarray:
        """Labels of the training rows."""
        return self.data.target.signs[self.train]

    def problem(self, conditions: Conditions) -> Problem:
        """The problem of the training rows, standardised."""
        X = self.preparation.transform(self.data.table, self.train)
        return conditions.problem(self.preparation, X, self.signs)

    def scores(self, model: Linear) -> np.ndarray:
        """Scores of the held-out rows."""
        columns = np.flatnonzero(model.coef)
        return model.scores_of(self.features(self.test, columns), columns)

    def features(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Some of the standardised features; only these are prepared."""
        restricted = self.preparation.restricted(columns.tolist())
        index = {name: k for k, name in enumerate(restricted.features)}
        names = self.preparation.features
        order = [index[names[j]] for j in columns]
        return restricted.transform(self.data.table, rows)[:, order]


def scores_of_all(
    data: PreparedTable, preparation: Preparation, model: Linear
) -> np.ndarray:
    """Scores of all rows by a model that was fitted to them."""
    columns = np.flatnonzero(model.coef)
    return model.scores_of(features_of_all(data, preparation, columns), columns)


def features_of_all(
    data: PreparedTable, preparation: Preparation, columns: np.ndarray
) -> np.ndarray:
    """Some of the standardised features of all rows."""
    rows = np.arange(data.n_rows)
    return TableFold(data, preparation, rows, rows).features(rows, columns)


def fold_jobs(
    data: PreparedTable,
    folds: int,
    seed: int,
    on_fold: Callable[[int, int], None] = lambda k, n: None,
) -> Iterator[FoldJob]:
    """The folds of a table; ``on_fold`` is called before each of them."""
    splits = stratified_splits(data.target.positive, folds, seed)
    for k, (train, test) in enumerate(splits):
        on_fold(k + 1, folds)
        yield FoldJob(k, train, test, np.random.SeedSequence([seed, k]))


def cross_validate(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    folds: int,
    *,
    on_fold: Callable[[int, int], None] = lambda k, n: None,
    on_step: ChoiceCallback | None = None,
    probabilities: bool = False,
    deadline: Deadline = NEVER,
) -> Validation | None:
    """Repeat all steps in every fold, and score the held-out rows.

    ``on_fold`` is called before each fold, ``on_step`` after each step of the choice
    inside it.

    The searches use the effort of the fit, but prove nothing, and together do as much
    work as that of the fit. The deadline is for all folds together, with the choices
    inside them: each gets an equal share of the time left, and those that have not
    begun by then are left out. None if fewer than two are done.
    """
    work = FoldFit(conditions, search, folds, probabilities, deadline, on_step)
    jobs = fold_jobs(data, folds, search.seed, on_fold)
    done = [fold for fold in run_folds(work, data, jobs) if fold is not None]
    if len(done) < min(folds, 2):
        return None
    numbers = np.full(data.n_rows, -1)
    scores = np.zeros(data.n_rows)
    chances = np.zeros(data.n_rows) if probabilities else None
    for k, fold in enumerate(done):
        numbers[fold.rows] = k
        scores[fold.rows] = fold.scores
        if chances is not None:
            chances[fold.rows] = fold.probabilities
    return Validation(
        numbers,
        scores,
        chances,
        tuple(fold.selected for fold in done),
        tuple((fold.conditions.budget, fold.conditions.chosen_C) for fold in done),
        sum(fold.was_late for fold in done),
        folds,
    )


class HeldOut(NamedTuple):
    """Predictions of one fold for its held-out rows, and the features of its model.

    Attributes
    ----------
    rows : ndarray of int
    scores : ndarray
    probabilities : ndarray or None
    selected : frozenset of str
        The features of the model.
    conditions : Conditions
        With the budget and the C that were chosen.
    was_late : bool
        Whether the time limit ended the choice.
    """

    rows: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray | None
    selected: frozenset[str]
    conditions: Conditions
    was_late: bool = False


@dataclass(frozen=True)
class FoldFit:
    """The steps of a fit in one fold: choose, prepare, fit, predict.

    Attributes
    ----------
    conditions : Conditions
    search : Search
    folds : int
        Number of folds, also of the choice of budget and C if they are open.
    probabilities : bool
    deadline : Deadline
        Of all folds together.
    on_step : callable or None
        Called after each step of a choice.
    """

    conditions: Conditions
    search: Search
    folds: int
    probabilities: bool
    deadline: Deadline
    on_step: ChoiceCallback | None = None

    def run(self, data: Shared[PreparedTable], job: FoldJob) -> HeldOut | None:
        """One fold; None if there is no time, KeyboardInterrupt if it is interrupted.

        In large tables, and with little effort, the choice inside it has fewer folds
        than that of the fit.
        """
        if self.deadline.is_over:
            return None
        limit, was_late = self.deadline.part(1.0 / (self.folds - job.number)), False
        conditions, search = self.conditions, replace(self.search, time_limit=limit)
        if conditions.is_open:
            inner = inner_folds(search, self.folds, job.train.size)
            choice = choose(
                data.value, conditions, search, inner, job.train, callback=self.on_step
            )
            if choice.comparison.was_interrupted:
                raise KeyboardInterrupt
            conditions, limit = choice.conditions, choice.time_left
            was_late = choice.comparison.was_late
        fold = TableFold.of(data.value, job)
        options = replace(
            search.options,
            method="swap",
            proof=False,
            time_limit=limit,
            search_share=1.0 / self.folds,
        )
        problem = fold.problem(conditions)
        result = run_or_raise(problem, options)
        scores = fold.scores(Linear.of(conditions.refitted(problem, result)))
        chances = None
        if self.probabilities:
            columns = result.selected_columns
            sigmoid = _inner_sigmoid(fold, conditions, columns, search.seed)
            chances = sigmoid.probability(scores)
        names = conditions.names(fold.preparation)
        selected = frozenset(names[j] for j in result.selected)
        return HeldOut(job.test, scores, chances, selected, conditions, was_late)


def inner_folds(search: Search, folds: int, n_rows: int) -> int:
    """Number of folds of a choice inside a fold of a cross-validation."""
    is_reduced = search.effort == "fast" or n_rows > MOST_SAMPLES * folds
    return min(folds, INNER_FOLDS) if is_reduced else folds


def _inner_sigmoid(
    fold: TableFold, conditions: Conditions, columns: np.ndarray, seed: int
) -> Sigmoid:
    """Probabilities for scores, learned from the training rows alone.

    The features stay the same. In each inner fold, their weights are learned from a
    part of the rows, and score the others.
    """
    X, signs = fold.features(fold.train, columns), fold.signs
    scores = np.zeros(signs.size)
    n_folds = possible_folds(signs, INNER_FOLDS)
    if columns.size > 0 and n_folds > 0:
        splits = stratified_splits(signs, n_folds, seed)
        jobs = (FoldJob(k, *split) for k, split in enumerate(splits))
        limits = conditions.signs_of(fold.preparation)
        work = InnerFit(conditions, None if limits is None else limits[columns])
        for rows, scores_of_rows in run_folds(work, (X, signs), jobs):
            scores[rows] = scores_of_rows
    return fit_sigmoid(scores, signs > 0)


@dataclass(frozen=True)
class InnerFit:
    """The SVM of one inner fold on given features.

    Attributes
    ----------
    conditions : Conditions
        With the C and the class weights.
    limits : ndarray or None
        Signs of the weights of these features.
    """

    conditions: Conditions
    limits: np.ndarray | None = None

    def run(
        self, data: Shared[tuple[np.ndarray, np.ndarray]], job: FoldJob
    ) -> tuple[np.ndarray, np.ndarray]:
        """The held-out rows and their scores."""
        X, signs = data.value
        problem = Problem(
            X[job.train],
            signs[job.train],
            C=self.conditions.weights_C,
            sample_weight=self.conditions.weights_of(signs[job.train]),
            signs=self.limits,
        )
        model = svm_on(problem, np.arange(X.shape[1]))
        return job.test, model.scores(X[job.test])


# --- Progress after the fit -----------------------------------------------------------


@dataclass
class Stages:
    """Progress of the cross-validation and the report, with estimates of their time.

    Attributes
    ----------
    panel : Panel
    deadline : Deadline
    fit_seconds : float
        Duration of the fit; the sections of the report are made to take no longer.
    folds_seconds : float
        Estimated duration of all folds.
    """

    panel: Panel
    deadline: Deadline
    fit_seconds: float
    folds_seconds: float
    _begun: float = 0.0

    def fold(self, k: int, n: int) -> None:
        """Begin a fold; each of the next ones should take as long as those before."""
        if self.deadline.is_over:
            return
        now, seconds = self.deadline.clock(), self.folds_seconds
        if k == 1:
            self._begun = now
        else:
            seconds = (now - self._begun) / (k - 1) * (n - k + 1)
        self.phase(f"cross-validating: fold {k} of {n}", seconds)

    def part_of_report(self, title: str) -> None:
        """Begin a section of the report."""
        self.phase(title, self.fit_seconds / 2)

    def phase(self, title: str, seconds: float) -> None:
        """Begin a stage that takes about some seconds, or the time that is left."""
        limit = self.deadline.seconds_left
        self.panel.phase(title, seconds if limit is None else min(seconds, limit))
