"""Swap search over a grid of budgets and C, where cells share their solutions.

A first pass goes from small C to large and from small budgets to large. A cell gets its
rounded relaxation and the elite pools of the previous cells, truncated or filled to its
budget; it descends from the best of them and restarts for a while. Then neighbours
exchange elite solutions in all four directions until nothing improves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import Incumbent
from .evaluator import Evaluator, Stop
from .parameters import SearchParameters
from .relaxations import relax, round_relaxation
from .restarts import RestartSearch, SwapOptions, shrink
from .swap import fill

# Row and column of a cell.
CellIndex = tuple[int, int]


class GridSolutions(NamedTuple):
    """Solutions by C (rows) and budget (columns), and the number of SVM solves."""

    rows: list[list[Solution]]
    n_solves: int


class _PathCell:
    """The search for one budget and one C."""

    def __init__(
        self,
        problem: Problem,
        options: SwapOptions,
        pool: Executor,
        seed: np.random.SeedSequence,
        should_stop: Callable[[], bool],
        is_late: Callable[[], bool],
        max_work: float,
    ):
        self._incumbent = Incumbent()
        self._is_late = is_late
        self.search = RestartSearch(
            problem, self._incumbent, options, pool, seed, is_late, max_work
        )
        self._evaluator = Evaluator(problem, should_stop)
        self._parameters = self._evaluator.parameters
        self._tried: set[bytes] = set()
        self._starts: set[tuple[int, ...]] = set()

    @property
    def n_solves(self) -> int:
        return self._evaluator.n_solves + self.search.counters["SVM solves"]

    @property
    def solution(self) -> Solution:
        """The best solution so far."""
        assert self._incumbent.solution is not None
        return self._incumbent.solution

    @property
    def has_begun(self) -> bool:
        """Whether there is a solution."""
        return self._incumbent.solution is not None

    @property
    def supports(self) -> list[np.ndarray]:
        """Good supports, best first."""
        return self.search.elite_pool.supports

    def offer(self, supports: Iterable[np.ndarray]) -> bool:
        """Descend from the best new supports; return whether that helped."""
        before = self._incumbent.objective
        fitted: list[Solution] = []
        for support in supports:
            if fitted and self._is_late():
                break
            key = support.tobytes()
            if key not in self._tried:
                self._tried.add(key)
                # Truncated or filled to the budgets.
                fitted.append(fill(self._evaluator, shrink(self._evaluator, support)))
        starts = []
        for solution in fitted:
            # Several supports may have been truncated or filled to the same support.
            if solution.key not in self._starts:
                self._starts.add(solution.key)
                self.search.learn(solution)
                starts.append(solution)
        best = min(
            starts,
            key=lambda solution: (solution.objective, solution.key),
            default=None,
        )
        parameters = self._parameters
        within = before * (1 + parameters.started_within)
        if best is None or best.objective > within:
            return False
        self.search.start([best])
        return self._incumbent.objective < before * (1 - parameters.min_improvement)

    def restart(self) -> None:
        """Restart until patience is used up."""
        self.search.idle = 0
        self.search.restart_until_idle(lambda: False)


class PathSearch:
    """Swap searches for many budgets and C that share their solutions.

    Parameters
    ----------
    problem : Problem
        Its budget and C are not used.
    budgets, weights : arrays
        Budgets and values of C, both increasing.
    options : SwapOptions
        Of the search in every cell.
    pool : Executor
        Where descents run.
    seed : SeedSequence
    should_stop : callable
        Asked before every SVM; ``Stop`` is raised when it returns True.
    max_work : callable
        Returns the work limit of the descents in a cell, given its problem.
    is_late : callable, default=None
        Whether the present cell has to end soon, with a solution; True whenever
        ``should_stop`` is. By default ``should_stop``.
    """

    def __init__(
        self,
        problem: Problem,
        budgets: np.ndarray,
        weights: np.ndarray,
        options: SwapOptions,
        pool: Executor,
        seed: np.random.SeedSequence,
        should_stop: Callable[[], bool],
        max_work: Callable[[Problem], float] = lambda problem: np.inf,
        is_late: Callable[[], bool] | None = None,
    ):
        self._parameters = problem.parameters(SearchParameters)
        self._should_stop = should_stop
        self._is_late = should_stop if is_late is None else is_late
        self._cells: dict[CellIndex, _PathCell] = {}
        self._problems: dict[CellIndex, Problem] = {}
        for i, weight in enumerate(weights.tolist()):
            row = problem.with_C(weight)
            for j, budget in enumerate(budgets.tolist()):
                cell = row.with_budget(budget)
                self._problems[i, j] = cell
                self._cells[i, j] = _PathCell(
                    cell,
                    options,
                    pool,
                    seed.spawn(1)[0],
                    should_stop,
                    self._is_late,
                    max_work(cell),
                )
        self._shape = (weights.size, budgets.size)

    @property
    def indices(self) -> list[CellIndex]:
        """All cells in the order in which they begin."""
        return list(self._cells)

    @property
    def n_solves(self) -> int:
        """SVMs solved so far."""
        return sum(cell.n_solves for cell in self._cells.values())

    def solution(self, index: CellIndex) -> Solution:
        """The best solution of a cell that has begun."""
        return self._cells[index].solution

    def run(
        self, seeds: dict[CellIndex, list[np.ndarray]] | None = None
    ) -> GridSolutions:
        """Search; ``seeds`` holds initial supports by cell."""
        for index in self._cells:
            self.begin(index, (seeds or {}).get(index, []))
        self.exchange()
        n_rows, n_columns = self._shape
        rows = [
            [self.solution((i, j)) for j in range(n_columns)] for i in range(n_rows)
        ]
        return GridSolutions(rows, self.n_solves)

    def exchange(self) -> None:
        """Pass elite solutions on among neighbours until nothing improves."""
        for number in range(self._parameters.exchange_rounds):
            if not self._exchange(backwards=number % 2 == 0):
                break

    def begin(self, index: CellIndex, seeds: list[np.ndarray]) -> None:
        """The search in a cell, started from the solutions of previous cells.

        Cells before it, in the order of ``indices``, begin before it or not at all.
        """
        (i, j), parameters = index, self._parameters
        supports = list(seeds)
        if j > 0:
            supports += self._cells[i, j - 1].supports[: parameters.n_taken]
        if i > 0:
            supports += self._cells[i - 1, j].supports[: parameters.n_taken]
        problem = self._problems[index]
        relaxation = relax(
            problem, tol=parameters.rounded_tol, should_stop=self._is_late
        )
        supports.append(round_relaxation(problem, relaxation))
        # The best features of the relaxation, several times the budget: dropping them
        # one by one gives starts that differ from those of the neighbours.
        factor, more = parameters.large_support
        large = problem.with_budget(factor * problem.max_features + more)
        supports.append(round_relaxation(large, relaxation))
        cell = self._cells[index]
        cell.offer(supports)
        cell.restart()
        self._raise_if_stopped()

    def _exchange(self, backwards: bool) -> bool:
        """Offer each cell solutions of its neighbours; return whether one helped."""
        improved, n_offered = False, self._parameters.n_offered
        indices = list(self._cells)
        for index in reversed(indices) if backwards else indices:
            if not self._cells[index].has_begun:
                continue
            i, j = index
            supports = [
                support
                for neighbour in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1))
                if neighbour in self._cells
                for support in self._cells[neighbour].supports[:n_offered]
            ]
            improved |= self._cells[index].offer(supports)
            self._raise_if_stopped()
        return improved

    def _raise_if_stopped(self) -> None:
        # Stopped descents return intermediate solutions, which are not local optima.
        if self._should_stop():
            raise Stop
