"""Best-first branch and bound: the loop that all trees share.

Open nodes are taken smallest bound first and replaced by their two children, until none
is left or a limit is reached. The smallest bound of the open nodes and the leaves is
always a lower bound, so the loop may stop at any time. A :class:`Policy` says what a
tree does in addition.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..run.monitor import Incumbent
from .branching import Pair
from .evaluation import Evaluation, NodeSolver, run_evaluations
from .node import Node

# --- Expansion of an open node into two evaluated children ----------------------------


class Expansion:
    """Evaluates the children that the branching rule proposes, and picks a pair.

    Parameters
    ----------
    solver : NodeSolver
    node : Node
        An open one.

    Attributes
    ----------
    pair : tuple of two Nodes, or None
        The children that replace the node, once no evaluations are pending.
    """

    def __init__(self, solver: NodeSolver, node: Node):
        self.node = node
        self.pair: Pair | None = None
        self._solver = solver
        self._free = node.region(solver.problem, solver.root).free
        self._proposal = solver.rule.propose(node, solver.incumbent.cutoff)
        self._pairs: dict[int, Pair] = {}
        self._pending: dict[int, tuple[Evaluation, Evaluation]] = {}
        self._evaluate(self._proposal.features)

    def due(self) -> list[Evaluation]:
        """The evaluations that await a result; none once there is a pair."""
        while self.pair is None:
            waiting = [
                evaluation
                for pair in self._pending.values()
                for evaluation in pair
                if evaluation.request is not None
            ]
            if waiting:
                return waiting
            self._choose()
        return []

    def _evaluate(self, features: list[int]) -> None:
        """Start to evaluate the children of some features."""
        for feature in features:
            free = self._free[self._free != feature]
            self._pending[feature] = (
                self._begin(self.node.child(feature, True), free),
                self._begin(self.node.child(feature, False), free),
            )

    def _begin(self, child: Node, free: np.ndarray) -> Evaluation:
        assert self.node.branching_data is not None
        region = self._solver.region_of(child.forced, free)
        return Evaluation(
            self._solver, child, region, self.node.branching_data.working_set
        )

    def _choose(self) -> None:
        """Pick a pair, or try the favourite; called when all children are evaluated."""
        rule = self._solver.rule
        for feature, (inside, outside) in self._pending.items():
            pair = inside.node, outside.node
            rule.learn(self.node, feature, pair)
            self._pairs[feature] = pair
        self._pending.clear()
        self.pair = rule.pick(self.node, self._proposal, self._pairs)
        if self.pair is None:
            self._evaluate([self._proposal.favourite])


# --- The open nodes, and the bound proved by open and closed nodes --------------------


class Frontier:
    """Open nodes and the bookkeeping of bounds; not thread-safe by itself.

    Attributes
    ----------
    closed_bound : float
        Smallest bound of a leaf, and smallest cutoff a fixing relied on.
    n_bytes : int
        Approximate memory of the nodes.
    nodes : list of Node or None
        All nodes, if proofs are kept.
    """

    def __init__(self, keep_proof: bool):
        self.closed_bound = np.inf
        self.n_bytes = 0
        self.nodes: list[Node] | None = [] if keep_proof else None
        self._heap: list[tuple[float, int, Node]] = []
        self._busy: dict[int, float] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def is_idle(self) -> bool:
        """Whether no thread works on a node."""
        return not self._busy

    @property
    def waiting(self) -> list[Node]:
        """The open nodes that no thread works on, smallest bound first."""
        return [node for _, _, node in self._heap]

    @property
    def open_bounds(self) -> np.ndarray:
        """The bounds of all open nodes, those in progress included."""
        waiting = [bound for bound, _, _ in self._heap]
        return np.array([*waiting, *self._busy.values()])

    @property
    def bound(self) -> float:
        """Lower bound of the optimum."""
        best_open = self._heap[0][0] if self._heap else np.inf
        return min(best_open, self.closed_bound, *self._busy.values(), np.inf)

    def add(self, node: Node, cutoff: float) -> bool:
        """Add an evaluated node; return whether it is still open."""
        if node.fixed_in.size or node.fixed_out.size:
            self.closed_bound = min(self.closed_bound, cutoff)
        is_open = node.branching_data is not None and node.bound <= cutoff
        if not is_open:
            self.closed_bound = min(self.closed_bound, node.bound)
            node.branching_data = None
        if self.nodes is not None:
            self.nodes.append(node)
            self.n_bytes += node.n_bytes
        return is_open

    def push(self, node: Node) -> None:
        """Queue an open node."""
        self._count += 1
        if self.nodes is None:
            self.n_bytes += node.n_bytes
        heapq.heappush(self._heap, (node.bound, self._count, node))

    def pop(self, cutoff: float) -> Node | None:
        """The open node of smallest bound, or None if none is below the cutoff."""
        if not self._heap:
            return None
        if self._heap[0][0] > cutoff:
            # All nodes are above the cutoff, and so are leaves now.
            self.closed_bound = min(self.closed_bound, self._heap[0][0])
            self._heap.clear()
            if self.nodes is None:
                self.n_bytes = 0
            return None
        _, _, node = heapq.heappop(self._heap)
        if self.nodes is None:
            self.n_bytes -= node.n_bytes
        return node

    def start(self, node: Node) -> None:
        """Mark a node as in progress; its bound still counts."""
        self._busy[id(node)] = node.bound

    def finish(self, node: Node) -> None:
        """Mark a node as replaced by its children, which prove its bound."""
        del self._busy[id(node)]
        before = node.n_bytes
        node.is_leaf = False
        node.branching_data = node.point = None
        if self.nodes is not None:
            self.n_bytes -= before - node.n_bytes


# --- The loop -------------------------------------------------------------------------


class Policy:
    """Extensions of a tree beyond branching; by default none, one node at a time."""

    def batch(self, tree: BestFirstTree) -> int:
        """The number of nodes that a thread evaluates side by side."""
        return 1

    def must_stop(self, tree: BestFirstTree) -> bool:
        """Whether the tree should end, though no limit is reached."""
        return False

    def evaluated(self, solver: NodeSolver) -> None:
        """Called when a thread has evaluated nodes, before they join the tree."""

    def admit(self, solver: NodeSolver, node: Node) -> None:
        """Called with each evaluated node before it joins the tree."""

    def dive(self, parent: Node, children: list[Node], is_allowed: bool) -> Node | None:
        """One of the open children of a node, to be taken next, or None."""
        return None

    def grown(self, tree: BestFirstTree, solver: NodeSolver) -> None:
        """Called when new nodes have joined the tree; bound and counts are current."""

    def between(self, tree: BestFirstTree) -> None:
        """Called by a thread before it takes its next nodes."""


class BestFirstTree:
    """A tree that grows until a limit is reached or no node is open.

    Parameters
    ----------
    make_solver : callable
        Makes the solver of a thread, which evaluates nodes.
    incumbent : Incumbent
        Determines which nodes are pruned.
    policy : Policy
    should_stop : callable
        Called between nodes.
    max_nodes, max_bytes : float, default=inf
        Limits of the number of nodes and of their memory.
    n_jobs : int, default=1
    keep_proof : bool, default=False
        Whether all nodes are kept.

    Attributes
    ----------
    frontier : Frontier
        Holds the bound, and all nodes if proofs are kept.
    n_nodes, n_iterations, work : int, int, float
        Work done, see :class:`NodeSolver`.
    hit_limit : str or None
        "nodes" or "memory" if that limit ended the search.
    is_exhausted : bool
        Whether no open node is left.
    """

    def __init__(
        self,
        make_solver: Callable[[], NodeSolver],
        incumbent: Incumbent,
        policy: Policy,
        *,
        should_stop: Callable[[], bool],
        max_nodes: float = np.inf,
        max_bytes: float = np.inf,
        n_jobs: int = 1,
        keep_proof: bool = False,
    ):
        self.incumbent = incumbent
        self.policy = policy
        self.max_nodes, self.max_bytes = max_nodes, max_bytes
        self.n_jobs = n_jobs
        self.frontier = Frontier(keep_proof)
        self.n_nodes = self.n_iterations = 0
        self.work = 0.0
        self.hit_limit: str | None = None
        self.is_exhausted = False
        self._make_solver = make_solver
        self._should_stop = should_stop
        # Protects everything above.
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def add(self, solver: NodeSolver, *nodes: Node) -> None:
        """Add evaluated nodes to start from."""
        self.policy.evaluated(solver)
        with self._changed:
            self._count(solver)
            for node in nodes:
                if self._is_open(solver, node):
                    self.frontier.push(node)

    def run(self) -> None:
        """Replace nodes by their children until a stop condition holds."""
        if self.n_jobs == 1:
            self._work()
        else:
            with ThreadPoolExecutor(self.n_jobs, "frugalsvm-tree") as pool:
                for job in [pool.submit(self._work) for _ in range(self.n_jobs)]:
                    job.result()
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        """Replace nodes by their children; the work of a thread."""
        solver = self._make_solver()
        dives: list[Node] = []
        try:
            while nodes := self._take(dives):
                expansions = [Expansion(solver, node) for node in nodes]
                run_evaluations(solver.engine, expansions)
                self.policy.evaluated(solver)
                dives = self._replace(solver, expansions)
                self.policy.between(self)
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()

    def _take(self, dives: list[Node]) -> list[Node]:
        """The next nodes to work on; none when the search is finished."""
        with self._changed:
            nodes = list(dives)
            while not self._must_stop():
                while len(nodes) < self.policy.batch(self):
                    node = self.frontier.pop(self.incumbent.cutoff)
                    if node is None:
                        break
                    self.frontier.start(node)
                    nodes.append(node)
                if nodes:
                    break
                if self.frontier.is_idle:
                    self.is_exhausted = True
                    break
                self._changed.wait(0.1)
            self._changed.notify_all()
            return nodes

    def _must_stop(self) -> bool:
        """Whether a limit is reached; open nodes then count as leaves."""
        if self._error is not None or self._should_stop():
            return True
        if self.n_nodes >= self.max_nodes:
            self.hit_limit = "nodes"
        elif self.frontier.n_bytes > self.max_bytes:
            self.hit_limit = "memory"
        return self.hit_limit is not None or self.policy.must_stop(self)

    def _replace(self, solver: NodeSolver, expansions: list[Expansion]) -> list[Node]:
        """Replace parents by their children; return those to dive into."""
        with self._changed:
            self._count(solver)
            may_dive = not self._must_stop()
            dives = [
                self._replace_one(solver, expansion, may_dive)
                for expansion in expansions
            ]
            self.policy.grown(self, solver)
            self._changed.notify_all()
        return [node for node in dives if node is not None]

    def _replace_one(
        self, solver: NodeSolver, expansion: Expansion, may_dive: bool
    ) -> Node | None:
        node, pair = expansion.node, expansion.pair
        assert pair is not None
        children = [child for child in pair if self._is_open(solver, child)]
        dive = self.policy.dive(node, children, may_dive)
        for child in children:
            if child is dive:
                self.frontier.start(child)
            else:
                self.frontier.push(child)
        self.frontier.finish(node)
        return dive

    def _is_open(self, solver: NodeSolver, node: Node) -> bool:
        """Record an evaluated node; return whether it is open."""
        self.policy.admit(solver, node)
        return self.frontier.add(node, self.incumbent.cutoff)

    def _count(self, solver: NodeSolver) -> None:
        """Add the counts of a solver."""
        self.n_nodes += solver.n_nodes
        self.n_iterations += solver.n_iterations
        self.work += solver.work
        solver.n_nodes = solver.n_iterations = 0
        solver.work = 0.0
