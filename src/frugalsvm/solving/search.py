"""The library's own methods: rounding, swap search, branch and bound."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..engine.work import node_work
from ..problem.options import Options
from ..run.effort import Stage
from ..search.restarts import RestartSearch, SwapOptions
from ..search.sampled import SampledSearch, is_for_samples
from ..search.shortlist import ShortlistSearch
from ..tree.branch_and_bound import TreeOptions
from ..tree.branch_and_bound import branch_and_bound as grow_tree
from ..tree.engines import engine_of
from .contract import Context, Outcome

# A tree with fewer nodes proves next to nothing.
LEAST_NODES = 16


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
    # At once, because it may refuse the problem.
    engine = engine_of(context.problem, options.engine)
    least = LEAST_NODES * node_work(context.problem.engine)
    stages = _stages(context, options)
    without_tree = [one for one in stages if one.tree_work < least]
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
        nodes=tree.frontier.kept,
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
    first = SwapOptions(stage.patience, options.width, options.tries, options.n_elites)
    parts = (
        context.problem,
        context.incumbent,
        first,
        pool,
        context.seed,
        context.monitor.should_stop,
        stage.search_work,
        # Only limits given by the user apply.
        (lambda: context.monitor.gap) if context.is_by_effort else None,
    )
    # All are used in the same way.
    if context.problem.source is not None:
        made = ShortlistSearch(*parts, points=[context.relaxation.alpha])
        search = cast(RestartSearch, made)
    elif is_for_samples(context.problem):
        search = cast(RestartSearch, SampledSearch(*parts))
    else:
        search = RestartSearch(*parts)
    search.start(context.starts())
    return search
