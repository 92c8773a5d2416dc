"""The methods of ``solve`` by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from typing import Any, cast

import numpy as np

from ..engine.work import node_work
from ..problem.options import METHOD_NAMES, Options
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import Incumbent, Monitor
from ..run.stopping import Stage
from ..search.evaluator import Evaluator, Stop
from ..search.reduced import SampledSearch, ShortlistSearch, needs_subsample
from ..search.relaxations import Relaxation, round_relaxation
from ..search.restarts import RestartSearch, SwapOptions, shrink
from ..search.swap import fill
from ..tree.branch_and_bound import TreeOptions, engine_of
from ..tree.branch_and_bound import branch_and_bound as grow_tree
from ..tree.node import Node

# --- The interface of methods: options and a context in, an outcome out ---------------
#
# Methods offer every solution to the incumbent of their monitor, which is their result.


@dataclass(frozen=True)
class Context:
    """The input of every method.

    Attributes
    ----------
    problem : Problem
    monitor : Monitor
        Holds the incumbent, records bounds, and decides when to stop.
    relaxation : Relaxation
        DSCoP of the whole problem.
    n_jobs : int
        Threads.
    seed : SeedSequence
    initial_support : ndarray of int or None
        The user's, within the budgets.
    max_nodes : int or None
    keep_proof : bool
    warm_supports : list of ndarray of int, default=[]
        Good supports of a neighbouring problem; they need not fit the budgets.
    stages : tuple of Stage
        The limits of search and tree, one after the other: those of smaller efforts
        come before those of the effort.
    is_by_effort : bool, default=False
        Whether the effort also decides when the swap search ends, and not the user.
    finalists : list of Solution
        The best solutions when stages ended.
    """

    problem: Problem
    monitor: Monitor
    relaxation: Relaxation
    n_jobs: int
    seed: np.random.SeedSequence
    initial_support: np.ndarray | None
    max_nodes: int | None
    keep_proof: bool
    warm_supports: list[np.ndarray] = field(default_factory=list)
    stages: tuple[Stage, ...] = ()
    is_by_effort: bool = False
    finalists: list[Solution] = field(default_factory=list)

    @property
    def incumbent(self) -> Incumbent:
        """The incumbent, to which solutions are offered."""
        return self.monitor.incumbent

    def keep_finalist(self) -> None:
        """Add the incumbent to the finalists: polished, it may be the best.

        A search computes objectives less accurately, and this error must not make the
        result of a larger effort worse.
        """
        solution = self.incumbent.solution
        if solution is not None and all(
            solution is not other for other in self.finalists
        ):
            self.finalists.append(solution)

    def starts(self) -> list[Solution]:
        """The user's support, if any, the rounded relaxation, and warm starts.

        All are offered. The first one is always solved, even if the time is up.
        """
        supports = [round_relaxation(self.problem, self.relaxation)]
        if self.initial_support is not None:
            supports.insert(0, self.initial_support)
        evaluator = Evaluator(self.problem.watching(self.monitor.stop.urgent_flag))
        solutions = []
        for support in supports:
            solution = evaluator.solve(support)
            assert solution is not None
            solutions.append(solution)
            self.incumbent.offer(solution, "rounding")
        return solutions + self._warm_starts()

    def _warm_starts(self) -> list[Solution]:
        """Supports of a neighbouring problem, cut or filled to the budgets."""
        evaluator = Evaluator(self.problem, self.monitor.should_stop)
        solutions = []
        for support in self.warm_supports:
            usable = np.intersect1d(support, self.problem.candidates)
            features = np.union1d(usable, self.problem.include).astype(np.int64)
            try:
                solution = fill(evaluator, shrink(evaluator, features))
            except Stop:
                break
            solutions.append(solution)
            self.incumbent.offer(solution, "warm start")
        return solutions

    def user_start(self) -> Solution | None:
        """Offer the starts, and return the user's; None if there is none."""
        first, *_ = self.starts()
        return None if self.initial_support is None else first


@dataclass(frozen=True)
class Outcome:
    """The output of a method besides the incumbent.

    Attributes
    ----------
    counters : dict
        Work done.
    bound : float
        The bound proved by a tree; minus infinity without a tree.
    nodes : list of Node or None
        The nodes of the tree, if proofs are kept.
    hit_limit : str or None
        "nodes" or "memory" if that limit ended the method.
    reported_bound : float or None
        The bound claimed by a third-party solver.
    elites : list of ndarray of int
        Good supports found by a search, best first.
    """

    counters: dict[str, int]
    bound: float = -np.inf
    nodes: list[Node] | None = None
    hit_limit: str | None = None
    reported_bound: float | None = None
    elites: list[np.ndarray] = field(default_factory=list)


@dataclass(frozen=True)
class Method:
    """A method: how to run it, and its options.

    Attributes
    ----------
    run : callable
        Takes a :class:`Context` and an object of type ``options``.
    options : subclass of Options
    check : callable
        Raises ValueError for a problem that the method does not take.
    """

    run: Callable[[Context, Any], Outcome]
    options: type[Options]
    check: Callable[[Problem], None] = lambda problem: None


# --- The library's own methods: rounding, swap search, branch and bound ---------------


@dataclass(frozen=True)
class RoundOptions(Options):
    """``relax-and-round`` has no options."""


def relax_and_round(context: Context, options: RoundOptions) -> Outcome:
    """The best of the starts."""
    context.starts()
    return Outcome({})


def swap(context: Context, options: SwapOptions) -> Outcome:
    """Swap descents from the starts, and restarts."""
    stages = _stages(context, options)
    with ThreadPoolExecutor(context.n_jobs) as pool:
        search = _started_search(context, options, stages[0], pool)
        _go_through(context, search, stages)
    return Outcome(search.counters, elites=search.elite_pool.supports)


def branch_and_bound(context: Context, options: TreeOptions) -> Outcome:
    """Swap descents from the starts, then a tree if its work limit allows one."""
    # First, because the engine may refuse the problem.
    engine = engine_of(context.problem, options.engine)
    # A tree with fewer than 16 nodes proves next to nothing.
    least = 16 * node_work(context.problem.engine)
    stages = _stages(context, options)
    without_tree = [stage for stage in stages if stage.tree_work < least]
    with_tree = stages[len(without_tree) :]
    if not with_tree:
        return swap(context, options)
    with ThreadPoolExecutor(context.n_jobs) as pool:
        search = _started_search(context, options, stages[0], pool)
        _go_through(context, search, without_tree)
        if without_tree:
            first = with_tree[0]
            search.raise_limits(first.patience, first.search_work)
        tree = grow_tree(
            context.problem,
            context.monitor,
            search,
            options,
            engine=engine,
            max_nodes=context.max_nodes,
            n_jobs=context.n_jobs,
            keep_proof=context.keep_proof,
            stages=with_tree,
            stage_ended=context.keep_finalist,
        )
    counters = {"nodes": tree.n_nodes, "node iterations": tree.n_iterations}
    return Outcome(
        search.counters | counters,
        bound=tree.frontier.bound,
        nodes=tree.frontier.nodes,
        hit_limit=tree.hit_limit,
        elites=search.elite_pool.supports,
    )


def _stages(context: Context, options: SwapOptions) -> tuple[Stage, ...]:
    """The stages of a run; a single one without limits if no effort sets them."""
    return context.stages or (Stage(options.patience, np.inf, np.inf),)


def _go_through(
    context: Context, search: RestartSearch, stages: Sequence[Stage]
) -> None:
    """Restart until the limits of each stage; the search has those of the first."""
    for number, stage in enumerate(stages):
        if number > 0:
            search.raise_limits(stage.patience, stage.search_work)
        search.restart_until_idle(context.monitor.is_finished)
        context.keep_finalist()


def _started_search(
    context: Context, options: SwapOptions, stage: Stage, pool: ThreadPoolExecutor
) -> RestartSearch:
    """The search for the data at hand, after its descents from the starts."""
    first = SwapOptions(stage.patience, options.width, options.tries, options.n_elites)
    parts = (
        context.problem,
        context.incumbent,
        first,
        pool,
        context.seed,
        context.monitor.should_stop,
        stage.search_work,
        # Without an effort, only the user's limits end the search.
        (lambda: context.monitor.gap) if context.is_by_effort else None,
    )
    # All three have the same methods.
    if context.problem.source is not None:
        shortlist = ShortlistSearch(*parts, points=[context.relaxation.alpha])
        search = cast(RestartSearch, shortlist)
    elif needs_subsample(context.problem):
        search = cast(RestartSearch, SampledSearch(*parts))
    else:
        search = RestartSearch(*parts)
    search.start(context.starts())
    return search


# --- The table of methods -------------------------------------------------------------

__all__ = [
    "Context",
    "Method",
    "Outcome",
    "check_method",
    "find_method",
]

_NATIVE = {
    "auto": Method(branch_and_bound, TreeOptions),
    "branch-and-bound": Method(branch_and_bound, TreeOptions),
    "relax-and-round": Method(relax_and_round, RoundOptions),
    "swap": Method(swap, SwapOptions),
}


def find_method(name: str) -> Method:
    """A method by its name."""
    if name in _NATIVE:
        return _NATIVE[name]
    if name in METHOD_NAMES:
        # Imported here, so that the paper package is loaded only if it is needed.
        from ..paper.algorithms import METHODS

        return METHODS[name]
    raise ValueError(f"method must be one of {list(METHOD_NAMES)}, got {name!r}.")


def check_method(
    method: str, method_options: Mapping[str, Any] | None, n_features: int
) -> Options:
    """The validated options object of a method."""
    kind = find_method(method).options
    allowed = {f.name for f in fields(kind)}
    values = dict(method_options or {})
    for name in values:
        if name not in allowed:
            names = ", ".join(sorted(allowed)) or "none"
            raise ValueError(
                f"method_options has {name!r}, which method {method!r} does not take; "
                f"it takes: {names}."
            )
    options = kind(**values)
    options.check_for(n_features)
    return options
