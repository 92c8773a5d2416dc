"""Evaluation of one node, as a sequence of relaxation requests.

    relax -> prune? -> round -> fix features -> open node or leaf

The caller solves the pending ``request`` and passes the result to ``take``, which sets
the next request, until there is none. This way several nodes can be evaluated side by
side, and one call of the engine solves all pending requests (``run_evaluations``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..engine.perspective import ROUNDS_AT_A_TIME, region_request
from ..engine.protocol import Engine, RelaxationRequest, RelaxationResult, WorkingSet
from ..engine.region import Region
from ..engine.work import request_work
from ..kernels.screening import FIXED_IN, FIXED_OUT, OPEN
from .branching import expected_gains
from .node import FEW_FEATURES, BranchingData, DualPoint, Node, working_set_of

if TYPE_CHECKING:  # circular import: node solvers make evaluations
    from .node_solver import NodeSolver

# Relative gap to which relaxations are solved unless they may be pruned.
NODE_TOL = 2e-3
# Maximum rounds on growing working sets; fewer give a weaker but valid bound.
MAX_ROUNDS = 3
# Maximum rounds for a leaf, whose bound is final.
LEAF_ROUNDS = 30


def _nothing(found: RelaxationResult) -> None:
    """The next step in the evaluation of a node."""


class Work(Protocol):
    """Work that consists of evaluations."""

    def due(self) -> list[Evaluation]:
        """The evaluations that await a result; none when the work is done."""


def run_evaluations(engine: Engine, jobs: Iterable[Work]) -> None:
    """Solve all requests; each engine call solves all that are pending."""
    jobs = list(jobs)
    while due := [evaluation for job in jobs for evaluation in job.due()]:
        results = engine.solve([e.request for e in due if e.request is not None])
        for evaluation, found in zip(due, results, strict=True):
            evaluation.take(found)


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

    __slots__ = (
        "_found",
        "_is_trial",
        "_max_rounds",
        "_solver",
        "_then",
        "_working_set",
        "node",
        "region",
        "request",
    )

    def __init__(
        self,
        solver: NodeSolver,
        node: Node,
        region: Region,
        working_set: WorkingSet | None,
    ):
        self.node = node
        self.region = region
        self.request: RelaxationRequest | None = None
        self._solver = solver
        self._working_set = working_set
        self._is_trial = False
        self._then: Callable[[RelaxationResult], None] = _nothing
        solver.n_nodes += 1
        if region.is_decided(solver.problem.costs):
            self._solve_leaf()
        else:
            self._solve(region, working_set, NODE_TOL, MAX_ROUNDS, self._relaxed)

    def due(self) -> list[Evaluation]:
        """Itself while a request is pending."""
        return [] if self.request is None else [self]

    def take(self, found: RelaxationResult) -> None:
        """Take the result of the pending request, and set the next one."""
        solver, request = self._solver, self.request
        assert request is not None
        solver.n_iterations += found.iterations
        if solver.counts_work:
            solver.work += request_work(solver.engine, request, found)
        if found.bound > self.node.bound and not self._is_trial:
            self.node.bound = found.bound
            self.node.point = self._kept_point(found)
        is_last = found.finished or request.n_before + found.rounds >= self._max_rounds
        if is_last or found.bound > request.cutoff or solver.should_stop():
            self.request = None
            # Cleared: a bound method would keep the object alive in a reference cycle.
            then, self._then = self._then, _nothing
            then(found)
        else:
            self.request = request.continued(found)

    def _solve(
        self,
        region: Region,
        working_set: WorkingSet | None,
        tol: float,
        max_rounds: int,
        then: Callable[[RelaxationResult], None],
    ) -> None:
        """Request the relaxation of a region next, and set the step that follows."""
        solver = self._solver
        self._max_rounds = max_rounds
        self._then = then
        self.request = region_request(
            solver.engine,
            region,
            working_set,
            tol=tol,
            fine_tol=solver.fine_tol,
            cutoff=solver.incumbent.cutoff,
            max_rounds=min(max_rounds, ROUNDS_AT_A_TIME),
        )

    def _solve_finely(
        self,
        region: Region,
        working_set: WorkingSet | None,
        then: Callable[[RelaxationResult], None],
    ) -> None:
        """Request a relaxation to the accuracy of a leaf."""
        self._solve(region, working_set, self._solver.fine_tol, LEAF_ROUNDS, then)

    def _is_pruned(self) -> bool:
        return self.node.bound > self._solver.incumbent.cutoff

    def _relaxed(self, found: RelaxationResult) -> None:
        """Store the bound of the node; unless it is pruned, look for solutions."""
        solver = self._solver
        solver.kind.relaxed(found)
        if self._is_pruned():
            return
        if solver.kind.branchable(self.region).size == 0:
            self._solve_leaf()
            return
        self._found = found
        trial = solver.kind.round(solver, self.region, found)
        if trial is None:
            self._refine()
        else:
            self._is_trial = True
            self._solve_finely(trial, working_set_of(found), self._tried)

    def _tried(self, found: RelaxationResult) -> None:
        """Take the result for a region suggested by rounding."""
        self._is_trial = False
        self._solver.kind.solved(self._solver, found)
        self._refine()

    def _refine(self) -> None:
        """Solve the relaxation more accurately if the kind of tree asks for it."""
        solver, found = self._solver, self._found
        is_open = not self._is_pruned() and solver.incumbent.cutoff < found.primal
        if is_open and solver.kind.wants_finer(self.region, found):
            self._working_set = working_set_of(found)
            self._solve_finely(self.region, self._working_set, self._settle)
        else:
            self._settle(found)

    def _settle(self, found: RelaxationResult) -> None:
        """Fix features; the node becomes a leaf or stays open."""
        if self._is_pruned():
            return
        solver = self._solver
        self._fix(found)
        left = solver.kind.branchable(self.region)
        if left.size == 0 or self.region.is_decided(solver.problem.costs):
            self._solve_leaf()
        else:
            self._leave_open(left, found)

    def _fix(self, found: RelaxationResult) -> None:
        """Fix features by screening."""
        if not found.decides:
            return
        solver, node, free = self._solver, self.node, self.region.free
        decision = solver.kind.fixable(self.region, found.decision)
        if not decision.any():
            return
        fixed_in = free[decision == FIXED_IN]
        fixed_out = free[decision == FIXED_OUT]
        node.fix(fixed_in, fixed_out, self._kept_point(found))
        self.region = solver.region_of(node.forced, free[decision == OPEN])

    def _leave_open(self, features: np.ndarray, found: RelaxationResult) -> None:
        """Rank the features to branch on, and keep the branching data."""
        cutoff = self._solver.incumbent.cutoff
        ranked = self._solver.rule.rank(features, found, cutoff)
        free = self.region.free
        self.node.branching_data = BranchingData(
            ranked,
            found.z[ranked].tolist(),
            expected_gains(found.z[ranked], found.curvature[ranked]),
            working_set_of(found),
            free if free.shape[0] <= FEW_FEATURES else None,
        )

    def _solve_leaf(self) -> None:
        """Close a leaf, where nothing is left to branch on: its bound is final."""
        solver = self._solver
        self.region = self.region.settled(solver.problem.costs)
        self._solve_finely(self.region, self._working_set, self._leaf_solved)

    def _leaf_solved(self, found: RelaxationResult) -> None:
        solver = self._solver
        if self.region.free.size == 0 and not self._is_pruned():
            solver.close(self.node, np.sort(self.region.forced))
        solver.kind.solved(solver, found)

    def _kept_point(self, found: RelaxationResult) -> DualPoint | None:
        if not self._solver.keep_points:
            return None
        return DualPoint.of(found.alpha, found.price)
