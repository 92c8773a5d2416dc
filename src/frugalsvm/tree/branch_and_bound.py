"""Branch and bound on the perspective relaxation.

Nodes are taken best bound first, with a dive to the bottom of the tree now and then;
taking a node means choosing a feature and evaluating both children. At every moment the
smallest bound among the open nodes and the closed leaves bounds the optimum from below,
so the search may stop whenever it likes.
"""

from __future__ import annotations

import heapq
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np

from .steps import run, together
from ..monitor import Monitor
from ..problem import Problem
from ..search.evaluator import Solution, Stop
from ..search.restarts import RestartSearch, SwapOptions
from ..search.swap import swap_search
from .branching import MostFractional, Pair, make_rule
from .node_solver import Incumbent, NodeSolver
from .tree import TreeNode

# Nodes that a thread works on side by side, if there are other threads.
BATCH = 8
# A dive every so many nodes, unless dives took more than this part of all: with many
# features they are long.
DIVE_PERIOD, DIVE_PART = 64, 0.15
# Restarts of the swap search begin after so many nodes, when easy trees are done, and
# take at least so many solves per node: more where there are more features than this,
# in proportion to their square as the cost of a node, but at most so many times more.
SEARCH_AFTER = 50
SEARCH_RATE, MANY_FEATURES, MOST_TIMES = 0.1, 50, 100


@dataclass(frozen=True)
class TreeOptions(SwapOptions):
    """Options of branch and bound; those of the swap search are taken, too.

    Parameters
    ----------
    branching : str, default="reliability"
        ``most-fractional``, ``reduced-cost``, ``strong`` or ``reliability``.
    max_megabytes : int, default=4000
        The search ends when its nodes take more memory than this.
    """

    branching: str = "reliability"
    max_megabytes: int = 4000


class Tree:
    """Open nodes and the bookkeeping of bounds; all methods need the lock held.

    Attributes
    ----------
    closed_bound : float
        Smallest bound of a leaf, and smallest cutoff a fixing relied on.
    kept : list of TreeNode or None
        All nodes, if proofs are kept.
    """

    def __init__(self, keep: bool):
        self.closed_bound = np.inf
        self.n_bytes = 0
        self.kept: list[TreeNode] | None = [] if keep else None
        self._heap: list[tuple[float, int, TreeNode]] = []
        self._busy: dict[int, float] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def is_idle(self) -> bool:
        """Whether nobody works on a node."""
        return not self._busy

    @property
    def bound(self) -> float:
        """Lower bound of the optimum."""
        best_open = self._heap[0][0] if self._heap else np.inf
        return min(best_open, self.closed_bound, *self._busy.values(), np.inf)

    def add(self, node: TreeNode, cutoff: float) -> bool:
        """Take in an evaluated node; whether it is still open."""
        if self.kept is not None:
            self.kept.append(node)
            self.n_bytes += node.n_bytes
        if node.fixed_in.size or node.fixed_out.size:
            self.closed_bound = min(self.closed_bound, cutoff)
        if node.candidates.size == 0 or node.bound > cutoff:
            self.closed_bound = min(self.closed_bound, node.bound)
            node.focus = None
            return False
        return True

    def push(self, node: TreeNode) -> None:
        """Put an open node on the heap."""
        self._count += 1
        if self.kept is None:
            self.n_bytes += node.n_bytes
        heapq.heappush(self._heap, (node.bound, self._count, node))

    def pop(self, cutoff: float) -> TreeNode | None:
        """The open node of smallest bound, or None if none is below the cutoff."""
        if not self._heap:
            return None
        if self._heap[0][0] > cutoff:
            # So are all others: they are leaves now.
            self.closed_bound = min(self.closed_bound, self._heap[0][0])
            self._heap.clear()
            return None
        _, _, node = heapq.heappop(self._heap)
        if self.kept is None:
            self.n_bytes -= node.n_bytes
        return node

    def start(self, node: TreeNode) -> None:
        """Note that a thread works on the node: its bound counts meanwhile."""
        self._busy[id(node)] = node.bound

    def finish(self, node: TreeNode) -> None:
        """Note that the node is replaced by its children."""
        del self._busy[id(node)]
        node.focus = node.free = None


class BranchAndBound:
    """The search of one problem.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Told about incumbents, bounds and nodes; asked when to stop.
    search : RestartSearch
        The swap search, already run from its starts.
    options : TreeOptions
    max_nodes : int or None
    n_jobs : int
    keep_proof : bool
    """

    def __init__(
        self,
        problem: Problem,
        monitor: Monitor,
        search: RestartSearch,
        options: TreeOptions,
        *,
        max_nodes: int | None,
        n_jobs: int,
        keep_proof: bool,
    ):
        self.problem = problem
        self.monitor = monitor
        self.search = search
        self.options = options
        self.max_nodes = np.inf if max_nodes is None else max_nodes
        self.n_jobs = n_jobs
        self.incumbent = Incumbent(monitor.gap_tol)
        self.tree = Tree(keep_proof)
        self.rule: MostFractional = make_rule(options.branching, problem.n_features)
        self.counters = {"nodes": 0, "node iterations": 0}
        self.hit_limit: str | None = None
        self._keep_proof = keep_proof
        self._tried: set[bytes] = set()
        self._changed = threading.Condition()
        self._searching = threading.Lock()
        self._n_taken = self._n_dived = 0
        self._root_solves = 0
        crowd = (problem.candidates.size / MANY_FEATURES) ** 2
        self._search_rate = SEARCH_RATE * float(np.clip(crowd, 1.0, MOST_TIMES))
        self._error: BaseException | None = None

    def run(self) -> Solution:
        """Search until the gap is closed or something says stop; the best solution."""
        self.incumbent.offer(self.search.elites.best)
        self._root_solves = self.search.counters["SVM solves"]
        self._plant()
        if self.n_jobs == 1:
            self._work()
        else:
            with ThreadPoolExecutor(self.n_jobs, "frugalsvm-tree") as pool:
                for job in [pool.submit(self._work) for _ in range(self.n_jobs)]:
                    job.result()
        if self._error is not None:
            raise self._error
        if self.monitor.gap > self.monitor.gap_tol:
            self.search.restart_until_idle()
            self.incumbent.offer(self.search.elites.best)
        assert self.incumbent.solution is not None
        return self.incumbent.solution

    def _plant(self) -> None:
        solver = self._new_solver()
        root = solver.plant()
        self._improve(solver)
        with self._changed:
            self._account(solver)
            if self.tree.add(root, self.incumbent.cutoff):
                self.tree.push(root)
            self._report()

    def _new_solver(self) -> NodeSolver:
        return NodeSolver(
            self.problem,
            self.incumbent,
            self.rule,
            should_stop=self.monitor.should_stop,
            keep_points=self._keep_proof,
            tried=self._tried,
        )

    def _work(self) -> None:
        """Take nodes and replace them by their children until told to stop."""
        solver = self._new_solver()
        dives: list[TreeNode] = []
        try:
            while nodes := self._take(dives):
                steps = [
                    self.rule.choose(node, partial(solver.children, node))
                    for node in nodes
                ]
                pairs = run(solver.engine, together(steps))
                self._improve(solver)
                dives = self._replace(solver, nodes, pairs)
                self._search_in_between()
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()

    def _take(self, dives: list[TreeNode]) -> list[TreeNode]:
        """The next nodes to work on, none when there is nothing left to do.

        One at a time, or, if threads share the tree, enough to make them meet rarely.
        """
        with self._changed:
            nodes = list(dives)
            while not self._must_stop():
                self._fill(nodes)
                if nodes or self.tree.is_idle:
                    break
                self._changed.wait(0.1)
            self._changed.notify_all()
            return nodes

    def _fill(self, nodes: list[TreeNode]) -> None:
        while len(nodes) < self._batch():
            node = self.tree.pop(self.incumbent.cutoff)
            if node is None:
                return
            self.tree.start(node)
            nodes.append(node)

    def _batch(self) -> int:
        """How many nodes to take: no more than others and the limit leave."""
        if self.n_jobs == 1:
            return 1
        share = len(self.tree) // (2 * self.n_jobs)
        left = (self.max_nodes - self.counters["nodes"]) / (2 * self.n_jobs)
        return int(max(1, min(BATCH, share, left)))

    def _must_stop(self) -> bool:
        """Whether a limit is reached; open nodes then stay open, as leaves."""
        if self._error is not None or self.monitor.should_stop():
            return True
        if self.counters["nodes"] >= self.max_nodes:
            self.hit_limit = "nodes"
        elif self.tree.n_bytes > 1e6 * self.options.max_megabytes:
            self.hit_limit = "memory"
        return self.hit_limit is not None

    def _replace(
        self, solver: NodeSolver, nodes: list[TreeNode], pairs: list[Pair]
    ) -> list[TreeNode]:
        """Put the children in the places of their parents; those to dive into."""
        dives = []
        with self._changed:
            self._account(solver)
            stopping = self._must_stop()
            for node, pair in zip(nodes, pairs, strict=True):
                self._n_taken += 1
                node.dives |= self._is_dive_due()
                dive = self._replace_one(node, pair, node.dives and not stopping)
                if dive is not None:
                    self._n_dived += 1
                    dives.append(dive)
            self._report()
            self._changed.notify_all()
        return dives

    def _is_dive_due(self) -> bool:
        few = self._n_dived <= DIVE_PART * self._n_taken
        return self._n_taken % DIVE_PERIOD == 0 and few

    def _replace_one(self, node: TreeNode, pair: Pair, dives: bool) -> TreeNode | None:
        node.is_leaf = False
        cutoff = self.incumbent.cutoff
        still_open = [child for child in pair if self.tree.add(child, cutoff)]
        dive = None
        if dives and still_open:
            dive = still_open.pop(0)
            dive.dives = True
            self.tree.start(dive)
        for child in still_open:
            self.tree.push(child)
        self.tree.finish(node)
        return dive

    def _account(self, solver: NodeSolver) -> None:
        self.counters["nodes"] += solver.n_nodes
        self.counters["node iterations"] += solver.n_iterations
        solver.n_nodes = solver.n_iterations = 0

    def _report(self) -> None:
        monitor = self.monitor
        monitor.nodes = self.counters["nodes"]
        monitor.open_nodes = len(self.tree)
        monitor.update(bound=self.tree.bound)
        monitor.tick()

    def _improve(self, solver: NodeSolver) -> None:
        """Descend from the incumbents that the nodes led to."""
        for solution in solver.found:
            self.monitor.update(objective=solution.objective, event="tree")
            better = self._descend(solver, solution)
            if self.incumbent.offer(better):
                self.monitor.update(objective=better.objective, event="swap")
            with self._searching:
                self.search.learn(better)
        solver.found.clear()

    def _descend(self, solver: NodeSolver, solution: Solution) -> Solution:
        width, tries = self.options.width, self.options.tries
        try:
            return swap_search(solver.evaluator, solution, width=width, tries=tries)
        except Stop:
            return solver.evaluator.reached or solution

    def _search_in_between(self) -> None:
        """A batch of restarts when it is due, while there is patience left."""
        solves = self.search.counters["SVM solves"] - self._root_solves
        due = solves < self._search_rate * (self.counters["nodes"] - SEARCH_AFTER)
        if not due or self.search.idle >= self.options.patience:
            return
        if self._searching.acquire(blocking=False):
            try:
                self.search.restart()
                self.incumbent.offer(self.search.elites.best)
            finally:
                self._searching.release()
