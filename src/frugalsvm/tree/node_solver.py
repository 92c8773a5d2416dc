"""Evaluation of nodes, and the variants for different kinds of trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..engine.protocol import Engine, RelaxationResult
from ..engine.region import Region
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.incumbent import Incumbent
from ..search.evaluator import Evaluator, Stop
from ..search.rounding import fit_budgets
from .branching import Pair, Reliability
from .evaluation import Evaluation, run_evaluations
from .node import Node, region_of
from .parameters import TreeParameters


class TreeKind(Protocol):
    """A kind of tree: how it branches and rounds."""

    def branchable(self, region: Region) -> np.ndarray:
        """The free features that the tree has to decide."""

    def fixable(self, region: Region, decision: np.ndarray) -> np.ndarray:
        """The screening decisions that may be used."""

    def relaxed(self, found: RelaxationResult) -> None:
        """Called with the first relaxation of every node."""

    def round(
        self, solver: NodeSolver, region: Region, found: RelaxationResult
    ) -> Region | None:
        """Look for a solution near a relaxation; may return a region to solve."""

    def wants_finer(self, region: Region, found: RelaxationResult) -> bool:
        """Whether a more accurate relaxation may prune a node."""

    def solved(self, solver: NodeSolver, found: RelaxationResult) -> None:
        """Called with the relaxations of leaves and of regions from rounding."""


class AllFeatures:
    """The tree of FS-SVM itself: all features are decided."""

    def __init__(self) -> None:
        self._n_open = 0

    def branchable(self, region: Region) -> np.ndarray:
        """All free features."""
        return region.free

    def fixable(self, region: Region, decision: np.ndarray) -> np.ndarray:
        """All decisions."""
        return decision

    def relaxed(self, found: RelaxationResult) -> None:
        """Nothing to do."""

    def round(
        self, solver: NodeSolver, region: Region, found: RelaxationResult
    ) -> Region | None:
        """Try the support of the forced features and the largest ``z_j c_j^2``."""
        parameters = solver.parameters
        self._n_open += 1
        is_due = self._n_open % parameters.round_period == 0
        if self._n_open > parameters.always_rounded and not is_due:
            return None
        free = region.free
        value = found.z[free] * found.squares[free]
        if np.isfinite(region.budget):
            value = value / solver.problem.costs[free]
        ranked = free[np.argsort(-value, kind="stable")]
        chosen = region.forced[solver.root.forced.size :]
        solver.offer(fit_budgets(solver.problem, np.concatenate([chosen, ranked])))
        return None

    def wants_finer(self, region: Region, found: RelaxationResult) -> bool:
        """No: rounding does not depend on it."""
        return False

    def solved(self, solver: NodeSolver, found: RelaxationResult) -> None:
        """Nothing to do: the support of a leaf is offered anyway."""


class NodeSolver:
    """Evaluates nodes of one problem; one per thread.

    Parameters
    ----------
    problem : Problem
    incumbent : Incumbent
        Shared between threads.
    rule : Reliability
        Ranks the features to branch on.
    kind : TreeKind
    should_stop : callable
        Called inside long evaluations; results that are stopped early are weaker but
        valid.
    keep_points : bool
        Whether nodes keep the dual points of their bounds and fixings.
    tried : set of bytes
        Supports already obtained by rounding; shared between threads.
    counts_work : bool, default=False
        Whether to count ``work``, which takes time on small data.
    engine : Engine, optional
        What relaxes nodes; by default that of the problem.

    Attributes
    ----------
    parameters : TreeParameters
    root : Region
        All supports that the problem admits.
    n_nodes, n_iterations, work : int, int, float
        Work done in relaxations; readers may reset the counts.
    improvements : list of Solution
        Solutions better than the incumbent at the time they were found.
    """

    def __init__(
        self,
        problem: Problem,
        incumbent: Incumbent,
        rule: Reliability,
        kind: TreeKind,
        *,
        should_stop: Callable[[], bool],
        keep_points: bool,
        tried: set[bytes],
        counts_work: bool = False,
        engine: Engine | None = None,
    ):
        self.problem = problem
        self.parameters = problem.parameters(TreeParameters)
        self.engine: Engine = problem.engine if engine is None else engine
        self.incumbent = incumbent
        self.rule = rule
        self.kind = kind
        self.keep_points = keep_points
        self.should_stop = should_stop
        self.evaluator = Evaluator(problem, should_stop)
        self.root = problem.root_region().affordable(problem.costs)
        self.fine_tol = max(0.1 * incumbent.gap_tol, 1e-9)
        self.n_nodes = 0
        self.n_iterations = 0
        self.work = 0.0
        self.improvements: list[Solution] = []
        self.counts_work = counts_work
        self._tried = tried

    def make_root(self) -> Node:
        """The evaluated root."""
        root = Node.root(self.root)
        run_evaluations(self.engine, [Evaluation(self, root, self.root, None)])
        return root

    def split_off(self, node: Node, feature: int) -> Pair:
        """The evaluated child that uses the feature, and the other, not evaluated."""
        free = node.region(self.problem, self.root).free
        inside, outside = node.child(feature, True), node.child(feature, False)
        region = self.region_of(inside.forced, free[free != feature])
        run_evaluations(self.engine, [Evaluation(self, inside, region, None)])
        return inside, outside

    def region_of(self, forced: np.ndarray, free: np.ndarray) -> Region:
        """The part of the root with some features forced and some to decide."""
        return region_of(self.problem, self.root, forced, free)

    def close(self, node: Node, support: np.ndarray) -> None:
        """Called with leaves of one support that are not pruned."""
        self.offer(support)

    def offer(self, support: np.ndarray) -> None:
        """Solve the SVM on a support that may be better than the incumbent."""
        key = support.tobytes()
        if key in self._tried or not self._is_affordable(support):
            return
        self._tried.add(key)
        tol = min(self.evaluator.parameters.svm_tol, self.fine_tol)
        try:
            solution = self.evaluator.solve(support, self.incumbent.objective, tol=tol)
        except Stop:
            return
        if solution is not None and self.incumbent.offer(solution, "tree"):
            self.improvements.append(solution)

    def _is_affordable(self, support: np.ndarray) -> bool:
        # Budgets of regions are rounded up, those of solutions are not.
        costs, budget = self.problem.costs, self.problem.cost_budget
        return bool(np.isinf(budget) or costs[support].sum() <= budget)
