"""A tree without its own heuristics, for the subproblems of the paper's algorithms.

Best bound first, in one thread. Subproblems differ in the kind of tree and in the
initial nodes.
"""

from __future__ import annotations

from collections.abc import Callable

from ...tree.evaluation import run_evaluations
from ...tree.expansion import Expansion
from ...tree.frontier import Frontier
from ...tree.node import Node
from ...tree.node_solver import NodeSolver

# Called after every pair of nodes with the frontier and the number of new nodes.
Watch = Callable[[Frontier, int], None]


class Subtree:
    """Search from given nodes until all are closed or a stop condition holds.

    Parameters
    ----------
    solver : NodeSolver
        Evaluates nodes; its incumbent determines pruning, its rule branching.
    watch : callable
        Called with the frontier and the number of new nodes after every branching.
    keep_proof : bool, default=False
        Whether all nodes are kept.
    max_bytes : float, default=inf
        Memory limit of the nodes, at which the search stops.

    Attributes
    ----------
    frontier : Frontier
    n_nodes : int
        Nodes evaluated.
    complete : bool
        Whether no open node is left.
    """

    def __init__(
        self,
        solver: NodeSolver,
        watch: Watch,
        *,
        keep_proof: bool = False,
        max_bytes: float = float("inf"),
    ):
        self.solver = solver
        self.frontier = Frontier(keep_proof)
        self.n_nodes = 0
        self.complete = False
        self.max_bytes = max_bytes
        self._watch = watch

    @property
    def too_large(self) -> bool:
        """Whether the nodes take more memory than allowed."""
        return self.frontier.n_bytes > self.max_bytes

    def add(self, node: Node) -> None:
        """Add an evaluated node."""
        if self.frontier.add(node, self.solver.incumbent.cutoff):
            self.frontier.push(node)

    def run(self) -> None:
        """Replace open nodes by their children, smallest bound first."""
        solver = self.solver
        while not (solver.should_stop() or self.too_large):
            node = self.frontier.pop(solver.incumbent.cutoff)
            if node is None:
                self.complete = True
                break
            self._branch(node)
        self._report()

    def _branch(self, node: Node) -> None:
        self.frontier.start(node)
        expansion = Expansion(self.solver, node)
        run_evaluations(self.solver.engine, [expansion])
        assert expansion.pair is not None
        for child in expansion.pair:
            self.add(child)
        self.frontier.finish(node)
        self._report()

    def _report(self) -> None:
        """Report the nodes evaluated since the last call."""
        new, self.solver.n_nodes = self.solver.n_nodes, 0
        # There are no descents from solutions found at nodes.
        self.solver.improvements.clear()
        self.n_nodes += new
        self._watch(self.frontier, new)
