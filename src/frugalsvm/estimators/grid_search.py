"""A search over all budgets and C together, cell by cell, and its bounds.

``frugal_path`` solves one problem after another; this search passes solutions on
between all of them, for cross-validation and for paths of the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run import compilation
from ..run.stopping import StopCondition, check_effort
from ..run.supervision import supervise
from ..run.threads import single_threaded_blas, thread_count
from ..search.evaluator import Evaluator, Stop
from ..search.native import relax_natively
from ..search.parameters import SearchParameters
from ..search.path_search import CellIndex, GridSolutions, PathSearch
from ..search.restarts import SwapOptions
from ..solving.result import Result
from ..solving.running import search_limit
from ..solving.solver import ensure_compiled
from .grid import STEADY, Pace


class GridSearch:
    """A swap search over budgets and C, cell by cell.

    A context manager. Between two cells, the caller may report, or stop.

    Parameters
    ----------
    problem : Problem
    budgets, weights : arrays
        Budgets and values of C, increasing.
    effort : str
        See :func:`frugalsvm.solve`.
    seed : SeedSequence
    n_jobs : int, default=1
        Threads.
    stop : StopCondition, default=None
        Ends the search early; None for no limit.
    pace : Pace, default=STEADY

    Attributes
    ----------
    stop : StopCondition
    shortened : set of CellIndex
        Cells whose search was cut short by a limit of their own.
    was_interrupted : bool
        Whether Ctrl-C was pressed during a step.
    """

    def __init__(
        self,
        problem: Problem,
        budgets: np.ndarray,
        weights: np.ndarray,
        *,
        effort: str,
        seed: np.random.SeedSequence,
        n_jobs: int = 1,
        stop: StopCondition | None = None,
        pace: Pace = STEADY,
    ):
        chosen = check_effort(effort)
        options = SwapOptions(patience=chosen.path_patience)
        ensure_compiled(problem, options, "path", _warm_up)
        self.stop = StopCondition() if stop is None else stop
        self.was_interrupted = False
        self.shortened: set[CellIndex] = set()
        # On the clock of the stop condition, when the present cell has to end.
        self._cell_end = np.inf
        if pace.search:
            problem = problem.with_parameters(SearchParameters(**pace.search))
        self._pool = ThreadPoolExecutor(n_jobs)
        self._search = PathSearch(
            problem.watching(self.stop.flag),
            budgets,
            weights,
            options,
            self._pool,
            seed,
            self.stop.should_stop,
            partial(search_limit, chosen, share=pace.work_share),
            self._is_late,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its threads."""
        self._pool.shutdown()

    @property
    def indices(self) -> list[CellIndex]:
        """All cells in the order in which they begin."""
        return self._search.indices

    @property
    def n_solves(self) -> int:
        """SVMs solved so far."""
        return self._search.n_solves

    def solution(self, index: CellIndex) -> Solution:
        """The best solution of a cell that has begun."""
        return self._search.solution(index)

    def begin(
        self,
        index: CellIndex,
        seeds: list[np.ndarray] | None = None,
        seconds: float = np.inf,
    ) -> bool:
        """Search in the next cell; return whether it was finished.

        After ``seconds`` the cell ends with its best solution so far, which counts as
        finished.
        """
        self._cell_end = self.stop.seconds + seconds
        finished = self._supervised(partial(self._search.begin, index, seeds or []))
        if finished and self.stop.seconds >= self._cell_end:
            self.shortened.add(index)
        return finished

    def exchange(self) -> bool:
        """Let neighbours exchange solutions; return whether that was finished."""
        self._cell_end = np.inf
        return self._supervised(self._search.exchange)

    def run(self, seeds: dict[CellIndex, list[np.ndarray]] | None = None) -> int:
        """Search all cells and let them exchange; return the number finished."""
        for number, index in enumerate(self.indices):
            if not self.begin(index, (seeds or {}).get(index)):
                return number
        self.exchange()
        return len(self.indices)

    def _is_late(self) -> bool:
        """Whether the present cell has to end."""
        return self.stop.should_stop() or self.stop.seconds >= self._cell_end

    def _supervised(self, step: Callable[[], None]) -> bool:
        """Do a step; return whether it was finished."""
        finished, was_interrupted = supervise(partial(_until_stopped, step), self.stop)
        self.was_interrupted |= was_interrupted
        return finished


def _until_stopped(step: Callable[[], object]) -> bool:
    """Do a step; return whether it was finished."""
    with single_threaded_blas():
        try:
            step()
        except Stop:
            return False
    return True


def search_grid(
    problem: Problem,
    budgets: np.ndarray,
    weights: np.ndarray,
    *,
    effort: str,
    seed: np.random.SeedSequence,
    n_jobs: int = 1,
    time_limit: float | None = None,
) -> GridSolutions | None:
    """Good solutions for all budgets and C, by swap search only.

    The parameters are those of :class:`GridSearch`. None if ``time_limit`` seconds end
    it before every cell has been searched.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; partial paths are not returned.
    """
    with GridSearch(
        problem, budgets, weights, effort=effort, seed=seed, n_jobs=n_jobs
    ) as search:
        # Compilation is not timed.
        search.stop.restart(time_limit)
        n_finished = search.run()
        if search.was_interrupted or search.stop.interrupted:
            raise KeyboardInterrupt
        if n_finished < len(search.indices):
            return None
        rows = [
            [search.solution((i, j)) for j in range(budgets.size)]
            for i in range(weights.size)
        ]
        return GridSolutions(rows, search.n_solves)


def subsample(
    problem: Problem, most_samples: int | None, seed: np.random.SeedSequence
) -> Problem:
    """The problem on at most so many samples."""
    if most_samples is None or problem.n_samples <= most_samples:
        return problem
    # Weights for C = 1, which cells multiply by their C.
    rng = np.random.default_rng(seed.spawn(1)[0])
    return problem.with_C(1.0).drawn(most_samples, rng)


def _warm_up(stop: StopCondition) -> None:
    """Search a small grid, so that everything it needs is compiled."""
    problem = compilation.tiny_problem().watching(stop.flag)
    with ThreadPoolExecutor(1) as pool:
        search = PathSearch(
            problem,
            np.array([2, 3]),
            np.array([0.1, 1.0]),
            SwapOptions(patience=2),
            pool,
            np.random.SeedSequence(0),
            stop.should_stop,
        )
        _until_stopped(search.run)


@dataclass(frozen=True)
class BoundedGrid:
    """Objectives, bounds and supports by C (rows) and budget (columns).

    Attributes
    ----------
    objectives, lower_bounds : ndarray
        NaN and 0 in cells that the search did not reach.
    supports : list of list of (ndarray or None)
    n_solves : int
    was_interrupted : bool
        Whether Ctrl-C was pressed.
    """

    objectives: np.ndarray
    lower_bounds: np.ndarray
    supports: list[list[np.ndarray | None]]
    n_solves: int
    was_interrupted: bool = False

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> BoundedGrid:
        """A grid without results; 0 is a lower bound of every objective."""
        supports: list[list[np.ndarray | None]] = [[None] * shape[1]] * shape[0]
        return cls(np.full(shape, np.nan), np.zeros(shape), supports, 0)

    def updated(self, i: int, j: int, result: Result) -> BoundedGrid:
        """The grid with the result of one cell and its implications for the others."""
        objectives, bounds = self.objectives.copy(), self.lower_bounds.copy()
        objectives[i, j] = np.fmin(objectives[i, j], result.objective)
        bounds[i, j] = max(bounds[i, j], result.lower_bound)
        return replace(
            self,
            # A support that fits a budget also fits every larger one.
            objectives=np.fmin.accumulate(objectives, axis=1),
            lower_bounds=spread_bounds(bounds),
        )


def bounded_grid(
    problem: Problem,
    budgets: np.ndarray,
    weights: np.ndarray,
    *,
    effort: str,
    seed: np.random.SeedSequence,
    n_jobs: int | None = None,
    seeds: dict[CellIndex, list[np.ndarray]] | None = None,
    time_limit: float | None = None,
    most_samples: int | None = None,
    pace: Pace = STEADY,
) -> BoundedGrid:
    """A search over all cells with the bounds of all relaxations.

    After ``time_limit`` seconds or Ctrl-C, it has the cells that were finished. Of
    problems with more than ``most_samples`` samples, a subsample is searched;
    objectives and bounds are those of all samples.
    """
    stop = StopCondition()
    searched = subsample(problem, most_samples, seed)
    with GridSearch(
        searched,
        budgets,
        weights,
        effort=effort,
        seed=seed,
        n_jobs=thread_count(n_jobs),
        stop=stop,
        pace=pace,
    ) as search:
        # Compilation is not timed.
        stop.restart(time_limit)
        n_finished = search.run(seeds)
        grid = BoundedGrid.empty((weights.size, budgets.size))
        supports = [list(row) for row in grid.supports]
        for i, j in search.indices[:n_finished]:
            row = problem.with_C(float(weights[i]))
            solution = search.solution((i, j))
            if searched is not problem:
                try:
                    solution = _on_all(row, solution, stop)
                except Stop:
                    break
            coef = np.zeros(problem.n_columns)
            coef[problem.columns.of(solution.support)] = solution.w
            intercept = problem.unshifted_intercept(coef, solution.b)
            grid.objectives[i, j] = row.objective(coef, intercept)
            supports[i][j] = solution.support
        n_solves = search.n_solves
    bounds, was_interrupted = supervise(
        partial(_relax_grid, problem, budgets, weights, stop), stop
    )
    return BoundedGrid(
        grid.objectives,
        spread_bounds(np.maximum(bounds, 0.0)),
        supports,
        n_solves,
        search.was_interrupted or was_interrupted,
    )


def _on_all(problem: Problem, solution: Solution, stop: StopCondition) -> Solution:
    """The SVM on all samples, on the support of a solution on a subsample."""
    evaluator = Evaluator(problem.watching(stop.flag), stop.should_stop)

    def work() -> Solution | None:
        with single_threaded_blas():
            return evaluator.solve(solution.support)

    result, _ = supervise(work, stop)
    assert result is not None
    return result


def _relax_grid(
    problem: Problem, budgets: np.ndarray, weights: np.ndarray, stop: StopCondition
) -> np.ndarray:
    """The bounds of all relaxations; weaker, or 0, if stopped."""
    problem = problem.watching(stop.flag)
    bounds = np.zeros((weights.size, budgets.size))
    near = None
    with single_threaded_blas():
        for i, C in enumerate(weights.tolist()):
            row = problem.with_C(C)
            for j, budget in enumerate(budgets.tolist()):
                if stop.should_stop():
                    return bounds
                relaxation = relax_natively(
                    row.with_budget(budget), should_stop=stop.should_stop, near=near
                )
                bounds[i, j], near = relaxation.bound, relaxation.alpha
    return bounds


def spread_bounds(bounds: np.ndarray) -> np.ndarray:
    """The best bounds for all C (rows) and budgets (columns), each implied by others.

    The bound of a budget holds for all smaller ones, that of a C for all larger ones.
    """
    bounds = np.maximum.accumulate(bounds[:, ::-1], axis=1)[:, ::-1]
    return np.maximum.accumulate(bounds, axis=0)
