"""The fit of all rows, and the choice of budget and C by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..estimators import (
    DEFAULT_RULE,
    SHARE_OF_FOLDS,
    STEADY,
    BalancedAccuracy,
    Choice,
    ChoiceCallback,
    FinalFit,
    FoldJob,
    GridWork,
    Linear,
    ProblemMaker,
    Samples,
    ScoredPath,
    Watch,
    WatchedFolds,
    budgets_of,
    finished_cells,
    fold_seeds,
    possible_folds,
    stratified_splits,
    watched_folds,
    weights_of,
)
from ..export import Sigmoid
from ..problem import rounded
from ..report import ErrorCosts
from ..run import Callback, Hold, Shared
from ..solving import Result, SolveOptions, Status, run_interruptible, sign_of
from ..tables import Preparation, TableError
from .study import AUTO, Conditions, PreparedTable, Search

# The gap at which the fit of all rows is finished.
GAP_TOL = SolveOptions().gap_tol
# The share of the time left by the folds in which all rows are fitted with each budget
# and C that was compared; the rest is for the search and the proof.
SHARE_OF_PATH = 0.5
# Folds are searched side by side if their data together take at most this many bytes;
# fewer than in Python, since the table needs memory, too.
MOST_BYTES = 2**28
# Samples on which budgets and C are compared in each fold; more would hardly change
# the choice. Models are scored on all held-out rows.
MOST_SAMPLES = 2000


class FinalChoice(NamedTuple):
    """Budget and C that were chosen, and how.

    Attributes
    ----------
    conditions : Conditions
        With the budget and the C that were chosen.
    path : ScoredPath
        Scores, and objectives on all rows.
    support : ndarray of int
        The features selected with them, from which the search goes on.
    compared : tuple of int
        The budgets that were compared in all folds.
    n_shortened : int
        Those of them whose search the time limit cut short.
    left_out : str
        A sentence on what the effort leaves out of a choice; empty if nothing.
    was_late, was_interrupted : bool
        Whether the time limit, or Ctrl-C, ended the comparison.
    seconds : float
        Duration of the comparison.
    time_left : float or None
        Of the time limit, in seconds.
    """

    conditions: Conditions
    path: ScoredPath
    support: np.ndarray
    compared: tuple[int, ...]
    n_shortened: int
    left_out: str
    was_late: bool
    was_interrupted: bool
    seconds: float
    time_left: float | None

    @property
    def n_candidates(self) -> int:
        """Budgets that were to be compared."""
        return int(self.path.objectives.size)

    @property
    def remark(self) -> str:
        """A sentence on a comparison that ended early; empty if it did not."""
        n_compared = len(self.compared)
        short = ""
        if self.n_shortened:
            short = f"{self.n_shortened} of {n_compared} searches were cut short"
        if n_compared == self.n_candidates:
            return short and f"--time-limit shared the time of the choice: {short}"
        ended = "--time-limit" if self.was_late else "Ctrl-C"
        return (
            f"{ended} ended the choice: {n_compared} of {self.n_candidates} "
            "feature limits were compared in all folds "
            f"({_listed_numbers(self.compared)}), and the best of them was taken"
            + (short and f"; {short}")
        )


def choose(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    folds: int,
    rows: np.ndarray | None = None,
    hold: Hold | None = None,
    callback: ChoiceCallback | None = None,
    on_plan: Callable[[str], None] = lambda text: None,
) -> GridChoice:
    """Choose budget and C on some rows by cross-validation inside them.

    ``on_plan`` gets sentences on what is going to be compared, and what is left out;
    ``callback`` is called after every step.

    A time limit, and Ctrl-C, end it with the best of those that were compared in all
    folds. The time limit is that of the whole fit, and the folds may use a part of it.
    The hold begins when they have been searched.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, if nothing was compared in all folds.
    """
    preparation = data.prepare(rows)
    X = preparation.transform(data.table, rows)
    rows = np.arange(data.n_rows) if rows is None else rows
    positive = data.target.positive[rows]
    possible = possible_folds(positive, max(2, folds))
    if possible == 0:
        rarer = min(int(positive.sum()), int((~positive).sum()))
        raise TableError(
            f"the rarer class has only {rarer} row{'s' * (rarer != 1)}, but choosing "
            "the feature limit and C needs at least 2; give both "
            "(--max-features 5 --C 1)."
        )
    samples = Samples(X, X, positive, np.where(positive, 1.0, -1.0), np.ones(rows.size))
    splits = stratified_splits(positive, possible, search.seed)
    work = _grid_work(conditions, search, preparation)
    seeds = fold_seeds(search.seed)
    jobs = (
        FoldJob(
            k,
            train,
            test,
            seeds.spawn(1)[0],
            conditions.weights_of(samples.signs[train]),
        )
        for k, (train, test) in enumerate(splits)
    )
    limit = search.time_limit
    limit = None if limit is None else SHARE_OF_FOLDS * limit
    on_plan(_plan_text(work, possible, rows.size - rows.size // possible))
    omission = omission_text(work, conditions)
    if omission:
        on_plan(omission)
    comparison = watched_folds(
        work,
        samples,
        jobs,
        possible,
        Watch(limit, callback),
        search.n_jobs,
        preparation=TableFolds(data, preparation, rows),
        most_bytes=MOST_BYTES,
        hold=hold,
    )
    choice = Choice.of(comparison.folds, DEFAULT_RULE)
    return GridChoice(conditions, search, work, samples, comparison, choice, seeds)


def _grid_work(
    conditions: Conditions, search: Search, preparation: Preparation
) -> GridWork:
    """The work of every fold of a choice."""
    constraints = conditions.constraints(preparation)
    n_included = len(set(constraints["include"]))
    n = len(conditions.names(preparation))
    budgets: list[int] | str = AUTO
    if conditions.max_features != AUTO:
        budget = conditions.budget
        budgets = [n if budget is None else budget]
    pace = search.pace
    if conditions.C == AUTO:
        weights = weights_of(AUTO, AUTO, auto_refit=pace.refit_C)
    else:
        # A fixed C both selects the features and gives their weights.
        weights = weights_of([conditions.C], "same")
    return GridWork(
        budgets_of(budgets, n, n_included, pace.budgets),
        *weights,
        search.choosing_effort,
        ProblemMaker(constraints, scale=True),
        BalancedAccuracy(),
        most_samples=MOST_SAMPLES,
        pace=pace,
    )


def _plan_text(work: GridWork, folds: int, n_rows: int) -> str:
    """A sentence on what is going to be compared."""
    limits = _listed_numbers(work.budgets.tolist())
    text = f"comparing feature limit{'s' * (work.budgets.size > 1)} {limits}"
    if work.n_refit > 1:
        text += f", each with {work.n_refit} C,"
    text += f" in {folds} folds"
    most = work.most_samples
    if most is not None and n_rows > most:
        text += f", trained on {most:,} of about {n_rows:,} rows each"
    return text


def omission_text(work: GridWork, conditions: Conditions) -> str:
    """A sentence on what the effort leaves out of a choice; empty if nothing."""
    if work.pace is STEADY:
        return ""
    parts = []
    if conditions.max_features == AUTO:
        least, most = work.budgets[0], work.budgets[-1]
        missing = [
            budget
            for budget in STEADY.budgets
            if least < budget < most and budget not in work.budgets
        ]
        if missing:
            parts.append(f"feature limits {_listed_numbers(missing)}")
    if work.refit_weights is not None:
        n_all = len(STEADY.refit_C)
        parts.append(f"{n_all - work.n_refit} of {n_all} C")
    parts.append("most of the search with each limit")
    return f"--effort fast leaves out: {'; '.join(parts)}; --effort normal has them"


def _listed_numbers(values: Iterable[int]) -> str:
    return ", ".join(f"{value:,}" for value in values)


@dataclass(frozen=True)
class GridChoice:
    """Budget and C, chosen by cross-validation.

    Attributes
    ----------
    request : Conditions
        With budget or C to be chosen.
    search : Search
    work : GridWork
    samples : Samples
    comparison : WatchedFolds
    choice : Choice
    seeds : SeedSequence
    """

    request: Conditions
    search: Search
    work: GridWork
    samples: Samples
    comparison: WatchedFolds
    choice: Choice
    seeds: np.random.SeedSequence

    @property
    def conditions(self) -> Conditions:
        """With the budget and the C that were chosen."""
        return self._chosen(self.choice)

    @property
    def time_left(self) -> float | None:
        """Of the time limit, in seconds; None without one."""
        limit = self.search.time_limit
        return None if limit is None else max(0.0, limit - self.comparison.seconds)

    def fit_all_rows(self) -> FinalChoice:
        """Fit all rows with all that was compared; the choice is then final."""
        comparison, time_left = self.comparison, self.time_left
        share = None if time_left is None else SHARE_OF_PATH * time_left
        final = FinalFit(
            self.work,
            DEFAULT_RULE,
            {"gap_tol": GAP_TOL, "n_jobs": self.search.n_jobs},
            time_limit=share,
            only_chosen=comparison.was_interrupted,
        )
        weight = self.request.weights_of(self.samples.signs)
        if weight is None:
            weight = self.samples.sample_weight
        started = time.perf_counter()
        fitted = final.run(
            self.samples, weight, comparison.folds, self.choice, self.seeds
        )
        if time_left is not None and share is not None:
            # If it takes longer, kernels were compiled, which is not counted.
            time_left -= min(share, time.perf_counter() - started)
        cells = finished_cells(comparison.folds)
        return FinalChoice(
            self._chosen(fitted.choice),
            fitted.path,
            fitted.result.selected,
            tuple(int(self.work.budgets[j]) for _, j in cells),
            comparison.n_shortened,
            omission_text(self.work, self.request),
            comparison.was_late,
            comparison.was_interrupted or fitted.was_interrupted,
            comparison.seconds,
            time_left,
        )

    def _chosen(self, choice: Choice) -> Conditions:
        i, j, r = choice.key
        refit = self.work.refit_weights
        budget: int | None = int(self.work.budgets[j])
        if self.request.max_features is None:
            budget = None
        return replace(
            self.request,
            max_features=budget,
            C=float(self.work.weights[i]),
            refit_C=None if refit is None else float(refit[r]),
        )


@dataclass(frozen=True)
class TableFolds:
    """Preparation of the table in each fold of a choice.

    Fill values and categories, not only means and scales, are learned from the training
    rows of a fold.

    Attributes
    ----------
    data : PreparedTable
    whole : Preparation
        The preparation of all rows in use.
    rows : ndarray of int
        These rows.
    """

    data: PreparedTable
    whole: Preparation
    rows: np.ndarray

    def for_fold(self, data: Shared[Samples], train: np.ndarray) -> Shared[Samples]:
        """All samples with the features of the training rows, where ``whole`` has them.

        A category that is missing in a fold becomes a constant feature.
        """
        preparation = self.data.prepare(self.rows[train])
        index = {key: j for j, key in enumerate(_keys(self.whole))}
        X = np.zeros((self.rows.size, self.whole.n_features), order="F")
        features = preparation.transform(self.data.table, self.rows)
        for k, key in enumerate(_keys(preparation)):
            if key in index:
                X[:, index[key]] = features[:, k]
        return Shared(replace(data.value, X=X, data=X))


def _keys(preparation: Preparation) -> list[tuple[str, str | None, bool]]:
    pairs = zip(preparation.origins(), preparation.indicators.tolist(), strict=True)
    return [(column.name, level, is_gap) for (column, level), is_gap in pairs]


# --- The fit of all rows --------------------------------------------------------------


@dataclass(frozen=True)
class Fit:
    """A model, and how it was obtained.

    Attributes
    ----------
    preparation : Preparation
    result : Result
        In standardised units.
    conditions : Conditions
        With the budget and the C that were chosen.
    choice : FinalChoice or None
        None if both were given.
    chosen : tuple of str
        Those of "budget" and "C" that were chosen.
    was_interrupted : bool
    calibration : Sigmoid or None
        Turns scores into probabilities; it does not change the predicted classes.
    threshold : float or None
        A score above it means the positive class; None for zero.
    constant : int or None
        The sign that the threshold gives all rows; None if it gives both.
    error_costs : ErrorCosts or None
        The costs of errors from which the threshold was learned.
    """

    preparation: Preparation
    result: Result
    conditions: Conditions
    choice: FinalChoice | None = None
    chosen: tuple[str, ...] = ()
    was_interrupted: bool = False
    calibration: Sigmoid | None = None
    threshold: float | None = None
    constant: int | None = None
    error_costs: ErrorCosts | None = None

    @property
    def model(self) -> Linear:
        """The weights that predict, in standardised units."""
        return Linear.of(self.result)

    @property
    def weights(self) -> np.ndarray:
        """Weights per unit as measured."""
        return self.model.coef / self.preparation.scales

    @property
    def intercept(self) -> float:
        """The intercept for values as measured."""
        return self.model.intercept - float(self.weights @ self.preparation.means)

    def above(self, threshold: float, scores: np.ndarray) -> Fit:
        """The model with a threshold; ``scores`` are those of all rows."""
        limit = float(rounded(threshold, self.model.coef, self.model.intercept))
        constant = sign_of(scores - limit)
        return replace(self, threshold=limit, constant=constant)


def fit_all(
    data: PreparedTable,
    conditions: Conditions,
    search: Search,
    *,
    folds: int,
    on_phase: Callable[[str], None],
    callback: Callback | None = None,
    on_plan: Callable[[str], None] = lambda text: None,
    on_step: ChoiceCallback | None = None,
    certificate: bool = False,
    hold: Hold | None = None,
) -> Fit:
    """Choose budget and C if they are open, then fit all rows.

    The time limit is for both. ``callback`` is for the fit of all rows, ``on_plan`` and
    ``on_step`` are for the choice. The hold begins as soon as there is a choice or,
    without one, when the search begins.
    """
    choice, chosen, limit = None, conditions.open_parameters, search.time_limit
    support, was_interrupted = None, False
    preparation = data.prepare()
    if conditions.is_open:
        on_phase("choosing feature limit and C by cross-validation")
        grid_choice = choose(
            data,
            conditions,
            search,
            folds,
            hold=hold,
            callback=on_step,
            on_plan=on_plan,
        )
        on_phase("fitting all rows with each candidate")
        choice = grid_choice.fit_all_rows()
        conditions, support = choice.conditions, choice.support
        was_interrupted = choice.was_interrupted
        limit = 0.0 if was_interrupted else choice.time_left
    on_phase("searching and proving")
    X = preparation.transform(data.table)
    problem = conditions.problem(preparation, X, data.target.signs)
    options = replace(
        search.options,
        time_limit=limit,
        initial_support=support,
        callback=callback,
        certificate=certificate,
    )
    result, interrupted = run_interruptible(problem, options, hold)
    if was_interrupted and result.status is Status.TIME_LIMIT:
        # The limit was Ctrl-C during the choice, not the user's time limit.
        result = replace(result, status=Status.INTERRUPTED)
    result = conditions.refitted(problem, result)
    was_interrupted = was_interrupted or interrupted
    return Fit(preparation, result, conditions, choice, chosen, was_interrupted)
