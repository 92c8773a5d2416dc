"""solve: run a method on a problem and return its Result."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from numbers import Integral, Real
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ..engine.work import svm_work
from ..problem.options import Options
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..runtime import compilation
from ..runtime.blas import single_threaded_blas
from ..runtime.effort import EFFORTS, Effort, check_effort
from ..runtime.incumbent import LEAST_GAP
from ..runtime.monitor import Callback, Monitor
from ..runtime.parallel import thread_count
from ..runtime.progress import relative_gap
from ..runtime.stopping import StopCondition
from ..runtime.supervision import supervise
from ..search.evaluator import Evaluator
from ..search.native.relaxation import relax_natively
from ..search.rounding import fit_budgets
from ..search.sampled import n_searched
from ..tree.node import DualPoint
from ..tree.proof import build_certificate
from .compiling import ensure_compiled
from .methods import Context, Outcome, check_method, find_method
from .result import Result, Status

# Accuracy of the final SVM on the selected features.
FINAL_TOL = 1e-9
# Maximum number of nodes of a warm-up run.
REHEARSAL_NODES = 20
# Unsuccessful restarts of a warm-up run.
REHEARSAL_PATIENCE = 2
# Methods whose work is set by the effort; the others have their own stopping rules.
BY_EFFORT = ("auto", "swap")
# Maximum number of threads per processor.
MAX_THREADS = 4


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
        both than ``normal``. Explicit limits and ``method_options`` take precedence.
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
        :class:`~frugalsvm.paper.algorithms.local_search.LocalSearchOptions`,
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
    return run_interruptible(
        problem,
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
    ).result


class Interruptible(NamedTuple):
    """A result, and whether Ctrl-C interrupted the run."""

    result: Result
    was_interrupted: bool


def run_interruptible(
    problem: Problem,
    *,
    method: str,
    effort: str = "normal",
    gap_tol: float,
    time_limit: float | None,
    max_nodes: int | None,
    initial_support: np.ndarray | None,
    method_options: Mapping[str, Any] | None,
    n_jobs: int | None,
    random_state: int | np.random.RandomState | None,
    verbose: int,
    callback: Callback | None,
    certificate: bool,
    warm: Result | None = None,
) -> Interruptible:
    """``solve`` that also reports Ctrl-C; compilation is not timed."""
    if not isinstance(method_options, (Mapping, NoneType)):
        raise ValueError(f"method_options must be a dict, got {method_options!r}.")
    given = dict(method_options or {})
    limits = _work_limits(problem, method, check_effort(effort), given, max_nodes)
    if method in BY_EFFORT:
        given = {"patience": EFFORTS[effort].patience} | given
    options = check_method(method, given, problem.n_features)
    check_limits(gap_tol, time_limit, max_nodes)
    if initial_support is not None:
        initial_support = _check_support(problem, initial_support)
    threads = n_threads(n_jobs)
    seed = np.random.SeedSequence(_entropy(random_state))
    ensure_compiled(problem, options, method, partial(_warm_up, method))
    monitor = Monitor(StopCondition(time_limit), gap_tol, verbose, callback)
    work = partial(
        _run, problem, method, options, monitor, n_jobs=threads, seed=seed,
        initial_support=initial_support, max_nodes=max_nodes, keep_proof=certificate,
        near=_near(problem, warm), warm_supports=_warm_supports(problem, warm),
        **limits,
    )  # fmt: skip
    return Interruptible(*supervise(work, monitor.stop))


def _run(
    problem: Problem,
    method: str,
    options: Options,
    monitor: Monitor,
    near: np.ndarray | None = None,
    **request: Any,
) -> Result:
    """Solve the relaxation, run the method, and finish; see ``Context``.

    ``near`` is a dual point of a similar problem, used to start the relaxation.
    """
    problem = problem.watching(monitor.stop.flag, request["n_jobs"])
    # Threads work on independent nodes, not inside small matrix products.
    with single_threaded_blas():
        relaxation = relax_natively(problem, should_stop=monitor.should_stop, near=near)
        monitor.raise_bound(relaxation.bound, "relaxation")
        context = Context(problem, monitor, relaxation, **request)
        outcome = find_method(method).run(context, options)
        return _finish(context, method, outcome)


def _work_limits(
    problem: Problem,
    method: str,
    effort: Effort,
    given: dict[str, Any],
    max_nodes: int | None,
) -> dict[str, Any]:
    """Work limits of search and tree, unless the user sets limits."""
    limits: dict[str, Any] = {}
    if method in BY_EFFORT and "patience" not in given:
        limits["search_work"] = search_limit(effort, problem, n_searched(problem))
        limits["is_by_effort"] = True
    if method == "auto" and max_nodes is None:
        limits["tree_work"] = effort.tree_work
    return limits


def search_limit(
    effort: Effort, problem: Problem, n_samples: int | None = None
) -> float:
    """Work limit of a swap search on a number of samples, or on all."""
    size = min(problem.max_features, problem.n_features)
    an_svm = svm_work(problem.n_samples if n_samples is None else n_samples, size)
    return max(effort.search_work, effort.least_svms * an_svm)


def _warm_up(method: str, stop: StopCondition) -> None:
    """Run a method on a tiny problem, so that everything it needs is compiled.

    Options are its own: those of the user may ask for hours of work.
    """
    problem = compilation.tiny_problem()
    taken = {field.name for field in fields(find_method(method).options)}
    chosen = {"patience": REHEARSAL_PATIENCE} if "patience" in taken else {}
    options = check_method(method, chosen, problem.n_features)
    monitor = Monitor(stop)
    _run(
        problem, method, options, monitor, n_jobs=1, seed=np.random.SeedSequence(0),
        initial_support=None, max_nodes=REHEARSAL_NODES, keep_proof=True,
    )  # fmt: skip


def check_limits(
    gap_tol: float, time_limit: float | None, max_nodes: int | None
) -> None:
    """Raise ValueError if a limit is invalid."""
    if not (isinstance(gap_tol, Real) and float(gap_tol) >= 0):
        raise ValueError(f"gap_tol must be a number >= 0, got {gap_tol!r}.")
    if time_limit is not None and not (
        isinstance(time_limit, Real) and float(time_limit) >= 0
    ):
        raise ValueError(
            f"time_limit must be a number of seconds >= 0 or None, got {time_limit!r}."
        )
    if max_nodes is not None and not (
        isinstance(max_nodes, Integral) and int(max_nodes) >= 1
    ):
        raise ValueError(
            f"max_nodes must be an integer >= 1 or None, got {max_nodes!r}."
        )


def n_threads(n_jobs: int | None) -> int:
    """Number of threads as in joblib, with an upper limit."""
    is_number = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_number and n_jobs):
        raise ValueError(
            "n_jobs must be a number of threads, -1 for one per processor, or None, "
            f"got {n_jobs!r}."
        )
    return min(thread_count(n_jobs), MAX_THREADS * (os.cpu_count() or 1))


def _polished(context: Context) -> Solution:
    """The incumbent, solved more accurately if time permits."""
    solution = context.incumbent.solution
    assert solution is not None
    if context.monitor.should_stop():
        return solution
    polished = Evaluator(context.problem).solve(solution.support, tol=FINAL_TOL)
    assert polished is not None
    return min(polished, solution, key=lambda one: one.objective)


def _finish(context: Context, method: str, outcome: Outcome) -> Result:
    """Polish the solution, recompute objective and bound, and decide the status."""
    problem, monitor = context.problem, context.monitor
    final = _polished(context)
    coef = np.zeros(problem.n_features)
    coef[final.support] = final.w
    intercept = problem.unshifted_intercept(coef, final.b)
    objective = problem.objective(coef, intercept)
    root_bound, point = _root_proof(context, final)
    bound = max(root_bound, outcome.bound)
    status = _status(monitor, outcome, relative_gap(objective, bound))
    monitor.close(objective, bound, str(status))
    failure = monitor.stop.failure
    if failure is not None:
        warnings.warn(f"the run ended early: {failure}", stacklevel=2)
    proof = None
    if context.keep_proof:
        # A tree that proves no more than its root is omitted from the certificate.
        nodes = outcome.nodes if outcome.bound > root_bound else None
        proof = build_certificate(
            problem, coef, intercept, objective, bound, nodes,
            DualPoint.of(*point),
        )  # fmt: skip
    return Result(
        objective=objective,
        lower_bound=bound,
        selected=np.flatnonzero(coef),
        coef=coef,
        intercept=intercept,
        status=status,
        method=method,
        seconds=monitor.stop.seconds,
        counters={"relaxation iterations": context.relaxation.iterations}
        | outcome.counters,
        history=monitor.history,
        dual_point=point[0],
        reported_bound=outcome.reported_bound,
        certificate=proof,
        message=failure or "",
        elites=outcome.elites,
    )


def _root_proof(
    context: Context, final: Solution
) -> tuple[float, tuple[np.ndarray, float]]:
    """Best bound that a single dual point proves, that point and its price."""
    problem = context.problem
    # If all features fit, the dual point of the solution is the better one.
    best, proof = -np.inf, (final.alpha, 0.0)
    for alpha in (context.relaxation.alpha, final.alpha):
        found = problem.engine.bound(problem.root_region(), alpha)
        if found.bound > best:
            best, proof = found.bound, (found.alpha, found.price)
    return best, proof


def _status(monitor: Monitor, outcome: Outcome, gap: float) -> Status:
    stop = monitor.stop
    # Below the least gap there are only rounding errors.
    if gap <= max(monitor.gap_tol, LEAST_GAP):
        return Status.OPTIMAL
    if stop.failure is not None:
        return Status.SOLVER_FAILED
    if stop.interrupted:
        return Status.INTERRUPTED
    if stop.out_of_time:
        return Status.TIME_LIMIT
    if outcome.hit_limit is not None:
        limits = {"nodes": Status.NODE_LIMIT, "memory": Status.MEMORY_LIMIT}
        return limits[outcome.hit_limit]
    return Status.FEASIBLE


def _check_support(problem: Problem, support: np.ndarray) -> np.ndarray:
    """The user's features in their order, truncated to satisfy the constraints."""
    support = np.asarray(support)
    if support.ndim != 1 or (
        support.size and not np.issubdtype(support.dtype, np.integer)
    ):
        raise ValueError(f"initial_support must be a list of indices, got {support!r}.")
    if support.size and (support.min() < 0 or support.max() >= problem.n_features):
        raise ValueError(
            f"initial_support has a feature outside 0 to {problem.n_features - 1}."
        )
    _, first = np.unique(support, return_index=True)
    ordered = support[np.sort(first)]
    free = ordered[np.isin(ordered, problem.candidates)]
    return fit_budgets(problem, free)


def _near(problem: Problem, warm: Result | None) -> np.ndarray | None:
    """The dual point of a result, if it has the same samples."""
    if warm is not None and not isinstance(warm, Result):
        raise TypeError(f"warm must be a Result, got {type(warm).__name__}.")
    if warm is None or warm.dual_point is None:
        return None
    fits = warm.dual_point.size == problem.n_samples
    return warm.dual_point if fits else None


def _warm_supports(problem: Problem, warm: Result | None) -> list[np.ndarray]:
    """The solution and the elite pool of another result."""
    if warm is None:
        return []
    if warm.coef.size != problem.n_features:
        raise ValueError(
            f"warm is for a problem with {warm.coef.size} features, but this one has "
            f"{problem.n_features}; give a result for the same features."
        )
    return [warm.selected, *warm.elites]


def _entropy(random_state: int | np.random.RandomState | None) -> int | None:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if random_state is None:
        return None
    is_seed = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not is_seed or random_state < 0:
        raise ValueError(
            "random_state must be an integer >= 0, a RandomState or None, got "
            f"{random_state!r}."
        )
    return int(random_state)
