"""Branch and bound on the perspective relaxation: options, engines and the tree.

The loop is in ``best_first``. Here is what happens between its nodes: occasional dives
to the bottom of the tree, and a swap search for better solutions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..engine.batched import BatchedEngine, batching_obstacle
from ..engine.native import NativeEngine
from ..engine.perspective import region_request
from ..engine.protocol import Engine
from ..engine.trial import TrialEngine, worth_trying
from ..problem.options import check_choice, check_integer
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.compilation import tiny_problem
from ..run.monitor import Incumbent, Monitor
from ..run.stopping import Stage, StopCondition
from ..search.evaluator import Evaluator, Stop
from ..search.restarts import RestartSearch, SwapOptions
from ..search.swap import swap_search
from .best_first import BestFirstTree, Policy
from .branching import Reliability
from .evaluation import AllFeatures, NodeSolver
from .node import Node
from .parameters import DEFAULTS, TreeParameters
from .payoff import Outlook, Payoff

# --- Dives: occasionally a tree goes straight down to its leaves to find solutions ----


class Diving:
    """Decides which nodes are followed to the bottom."""

    def __init__(self, parameters: TreeParameters = DEFAULTS):
        self._parameters = parameters
        self._n_taken = self._n_dived = 0

    def follow(
        self, parent: Node, children: list[Node], is_allowed: bool
    ) -> Node | None:
        """The first open child if the parent is in a dive, or if one is due."""
        assert parent.branching_data is not None
        self._n_taken += 1
        parameters = self._parameters
        is_due = (
            self._n_taken % parameters.dive_period == 0
            and self._n_dived <= parameters.dive_fraction * self._n_taken
        )
        dives = parent.branching_data.dives or is_due
        if not (dives and is_allowed and children):
            return None
        child = children[0]
        assert child.branching_data is not None
        child.branching_data.dives = True
        self._n_dived += 1
        return child


# --- The swap search while a tree grows -----------------------------------------------


def node_cost(n_features: int, parameters: TreeParameters = DEFAULTS) -> float:
    """The cost of a node, relative to a node with few features."""
    return max(1.0, (n_features / parameters.cheap_max_candidates) ** 2)


class SearchSchedule:
    """The swap search beside a tree.

    Parameters
    ----------
    search : RestartSearch
        Already run from its starts.
    incumbent : Incumbent
    options : SwapOptions
    n_features : int
        Number of candidates.
    counts_work : bool
        Whether the work on nodes is counted, and so also limits the search.
    parameters : TreeParameters, optional
    """

    def __init__(
        self,
        search: RestartSearch,
        incumbent: Incumbent,
        options: SwapOptions,
        n_features: int,
        counts_work: bool,
        parameters: TreeParameters = DEFAULTS,
    ):
        self._search = search
        self._incumbent = incumbent
        self._options = options
        self._counts_work = counts_work
        self._parameters = parameters
        cost = node_cost(n_features, parameters)
        self._rate = parameters.search_rate * min(cost, parameters.max_rate_factor)
        self._solves_before = search.counters["SVM solves"]
        self._work_before = search.work
        self._searching = threading.Lock()

    def improve(self, solver: NodeSolver) -> None:
        """Descend from the incumbents found at nodes."""
        for solution in solver.improvements:
            better = self._descend(solver.evaluator, solution)
            self._incumbent.offer(better, "swap")
            with self._searching:
                self._search.learn(better)
        solver.improvements.clear()

    def _descend(self, evaluator: Evaluator, solution: Solution) -> Solution:
        """A descent, within the remaining work of the swap search."""
        width, tries = self._options.width, self._options.tries
        before = evaluator.work
        evaluator.max_work = before + self._search.work_left
        try:
            return swap_search(evaluator, solution, width=width, tries=tries)
        except Stop:
            return evaluator.reached or solution
        finally:
            evaluator.max_work = np.inf
            with self._searching:
                self._search.work += evaluator.work - before

    def restart(self, n_nodes: int, work: float) -> None:
        """Run a batch of restarts when it is due and patience is left."""
        if self._search.is_idle or not self._is_due(n_nodes, work):
            return
        if self._searching.acquire(blocking=False):
            try:
                self._search.restart(self._parameters.search_share * work)
            finally:
                self._searching.release()

    def _is_due(self, n_nodes: int, work: float) -> bool:
        solves = self._search.counters["SVM solves"] - self._solves_before
        is_due = solves < self._rate * (n_nodes - self._parameters.search_after)
        if not self._counts_work:
            return is_due
        limit = self._parameters.search_share * work
        return is_due and self._search.work - self._work_before <= limit


# --- The engines that relax the nodes of a tree, by name ------------------------------

AUTO, ALONE = "auto", "interior-point"
ENGINES = (AUTO, ALONE, "batched")


def engine_of(problem: Problem, name: str) -> Engine:
    """The engine of a name; ValueError if it cannot take the problem."""
    native = problem.engine
    if name == ALONE:
        return native
    # The property of the problem that batches cannot take, if any.
    has_costs = np.isfinite(problem.cost_budget)
    obstacle = "feature costs" if has_costs else batching_obstacle(native)
    if name == AUTO:
        is_tried = obstacle is None and worth_trying(native)
        return TrialEngine(cast(NativeEngine, native)) if is_tried else native
    if obstacle is not None:
        raise ValueError(
            f"method_options['engine'] = {name!r} does not take {obstacle}; leave the "
            "default."
        )
    return BatchedEngine(cast(NativeEngine, native))


def warm_up_batches(stop: StopCondition) -> None:
    """Compile the kernels that only batches need."""
    problem = tiny_problem()
    engine = BatchedEngine(cast(NativeEngine, problem.engine))
    request = region_request(
        engine,
        problem.root_region(),
        None,
        tol=1e-2,
        fine_tol=1e-2,
        cutoff=np.inf,
        max_rounds=1,
    )
    for _ in range(2):
        # The first call makes the state from which the second continues.
        engine.solve([request])


def nodes_together(engine: Engine | None) -> int:
    """The number of open nodes that an engine should get at a time."""
    return engine.open_nodes if isinstance(engine, BatchedEngine) else 1


# --- The tree -------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeOptions(SwapOptions):
    """Options of branch and bound, in addition to those of the swap search.

    Parameters
    ----------
    max_megabytes : int, default=4000
        Memory limit of the nodes, at which the search ends.
    engine : {"auto", "interior-point", "batched"}, default="auto"
        How nodes are relaxed: one by one by an interior point, or many at a time by
        products of matrices. The latter is several times as fast for dense data with
        hundreds of samples and hundreds of features that matter, unless C is large,
        and slower elsewhere; ``auto`` tries both on some nodes of a tree that takes
        longer than seconds. Bounds are as reliable. ``batched`` takes no groups, signs,
        feature costs or several classes.
    """

    max_megabytes: int = 4000
    engine: str = AUTO

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_choice("engine", self.engine, ENGINES)
        check_integer("max_megabytes", self.max_megabytes, 1)


class SearchingPolicy(Policy):
    """Dives, runs the swap search, and stops where more work is unlikely to pay.

    Parameters
    ----------
    monitor : Monitor
        Receives the numbers of nodes and the bounds.
    schedule : SearchSchedule
    limits : Stage
        Work limits; the search ends earlier if more work is unlikely to pay.
    parameters : TreeParameters, optional
    engine : Engine, optional
        Of the nodes; some gain from many at a time.
    """

    def __init__(
        self,
        monitor: Monitor,
        schedule: SearchSchedule,
        limits: Stage,
        parameters: TreeParameters = DEFAULTS,
        engine: Engine | None = None,
    ):
        self._monitor = monitor
        self._schedule = schedule
        self._engine = engine
        self._together = nodes_together(engine)
        self._batch = parameters.batch
        self._diving = Diving(parameters)
        self._payoff = Payoff(limits.tree_work, limits.closing_work, parameters)
        self._outlook = Outlook(parameters)
        self._is_spent = False
        self._n_reported = 0
        # Work and nodes when the engine changed.
        self._before = 0.0, 0

    def started(self, tree: BestFirstTree, solver: NodeSolver) -> None:
        """Called when the tree has its root."""
        self.grown(tree, solver)
        self._payoff.start(self._open_gap(tree))

    def batch(self, tree: BestFirstTree) -> int:
        """One node, or more if the engine or threads gain from it."""
        if tree.n_jobs == 1 and self._together == 1:
            return 1
        fair = len(tree.frontier) // (2 * tree.n_jobs)
        remaining = (tree.max_nodes - tree.n_nodes) / (2 * tree.n_jobs)
        return int(max(1, min(max(self._batch, self._together), fair, remaining)))

    def must_stop(self, tree: BestFirstTree) -> bool:
        """Whether more work is unlikely to pay."""
        if self._together != nodes_together(self._engine):
            # The engine has changed to batches: nodes are much cheaper now.
            self._together = nodes_together(self._engine)
            self._before = tree.work, tree.n_nodes
            self._payoff.restart(tree.work, self._open_gap(tree))
        if tree.work >= self._payoff.next_check:
            self._is_spent |= self._payoff.is_over(
                tree.work, self._open_gap(tree), lambda: self._work_left(tree)
            )
        return self._is_spent

    def raise_limit(self, tree: BestFirstTree, limits: Stage) -> None:
        """Let the tree go on with larger work limits, if that is likely to pay."""
        self._payoff.raise_limit(limits.tree_work, limits.closing_work)
        self._is_spent = self._payoff.is_bad and not self._payoff.will_close(
            tree.work, lambda: self._work_left(tree)
        )

    def admit(self, solver: NodeSolver, node: Node) -> None:
        """Learn how much the bounds of children exceed those of their parents."""
        if node.parent is not None:
            self._outlook.learn(node.bound - node.parent.bound)

    def evaluated(self, solver: NodeSolver) -> None:
        """Descend from the incumbents found at nodes."""
        self._schedule.improve(solver)

    def dive(self, parent: Node, children: list[Node], is_allowed: bool) -> Node | None:
        """The first open child in a dive."""
        return self._diving.follow(parent, children, is_allowed)

    def grown(self, tree: BestFirstTree, solver: NodeSolver) -> None:
        """Report nodes and bound."""
        n_new = tree.n_nodes - self._n_reported
        self._n_reported = tree.n_nodes
        self._monitor.count_nodes(n_new, len(tree.frontier))
        self._monitor.raise_bound(tree.frontier.bound)
        self._monitor.tick()

    def between(self, tree: BestFirstTree) -> None:
        """Restart the swap search if it is due."""
        self._schedule.restart(tree.n_nodes, tree.work)

    def _work_left(self, tree: BestFirstTree) -> float:
        """The work that the open nodes are likely to need."""
        work, nodes = self._before
        work_per_node = (tree.work - work) / max(tree.n_nodes - nodes, 1)
        distances = tree.incumbent.cutoff - tree.frontier.open_bounds
        branchings = self._outlook.branchings_left(distances[distances >= 0.0])
        return 2.0 * branchings * work_per_node

    def _open_gap(self, tree: BestFirstTree) -> float:
        return self._monitor.incumbent.objective - tree.frontier.bound


def branch_and_bound(
    problem: Problem,
    monitor: Monitor,
    search: RestartSearch,
    options: TreeOptions,
    *,
    engine: Engine,
    max_nodes: int | None,
    n_jobs: int,
    keep_proof: bool,
    stages: Sequence[Stage],
    stage_ended: Callable[[], None],
) -> BestFirstTree:
    """Grow the tree of a problem until the gap is closed or a stop condition holds.

    Parameters
    ----------
    problem : Problem
    monitor : Monitor
        Holds the incumbent, records bounds and nodes, and decides when to stop.
    search : RestartSearch
        The swap search, already run from its starts.
    options : TreeOptions
    engine : Engine
        See :func:`engine_of`.
    max_nodes : int or None
    n_jobs : int
    keep_proof : bool
    stages : list of Stage
        The work limits, one after the other, as long as the gap is open. The search
        begins with the limits of the first. The tree ends a stage earlier if more work
        is unlikely to pay, and goes on if it is likely to close.
    stage_ended : callable
        Called when tree and search have reached the limits of a stage.

    Returns
    -------
    BestFirstTree
    """
    parameters = problem.parameters(TreeParameters)
    n_features = problem.candidates.size
    first = stages[0]
    is_limited = first.tree_work < np.inf
    counts_work = is_limited or n_features > parameters.counts_work_above
    incumbent = monitor.incumbent
    rule = Reliability(
        problem.n_features,
        parameters=parameters,
        is_crude=lambda: nodes_together(engine) > 1,
    )
    tried: set[bytes] = set()

    def make_solver() -> NodeSolver:
        return NodeSolver(
            problem, incumbent, rule, AllFeatures(), should_stop=monitor.should_stop,
            keep_points=keep_proof, tried=tried, counts_work=counts_work, engine=engine,
        )  # fmt: skip

    schedule = SearchSchedule(
        search, incumbent, options, n_features, counts_work, parameters
    )
    policy = SearchingPolicy(monitor, schedule, first, parameters, engine)
    tree = BestFirstTree(
        make_solver,
        incumbent,
        policy,
        should_stop=monitor.should_stop,
        max_nodes=np.inf if max_nodes is None else max_nodes,
        max_bytes=1e6 * options.max_megabytes,
        n_jobs=n_jobs,
        keep_proof=keep_proof,
    )
    solver = make_solver()
    tree.add(solver, solver.make_root())
    policy.started(tree, solver)
    for stage in stages:
        if stage is not first:
            if monitor.is_finished():
                break
            search.raise_limits(stage.patience, stage.search_work)
            policy.raise_limit(tree, stage)
        tree.run()
        search.restart_until_idle(monitor.is_finished)
        stage_ended()
    return tree
