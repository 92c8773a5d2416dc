"""The algorithms of the paper's Section 4, as methods of ``solve``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...solving.methods import Context, Method, Outcome
from ..models.blocks import require_plain
from .exact_procedure import ExactOptions, ExactProcedure
from .heuristic import HeuristicOptions
from .heuristic import heuristic as _heuristic
from .kernel_search import (
    KernelSearchOptions,
    LocalSearchOptions,
    local_search,
    prefer,
    rank_features,
)
from .kernel_search import kernel_search as _kernel_search
from .subproblem import SubproblemOptions, SubproblemSolver


def run_local_search(context: Context, options: LocalSearchOptions) -> Outcome:
    """H-LS, Algorithm 1."""
    start = context.user_start()
    subproblems = _subproblems(context, options)
    local_search(subproblems, _ranked(context), options.k, start)
    return Outcome(subproblems.counters)


def run_kernel_search(context: Context, options: KernelSearchOptions) -> Outcome:
    """H-KS, Algorithm 2."""
    start = context.user_start()
    subproblems = _subproblems(context, options)
    ranked = _ranked(context, options.ranking)
    _kernel_search(subproblems, ranked, options.rho, start, options.passes)
    return Outcome(subproblems.counters)


def run_heuristic(context: Context, options: HeuristicOptions) -> Outcome:
    """The heuristic procedure, Algorithm 3."""
    start = context.user_start()
    ranked = _ranked(context, options.ranking)
    counters = _heuristic(context.problem, context.monitor, options, ranked, start)
    return Outcome(counters)


def run_exact(context: Context, options: ExactOptions) -> Outcome:
    """The exact procedure, Algorithm 4."""
    start = context.user_start()
    procedure = ExactProcedure(
        context.problem,
        context.monitor,
        options,
        max_nodes=context.max_nodes,
        keep_proof=context.keep_proof,
    )
    procedure.run(_ranked(context, options.ranking), start)
    return Outcome(
        procedure.counters,
        bound=procedure.bound,
        nodes=procedure.nodes,
        hit_limit=procedure.hit_limit,
        reported_bound=procedure.reported_bound,
    )


def _ranked(context: Context, ranking: Sequence[int] | None = None) -> np.ndarray:
    """The user's ranking, if any, continued by the u of DSCoP."""
    relaxation = context.relaxation
    ranked = rank_features(context.problem, relaxation.u, relaxation.squares)
    return ranked if ranking is None else prefer(np.asarray(ranking), ranked)


def _subproblems(context: Context, options: SubproblemOptions) -> SubproblemSolver:
    return SubproblemSolver(
        context.problem,
        context.monitor,
        options.solver,
        options.subproblem_time_limit,
    )


METHODS = {
    name: Method(run, options, partial(require_plain, f'method "{name}"'))
    for name, run, options in (
        ("exact", run_exact, ExactOptions),
        ("heuristic", run_heuristic, HeuristicOptions),
        ("kernel-search", run_kernel_search, KernelSearchOptions),
        ("local-search", run_local_search, LocalSearchOptions),
    )
}
