"""solve: run a method on a problem and return its Result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from .kernels.perspective import node_bound
from .monitor import Monitor, relative_gap
from .problem import Problem
from .relaxations import Relaxation, relax
from .result import Result, Status
from .search.evaluator import Evaluator, Solution
from .search.restarts import SwapOptions, restart_search
from .search.rounding import fit_budgets, round_relaxation

# Accuracy of the final SVM on the selected features.
FINAL_TOL = 1e-9


@dataclass(frozen=True)
class RoundOptions:
    """``relax-and-round`` has no options."""


@dataclass
class _Run:
    """What a method is given, and where it leaves its work."""

    problem: Problem
    monitor: Monitor
    options: Any
    n_jobs: int
    seed: np.random.SeedSequence
    initial_support: np.ndarray | None
    relaxation: Relaxation
    counters: dict[str, int]


def _starts(run: _Run) -> list[Solution]:
    """The rounded relaxation and, if given, the user's support."""
    supports = [round_relaxation(run.problem, run.relaxation)]
    if run.initial_support is not None:
        supports.insert(0, run.initial_support)
    evaluator = Evaluator(run.problem)
    solutions = []
    for support in supports:
        solution = evaluator.solve(support)
        assert solution is not None
        solutions.append(solution)
        run.monitor.update(objective=solution.objective, event="rounding")
    return solutions


def _relax_and_round(run: _Run) -> Solution:
    return min(_starts(run), key=lambda solution: solution.objective)


def _swap(run: _Run) -> Solution:
    solution, counters = restart_search(
        run.problem,
        _starts(run),
        run.monitor,
        options=run.options,
        n_jobs=run.n_jobs,
        seed=run.seed,
    )
    run.counters.update(counters)
    return solution


# name -> (function, options it takes)
METHODS: dict[str, tuple[Callable[[_Run], Solution], type]] = {
    "auto": (_swap, SwapOptions),
    "relax-and-round": (_relax_and_round, RoundOptions),
    "swap": (_swap, SwapOptions),
}


def check_method(method: str, method_options: Mapping[str, Any] | None) -> Any:
    """The validated options object of a method."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}.")
    kind = METHODS[method][1]
    allowed = {f.name: f.default for f in fields(kind)}
    given = dict(method_options or {})
    for name, value in given.items():
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise ValueError(
                f"method_options has {name!r}, which method {method!r} does not take; "
                f"it takes: {known}."
            )
        smallest = 0 if name == "patience" else 1
        if not isinstance(value, (int, np.integer)) or value < smallest:
            raise ValueError(
                f"method_options[{name!r}] must be an integer >= {smallest}, got "
                f"{value!r}."
            )
    return kind(**given)


def solve(
    problem: Problem,
    *,
    method: str = "auto",
    gap_tol: float = 1e-4,
    time_limit: float | None = None,
    initial_support: np.ndarray | None = None,
    method_options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Result:
    """Find a good solution of FS-SVM and a lower bound that proves how good.

    Parameters
    ----------
    problem : Problem
    method : {"auto", "relax-and-round", "swap"}, default="auto"
        ``relax-and-round`` solves the relaxation and rounds it. ``swap`` improves that
        by exchanging features, with restarts. ``auto`` is ``swap`` at present.
    gap_tol : float, default=1e-4
        Relative gap at which a solution counts as optimal.
    time_limit : float, default=None
        Seconds; a cap on the run, None for none. The result is valid whenever it stops.
    initial_support : array of int, default=None
        Features to start from; cut to the budgets if it is too large.
    method_options : dict, default=None
        See :class:`~frugalsvm.search.restarts.SwapOptions`.
    n_jobs : int, default=None
        Threads, as in joblib. They change the time a run takes, not its outcome.
    random_state : int, RandomState or None, default=None
        Seed of the restarts.
    verbose : int, default=0
        Above 0, log progress.

    Returns
    -------
    Result
    """
    options = check_method(method, method_options)
    monitor = Monitor(time_limit, gap_tol, verbose)
    if initial_support is not None:
        initial_support = _check_support(problem, initial_support)
    n_threads = effective_n_jobs(n_jobs)
    seed = np.random.SeedSequence(_entropy(random_state))
    outcome: dict[str, Any] = {}
    done = threading.Event()

    def work() -> None:
        try:
            outcome["result"] = _run(
                problem, monitor, method, options, n_threads, seed, initial_support
            )
        except BaseException as error:  # handed to the caller's thread
            outcome["error"] = error
        finally:
            done.set()

    # The work is done in a thread of its own so that Ctrl-C, which Python delivers to
    # the main thread, finds it waiting here and can ask for the best solution so far.
    threading.Thread(target=work, name="frugalsvm", daemon=True).start()
    _wait_for(done, monitor)
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def _wait_for(done: threading.Event, monitor: Monitor) -> None:
    """Wait; a first Ctrl-C asks for the best solution so far, a second is raised."""
    while True:
        try:
            # Waiting in slices keeps the wait interruptible on every platform.
            while not done.wait(0.1):
                pass
            return
        except KeyboardInterrupt:
            if monitor.interrupted:
                raise
            monitor.interrupted = True


def _run(
    problem: Problem,
    monitor: Monitor,
    method: str,
    options: Any,
    n_jobs: int,
    seed: np.random.SeedSequence,
    initial_support: np.ndarray | None,
) -> Result:
    # Threads are spent on independent supports, not inside small matrix products.
    with threadpool_limits(1, "blas"):
        relaxation = relax(problem, should_stop=monitor.should_stop)
        monitor.update(bound=relaxation.bound, event="relaxation")
        counters = {"relaxation iterations": relaxation.iterations}
        run = _Run(
            problem,
            monitor,
            options,
            n_jobs,
            seed,
            initial_support,
            relaxation,
            counters,
        )
        solution = METHODS[method][0](run)
        return _finish(run, method, solution)


def _finish(run: _Run, method: str, solution: Solution) -> Result:
    """Polish the solution, recompute objective and bound, and decide the status."""
    problem, monitor = run.problem, run.monitor
    final = Evaluator(problem).solve(solution.support, tol=FINAL_TOL)
    assert final is not None
    coef = np.zeros(problem.n_features)
    coef[final.support] = final.w
    objective = problem.objective(coef, final.b)
    # The dual point of the solution proves more than the relaxation when all fits.
    bound, alpha, _ = node_bound(
        problem.A, problem.norms, problem.y, problem.C, problem.fit_intercept,
        problem.costs, problem.root_node(), final.alpha,
    )  # fmt: skip
    if bound <= run.relaxation.bound:
        bound, alpha = run.relaxation.bound, run.relaxation.alpha
    monitor.update(objective=objective, bound=bound)
    status = _status(monitor, relative_gap(objective, bound))
    monitor.log(str(status))
    return Result(
        objective=objective,
        lower_bound=bound,
        selected=np.flatnonzero(coef),
        coef=coef,
        intercept=float(final.b),
        status=status,
        method=method,
        seconds=monitor.seconds,
        counters=run.counters,
        history=monitor.history,
        dual_point=alpha,
    )


def _status(monitor: Monitor, gap: float) -> Status:
    if gap <= monitor.gap_tol:
        return Status.OPTIMAL
    if monitor.interrupted:
        return Status.INTERRUPTED
    return Status.TIME_LIMIT if monitor.out_of_time else Status.FEASIBLE


def _check_support(problem: Problem, support: np.ndarray) -> np.ndarray:
    """The user's features in their order, cut to what the constraints admit."""
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


def _entropy(random_state: int | np.random.RandomState | None) -> int | None:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return None if random_state is None else int(random_state)
