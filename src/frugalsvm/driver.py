"""solve: run a method on a problem and return its Result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from .exact.certificate import Certificate
from .exact.node_solver import LEAST_GAP
from .kernels.perspective import node_bound
from .methods import METHODS, Run, auto_nodes, check_method
from .monitor import Callback, Monitor, relative_gap
from .problem import Problem
from .relaxations import relax
from .result import Result, Status
from .search.evaluator import Evaluator, Solution
from .search.rounding import fit_budgets

# Accuracy of the final SVM on the selected features.
FINAL_TOL = 1e-9


def solve(
    problem: Problem,
    *,
    method: str = "auto",
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
) -> Result:
    """Find a good solution of FS-SVM and a lower bound that proves how good.

    Parameters
    ----------
    problem : Problem
    method : str, default="auto"
        ``relax-and-round`` solves the relaxation and rounds it. ``swap`` improves that
        by exchanging features, with restarts. ``branch-and-bound`` goes on to raise the
        bound until the gap is closed. ``auto`` is the same up to a number of nodes that
        depends on the size of the data: some seconds of work. The paper's algorithms
        are ``local-search``, ``kernel-search``, ``heuristic`` and ``exact``.
    gap_tol : float, default=1e-4
        Relative gap at which a solution counts as optimal.
    time_limit : float, default=None
        Seconds; a cap on the run, None for none. The result is valid whenever it stops.
    max_nodes : int, default=None
        Most nodes of the tree; None for no limit, or, with ``auto``, for
        ``1e10 / (m n min(m, n))`` but at least 20 and at most 100,000.
    initial_support : array of int, default=None
        Features to start from; cut to the budgets if it is too large.
    method_options : dict, default=None
        See :class:`~frugalsvm.exact.branch_and_bound.TreeOptions`,
        :class:`~frugalsvm.search.restarts.SwapOptions`,
        :class:`~frugalsvm.algorithms.local_search.LocalSearchOptions`,
        :class:`~frugalsvm.algorithms.kernel_search.KernelSearchOptions`,
        :class:`~frugalsvm.algorithms.heuristic.HeuristicOptions` and
        :class:`~frugalsvm.algorithms.exact_procedure.ExactOptions`.
    n_jobs : int, default=None
        Threads, as in joblib. With one, a run can be repeated exactly. With more, a
        tree is searched in an order that depends on timing; ``swap`` is not affected.
    random_state : int, RandomState or None, default=None
        Seed of the restarts.
    verbose : int, default=0
        Above 0, log progress.
    callback : callable, default=None
        Called with a :class:`~frugalsvm.monitor.Progress` after every improvement and
        every pair of nodes; the run stops when it returns True.
    certificate : bool, default=False
        Keep the proof of the lower bound, see :meth:`Result.save_certificate`.

    Returns
    -------
    Result
    """
    options = check_method(method, method_options, problem.n_features)
    if max_nodes is not None and max_nodes < 1:
        raise ValueError(f"max_nodes must be at least 1 or None, got {max_nodes!r}.")
    if max_nodes is None and method == "auto":
        max_nodes = auto_nodes(problem)
    monitor = Monitor(time_limit, gap_tol, verbose, callback)
    if initial_support is not None:
        initial_support = _check_support(problem, initial_support)
    n_threads = effective_n_jobs(n_jobs)
    seed = np.random.SeedSequence(_entropy(random_state))

    def run() -> Result:
        # Threads are spent on independent nodes, not inside small matrix products.
        with threadpool_limits(1, "blas"):
            relaxation = relax(problem, should_stop=monitor.should_stop)
            monitor.update(bound=relaxation.bound, event="relaxation")
            work = Run(
                problem,
                monitor,
                options,
                n_threads,
                seed,
                initial_support,
                relaxation,
                max_nodes,
                certificate,
                {"relaxation iterations": relaxation.iterations},
            )
            return _finish(work, method, METHODS[method][0](work))

    return _interruptible(run, monitor)


def _interruptible(run: Callable[[], Result], monitor: Monitor) -> Result:
    """Run in a thread of its own, where Ctrl-C does not strike.

    Python delivers it to the main thread, which waits here and can ask for the best
    solution so far.
    """
    outcome: dict[str, Any] = {}
    done = threading.Event()

    def work() -> None:
        try:
            outcome["result"] = run()
        except BaseException as error:  # handed to the caller's thread
            outcome["error"] = error
        finally:
            done.set()

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


def _finish(run: Run, method: str, solution: Solution) -> Result:
    """Polish the solution, recompute objective and bound, and decide the status."""
    problem, monitor = run.problem, run.monitor
    final = Evaluator(problem).solve(solution.support, tol=FINAL_TOL)
    assert final is not None
    coef = np.zeros(problem.n_features)
    coef[final.support] = final.w
    objective = problem.objective(coef, final.b)
    root_bound, alpha = _root_proof(run, final)
    bound = max(root_bound, run.bound)
    monitor.update(objective=objective, bound=bound)
    monitor.close()
    status = _status(run, relative_gap(objective, bound))
    monitor.log(str(status))
    proof = None
    if run.keep_proof:
        # A tree that proves no more than its root is left out of the certificate.
        nodes = run.nodes if run.bound > root_bound else None
        proof = Certificate.build(
            problem, coef, float(final.b), objective, bound, nodes, alpha
        )
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
        reported_bound=run.reported_bound,
        certificate=proof,
    )


def _root_proof(run: Run, final: Solution) -> tuple[float, np.ndarray]:
    """Best bound that a single dual point proves, and that point."""
    problem = run.problem
    # The dual point of the solution proves more than the relaxation when all fits.
    bound, alpha, _ = node_bound(
        problem.A, problem.norms, problem.y, problem.C, problem.fit_intercept,
        problem.costs, problem.root_node(), final.alpha,
    )  # fmt: skip
    if bound <= run.relaxation.bound:
        return run.relaxation.bound, run.relaxation.alpha
    return bound, alpha


def _status(run: Run, gap: float) -> Status:
    monitor = run.monitor
    # Below the least gap there are only rounding errors.
    if gap <= max(monitor.gap_tol, LEAST_GAP):
        return Status.OPTIMAL
    if monitor.interrupted:
        return Status.INTERRUPTED
    if monitor.out_of_time:
        return Status.TIME_LIMIT
    if run.hit_limit is not None:
        limits = {"nodes": Status.NODE_LIMIT, "memory": Status.MEMORY_LIMIT}
        return limits[run.hit_limit]
    return Status.FEASIBLE


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
