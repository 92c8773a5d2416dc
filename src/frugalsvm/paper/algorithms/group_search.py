"""Swap searches for CoP(K): solutions for trees that are too large to finish.

The first search ignores the cut that one feature of a group is selected: often the best
solution has one. Otherwise there is one search for each feature of the group, with that
feature forced, and the best of them continues with restarts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.incumbent import Incumbent
from ...search.evaluator import Evaluator, Stop
from ...search.restarts import RestartSearch, SwapOptions, shrink
from ...tree.schedule import node_cost

# Patience of the search if nodes are cheap, as the tree will finish soon.
LEAST_PATIENCE = 30
# Maximum patience, as for a whole problem.
MOST_PATIENCE = 250


class GroupSearch:
    """Swap searches of one CoP(K).

    Parameters
    ----------
    problem : Problem
        On the features of K.
    group : array of int or None
        Features of which at least one must be selected.
    start : array of int
        Support of a solution to start from.
    should_stop : callable

    Attributes
    ----------
    n_solves : int
        SVM solves so far.
    """

    def __init__(
        self,
        problem: Problem,
        group: np.ndarray | None,
        start: np.ndarray,
        should_stop: Callable[[], bool],
    ):
        self._problem = problem
        self._group = group
        self._start = start
        patience = LEAST_PATIENCE * node_cost(problem.n_features)
        self._options = SwapOptions(patience=int(min(patience, MOST_PATIENCE)))
        self._should_stop = should_stop
        self._search: RestartSearch | None = None
        self._has_seeded = group is None
        self.n_solves = 0

    @property
    def is_idle(self) -> bool:
        """Whether the patience is used up."""
        return self._is_exhausted() and (self._has_seeded or self._best() is not None)

    def go_on(self) -> Solution | None:
        """Continue the search; return the best solution within the cut so far."""
        with ThreadPoolExecutor(1) as pool:
            if self._search is None:
                self._search = self._begin(self._problem, pool)
            elif not self._is_exhausted():
                self._restart(self._search, pool)
            elif not self._has_seeded:
                self._has_seeded = True
                self._search = self._seed(pool)
        return self._best()

    def _is_exhausted(self) -> bool:
        return self._search is not None and self._search.idle >= self._options.patience

    def _best(self) -> Solution | None:
        """The best solution with a feature of the group."""
        elites = [] if self._search is None else self._search.elite_pool.solutions
        for solution in elites:
            if self._group is None or np.isin(self._group, solution.support).any():
                return solution
        return None

    def _restart(self, search: RestartSearch, pool: ThreadPoolExecutor) -> None:
        before = search.counters["SVM solves"]
        search.pool = pool
        # Without tempering: the subtree has no work to compare it with.
        search.restart(0.0)
        self.n_solves += search.counters["SVM solves"] - before

    def _seed(self, pool: ThreadPoolExecutor) -> RestartSearch | None:
        assert self._group is not None
        budget = self._problem.root_region().budget
        reachable = self._group[self._problem.costs[self._group] <= budget]
        problems = [self._problem.requiring(int(j)) for j in reachable]
        searches = [s for p in problems if (s := self._begin(p, pool)) is not None]
        return min(searches, key=lambda s: s.incumbent.objective, default=None)

    def _begin(
        self, problem: Problem, pool: ThreadPoolExecutor
    ) -> RestartSearch | None:
        evaluator = Evaluator(problem, self._should_stop)
        try:
            first = shrink(evaluator, np.union1d(self._start, problem.include))
        except Stop:
            return None
        seed = np.random.SeedSequence(0)
        search = RestartSearch(
            problem, Incumbent(), self._options, pool, seed, self._should_stop
        )
        search.incumbent.offer(first)
        search.start([first])
        self.n_solves += search.counters["SVM solves"]
        return search
