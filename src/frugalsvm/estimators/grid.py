"""Budgets and values of C: candidates, pace, and their search in one fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..run.supervision import supervise
from ..run.threads import Shared, single_threaded_blas
from .folds import FoldJob, ProblemMaker, Samples
from .models import FINAL_TOL, Linear, svm_on
from .scoring import Scoring, chance_scores

if TYPE_CHECKING:
    from ..problem.solution import Solution
    from ..run.stopping import StopCondition
    from ..search.path_search import CellIndex

# --- Pace: how many candidates are compared, and how accurately -----------------------

# Budgets for "auto", up to the number of features.
AUTO_BUDGETS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
# Values of C for the weights of the selected features for "auto": one SVM each.
AUTO_REFIT_C = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True)
class Pace:
    """The candidates of a choice of budget and C, and the accuracy of its models.

    Attributes
    ----------
    budgets : tuple of int
        For "auto", up to the number of features.
    refit_C : tuple of float
        The C of the weights for "auto".
    tol : float
        Accuracy of the SVMs that are scored.
    search : dict
        Parameters of the searches that differ from ``SearchParameters()``, which
        estimators import only when they search.
    work_share : float
        Fraction of the work that the effort allows for the search of each cell.
    """

    budgets: tuple[int, ...] = AUTO_BUDGETS
    refit_C: tuple[float, ...] = AUTO_REFIT_C
    tol: float = FINAL_TOL
    search: Mapping[str, Any] = field(default_factory=dict)
    work_share: float = 1.0


STEADY = Pace()
QUICK = Pace(
    budgets=(1, 2, 3, 5, 8, 12, 20),
    refit_C=(0.003, 0.03, 0.3, 3.0, 30.0),
    tol=3e-3,
    search={
        "svm_tol": 1e-3,
        "n_taken": 1,
        "exchange_rounds": 0,
        "large_support": (2, 4),
    },
    work_share=0.05,
)


def pace_of(effort: str) -> Pace:
    """The pace of a choice for a fit with an effort."""
    return QUICK if effort == "fast" else STEADY


# --- Values for "auto", and the search of a fold --------------------------------------

# The C of the selection for "auto". Rules in the number of samples or in the gap of
# the relaxation, and a choice by inner cross-validation, did not score better than a
# constant on fifteen data sets, once the weights get a C of their own, and constants
# from 0.003 to 1 did not differ by more than their errors. At 0.03 proofs close on
# standardised data, and a fit takes half of the time of C = 1.
AUTO_C = (0.03,)
# With more than two classes, where each is rare beside all others. On ten digits 0.3
# scored 1 to 19 points better than 0.03 for 3 to 10 features, and nowhere worse.
AUTO_C_OF_CLASSES = (0.3,)
# Values for "auto" if one C has to do both. 100 would take as long as all of these
# together, and did not score best on any of the paper's nine small data sets.
AUTO_SHARED_C = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


def budgets_of(
    max_features: Any,
    n_features: int,
    n_included: int,
    auto: tuple[int, ...] = AUTO_BUDGETS,
) -> np.ndarray:
    """Budgets in increasing order, none above the number of features."""
    from .path import sorted_budgets

    if not is_word(max_features, "auto"):
        return sorted_budgets(np.minimum(sorted_budgets(max_features), n_features))
    most = min(n_features, auto[-1])
    budgets = [b for b in (*auto, most) if n_included <= b <= most]
    return sorted_budgets(budgets or [n_included])


def weights_of(
    C: Any,
    refit_C: Any,
    n_classes: int = 2,
    auto_refit: tuple[float, ...] = AUTO_REFIT_C,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Values of C for the selection and for the weights, in increasing order.

    The second are None if the same C does both.
    """
    from .path import sorted_weights

    is_shared = is_word(refit_C, "same")
    auto: tuple[float, ...] = AUTO_C if n_classes == 2 else AUTO_C_OF_CLASSES
    auto = AUTO_SHARED_C if is_shared else auto
    weights = sorted_weights(auto if is_word(C, "auto") else C)
    if is_shared:
        return weights, None
    refit = auto_refit if is_word(refit_C, "auto") else refit_C
    return weights, sorted_weights(refit)


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter, which may be an array, is this string."""
    return isinstance(value, str) and value == word


def best_of(scores: np.ndarray) -> float:
    """The best score; NaN if all are."""
    return float(np.nanmax(scores)) if not np.isnan(scores).all() else float("nan")


class GridFold(NamedTuple):
    """The result of one fold for all budgets and C.

    Attributes
    ----------
    scores : ndarray of shape (n_C, n_budgets, n_refit_C)
        Not a number in cells that were not finished.
    constant : ndarray of bool of the same shape
        Whether the model predicts one class for all training samples.
    chance : tuple of floats
        Scores of the models that always predict one class; NaN unless some model in
        the fold is constant.
    objectives : ndarray of shape (n_C, n_budgets)
        On the training part.
    supports : list of list of (ndarray or None)
    n_solves : int
    shortened : frozenset of CellIndex
        Cells whose search was cut short to leave time for the others.
    """

    scores: np.ndarray
    constant: np.ndarray
    chance: tuple[float, ...]
    objectives: np.ndarray
    supports: list[list[np.ndarray | None]]
    n_solves: int
    shortened: frozenset[CellIndex] = frozenset()


@dataclass(frozen=True)
class GridWork:
    """The work on every fold: all budgets and C together, and their scores.

    Attributes
    ----------
    budgets, weights : ndarray
        Budgets and values of C, increasing.
    refit_weights : ndarray or None
        Values of C for the weights of the selected features; None to use the same C.
    effort : str
    maker : ProblemMaker
    scoring : Scoring
    time_limit : float or None
        Seconds for a fold that runs on its own.
    most_samples : int or None
        Folds with more training samples are searched and fitted on a subsample.
    pace : Pace
    """

    budgets: np.ndarray
    weights: np.ndarray
    refit_weights: np.ndarray | None
    effort: str
    maker: ProblemMaker
    scoring: Scoring
    time_limit: float | None = None
    most_samples: int | None = None
    pace: Pace = STEADY

    @property
    def n_cells(self) -> int:
        """Number of pairs of budget and C."""
        return self.weights.size * self.budgets.size

    @property
    def costs(self) -> np.ndarray:
        """The relative cost of a step with each budget, for shares of time."""
        # About 5 budgets for what does not depend on the budget.
        return 5.0 + self.budgets

    @property
    def n_refit(self) -> int:
        """Number of SVMs on the features of each cell."""
        return 1 if self.refit_weights is None else self.refit_weights.size

    def run(
        self,
        data: Shared[Samples],
        job: FoldJob,
        on_step: Callable[[CellIndex, float], bool] = lambda index, score: False,
    ) -> GridFold:
        """Fit and score one fold; raise KeyboardInterrupt if it is interrupted.

        ``on_step`` is called with every cell and its score; it ends the fold if it
        returns True.
        """
        from ..run.stopping import StopCondition

        stop = StopCondition()
        with FoldSearch(self, data, job, stop) as fold:
            # The first cell is always finished, so that there is a model.
            stop.restart(None)
            costs = np.tile(self.costs, self.weights.size)
            for number, index in enumerate(fold.indices):
                if number == 1:
                    stop.limit(self.time_limit)
                share = float(costs[number] / costs[number:].sum())
                score = fold.step(index, share * stop.seconds_left)
                if score is None or on_step(index, score):
                    break
            else:
                fold.finish()
            if stop.interrupted:
                raise KeyboardInterrupt
            return fold.result()


class FoldSearch:
    """One fold, cell by cell: search, then score the solution.

    A context manager.

    Parameters
    ----------
    work : GridWork
    data : Shared of Samples
    job : FoldJob
    stop : StopCondition
        May be shared by several folds.

    Attributes
    ----------
    scoring_seconds : float
        Time that the scoring of the last cell took.
    """

    def __init__(
        self, work: GridWork, data: Shared[Samples], job: FoldJob, stop: StopCondition
    ):
        from .grid_search import GridSearch, subsample

        assert job.seed is not None
        self._work, self._job = work, job
        self._train, self._test = data.value.part(job.train), data.value.part(job.test)
        mask = self._train.sample_weight > 0
        self._train_data = self._train.data if mask.all() else self._train.data[mask]
        ones = np.ones(job.train.size)
        weight = ones if job.loss_weight is None else job.loss_weight
        problem, self._units = work.maker.make(
            self._train.data, self._train.signs, weight, self._train.sample_weight
        )
        self._problem = subsample(problem, work.most_samples, job.seed)
        self._search = GridSearch(
            self._problem,
            work.budgets,
            work.weights,
            effort=work.effort,
            seed=job.seed,
            stop=stop,
            pace=work.pace,
        )
        shape = (work.weights.size, work.budgets.size)
        self._scores = np.full((*shape, work.n_refit), np.nan)
        self._constant = np.zeros(self._scores.shape, dtype=bool)
        self._solutions: dict[CellIndex, Solution] = {}
        self.scoring_seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._search.close()

    @property
    def indices(self) -> list[CellIndex]:
        """All cells in their order."""
        return self._search.indices

    def step(self, index: CellIndex, seconds: float = np.inf) -> float | None:
        """Finish the next cell; return its best score, None if it was stopped.

        Search and scoring together take about ``seconds``.
        """
        stop = self._search.stop
        limit = max(0.0, seconds - self.scoring_seconds)
        if not self._search.begin(index, seconds=limit):
            return None
        begun = stop.seconds
        self._score(index, self._search.solution(index))
        self.scoring_seconds = stop.seconds - begun
        return best_of(self._scores[index])

    def finish(self) -> None:
        """Let cells exchange their solutions, unless stopped."""
        if not self._search.exchange():
            return
        for index, before in list(self._solutions.items()):
            solution = self._search.solution(index)
            if solution.key != before.key:
                self._score(index, solution)

    def result(self) -> GridFold:
        """Scores, objectives and supports of the cells that were finished."""
        objectives = np.full(self._scores.shape[:2], np.nan)
        supports: list[list[np.ndarray | None]] = [
            [None] * objectives.shape[1] for _ in range(objectives.shape[0])
        ]
        for (i, j), solution in self._solutions.items():
            objectives[i, j] = solution.objective
            supports[i][j] = solution.support
        signs = self._train.signs
        chance: tuple[float, ...] = (np.nan,) * (2 if signs.ndim == 1 else len(signs.T))
        if self._constant.any():
            params = self._job.score_params or {}
            chance = chance_scores(self._work.scoring, self._test, params)
        return GridFold(
            self._scores,
            self._constant,
            chance,
            objectives,
            supports,
            self._search.n_solves,
            frozenset(self._search.shortened),
        )

    def _score(self, index: CellIndex, solution: Solution) -> None:
        """Score the SVMs on the features of a cell, one for each C of the weights."""
        work, (i, j) = self._work, index
        settings = {"max_features": int(work.budgets[j]), "C": float(work.weights[i])}
        scores, constant = np.empty(work.n_refit), np.zeros(work.n_refit, dtype=bool)
        # In a thread, as searches are: Ctrl-C waits until all have been scored.
        models, _ = supervise(
            partial(self._models, i, solution.support), self._search.stop
        )
        for r, model in enumerate(models):
            constant[r] = model.is_constant(self._train_data)
            scores[r] = work.scoring.score(
                model, settings, self._test, self._job.score_params or {}
            )
        # All at once, in case a scorer is interrupted.
        self._scores[index], self._constant[index] = scores, constant
        self._solutions[index] = solution

    def _models(self, i: int, support: np.ndarray) -> list[Linear]:
        """The SVMs on a support, one for each C of the weights."""
        work = self._work
        refit = work.refit_weights
        weights = work.weights[i : i + 1] if refit is None else refit
        with single_threaded_blas():
            return [
                self._units.fold_back(
                    svm_on(self._problem.with_C(C), support, work.pace.tol)
                )
                for C in weights.tolist()
            ]
