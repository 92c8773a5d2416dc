"""Branch and bound on the perspective relaxation.

Nodes are taken best bound first, with occasional dives to the bottom of the tree. In
between, the swap search looks for better solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..engine.protocol import Engine
from ..problem.options import check_choice, check_integer
from ..problem.problem import Problem
from ..run.effort import Stage
from ..run.monitor import Monitor
from ..search.restarts import RestartSearch, SwapOptions
from .best_first import BestFirstTree, Policy
from .branching import Reliability
from .diving import Diving
from .engines import ENGINES, nodes_together
from .node import Node
from .node_solver import AllFeatures, NodeSolver
from .outlook import Outlook
from .parameters import DEFAULTS, TreeParameters
from .payoff import Payoff
from .schedule import SearchSchedule


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
    engine: str = ENGINES[0]

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        super().check()
        check_choice("engine", self.engine, ENGINES)
        check_integer("max_megabytes", self.max_megabytes, 1)


class SearchingPolicy(Policy):
    """Dives, searches in between, and stops where more work is unlikely to pay.

    Parameters
    ----------
    monitor : Monitor
        Is told of nodes and bounds.
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
        left = (tree.max_nodes - tree.n_nodes) / (2 * tree.n_jobs)
        return int(max(1, min(max(self._batch, self._together), fair, left)))

    def must_stop(self, tree: BestFirstTree) -> bool:
        """Whether more work is unlikely to pay."""
        if self._together != nodes_together(self._engine):
            self._judge_anew(tree)
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

    def _judge_anew(self, tree: BestFirstTree) -> None:
        """Called when the engine changes to batches: nodes are much cheaper now."""
        self._together = nodes_together(self._engine)
        self._before = tree.work, tree.n_nodes
        self._payoff.restart(tree.work, self._open_gap(tree))

    def _work_left(self, tree: BestFirstTree) -> float:
        """The work that the open nodes are likely to need."""
        work, nodes = self._before
        each = (tree.work - work) / max(tree.n_nodes - nodes, 1)
        distances = tree.incumbent.cutoff - tree.frontier.open_bounds
        left = self._outlook.branchings_left(distances[distances >= 0.0])
        return 2.0 * left * each

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
        See :func:`frugalsvm.tree.engines.engine_of`.
    max_nodes : int or None
    n_jobs : int
    keep_proof : bool
    stages : list of Stage
        The work limits, one after the other, as long as the gap is open. The limits of
        the search are those of the first. The tree ends a stage earlier if more work is
        unlikely to pay, and goes on if it is likely to close.
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
        make_solver, incumbent, policy, should_stop=monitor.should_stop,
        max_nodes=np.inf if max_nodes is None else max_nodes,
        max_bytes=1e6 * options.max_megabytes, n_jobs=n_jobs, keep_proof=keep_proof,
    )  # fmt: skip
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
