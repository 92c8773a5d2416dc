"""Swap searches for CoP(K): solutions for trees that are too large to finish.

With the cut that one feature of a group is selected there is one search for each of
them, with that feature always in; the best one goes on with restarts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..monitor import Monitor
from ..problem import Problem
from ..search.evaluator import Evaluator, Solution, Stop
from ..search.restarts import RestartSearch, SwapOptions, shrink

# Restarts without improvement after which the search is left to the tree.
OPTIONS = SwapOptions(patience=40)


class QuietMonitor(Monitor):
    """Stops when told, and keeps the incumbents of a subproblem to itself."""

    def __init__(self, should_stop: Callable[[], bool]):
        super().__init__()
        self._asked = should_stop

    def should_stop(self) -> bool:
        """Whether the subproblem has to end."""
        return self._asked()


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
        self._monitor = QuietMonitor(should_stop)
        self._search: RestartSearch | None = None
        self.n_solves = 0

    @property
    def is_idle(self) -> bool:
        """Whether there is no patience left."""
        return self._search is not None and self._search.idle >= OPTIONS.patience

    def go_on(self) -> Solution | None:
        """Seed the searches, or restart the best one; the best solution so far."""
        with ThreadPoolExecutor(1) as pool:
            if self._search is None:
                self._search = self._seed(pool)
                if self._search is None:
                    return None
            else:
                self._search.pool = pool
                before = self._search.counters["SVM solves"]
                self._search.restart()
                self.n_solves += self._search.counters["SVM solves"] - before
        return self._search.elites.best

    def _seed(self, pool: ThreadPoolExecutor) -> RestartSearch | None:
        if self._group is None:
            problems = [self._problem]
        else:
            reachable = self._group[
                self._problem.costs[self._group] <= self._problem.root_node().budget
            ]
            problems = [self._problem.requiring(int(j)) for j in reachable]
        searches = [s for p in problems if (s := self._begin(p, pool)) is not None]
        return min(searches, key=lambda s: s.elites.best.objective, default=None)

    def _begin(
        self, problem: Problem, pool: ThreadPoolExecutor
    ) -> RestartSearch | None:
        evaluator = Evaluator(problem, self._monitor.should_stop)
        try:
            first = shrink(evaluator, np.union1d(self._start, problem.include))
        except Stop:
            return None
        seed = np.random.SeedSequence(0)
        search = RestartSearch(problem, self._monitor, OPTIONS, pool, seed)
        search.start([first])
        self.n_solves += search.counters["SVM solves"]
        return search
