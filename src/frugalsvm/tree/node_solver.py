"""What is done at a node: bound it, fix features, round it, rank its candidates."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from ..engine.perspective import ROUNDS_AT_A_TIME, region_task
from ..engine.protocol import Answer, ActiveSet as Focus
from ..engine.region import Region as Node
from ..kernels.screening import FIXED_IN, FIXED_OUT, OPEN
from .steps import Steps, run, together
from ..problem import Problem
from ..search.evaluator import SEARCH_TOL, Evaluator, Solution, Stop
from ..search.rounding import fit_budgets
from .branching import MostFractional
from .tree import FEW_FEATURES, DualPoint, TreeNode, part_of

# Relative gap to which relaxations are solved unless they may be pruned.
NODE_TOL = 2e-3
# Rounds on growing parts of a node; a bound from fewer is weaker, not wrong.
MAX_ROUNDS = 3
# ... of a node that has nothing left to decide: its bound is final.
LEAF_ROUNDS = 30
# Open nodes that are all rounded, and how many of the later ones: an SVM costs as much
# as a node.
ROUND_ALWAYS, ROUND_PERIOD = 100, 8
# Gaps below this are rounding errors: no bound is asked to be tighter.
LEAST_GAP = 1e-8


class Incumbent:
    """The best solution so far and the value that bounds have to exceed.

    Parameters
    ----------
    gap_tol : float
        A node whose bound is within this relative gap of the objective is pruned.
    """

    def __init__(self, gap_tol: float):
        self.gap_tol = max(gap_tol, LEAST_GAP)
        self.solution: Solution | None = None
        self.cutoff = np.inf
        self._lock = threading.Lock()

    def offer(self, solution: Solution) -> bool:
        """Take the solution if it is better; whether it was."""
        with self._lock:
            if self.solution and solution.objective >= self.solution.objective:
                return False
            self.solution = solution
            # A little less than the gap, for the final solve may end a little higher.
            gap = self.gap_tol - min(0.2 * self.gap_tol, 1e-8)
            self.cutoff = solution.objective * (1.0 - gap)
            return True


class NodeSolver:
    """Evaluates nodes of one problem; one per thread.

    Parameters
    ----------
    problem : Problem
    incumbent : Incumbent
        Shared between threads.
    rule : MostFractional
        Ranks the candidates for branching.
    should_stop : callable
        Asked inside long evaluations; what is stopped early is weaker, not wrong.
    keep_points : bool
        Whether nodes keep the dual points behind their bounds and fixings.
    tried : set of bytes
        Supports that were rounded to before; shared between threads.
    """

    def __init__(
        self,
        problem: Problem,
        incumbent: Incumbent,
        rule: MostFractional,
        *,
        should_stop: Callable[[], bool],
        keep_points: bool,
        tried: set[bytes],
    ):
        self.problem = problem
        self.incumbent = incumbent
        self.rule = rule
        self.keep_points = keep_points
        self.should_stop = should_stop
        self.evaluator = Evaluator(problem, should_stop)
        self.root = problem.root_region().affordable(problem.costs)
        self.engine = problem.engine
        self.fine_tol = max(0.1 * incumbent.gap_tol, 1e-9)
        self.n_nodes = 0
        self.n_iterations = 0
        # Solutions better than the incumbent at the time they were found.
        self.found: list[Solution] = []
        self._tried = tried
        self._n_open = 0

    def plant(self) -> TreeNode:
        """The evaluated root."""
        root = TreeNode.root(self.root)
        run(self.engine, self._evaluate(root, self.root))
        return root

    def children(self, node: TreeNode, feature: int) -> Steps:
        """The two evaluated children of a node, that which uses the feature first.

        A generator of tasks, like all methods below that return ``Steps``.
        """
        part = node.part(self.problem, self.root)
        rest = part.free[part.free != feature]
        inside, outside = node.child(feature, True), node.child(feature, False)
        yield from together(
            [
                self._evaluate(child, self._part_of(child.forced, rest))
                for child in (inside, outside)
            ]
        )
        return inside, outside

    def split_off(self, node: TreeNode, feature: int) -> tuple[TreeNode, TreeNode]:
        """The evaluated child that uses the feature; the other one, not evaluated."""
        part = node.part(self.problem, self.root)
        inside, outside = node.child(feature, True), node.child(feature, False)
        rest = part.free[part.free != feature]
        run(self.engine, self._evaluate(inside, self._part_of(inside.forced, rest)))
        return inside, outside

    def _evaluate(self, node: TreeNode, part: Node) -> Steps:
        """Bound the node; if it stays open, fix features and rank candidates."""
        self.n_nodes += 1
        if self._is_decided(part):
            yield from self._close(node, part)
            return
        found = yield from self._relax(node, part)
        if node.bound > self.incumbent.cutoff:
            return
        self._n_open += 1
        if self._n_open <= ROUND_ALWAYS or self._n_open % ROUND_PERIOD == 0:
            self._round(part, found)
            if node.bound > self.incumbent.cutoff:
                return
        open_part = self._fix(node, part, found)
        if self._is_decided(open_part):
            yield from self._close(node, open_part)
            return
        self._leave_open(node, open_part.free, found)
        if open_part.free.shape[0] <= FEW_FEATURES:
            node.free = open_part.free

    def _leave_open(self, node: TreeNode, free: np.ndarray, found: Answer) -> None:
        """Rank the features to branch on, and keep what children start from."""
        node.candidates = self.rule.rank(free, found.z, found.squares)
        node.shares = found.z[node.candidates]
        node.focus = focus_of(found)

    def _part_of(self, forced: np.ndarray, free: np.ndarray) -> Node:
        return part_of(self.problem, self.root, forced, free)

    def _is_decided(self, part: Node) -> bool:
        return part.is_decided(self.problem.costs)

    def _relax(self, node: TreeNode, part: Node) -> Steps:
        """As accurately as it takes to tell whether the node can be pruned."""
        return self._solve(node, part, NODE_TOL, self.fine_tol, MAX_ROUNDS)

    def _solve(
        self, node: TreeNode, part: Node, tol: float, fine_tol: float, max_rounds: int
    ) -> Steps:
        task = region_task(
            self.engine, part, node.focus, tol=tol, fine_tol=fine_tol,
            cutoff=self.incumbent.cutoff,
            max_rounds=min(max_rounds, ROUNDS_AT_A_TIME),
        )  # fmt: skip
        while True:
            (found,) = yield [task]
            self.n_iterations += found.iterations
            if found.bound > node.bound:
                node.bound, node.point = found.bound, self._kept_point(found)
            is_beyond = found.bound > task.cutoff
            task = task.continued(found)
            is_last = found.finished or task.n_before >= max_rounds
            if is_last or is_beyond or self.should_stop():
                return found

    def _kept_point(self, found: Answer) -> DualPoint | None:
        return DualPoint.of(found.alpha, found.price) if self.keep_points else None

    def _fix(self, node: TreeNode, part: Node, found: Answer) -> Node:
        """Decide features by screening; what is left to decide."""
        decision = self._screen(part, found)
        if decision is None:
            return part
        node.fixing_point = self._kept_point(found)
        node.fixed_in = part.free[decision == FIXED_IN].astype(np.int32)
        node.fixed_out = part.free[decision == FIXED_OUT].astype(np.int32)
        node.forced = np.concatenate([node.forced, part.free[decision == FIXED_IN]])
        return self._part_of(node.forced, part.free[decision == OPEN])

    def _screen(self, part: Node, found: Answer) -> np.ndarray | None:
        """What the dual point decides about each free feature; None if nothing."""
        return found.decision if found.decides else None

    def _close(self, node: TreeNode, part: Node) -> Steps:
        """Nothing is left to decide: the SVM on the features of the node."""
        part = part.settled(self.problem.costs)
        found = yield from self._decide(node, part)
        if node.bound <= self.incumbent.cutoff:
            self._offer(np.sort(part.forced))
        return found

    def _decide(self, node: TreeNode, part: Node) -> Steps:
        """The relaxation of a node that is a leaf: its bound is final."""
        return self._solve(node, part, self.fine_tol, self.fine_tol, LEAF_ROUNDS)

    def _round(self, part: Node, found: Answer) -> None:
        """Try the support of the node's features and the largest ``z_j c_j^2``."""
        free = part.free
        value = found.z[free] * found.squares[free]
        if np.isfinite(part.budget):
            value = value / self.problem.costs[free]
        ranked = free[np.argsort(-value, kind="stable")]
        chosen = part.forced[self.root.forced.size :]
        support = fit_budgets(self.problem, np.concatenate([chosen, ranked]))
        self._offer(support)

    def _offer(self, support: np.ndarray) -> None:
        key = support.tobytes()
        if key in self._tried or not self._is_affordable(support):
            return
        self._tried.add(key)
        best = self.incumbent.solution
        limit = np.inf if best is None else best.objective
        tol = min(SEARCH_TOL, self.fine_tol)
        try:
            solution = self.evaluator.solve(support, limit, tol=tol)
        except Stop:
            return
        if solution is not None and self.incumbent.offer(solution):
            self.found.append(solution)

    def _is_affordable(self, support: np.ndarray) -> bool:
        # The budget of a node is rounded up, that of a solution is not.
        costs, budget = self.problem.costs, self.problem.cost_budget
        return bool(np.isinf(budget) or costs[support].sum() <= budget)


def focus_of(found: Answer) -> Focus:
    """What mattered at a node; copies, for its answer is part of larger arrays."""
    return Focus(found.active.features.copy(), found.active.side.copy())
