"""CoP(K) by the native tree: FS-SVM on the features K, with the cuts of kernel search.

The cut ``objective <= UB`` is the value that bounds must not exceed. The cut that at
least one feature of a group is selected is a union of branches: the first feature of
the group in; the first out and the second in; and so on. The remaining branch, with all
of them out, is never explored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.incumbent import Incumbent
from ...search.evaluator import Evaluator
from ...tree.branching import Reliability
from ...tree.frontier import Frontier
from ...tree.node import Node
from ...tree.node_solver import AllFeatures, NodeSolver
from ...tree.schedule import node_cost
from .group_search import GroupSearch
from .subtree import grow, make_subtree

# Relative gap to which subproblems are solved.
SUBPROBLEM_GAP = 1e-6
# Relative tolerance of UB, since solves are inexact.
TIE = 1e-6
# Nodes before the swap search begins: easy trees finish earlier.
SEARCH_AFTER = 60
# SVM solves of the swap search per cheap node.
SEARCH_RATE = 0.5


@dataclass(frozen=True)
class Restricted:
    """The result of CoP(K).

    Attributes
    ----------
    solution : Solution or None
        The best one, in the numbering of the whole problem; None if there is none
        within the cuts, or none was found before the stop.
    complete : bool
        Whether the search was completed.
    n_nodes : int
    """

    solution: Solution | None
    complete: bool
    n_nodes: int = 0


class _RestrictedSearch:
    """The tree of one CoP(K), in the numbering of K."""

    def __init__(
        self,
        problem: Problem,
        limit: float,
        group: np.ndarray | None,
        start: np.ndarray,
        should_stop: Callable[[], bool],
        watch: Callable[[int], None],
    ):
        self.problem = problem
        self.group = group
        self.incumbent = Incumbent(SUBPROBLEM_GAP, limit)
        self.solver = NodeSolver(
            problem,
            self.incumbent,
            Reliability(problem.n_features),
            AllFeatures(),
            should_stop=should_stop,
            keep_points=False,
            tried=set(),
        )
        self.subtree = make_subtree(self.solver, self._after_nodes)
        self.search = GroupSearch(problem, group, start, should_stop)
        self._watch = watch

    def run(self) -> bool:
        """Search; return whether it was completed."""
        if self.group is None:
            self.subtree.add(self.solver, self.solver.make_root())
        elif not self._start_group(self.group):
            return False
        grow(self.subtree, self.solver)
        return self.subtree.is_exhausted

    def _start_group(self, group: np.ndarray) -> bool:
        root = self.solver.root
        if root.k == 0:
            return True
        rest = Node.root(root)
        for feature in group[self.problem.costs[group] <= root.budget]:
            if self.solver.should_stop():
                return False
            inside, rest = self.solver.split_off(rest, int(feature))
            self.subtree.add(self.solver, inside)
        return True

    def _after_nodes(self, frontier: Frontier, n_new: int) -> None:
        rate = SEARCH_RATE * node_cost(self.problem.n_features)
        due = rate * (self.subtree.n_nodes - SEARCH_AFTER)
        if self.search.n_solves < due and not self.search.is_idle:
            solution = self.search.go_on()
            if solution is not None:
                self.incumbent.offer(solution)
        self._watch(n_new)


def solve_restricted(
    problem: Problem,
    K: np.ndarray,
    *,
    upper_bound: float = np.inf,
    group: np.ndarray | None = None,
    start: np.ndarray | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    watch: Callable[[int], None] = lambda n_nodes: None,
) -> Restricted:
    """Solve CoP(K): the best solution of a problem on the features K.

    Parameters
    ----------
    problem : Problem
    K : array of int
        Features that may be used, without duplicates; included features are added.
    upper_bound : float, default=inf
        Objective that a solution must not exceed (``cons: UB cons``).
    group : array of int, default=None
        Subset of K of which at least one feature must be selected (``cons: K plus
        cons``).
    start : array of int, default=None
        Features of a good solution, from which the search may start.
    should_stop : callable
        Called between nodes and inside them.
    watch : callable
        Called with the number of new nodes after every branching.

    Returns
    -------
    Restricted
    """
    features = np.union1d(np.intersect1d(K, problem.candidates), problem.include)
    features = features.astype(np.int64)
    if features.size == 0:
        return _without_features(problem, upper_bound, group)
    places = None
    if group is not None:
        inside = group[np.isin(group, features)]
        places = np.searchsorted(features, inside)
    small = problem.restrict(features)
    limit = upper_bound * (1.0 + TIE)
    first = features[:0] if start is None else np.intersect1d(start, features)
    search = _RestrictedSearch(
        small, limit, places, np.searchsorted(features, first), should_stop, watch
    )
    complete = search.run()
    solution = search.incumbent.solution
    if solution is not None:
        solution = replace(solution, support=features[solution.support])
    return Restricted(solution, complete, search.subtree.n_nodes)


def _without_features(
    problem: Problem, upper_bound: float, group: np.ndarray | None
) -> Restricted:
    """The constant classifier, if the cuts admit it."""
    if group is not None:
        return Restricted(None, True)
    solution = Evaluator(problem).solve(problem.include)
    assert solution is not None
    fits = solution.objective <= upper_bound * (1.0 + TIE)
    return Restricted(solution if fits else None, True)
