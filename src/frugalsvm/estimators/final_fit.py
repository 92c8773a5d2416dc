"""The final fit to all data with the chosen budget and C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..run.threads import single_threaded_blas
from ..solving.result import Result, Status
from .cells import WatchedFolds
from .choice import Choice, ScoredPath
from .folds import FoldJob, ProblemMaker, Samples, Split
from .frugal_svc import FrugalSVC
from .grid import GridFold, GridWork, budgets_of, pace_of, weights_of
from .models import Linear, svm_on
from .scoring import BalancedAccuracy, ByScorer, ScoredChoice, Scoring, part_of

if TYPE_CHECKING:
    from ..problem.problem import Problem


class FinalModel(NamedTuple):
    """The result of the fit to all data.

    Attributes
    ----------
    path : ScoredPath
    choice : Choice
        The choice that was fitted: not the first one if that gave a constant model.
    result : Result
        Of the problem that selected the features.
    model : Linear
        In the original units of the data.
    included : ndarray of int
    n_solves : int
    was_interrupted : bool
        Whether Ctrl-C was pressed.
    """

    path: ScoredPath
    choice: Choice
    result: Result
    model: Linear
    included: np.ndarray
    n_solves: int
    was_interrupted: bool = False


@dataclass(frozen=True)
class FinalFit:
    """The fit to all data, which shares its settings with the folds.

    Attributes
    ----------
    work : GridWork
    rule : str
    options : dict
        Of the run with the chosen budget and C, see ``SolveOptions``; effort, seed,
        time limit and start are set here.
    initial_support : ndarray of int or None
        Features to start from, besides those that were selected on the folds.
    time_limit : float or None
        In seconds.
    only_chosen : bool
        Whether to omit the search for all other budgets and C, and to end soon.
    """

    work: GridWork
    rule: str
    options: dict[str, Any] = field(default_factory=dict)
    initial_support: np.ndarray | None = None
    time_limit: float | None = None
    only_chosen: bool = False

    def run(
        self,
        samples: Samples,
        loss_weight: np.ndarray,
        folds: list[GridFold],
        choice: Choice,
        seeds: np.random.SeedSequence,
    ) -> FinalModel:
        """The path on all data, and the model of the chosen budget and C."""
        from ..run.stopping import StopCondition
        from ..solving.options import SolveOptions
        from ..solving.polish import with_refit
        from ..solving.solver import run_interruptible
        from .grid_search import BoundedGrid, bounded_grid

        work = self.work
        problem, units = work.maker.make(
            samples.data, samples.signs, loss_weight, samples.sample_weight
        )
        starts = self._starts(problem, folds)
        seed, clock = seeds.spawn(1)[0], StopCondition(self.time_limit)
        grid = BoundedGrid.empty((work.weights.size, work.budgets.size))
        if not self.only_chosen:
            grid = bounded_grid(
                problem,
                work.budgets,
                work.weights,
                effort=work.effort,
                seed=seed,
                n_jobs=self.options.get("n_jobs"),
                seeds=starts,
                # Half of the time is for the chosen budget and C.
                time_limit=None if self.time_limit is None else 0.5 * self.time_limit,
                most_samples=work.most_samples,
                pace=work.pace,
            )
        number = int(seeds.generate_state(1)[0])
        was_interrupted, n_solves = grid.was_interrupted, grid.n_solves
        mask = samples.sample_weight > 0
        barred: set[tuple[int, int, int]] = set()
        while True:
            i, j = choice.cell
            cell, refit = self._cell(problem, i, j), work.refit_weights
            refit_C = float(work.weights[i] if refit is None else refit[choice.key[2]])
            support = grid.supports[i][j]
            if support is None:
                support = _best_start(cell, starts[i, j])
            model = svm_on(problem.with_C(refit_C), support)
            if units.fold_back(model).is_constant(samples.data[mask]):
                other = self._other(folds, choice, barred)
                if other is not None:
                    choice = other
                    continue
            limit = None if self.time_limit is None else max(0.0, clock.seconds_left)
            has_ended = self.only_chosen or was_interrupted
            options = SolveOptions(
                **self.options,
                effort=work.effort,
                initial_support=support,
                random_state=number,
                time_limit=0.0 if has_ended else limit,
            )
            outcome = run_interruptible(cell, options)
            result = outcome.result
            if has_ended and result.status is Status.TIME_LIMIT:
                # Not the user's limit.
                result = replace(result, status=Status.INTERRUPTED)
            was_interrupted |= outcome.was_interrupted
            n_solves += result.counters.get("SVM solves", 1)
            grid = grid.updated(i, j, result)
            if refit is not None:
                result = with_refit(cell, result, refit_C)
            model = units.fold_back(Linear.of(result))
            other = None
            if model.is_constant(samples.data[mask]):
                other = self._other(folds, choice, barred)
            if other is None:
                break
            choice = other
        return FinalModel(
            choice.path(work, grid.objectives, grid.lower_bounds),
            choice,
            units.proof_for_users(result),
            model,
            np.array(problem.include),
            n_solves,
            was_interrupted,
        )

    def _cell(self, problem: Problem, i: int, j: int) -> Problem:
        """The problem of a C and a budget, given by their indices."""
        row = problem.with_C(float(self.work.weights[i]))
        return row.with_budget(int(self.work.budgets[j]))

    def _other(
        self,
        folds: list[GridFold],
        choice: Choice,
        barred: set[tuple[int, int, int]],
    ) -> Choice | None:
        """The next choice that is better than chance, if there is one."""
        barred.add(choice.key)
        other = Choice.of(folds, self.rule, barred)
        return None if other.is_forced else other

    def _starts(
        self, problem: Problem, folds: list[GridFold]
    ) -> dict[tuple[int, int], list[np.ndarray]]:
        """Supports to start from by C and budget: of the folds, and the user's."""
        from ..solving.running import checked_support

        starts = {}
        for i, j in np.ndindex(*folds[0].objectives.shape):
            initial = checked_support(self._cell(problem, i, j), self.initial_support)
            if initial is not None:
                initial = np.union1d(initial, problem.include)
            supports = [fold.supports[i][j] for fold in folds]
            starts[i, j] = [
                support for support in (*supports, initial) if support is not None
            ]
        return starts


def _best_start(problem: Problem, starts: list[np.ndarray]) -> np.ndarray:
    """The best of several supports on all data."""
    from ..search.evaluator import Evaluator
    from ..search.restarts import shrink
    from ..search.swap import fill

    evaluator = Evaluator(problem)
    with single_threaded_blas():
        solutions = [fill(evaluator, shrink(evaluator, support)) for support in starts]
    return min(solutions, key=lambda best: (best.objective, best.key)).support


# --- Base of the estimator that chooses budget and C ----------------------------------


class BudgetedChoice(ScoredChoice):
    """Makes the work and the jobs of folds, and stores their results.

    The folds use swap search only. The fit to all data starts from their supports.
    """

    C: Any
    refit_C: Any
    effort: str
    gap_tol: float
    time_limit: float | None
    initial_support: Any
    path_: ScoredPath

    def _work(self, maker: ProblemMaker) -> GridWork:
        scorer, included = self._scorer(), np.unique(maker.constraints["include"])
        scoring: Scoring = BalancedAccuracy()
        if scorer is not None:
            template = FrugalSVC(class_weight=self.class_weight)
            names = getattr(self, "feature_names_in_", None)
            scoring = ByScorer(
                scorer,
                template,
                self.classes_,
                names,
                self._features.columns_of(included),
                self._groups,
            )
        pace, n = pace_of(self.effort), self._features.n_features
        return GridWork(
            budgets_of(self.max_features, n, included.size, pace.budgets),
            *weights_of(self.C, self.refit_C, self.classes_.size, pace.refit_C),
            self.effort,
            maker,
            scoring,
            pace=pace,
        )

    def _jobs(
        self,
        samples: Samples,
        splits: list[Split],
        score_params: dict[str, Any],
        seeds: np.random.SeedSequence,
    ) -> Iterator[FoldJob]:
        """The jobs of the folds, made as they are needed."""
        for k, (train, test) in enumerate(splits):
            weights = samples.sample_weight[train]
            yield FoldJob(
                k,
                train,
                test,
                seeds.spawn(1)[0],
                self._weights(train, samples.y[train], weights),
                part_of(score_params, test),
            )

    def _set_choice(
        self, work: GridWork, folds: list[GridFold], choice: Choice
    ) -> None:
        """Set the attributes that come from the folds."""
        i, j = choice.cell
        self.n_splits_ = len(folds)
        self.best_C_ = float(work.weights[i])
        self.best_max_features_ = int(work.budgets[j])
        self.best_refit_C_ = self.best_C_
        if work.refit_weights is not None:
            self.best_refit_C_ = float(work.refit_weights[choice.refit[i, j]])
        self.best_score_ = float(choice.mean[i, j])
        self.best_index_ = choice.index
        self.cv_results_ = choice.table(work, folds)
        chosen = np.zeros(self.n_features_in_)
        for fold in folds:
            support = fold.supports[i][j]
            assert support is not None
            chosen[self._features.columns_of(support)] += 1
        self.selection_frequency_ = chosen / len(folds)
        self.n_iter_ = sum(fold.n_solves for fold in folds)

    def _set_fit(self, fitted: FinalModel) -> None:
        """Set the attributes that come from the fit to all data."""
        self.path_ = fitted.path
        self._set_result(fitted.result)
        self.coef_ = np.atleast_2d(fitted.model.coef)
        self.intercept_ = np.atleast_1d(fitted.model.intercept)
        self.n_iter_ += fitted.n_solves
        self._included = self._features.columns_of(fitted.included)
        self._set_selected()

    def _warn_of_limit(self, cv: WatchedFolds) -> None:
        """Warn if the time limit ended the choice, or the final fit."""
        reasons = []
        if cv.was_late:
            reasons.append(
                f"the choice: {cv.n_finished:,} of {self.path_.objectives.size:,} "
                "pairs of budget and C are finished in all folds, and the best of "
                "them was taken"
            )
        if cv.n_shortened:
            reasons.append(
                f"the searches of {cv.n_shortened:,} pairs of budget and C, which "
                "share the time"
            )
        if self.result_.status is Status.TIME_LIMIT:
            reasons.append(
                f"the fit to all data: {self.result_.verdict}, which is above "
                f"gap_tol={self.gap_tol:g}"
            )
        if reasons:
            warnings.warn(
                f"time_limit={self.time_limit} ended {'; and '.join(reasons)}. Raise "
                "time_limit to search on.",
                ConvergenceWarning,
                stacklevel=3,
            )
