"""SR-DLMP(K) by our own tree: branch on the features of K only.

Outside K the perspective relaxation stays, so a node in which K is decided is a leaf.
The bounds of the leaves bound FS-SVM as well: K decides which supports a leaf stands
for, and the relaxation of the rest only makes its bound smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..tree.branch_and_bound import Tree
from ..tree.branching import MostFractional, make_rule
from ..tree.node_solver import LEAF_ROUNDS, Incumbent, NodeSolver, focus_of
from ..tree.tree import TreeNode
from ..engine.region import Region as Node
from ..kernels.screening import OPEN
from ..engine.protocol import Answer
from ..tree.steps import Steps
from ..problem import Problem
from ..search.evaluator import Solution
from .subtree import Subtree

# A node whose z on K are this close to 0 or 1 is worth rounding.
NEARLY_BINARY = 0.05
# ... and so is every so many-th node.
ROUND_PERIOD = 16


@dataclass(frozen=True)
class SemiRelaxation:
    """What came out of SR-DLMP(K).

    Attributes
    ----------
    bound : float
        Lower bound of FS-SVM, from dual points; minus infinity if another solver ran.
    value : float
        Objective of the best solution of SR-DLMP(K); infinite if none is known, e.g.
        because none is better than the solution of FS-SVM given.
    u, squares : ndarrays of shape (n_features,)
        Of that solution, or of the root if there is none.
    complete : bool
        Whether the search came to its end.
    n_nodes : int
    nodes : list of TreeNode or None
        The whole tree, if proofs are kept.
    reported_bound : float or None
        What another solver claims as its bound.
    hit_limit : str or None
        "nodes" or "memory" if one of them ended the search.
    """

    bound: float
    value: float
    u: np.ndarray
    squares: np.ndarray
    complete: bool
    n_nodes: int = 0
    nodes: list[TreeNode] | None = None
    reported_bound: float | None = None
    hit_limit: str | None = None


class SemiIncumbent(Incumbent):
    """The best solutions of FS-SVM and of SR-DLMP(K); bounds need not exceed either."""

    def __init__(self, gap_tol: float, solution: Solution):
        super().__init__(gap_tol)
        self.value = np.inf
        self.z: np.ndarray | None = None
        self.squares: np.ndarray | None = None
        self.offer(solution)

    def offer(self, solution: Solution) -> bool:
        """Take a solution of FS-SVM if it is better; whether it was."""
        before = self.cutoff
        taken = super().offer(solution)
        self.cutoff = min(self.cutoff, before)
        return taken

    def offer_relaxed(self, found: Answer) -> None:
        """Take a relaxation in which K is decided: a solution of SR-DLMP(K)."""
        if found.primal < self.value:
            self.value = found.primal
            self.z, self.squares = found.z, found.squares
            self.cutoff = min(self.cutoff, self.value * (1.0 - self.gap_tol))


class SemiRelaxedSolver(NodeSolver):
    """Evaluates nodes of SR-DLMP(K)."""

    incumbent: SemiIncumbent

    def __init__(
        self,
        problem: Problem,
        K: np.ndarray,
        incumbent: SemiIncumbent,
        rule: MostFractional,
        *,
        should_stop: Callable[[], bool],
        keep_points: bool,
    ):
        super().__init__(
            problem, incumbent, rule, should_stop=should_stop, keep_points=keep_points,
            tried=set(),
        )  # fmt: skip
        self._binary = np.zeros(problem.n_features, dtype=bool)
        self._binary[K] = True
        self._rounded: set[bytes] = set()
        self.at_root: Answer | None = None

    def _evaluate(self, node: TreeNode, part: Node) -> Steps:
        """Bound the node; if K is not decided, fix and rank features of K."""
        self.n_nodes += 1
        if self._is_decided(part):
            yield from self._close(node, part)
            return
        found = yield from self._relax(node, part)
        if self.at_root is None:
            self.at_root = found
        if node.bound > self.incumbent.cutoff:
            return
        if self._binaries(part).size == 0:
            yield from self._close_semi(node, part)
            return
        found = yield from self._try_rounding(node, part, found)
        if node.bound > self.incumbent.cutoff:
            return
        open_part = self._fix(node, part, found)
        left = self._binaries(open_part)
        if self._is_decided(open_part):
            yield from self._close(node, open_part)
        elif left.size == 0:
            yield from self._close_semi(node, open_part)
        else:
            self._leave_open(node, left, found)

    def _binaries(self, part: Node) -> np.ndarray:
        return part.free[self._binary[part.free]]

    def _screen(self, part: Node, found: Answer) -> np.ndarray | None:
        """Decide features of K only: outside it nothing says that z is 0 or 1."""
        decision = super()._screen(part, found)
        if decision is None:
            return None
        decision[~self._binary[part.free]] = OPEN
        return decision if decision.any() else None

    def _close(self, node: TreeNode, part: Node) -> Steps:
        """All is decided: an SVM, which solves FS-SVM and SR-DLMP(K)."""
        found = yield from super()._close(node, part)
        self.found.clear()
        self._offer_relaxed(found)
        return found

    def _close_semi(self, node: TreeNode, part: Node) -> Steps:
        """K is decided: the relaxation of the rest is the value of the leaf."""
        self._offer_relaxed((yield from self._decide(node, part)))

    def _offer_relaxed(self, found: Answer) -> None:
        # One that was cut short may not have found the features it needs.
        if not self.should_stop():
            self.incumbent.offer_relaxed(found)

    def _try_rounding(self, node: TreeNode, part: Node, found: Answer) -> Steps:
        """Decide K as z suggests; the relaxation, finer if it may close the node."""
        z = found.z[self._binaries(part)]
        nearly = bool((np.minimum(z, 1.0 - z) <= NEARLY_BINARY).all())
        self._n_open += 1
        if not nearly and self._n_open % ROUND_PERIOD != 1:
            return found
        yield from self._round_binaries(part, found)
        if nearly and node.bound <= self.incumbent.cutoff < found.primal:
            node.focus = focus_of(found)
            return (
                yield from self._solve(
                    node, part, self.fine_tol, self.fine_tol, LEAF_ROUNDS
                )
            )
        return found

    def _round_binaries(self, part: Node, found: Answer) -> Steps:
        K = self._binaries(part)
        chosen = K[found.z[K] > 0.5]
        chosen = chosen[np.argsort(-found.z[chosen], kind="stable")][: part.k]
        forced = np.concatenate([part.forced, chosen])
        key = np.sort(forced).tobytes()
        costly = np.isfinite(part.budget)
        if key in self._rounded or (
            costly and self.problem.costs[chosen].sum() > part.budget
        ):
            return
        self._rounded.add(key)
        child = TreeNode(None, -1, True, forced, -np.inf, focus=focus_of(found))
        free = part.free[~self._binary[part.free]]
        yield from self._close_semi(child, self._part_of(forced, free))


def solve_semi_relaxation(
    problem: Problem,
    K: np.ndarray,
    solution: Solution,
    *,
    gap_tol: float = 1e-4,
    should_stop: Callable[[], bool] = lambda: False,
    watch: Callable[[Tree, int], None] = lambda tree, n_nodes: None,
    keep_proof: bool = False,
    max_nodes: float = np.inf,
    max_bytes: float = np.inf,
) -> SemiRelaxation:
    """Solve SR-DLMP(K), or prove that it is no better than a solution of FS-SVM.

    Parameters
    ----------
    problem : Problem
    K : array of int
        Features whose u is binary.
    solution : Solution
        Of FS-SVM; nodes that cannot be better are pruned.
    gap_tol : float, default=1e-4
        Relative gap to which SR-DLMP(K) is solved, and at which nodes are no better
        than ``solution``.
    should_stop : callable
        Asked between nodes and inside them.
    watch : callable
        Called with the tree and the number of new nodes after every branching.
    keep_proof : bool, default=False
    max_nodes, max_bytes : float, default=inf

    Returns
    -------
    SemiRelaxation
    """
    incumbent = SemiIncumbent(gap_tol, solution)
    solver = SemiRelaxedSolver(
        problem,
        np.intersect1d(K, problem.candidates),
        incumbent,
        make_rule("reliability", problem.n_features),
        should_stop=lambda: should_stop() or subtree.n_nodes >= max_nodes,
        keep_points=keep_proof,
    )
    subtree = Subtree(solver, watch, keep_proof=keep_proof, max_bytes=max_bytes)
    subtree.add(solver.plant())
    subtree.run()
    z, squares = incumbent.z, incumbent.squares
    if z is None or squares is None:
        if solver.at_root is None:
            # Everything fits: a plain SVM.
            z = np.ones(problem.n_features)
            squares = np.zeros(problem.n_features)
        else:
            z, squares = solver.at_root.z, solver.at_root.squares
    hit_limit = "nodes" if subtree.n_nodes >= max_nodes else None
    return SemiRelaxation(
        bound=subtree.tree.bound,
        value=incumbent.value,
        u=1.0 - z,
        squares=squares,
        complete=subtree.complete,
        n_nodes=subtree.n_nodes,
        nodes=subtree.tree.kept,
        hit_limit="memory" if subtree.too_large else hit_limit,
    )
