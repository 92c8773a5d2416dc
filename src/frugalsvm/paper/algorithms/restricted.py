"""CoP(K) by the native tree: FS-SVM on the features K, with the cuts of kernel search.

The cut ``objective <= UB`` limits the bounds of nodes. The cut that at least one
feature of a group is selected is a union of branches: the first feature of the group
in; the first out and the second in; and so on. The remaining branch, with all of them
out, is never explored.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.monitor import Incumbent
from ...search.evaluator import Evaluator, Stop
from ...search.restarts import RestartSearch, SwapOptions, shrink
from ...tree.best_first import BestFirstTree, Frontier, Policy
from ...tree.branch_and_bound import node_cost
from ...tree.branching import Reliability
from ...tree.evaluation import AllFeatures, NodeSolver
from ...tree.node import Node

# --- Swap searches for CoP(K): solutions for trees that are too large to finish -------
#
# The first search ignores the cut that one feature of a group is selected: often the
# best solution satisfies it. Otherwise there is one search for each feature of the
# group, with that feature forced, and the best of them continues with restarts.


class GroupSearch:
    """Swap searches of one CoP(K).

    Parameters
    ----------
    problem : Problem
        A problem with the features of K only.
    group : array of int or None
        Features of which at least one must be selected.
    start : array of int
        Support of the first solution.
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
        # Little patience if nodes are cheap, as the tree will finish soon; at most that
        # for a whole problem.
        patience = min(30 * node_cost(problem.n_features), 250)
        self._options = SwapOptions(patience=int(patience))
        self._should_stop = should_stop
        self._search: RestartSearch | None = None
        self._has_seeded = group is None
        self.n_solves = 0

    @property
    def is_idle(self) -> bool:
        """Whether the patience is used up."""
        return self._is_exhausted() and (self._has_seeded or self._best() is not None)

    def advance(self) -> Solution | None:
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
        # No tempering: the subtree has no work to compare it with.
        search.restart(0.0)
        self.n_solves += search.counters["SVM solves"] - before

    def _seed(self, pool: ThreadPoolExecutor) -> RestartSearch | None:
        """The best of the searches with one feature of the group forced."""
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


# --- A tree without its own heuristics, for the subproblems of the paper's algorithms -
#
# Best bound first, in one thread. Subproblems differ in the kind of tree and in the
# initial nodes.

# Called after every pair of nodes with the frontier and the number of new nodes.
Watch = Callable[[Frontier, int], None]


class ReportingPolicy(Policy):
    """Reports each branching, and never descends from solutions found at nodes."""

    def __init__(self, watch: Watch):
        self._watch = watch
        self._n_reported = 0

    def evaluated(self, solver: NodeSolver) -> None:
        """Forget the solutions; the incumbent has the best one."""
        solver.improvements.clear()

    def grown(self, tree: BestFirstTree, solver: NodeSolver) -> None:
        """Report the nodes evaluated since the last call."""
        n_new = tree.n_nodes - self._n_reported
        self._n_reported = tree.n_nodes
        self._watch(tree.frontier, n_new)


def make_subtree(solver: NodeSolver, watch: Watch, **limits: Any) -> BestFirstTree:
    """A tree without nodes: the caller adds the initial ones.

    Parameters
    ----------
    solver : NodeSolver
        Evaluates nodes; its incumbent determines pruning, its rule branching.
    watch : callable
    **limits
        ``max_nodes``, ``max_bytes`` and ``keep_proof`` of :class:`BestFirstTree`.

    Returns
    -------
    BestFirstTree
    """
    return BestFirstTree(
        lambda: solver,
        solver.incumbent,
        ReportingPolicy(watch),
        should_stop=solver.should_stop,
        **limits,
    )


def grow(tree: BestFirstTree, solver: NodeSolver) -> None:
    """Search, and also report the nodes since the last branching."""
    tree.run()
    tree.policy.grown(tree, solver)


# --- The solution of CoP(K) -----------------------------------------------------------

# Relative gap to which subproblems are solved.
SUBPROBLEM_GAP = 1e-6
# Relative tolerance of UB, since solves are inexact.
TIE = 1e-6


@dataclass(frozen=True)
class Restricted:
    """The result of CoP(K).

    Attributes
    ----------
    solution : Solution or None
        The best solution, in the numbering of the whole problem; None if the cuts
        admit none, or if the search was stopped before the first.
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
        """Add a node for each feature of the group; return False if stopped."""
        root = self.solver.root
        if root.k == 0:
            return True
        node = Node.root(root)
        for feature in group[self.problem.costs[group] <= root.budget]:
            if self.solver.should_stop():
                return False
            inside, node = self.solver.split_off(node, int(feature))
            self.subtree.add(self.solver, inside)
        return True

    def _after_nodes(self, frontier: Frontier, n_new: int) -> None:
        # Half an SVM solve of the search for each cheap node after the first 60: easy
        # trees have finished by then.
        rate = 0.5 * node_cost(self.problem.n_features)
        due = rate * (self.subtree.n_nodes - 60)
        if self.search.n_solves < due and not self.search.is_idle:
            solution = self.search.advance()
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
    if group is not None:
        group = np.searchsorted(features, group[np.isin(group, features)])
    first = features[:0] if start is None else np.intersect1d(start, features)
    search = _RestrictedSearch(
        problem.restrict(features),
        upper_bound * (1.0 + TIE),
        group,
        np.searchsorted(features, first),
        should_stop,
        watch,
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
