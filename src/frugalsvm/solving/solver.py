"""solve: run a method on a problem and return its Result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..engine.batched import BatchedEngine
from ..kernels.branching import largest, most_fractional, most_gaining
from ..kernels.chain import is_compiled
from ..problem.options import Options
from ..problem.problem import Problem
from ..run import compilation
from ..run.monitor import Callback, Monitor
from ..run.stopping import StopCondition
from ..run.supervision import Hold, supervise
from ..search import tempering
from ..search.restarts import uses_tempering
from ..tree import branch_and_bound
from ..tree.branch_and_bound import TreeOptions
from .methods import check_method, find_method
from .options import SolveOptions
from .parts import is_in_parts, run_in_parts
from .result import Result
from .running import RunRequest, run

# --- Compilation before a run, in two processes ---------------------------------------


def ensure_compiled(
    problem: Problem,
    options: Options,
    method: str,
    warm_up: Callable[[StopCondition], object],
) -> None:
    """Compile a method and what else it may use before the clock starts."""
    needs_tempering = uses_tempering(problem, options)
    if needs_tempering and not is_compiled():
        compilation.compile_beside(warm_up_beside)
    compilation.ensure(method, warm_up)
    if needs_tempering:
        compilation.ensure("tempering", tempering.warm_up)
    ensure_batches(problem, options)


def ensure_batches(problem: Problem, options: Options) -> None:
    """Compile the kernels of batches, if a tree may relax nodes in batches."""
    if may_batch(problem, options):
        compilation.ensure("batches", branch_and_bound.warm_up_batches)


def may_batch(problem: Problem, options: Options) -> bool:
    """Whether a tree may relax nodes in batches; ValueError if it should but cannot."""
    if not isinstance(options, TreeOptions):
        return False
    engine = branch_and_bound.engine_of(problem, options.engine)
    return isinstance(engine, BatchedEngine)


def warm_up_beside(stop: StopCondition) -> None:
    """Compile the kernels that do not contain the one that takes longest.

    That kernel solves relaxations and SVMs; it is left to the other process.
    """
    tempering.warm_up(stop)
    problem = compilation.tiny_problem()
    problem.dual_bound(np.zeros(problem.n_samples))
    free, values = np.arange(2), np.zeros(problem.n_features)
    largest(free, values, 1)
    most_fractional(free, values, 1)
    most_gaining(free, values, values, 1)


# --- The run --------------------------------------------------------------------------


def solve(
    problem: Problem,
    *,
    method: str = "auto",
    effort: str = "normal",
    gap_tol: float = 1e-4,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    initial_support: np.ndarray | None = None,
    method_options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
    callback: Callback | None = None,
    certificate: bool = False,
    warm: Result | None = None,
) -> Result:
    """Find a good solution of FS-SVM and a lower bound that proves how good it is.

    Parameters
    ----------
    problem : Problem
    method : str, default="auto"
        ``relax-and-round`` solves the relaxation and rounds it. ``swap`` improves that
        by exchanging features, with restarts. ``branch-and-bound`` goes on to raise the
        bound until the gap is closed. ``auto`` does the same within its effort. The
        paper's algorithms are ``local-search``, ``kernel-search``, ``heuristic`` and
        ``exact``.
    effort : {"fast", "normal", "thorough"}, default="normal"
        How much work ``auto`` and ``swap`` do; the other methods have their own
        stopping rules. ``fast`` has few restarts and no tree, ``thorough`` has more of
        both than ``normal``, and goes on for minutes with a tree that is likely to
        close by then. Explicit limits and ``method_options`` take precedence.
        ``auto`` with effort ``fast`` does dense data of more than 200,000 samples in
        parts, unless ``max_nodes`` asks for a tree: the search sees one part.
    gap_tol : float, default=1e-4
        Relative gap at which a solution counts as optimal.
    time_limit : float, default=None
        Limit of the run in seconds; None for no limit. The result is valid whenever it
        stops.
    max_nodes : int, default=None
        Maximum number of nodes of the tree; None for no limit or, with ``auto``, for
        the limit of the effort.
    initial_support : array of int, default=None
        Features to start from; truncated if they exceed the budgets.
    method_options : dict, default=None
        See :class:`~frugalsvm.tree.branch_and_bound.TreeOptions`,
        :class:`~frugalsvm.search.restarts.SwapOptions`,
        :class:`~frugalsvm.paper.algorithms.kernel_search.LocalSearchOptions`,
        :class:`~frugalsvm.paper.algorithms.kernel_search.KernelSearchOptions`,
        :class:`~frugalsvm.paper.algorithms.heuristic.HeuristicOptions` and
        :class:`~frugalsvm.paper.algorithms.exact_procedure.ExactOptions`.
    n_jobs : int, default=None
        Threads, as in joblib. With one, runs are reproducible. With more, a tree is
        searched in an order that depends on timing; ``swap`` is not affected.
    random_state : int, RandomState or None, default=None
        Seed of the restarts.
    verbose : int, default=0
        Above 0, log progress.
    callback : callable, default=None
        Called with a :class:`~frugalsvm.Progress` after every improvement and
        every pair of nodes; the run stops when it returns True.
    certificate : bool, default=False
        Keep the proof of the lower bound, see :meth:`Result.save_certificate`.
    warm : Result, default=None
        Result of a neighbouring problem with the same features, e.g. for another budget
        or C. Its solution and elite pool are starts of the search, and its dual point
        selects the first working set of the relaxation.

    Returns
    -------
    Result
    """
    options = SolveOptions(
        method=method,
        effort=effort,
        gap_tol=gap_tol,
        time_limit=time_limit,
        max_nodes=max_nodes,
        initial_support=initial_support,
        method_options=method_options,
        n_jobs=n_jobs,
        random_state=random_state,
        verbose=verbose,
        callback=callback,
        certificate=certificate,
        warm=warm,
    )
    return run_interruptible(problem, options).result


class Interruptible(NamedTuple):
    """A result, and whether Ctrl-C interrupted the run."""

    result: Result
    was_interrupted: bool


def run_interruptible(
    problem: Problem, options: SolveOptions, hold: Hold | None = None
) -> Interruptible:
    """``solve`` that also reports Ctrl-C.

    Compilation is not timed, and ``hold`` begins after it.
    """
    request = RunRequest.of(problem, options)
    in_parts = is_in_parts(problem, options)
    method = "swap" if in_parts else options.method
    ensure_compiled(problem, request.options, method, partial(rehearse, method))
    monitor = Monitor(
        StopCondition(options.time_limit),
        options.gap_tol,
        options.verbose,
        options.callback,
    )
    work = partial(run, problem, request, monitor)
    if in_parts:
        work = partial(run_in_parts, problem, request, options, monitor)
    if hold is not None:
        hold.begin()
    return Interruptible(*supervise(work, monitor.stop))


def run_or_raise(problem: Problem, options: SolveOptions) -> Result:
    """``solve`` as a step of a larger computation, which Ctrl-C ends as a whole."""
    outcome = run_interruptible(problem, options)
    if outcome.was_interrupted:
        raise KeyboardInterrupt
    return outcome.result


def rehearse(method: str, stop: StopCondition) -> Result:
    """Run a method on a tiny problem, so that everything it needs is compiled.

    The user's options do not apply: they may ask for hours of work.
    """
    problem = compilation.tiny_problem()
    names = {field.name for field in fields(find_method(method).options)}
    method_options = {"patience": 2} if "patience" in names else {}
    options = check_method(method, method_options, problem.n_features)
    request = RunRequest(
        method,
        options,
        n_jobs=1,
        seed=np.random.SeedSequence(0),
        max_nodes=20,
        keep_proof=True,
    )
    return run(problem, request, Monitor(stop))
