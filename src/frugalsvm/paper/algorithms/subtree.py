"""A tree without its own heuristics, for the subproblems of the paper's algorithms.

Best bound first, in one thread. Subproblems differ in the kind of tree and in the
initial nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tree.best_first import BestFirstTree, Policy
from ...tree.frontier import Frontier
from ...tree.node_solver import NodeSolver

# Called after every pair of nodes with the frontier and the number of new nodes.
Watch = Callable[[Frontier, int], None]


class Watching(Policy):
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
    """A tree to which initial nodes are to be added.

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
        lambda: solver, solver.incumbent, Watching(watch),
        should_stop=solver.should_stop, **limits,
    )  # fmt: skip


def grow(tree: BestFirstTree, solver: NodeSolver) -> None:
    """Search, and report the nodes since the last branching, too."""
    tree.run()
    tree.policy.grown(tree, solver)
