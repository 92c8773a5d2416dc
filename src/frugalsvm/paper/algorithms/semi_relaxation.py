"""SR-DLMP(K) by the native tree, which branches only on the features of K.

Outside K the perspective relaxation remains, so a node in which K is decided is a leaf.
The bounds of the leaves also bound FS-SVM: relaxing the features outside K only weakens
the bound of a leaf.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...engine.protocol import Region, RelaxationResult
from ...kernels.screening import OPEN
from ...problem.problem import Problem
from ...problem.solution import Solution
from ...run.monitor import Incumbent
from ...tree.best_first import Frontier
from ...tree.branching import Reliability
from ...tree.evaluation import NodeSolver
from ...tree.node import Node
from .restricted import grow, make_subtree


@dataclass(frozen=True)
class SemiRelaxation:
    """The result of SR-DLMP(K).

    Attributes
    ----------
    bound : float
        Lower bound of FS-SVM, from dual points; minus infinity if another solver ran.
    value : float
        Objective of the best solution of SR-DLMP(K); infinite without a solution, e.g.
        because none is better than that of FS-SVM.
    u, squares : ndarrays of shape (n_features,)
        Those of that solution, or of the root if there is none.
    complete : bool
        Whether the search was completed.
    n_nodes : int
    nodes : list of Node or None
        The nodes of the tree, if proofs are kept.
    reported_bound : float or None
        The bound claimed by another solver.
    hit_limit : str or None
        "nodes" or "memory" if that limit ended the search.
    """

    bound: float
    value: float
    u: np.ndarray
    squares: np.ndarray
    complete: bool
    n_nodes: int = 0
    nodes: list[Node] | None = None
    reported_bound: float | None = None
    hit_limit: str | None = None


class BinaryFeatures:
    """The tree of SR-DLMP(K): features of K are decided, others stay relaxed.

    Parameters
    ----------
    K : array of int
    n_features : int

    Attributes
    ----------
    value : float
        Objective of the best solution of SR-DLMP(K) so far.
    best : RelaxationResult or None
        That solution.
    at_root : RelaxationResult or None
        The relaxation of the root.
    """

    def __init__(self, K: np.ndarray, n_features: int):
        self.value = np.inf
        self.best: RelaxationResult | None = None
        self.at_root: RelaxationResult | None = None
        self._binary = np.zeros(n_features, dtype=bool)
        self._binary[K] = True
        self._rounded: set[bytes] = set()
        self._n_open = 0

    def branchable(self, region: Region) -> np.ndarray:
        """The free features of K."""
        return region.free[self._binary[region.free]]

    def fixable(self, region: Region, decision: np.ndarray) -> np.ndarray:
        """Decisions about K only: outside it z need not be 0 or 1."""
        decision[~self._binary[region.free]] = OPEN
        return decision

    def relaxed(self, result: RelaxationResult) -> None:
        """Store the relaxation of the root."""
        if self.at_root is None:
            self.at_root = result

    def round(
        self, solver: NodeSolver, region: Region, result: RelaxationResult
    ) -> Region | None:
        """Round z on K at every 16th open node, and whenever z is nearly binary."""
        self._n_open += 1
        due = self._n_open % 16 == 1
        if not (due or self.wants_finer(region, result)):
            return None
        K = self.branchable(region)
        chosen = K[result.z[K] > 0.5]
        chosen = chosen[np.argsort(-result.z[chosen], kind="stable")][: region.k]
        if solver.problem.costs[chosen].sum() > region.budget:
            return None
        forced = np.concatenate([region.forced, chosen])
        key = np.sort(forced).tobytes()
        if key in self._rounded:
            return None
        self._rounded.add(key)
        return solver.region_of(forced, region.free[~self._binary[region.free]])

    def wants_finer(self, region: Region, result: RelaxationResult) -> bool:
        """Whether z is nearly binary on K, so the relaxation is nearly a solution."""
        z = result.z[self.branchable(region)]
        return bool((np.minimum(z, 1.0 - z) <= 0.05).all())

    def solved(self, solver: NodeSolver, result: RelaxationResult) -> None:
        """Take a relaxation in which K is decided: a solution of SR-DLMP(K)."""
        # A relaxation that stopped early may lack some of the features it needs.
        if result.primal < self.value and not solver.should_stop():
            self.value, self.best = result.primal, result
            solver.incumbent.lower_cutoff(self.value)


def solve_semi_relaxation(
    problem: Problem,
    K: np.ndarray,
    solution: Solution,
    *,
    gap_tol: float = 1e-4,
    should_stop: Callable[[], bool] = lambda: False,
    watch: Callable[[Frontier, int], None] = lambda frontier, n_nodes: None,
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
        A solution of FS-SVM; nodes that cannot be better are pruned.
    gap_tol : float, default=1e-4
        Relative gap to which SR-DLMP(K) is solved, and at which nodes are no better
        than ``solution``.
    should_stop : callable
        Called between nodes and inside them.
    watch : callable
        Called with the frontier and the number of new nodes after every branching.
    keep_proof : bool, default=False
    max_nodes, max_bytes : float, default=inf

    Returns
    -------
    SemiRelaxation
    """
    incumbent = Incumbent(gap_tol)
    incumbent.offer(solution)
    K = np.intersect1d(K, problem.candidates)
    kind = BinaryFeatures(K, problem.n_features)
    solver = NodeSolver(
        problem,
        incumbent,
        Reliability(problem.n_features),
        kind,
        should_stop=should_stop,
        keep_points=keep_proof,
        tried=set(),
    )
    tree = make_subtree(
        solver, watch, max_nodes=max_nodes, max_bytes=max_bytes, keep_proof=keep_proof
    )
    tree.add(solver, solver.make_root())
    grow(tree, solver)
    best = kind.best or kind.at_root
    # Without either, all features fit: a plain SVM.
    return SemiRelaxation(
        bound=tree.frontier.bound,
        value=kind.value,
        u=np.zeros(problem.n_features) if best is None else 1.0 - best.z,
        squares=np.zeros(problem.n_features) if best is None else best.squares,
        complete=tree.is_exhausted,
        n_nodes=tree.n_nodes,
        nodes=tree.frontier.nodes,
        hit_limit=tree.hit_limit,
    )
