"""The algorithms of the paper as methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ..problem.problem import Problem
from ..solving.methods import Context, Method, Outcome
from .algorithms.exact_procedure import ExactOptions, ExactProcedure
from .algorithms.heuristic import HeuristicOptions, heuristic
from .algorithms.kernel_search import (
    KernelSearchOptions,
    LocalSearchOptions,
    kernel_search,
    local_search,
    prefer,
    rank_features,
)
from .algorithms.subproblem import SubproblemOptions, SubproblemSolver

# --- Not supported: groups of columns, signs of weights, several classes --------------

# Models that hold for groups of columns and for signs of weights as well.
TAKE_GROUPS = ("SVM", "BigMP", "CoP", "SCoP", "DSCoP")


def require_two_classes(name: str, problem: Problem) -> None:
    """Refuse a problem of several classes."""
    if problem.n_machines > 1:
        raise ValueError(
            f"{name} does not take more than two classes: use the native methods of "
            "solve (auto, branch-and-bound, swap, relax-and-round) and DSCoP."
        )


def require_plain(name: str, problem: Problem) -> None:
    """Refuse a problem whose features are groups, or whose weights have signs.

    ``name`` is the model, method or quantity that does not take it.
    """
    require_two_classes(name, problem)
    columns = problem.columns
    if columns.is_plain:
        return
    has = {"feature groups": columns.has_groups, "signs": columns.has_signs}
    traits = " and ".join(trait for trait, is_present in has.items() if is_present)
    raise ValueError(
        f"{name} does not take {traits}: use the native methods of solve (auto, "
        f"branch-and-bound, swap, relax-and-round) or a model that takes them "
        f"({', '.join(TAKE_GROUPS)})."
    )


# --- The algorithms of the paper as methods -------------------------------------------


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
    kernel_search(subproblems, ranked, options.rho, start, options.passes)
    return Outcome(subproblems.counters)


def run_heuristic(context: Context, options: HeuristicOptions) -> Outcome:
    """The heuristic procedure, Algorithm 3."""
    start = context.user_start()
    ranked = _ranked(context, options.ranking)
    counters = heuristic(context.problem, context.monitor, options, ranked, start)
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
