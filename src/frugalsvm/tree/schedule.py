"""When the swap search runs while a tree grows, and for how long."""

from __future__ import annotations

import threading

import numpy as np

from ..problem.solution import Solution
from ..run.incumbent import Incumbent
from ..search.evaluator import Evaluator, Stop
from ..search.restarts import RestartSearch, SwapOptions
from ..search.swap import swap_search
from .node_solver import NodeSolver
from .parameters import DEFAULTS, TreeParameters


def node_cost(n_features: int, parameters: TreeParameters = DEFAULTS) -> float:
    """The cost of a node, relative to one with few features."""
    return max(1.0, (n_features / parameters.cheap_max_candidates) ** 2)


class SearchSchedule:
    """The swap search beside a tree.

    Parameters
    ----------
    search : RestartSearch
        Already run from its starts.
    incumbent : Incumbent
    options : SwapOptions
    n_features : int
        Number of candidates.
    counts_work : bool
        Whether the work on nodes is counted, and so also limits the search.
    parameters : TreeParameters, optional
    """

    def __init__(
        self,
        search: RestartSearch,
        incumbent: Incumbent,
        options: SwapOptions,
        n_features: int,
        counts_work: bool,
        parameters: TreeParameters = DEFAULTS,
    ):
        self._search = search
        self._incumbent = incumbent
        self._options = options
        self._counts_work = counts_work
        self._parameters = parameters
        cost = node_cost(n_features, parameters)
        self._rate = parameters.search_rate * min(cost, parameters.max_rate_factor)
        self._solves_before = search.counters["SVM solves"]
        self._work_before = search.work
        self._searching = threading.Lock()

    def improve(self, solver: NodeSolver) -> None:
        """Descend from the incumbents found at nodes."""
        for solution in solver.improvements:
            better = self._descend(solver.evaluator, solution)
            self._incumbent.offer(better, "swap")
            with self._searching:
                self._search.learn(better)
        solver.improvements.clear()

    def _descend(self, evaluator: Evaluator, solution: Solution) -> Solution:
        """A descent, within the remaining work of the swap search."""
        width, tries = self._options.width, self._options.tries
        before = evaluator.work
        evaluator.max_work = before + self._search.work_left
        try:
            return swap_search(evaluator, solution, width=width, tries=tries)
        except Stop:
            return evaluator.reached or solution
        finally:
            evaluator.max_work = np.inf
            with self._searching:
                self._search.work += evaluator.work - before

    def restart(self, n_nodes: int, work: float) -> None:
        """Run a batch of restarts when it is due and patience is left."""
        if self._search.is_idle or not self._is_due(n_nodes, work):
            return
        if self._searching.acquire(blocking=False):
            try:
                self._search.restart(self._parameters.search_share * work)
            finally:
                self._searching.release()

    def _is_due(self, n_nodes: int, work: float) -> bool:
        solves = self._search.counters["SVM solves"] - self._solves_before
        is_due = solves < self._rate * (n_nodes - self._parameters.search_after)
        if not self._counts_work:
            return is_due
        limit = self._parameters.search_share * work
        return is_due and self._search.work - self._work_before <= limit
