"""Evaluation of one node.

    relax -> pruned? -> round -> fix features -> open node or leaf

This is a generator: it yields the relaxations that it needs and is sent their results.
So several nodes can be evaluated side by side, and one call of the engine solves all
pending requests (``run_evaluations``).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Protocol

import numpy as np

from ..engine.perspective import region_request
from ..engine.protocol import (
    Engine,
    Region,
    RelaxationRequest,
    RelaxationResult,
    WorkingSet,
)
from ..engine.work import request_work
from ..kernels.screening import FIXED_IN, FIXED_OUT, OPEN, screen_region
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import Incumbent
from ..search.evaluator import Evaluator, Stop
from ..search.relaxations import fit_budgets
from .branching import Pair, Reliability, expected_gains
from .node import BranchingData, DualPoint, Node, region_of, working_set_of
from .parameters import TreeParameters

# Generators that yield requests and receive their results.
Steps = Generator[RelaxationRequest, RelaxationResult, None]
Relaxing = Generator[RelaxationRequest, RelaxationResult, RelaxationResult]


class Work(Protocol):
    """Work that consists of evaluations."""

    def due(self) -> list[Evaluation]:
        """The evaluations that await a result; none when the work is done."""


def run_evaluations(engine: Engine, jobs: Iterable[Work]) -> None:
    """Solve all requests; each engine call solves all that are pending."""
    jobs = list(jobs)
    while due := [evaluation for job in jobs for evaluation in job.due()]:
        results = engine.solve([e.request for e in due if e.request is not None])
        for evaluation, result in zip(due, results, strict=True):
            evaluation.take(result)


class Evaluation:
    """The evaluation of one node.

    Parameters
    ----------
    solver : NodeSolver
        Knows problem, incumbent, branching rule and kind of tree.
    node : Node
        Receives the bound, fixings and, if it stays open, the branching data.
    region : Region
        The decisions left at the node.
    working_set : WorkingSet or None
        The working set of the parent.

    Attributes
    ----------
    request : RelaxationRequest or None
        The pending request; None when the node is evaluated.
    """

    __slots__ = ("_point", "_solver", "_steps", "node", "region", "request")

    def __init__(
        self,
        solver: NodeSolver,
        node: Node,
        region: Region,
        working_set: WorkingSet | None,
    ):
        self.node = node
        self.region = region
        self._solver = solver
        # The stored point of the last relaxation of the node, if points are kept.
        self._point: DualPoint | None = None
        self._steps: Steps = self._evaluate(working_set)
        solver.n_nodes += 1
        self.request: RelaxationRequest | None = next(self._steps, None)

    def due(self) -> list[Evaluation]:
        """Itself while a request is pending."""
        return [] if self.request is None else [self]

    def take(self, result: RelaxationResult) -> None:
        """Take the result of the pending request, and set the next one."""
        try:
            self.request = self._steps.send(result)
        except StopIteration:
            self.request = None

    def _evaluate(self, working_set: WorkingSet | None) -> Steps:
        solver, kind = self._solver, self._solver.kind
        if self._is_decided():
            yield from self._close(working_set)
            return
        parameters = solver.parameters
        result = yield from self._relax(
            self.region, working_set, parameters.node_tol, parameters.node_max_rounds
        )
        kind.relaxed(result)
        if self._is_pruned():
            return
        if kind.branchable(self.region).size == 0:
            yield from self._close(working_set)
            return
        trial = kind.round(solver, self.region, result)
        if trial is not None:
            # Only a part of the node: its bound is not that of the node.
            rounded = yield from self._relax_finely(
                trial, working_set_of(result), bounds_node=False
            )
            kind.solved(solver, rounded)
        # Whether a more accurate bound may prune the node.
        is_near = not self._is_pruned() and solver.incumbent.cutoff < result.primal
        if is_near and kind.wants_finer(self.region, result):
            working_set = working_set_of(result)
            result = yield from self._relax_finely(self.region, working_set)
        if self._is_pruned():
            return
        self._fix(result)
        branchable = kind.branchable(self.region)
        if branchable.size == 0 or self._is_decided():
            yield from self._close(working_set)
        else:
            self._leave_open(branchable, result)

    def _close(self, working_set: WorkingSet | None) -> Steps:
        """Close a leaf, where nothing is left to branch on: its bound is final."""
        solver = self._solver
        self.region = self.region.settled(solver.problem.costs)
        result = yield from self._relax_finely(self.region, working_set)
        if self.region.free.size == 0 and not self._is_pruned():
            solver.close(self.node, np.sort(self.region.forced))
        solver.kind.solved(solver, result)

    # --- relaxations -----------------------------------------------------------------

    def _relax(
        self,
        region: Region,
        working_set: WorkingSet | None,
        tol: float,
        max_rounds: int,
        bounds_node: bool = True,
    ) -> Relaxing:
        """Relax a region until it is accurate enough or may be pruned."""
        solver = self._solver
        request = region_request(
            solver.engine,
            region,
            working_set,
            tol=tol,
            fine_tol=solver.fine_tol,
            cutoff=solver.incumbent.cutoff,
            max_rounds=min(max_rounds, solver.engine.parameters.rounds_at_a_time),
        )
        while True:
            result = yield request
            solver.n_iterations += result.iterations
            if solver.counts_work:
                solver.work += request_work(solver.engine, request, result)
            is_last = result.finished or request.n_before + result.rounds >= max_rounds
            is_last = is_last or result.bound > request.cutoff
            if bounds_node:
                if solver.keep_points:
                    result = self._stored(result, request.cutoff)
                if result.bound > self.node.bound:
                    self.node.bound, self.node.point = result.bound, self._point
            if is_last or solver.should_stop():
                return result
            request = request.continued(result)

    def _stored(self, result: RelaxationResult, cutoff: float) -> RelaxationResult:
        """Store the dual point of a result; return what the stored point proves."""
        problem, region = self._solver.problem, self.region
        self._point, proved = DualPoint.stored(
            self._solver.engine, problem, region, result.alpha
        )
        decision = result.decision
        if result.decides:
            decision = screen_region(
                proved.alpha, proved.squares, region.forced, region.free, region.k,
                problem.costs, region.budget, cutoff,
            )  # fmt: skip
        return result._replace(
            **proved._asdict(), decision=decision, decides=bool(decision.any())
        )

    def _relax_finely(
        self, region: Region, working_set: WorkingSet | None, bounds_node: bool = True
    ) -> Relaxing:
        """Relax a region to the accuracy of a leaf."""
        fine, rounds = self._solver.fine_tol, self._solver.parameters.leaf_max_rounds
        return self._relax(region, working_set, fine, rounds, bounds_node)

    # --- decisions -------------------------------------------------------------------

    def _is_decided(self) -> bool:
        return self.region.is_decided(self._solver.problem.costs)

    def _is_pruned(self) -> bool:
        return self.node.bound > self._solver.incumbent.cutoff

    def _fix(self, result: RelaxationResult) -> None:
        """Fix features by screening."""
        if not result.decides:
            return
        solver, node, free = self._solver, self.node, self.region.free
        decision = solver.kind.fixable(self.region, result.decision)
        if not decision.any():
            return
        fixed_in = free[decision == FIXED_IN]
        fixed_out = free[decision == FIXED_OUT]
        node.fix(fixed_in, fixed_out, self._point)
        self.region = solver.region_of(node.forced, free[decision == OPEN])

    def _leave_open(self, features: np.ndarray, result: RelaxationResult) -> None:
        """Rank the features to branch on, and keep the branching data."""
        cutoff = self._solver.incumbent.cutoff
        ranked = self._solver.rule.rank(features, result, cutoff)
        free = self.region.free
        self.node.branching_data = BranchingData(
            ranked,
            result.z[ranked].tolist(),
            expected_gains(result.z[ranked], result.curvature[ranked]),
            working_set_of(result),
            free if free.shape[0] <= self._solver.parameters.max_stored_free else None,
        )


# --- Kinds of trees, and the solver of nodes ------------------------------------------


class TreeKind(Protocol):
    """A kind of tree: how it branches and rounds."""

    def branchable(self, region: Region) -> np.ndarray:
        """The free features that the tree has to decide."""

    def fixable(self, region: Region, decision: np.ndarray) -> np.ndarray:
        """The screening decisions that may be used."""

    def relaxed(self, result: RelaxationResult) -> None:
        """Called with the first relaxation of every node."""

    def round(
        self, solver: NodeSolver, region: Region, result: RelaxationResult
    ) -> Region | None:
        """Look for a solution near a relaxation; may return a region to solve."""

    def wants_finer(self, region: Region, result: RelaxationResult) -> bool:
        """Whether a more accurate relaxation may prune a node."""

    def solved(self, solver: NodeSolver, result: RelaxationResult) -> None:
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

    def relaxed(self, result: RelaxationResult) -> None:
        """Nothing to do."""

    def round(
        self, solver: NodeSolver, region: Region, result: RelaxationResult
    ) -> Region | None:
        """Try the support of the forced features and the largest ``z_j c_j^2``."""
        parameters = solver.parameters
        self._n_open += 1
        is_due = self._n_open % parameters.round_period == 0
        if self._n_open > parameters.always_rounded and not is_due:
            return None
        free = region.free
        value = result.z[free] * result.squares[free]
        if np.isfinite(region.budget):
            value = value / solver.problem.costs[free]
        ranked = free[np.argsort(-value, kind="stable")]
        chosen = region.forced[solver.root.forced.size :]
        solver.offer(fit_budgets(solver.problem, np.concatenate([chosen, ranked])))
        return None

    def wants_finer(self, region: Region, result: RelaxationResult) -> bool:
        """No: rounding does not depend on it."""
        return False

    def solved(self, solver: NodeSolver, result: RelaxationResult) -> None:
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
        Supports already solved; shared between threads.
    counts_work : bool, default=False
        Whether to count ``work``, which takes time on small data.
    engine : Engine, optional
        Relaxes nodes; by default that of the problem.

    Attributes
    ----------
    parameters : TreeParameters
    root : Region
        All supports that the problem admits.
    n_nodes, n_iterations, work : int, int, float
        Work done in relaxations; readers may reset the counts.
    improvements : list of Solution
        Solutions that were better than the incumbent when they were offered.
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
