"""A tree without heuristics of its own, for the subproblems of the paper's algorithms.

Best bound first, in one thread. What makes a subproblem special is in its node solver
and in the nodes it starts from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..tree.branch_and_bound import Tree
from ..tree.node_solver import NodeSolver
from ..tree.tree import TreeNode
from ..tree.steps import run

# What is told after every pair of nodes: the tree and the nodes evaluated since.
Watch = Callable[[Tree, int], None]


class Subtree:
    """Search from given nodes until they are all closed or something says stop.

    Parameters
    ----------
    solver : NodeSolver
        Evaluates nodes; its incumbent says what to prune, its rule where to branch.
    watch : callable
        Called with the tree and the number of new nodes after every branching.
    keep_proof : bool, default=False
        Whether all nodes are kept.
    max_bytes : float, default=inf
        The search stops when its nodes take more memory.

    Attributes
    ----------
    tree : Tree
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
        self.tree = Tree(keep_proof)
        self.n_nodes = 0
        self.complete = False
        self.max_bytes = max_bytes
        self._watch = watch

    @property
    def too_large(self) -> bool:
        """Whether the nodes take more memory than allowed."""
        return self.tree.n_bytes > self.max_bytes

    def add(self, node: TreeNode) -> None:
        """Take in an evaluated node."""
        if self.tree.add(node, self.solver.incumbent.cutoff):
            self.tree.push(node)

    def run(self) -> None:
        """Replace open nodes by their children, the most promising first."""
        solver = self.solver
        while not (solver.should_stop() or self.too_large):
            node = self.tree.pop(solver.incumbent.cutoff)
            if node is None:
                self.complete = True
                break
            self.tree.start(node)
            steps = solver.rule.choose(node, partial(solver.children, node))
            pair = run(solver.engine, steps)
            node.is_leaf = False
            for child in pair:
                self.add(child)
            self.tree.finish(node)
            self.report()
        self.report()

    def report(self) -> None:
        """Tell whoever watches about the nodes evaluated since the last time."""
        new, self.solver.n_nodes = self.solver.n_nodes, 0
        self.n_nodes += new
        self._watch(self.tree, new)
