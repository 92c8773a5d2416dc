"""Branch and bound on the perspective relaxation.

Nodes are taken best bound first, with occasional dives to the bottom of the tree.
Taking a node means choosing a feature and evaluating both children. The smallest bound
of the open nodes and the closed leaves is always a lower bound of the optimum, so the
search may stop at any time.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..problem.options import check_choice, check_integer
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..runtime.monitor import Monitor
from ..search.evaluator import Evaluator, Stop
from ..search.restarts import RestartSearch, SwapOptions
from ..search.swap import swap_search
from .branching import RULES, MostFractional, make_rule
from .evaluation import run_evaluations
from .expansion import Expansion
from .frontier import Frontier
from .node import Node
from .node_solver import AllFeatures, NodeSolver
from .payoff import Payoff

# Nodes that a thread evaluates side by side, if there are other threads.
BATCH = 8
# Nodes between the starts of two dives.
DIVE_PERIOD = 64
# Maximum fraction of nodes in dives, which are long with many features.
DIVE_FRACTION = 0.15
# Nodes before restarts of the swap search begin: easy trees finish earlier.
SEARCH_AFTER = 50
# SVM solves of the swap search per cheap node.
SEARCH_RATE = 0.1
# The largest factor by which more expensive nodes raise that rate.
MOST_TIMES = 100
# Candidates up to which a node is cheap.
MANY_FEATURES = 50
# Work limit of the swap search, as a fraction of the work on nodes. Up to the given
# number of candidates it restarts without tempering instead, since counting the work of
# nodes takes time.
SEARCH_SHARE, FEW_FEATURES = 0.25, 100


def node_cost(n_features: int) -> float:
    """The cost of a node, relative to one with few features."""
    return max(1.0, (n_features / MANY_FEATURES) ** 2)


@dataclass(frozen=True)
class TreeOptions(SwapOptions):
    """Options of branch and bound, in addition to those of the swap search.

    Parameters
    ----------
    branching : str, default="reliability"
        ``most-fractional``, ``reduced-cost``, ``strong`` or ``reliability``.
    max_megabytes : int, default=4000
        Memory limit of the nodes, at which the search ends.
    """

    branching: str = "reliability"
    max_megabytes: int = 4000

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_choice("branching", self.branching, RULES)
        check_integer("max_megabytes", self.max_megabytes, 1)


class BranchAndBound:
    """The search of one problem.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Holds the incumbent, records bounds and nodes, and decides when to stop.
    search : RestartSearch
        The swap search, already run from its starts.
    options : TreeOptions
    max_nodes : int or None
    n_jobs : int
    keep_proof : bool
    max_work : float, default=inf
        Work limit; the search ends earlier if more work is unlikely to pay.

    Attributes
    ----------
    frontier : Frontier
        Holds the bound, and all nodes if proofs are kept.
    counters : dict
    hit_limit : str or None
        "nodes" or "memory" if that limit ended the search.
    work : float
        Work on nodes, see ``frugalsvm.engine.work``; counted only if needed.
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
        max_work: float = np.inf,
    ):
        self.problem = problem
        self.monitor = monitor
        self.incumbent = monitor.incumbent
        self.search = search
        self.options = options
        self.max_nodes = np.inf if max_nodes is None else max_nodes
        self.n_jobs = n_jobs
        self.frontier = Frontier(keep_proof)
        self.rule: MostFractional = make_rule(options.branching, problem.n_features)
        self.counters = {"nodes": 0, "node iterations": 0}
        self.hit_limit: str | None = None
        self.work = 0.0
        self._payoff = Payoff(max_work)
        self._counts_work = max_work < np.inf or problem.candidates.size > FEW_FEATURES
        self._is_spent = False
        self._keep_proof = keep_proof
        self._tried: set[bytes] = set()
        # Protects the frontier and the counters.
        self._changed = threading.Condition()
        self._searching = threading.Lock()
        self._n_taken = self._n_dived = 0
        self._solves_before = search.counters["SVM solves"]
        self._search_work_before = search.work
        cost = min(node_cost(problem.candidates.size), MOST_TIMES)
        self._search_rate = SEARCH_RATE * cost
        self._error: BaseException | None = None

    def run(self) -> None:
        """Search until the gap is closed or a stop condition holds."""
        self._start_root()
        if self.n_jobs == 1:
            self._work()
        else:
            with ThreadPoolExecutor(self.n_jobs, "frugalsvm-tree") as pool:
                for job in [pool.submit(self._work) for _ in range(self.n_jobs)]:
                    job.result()
        if self._error is not None:
            raise self._error
        self.search.restart_until_idle(self.monitor.is_finished)

    def _start_root(self) -> None:
        solver = self._new_solver()
        root = solver.make_root()
        self._improve(solver)
        with self._changed:
            if self.frontier.add(root, self.incumbent.cutoff):
                self.frontier.push(root)
            self._report(solver)
            self._payoff.start(self._open_gap())

    def _new_solver(self) -> NodeSolver:
        return NodeSolver(
            self.problem,
            self.incumbent,
            self.rule,
            AllFeatures(),
            should_stop=self.monitor.should_stop,
            keep_points=self._keep_proof,
            tried=self._tried,
            counts_work=self._counts_work,
        )

    def _work(self) -> None:
        """Replace nodes by their children until a stop condition holds."""
        solver = self._new_solver()
        dives: list[Node] = []
        try:
            while nodes := self._take(dives):
                expansions = [Expansion(solver, node) for node in nodes]
                run_evaluations(solver.engine, expansions)
                self._improve(solver)
                dives = self._replace(solver, expansions)
                self._search_in_between()
        except BaseException as error:
            with self._changed:
                self._error = self._error or error
                self._changed.notify_all()

    def _take(self, dives: list[Node]) -> list[Node]:
        """The next nodes to work on; none when the search is finished.

        One at a time, or more if threads share the tree, to reduce contention.
        """
        with self._changed:
            nodes = list(dives)
            while not self._must_stop():
                self._fill(nodes)
                if nodes or self.frontier.is_idle:
                    break
                self._changed.wait(0.1)
            self._changed.notify_all()
            return nodes

    def _fill(self, nodes: list[Node]) -> None:
        while len(nodes) < self._batch():
            node = self.frontier.pop(self.incumbent.cutoff)
            if node is None:
                return
            self.frontier.start(node)
            nodes.append(node)

    def _batch(self) -> int:
        """Number of nodes to take, given the other threads and the limit."""
        if self.n_jobs == 1:
            return 1
        fair = len(self.frontier) // (2 * self.n_jobs)
        left = (self.max_nodes - self.counters["nodes"]) / (2 * self.n_jobs)
        return int(max(1, min(BATCH, fair, left)))

    def _must_stop(self) -> bool:
        """Whether a limit is reached; open nodes then count as leaves."""
        if self._error is not None or self.monitor.should_stop():
            return True
        if self.counters["nodes"] >= self.max_nodes:
            self.hit_limit = "nodes"
        elif self.frontier.n_bytes > 1e6 * self.options.max_megabytes:
            self.hit_limit = "memory"
        elif self.work >= self._payoff.next_check:
            self._is_spent |= self._payoff.is_over(self.work, self._open_gap())
        return self._is_spent or self.hit_limit is not None

    def _open_gap(self) -> float:
        return self.incumbent.objective - self.frontier.bound

    def _replace(self, solver: NodeSolver, expansions: list[Expansion]) -> list[Node]:
        """Replace parents by their children; return those to dive into."""
        with self._changed:
            self._count(solver)
            may_dive = not self._must_stop()
            dives = [self._replace_one(each, may_dive) for each in expansions]
            self._report(solver)
            self._changed.notify_all()
        return [node for node in dives if node is not None]

    def _replace_one(self, expansion: Expansion, may_dive: bool) -> Node | None:
        node, pair = expansion.node, expansion.pair
        assert pair is not None
        assert node.branching_data is not None
        self._n_taken += 1
        dives = node.branching_data.dives or self._is_dive_due()
        cutoff = self.incumbent.cutoff
        still_open = [child for child in pair if self.frontier.add(child, cutoff)]
        dive = None
        if dives and may_dive and still_open:
            dive = still_open.pop(0)
            assert dive.branching_data is not None
            dive.branching_data.dives = True
            self._n_dived += 1
            self.frontier.start(dive)
        for child in still_open:
            self.frontier.push(child)
        self.frontier.finish(node)
        return dive

    def _is_dive_due(self) -> bool:
        few = self._n_dived <= DIVE_FRACTION * self._n_taken
        return self._n_taken % DIVE_PERIOD == 0 and few

    def _count(self, solver: NodeSolver) -> None:
        """Add the counts of a solver."""
        self.counters["nodes"] += solver.n_nodes
        self.counters["node iterations"] += solver.n_iterations
        self.monitor.count_nodes(solver.n_nodes, len(self.frontier))
        self.work += solver.work
        solver.n_nodes = solver.n_iterations = 0
        solver.work = 0.0

    def _report(self, solver: NodeSolver) -> None:
        self._count(solver)
        self.monitor.raise_bound(self.frontier.bound)
        self.monitor.tick()

    def _improve(self, solver: NodeSolver) -> None:
        """Descend from the incumbents found at nodes."""
        for solution in solver.improvements:
            better = self._descend(solver.evaluator, solution)
            self.incumbent.offer(better, "swap")
            with self._searching:
                self.search.learn(better)
        solver.improvements.clear()

    def _descend(self, evaluator: Evaluator, solution: Solution) -> Solution:
        """A descent, within the remaining work of the swap search."""
        width, tries = self.options.width, self.options.tries
        before = evaluator.work
        evaluator.max_work = before + self.search.work_left
        try:
            return swap_search(evaluator, solution, width=width, tries=tries)
        except Stop:
            return evaluator.reached or solution
        finally:
            evaluator.max_work = np.inf
            with self._searching:
                self.search.work += evaluator.work - before

    def _search_in_between(self) -> None:
        """Run a batch of restarts when it is due and patience is left."""
        if self.search.is_idle or not self._is_search_due():
            return
        if self._searching.acquire(blocking=False):
            try:
                self.search.restart(SEARCH_SHARE * self.work)
            finally:
                self._searching.release()

    def _is_search_due(self) -> bool:
        solves = self.search.counters["SVM solves"] - self._solves_before
        is_due = solves < self._search_rate * (self.counters["nodes"] - SEARCH_AFTER)
        if not self._counts_work:
            return is_due
        work = self.search.work - self._search_work_before
        return is_due and work <= SEARCH_SHARE * self.work
