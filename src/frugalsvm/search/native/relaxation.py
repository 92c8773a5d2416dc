"""Relaxation, and the relaxations DSCoP and SVM by the native engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...engine.perspective import perspective
from ...problem.problem import Problem
from ...run import compilation
from ...run.stopping import StopCondition
from ...run.supervision import supervise
from .certified import certified_bound

#: The relaxations that the engine solves.
NATIVE = ("DSCoP", "SVM")


@dataclass(frozen=True)
class Relaxation:
    """Solution of a relaxation.

    Attributes
    ----------
    bound : float
        Lower bound of FS-SVM, recomputed from ``alpha`` in directed arithmetic. (For
        models with a big-M: of FS-SVM with weights up to M.)
    value : float
        Primal value of the relaxation; ``bound`` reaches it up to the tolerance.
    u : ndarray of shape (n_features,)
        The paper's u, 0 for features the relaxation selects, 1 for those it rejects.
    w : ndarray of shape (n_columns,)
        Weights of the relaxed solution.
    squares : ndarray of shape (n_features,)
        ``c_j(alpha)^2``, the values of the features at the dual point; sums over the
        columns of a feature, as far as their signs admit them.
    alpha : ndarray of shape (n_kept_samples,)
        The dual point, feasible in exact arithmetic.
    seconds : float
    iterations : int
        Of the native kernel; 0 for other solvers.
    model : str
        The paper's name.
    solver : str
    status : str
        "optimal", or how the solver ended.
    reported_bound : float or None
        The bound claimed by another solver, which is not verified.
    """

    bound: float
    value: float
    u: np.ndarray
    w: np.ndarray
    squares: np.ndarray
    alpha: np.ndarray
    seconds: float
    iterations: int
    model: str = "DSCoP"
    solver: str = "native"
    status: str = "optimal"
    reported_bound: float | None = None


def relax_natively(
    problem: Problem,
    model: str = "DSCoP",
    *,
    tol: float = 1e-6,
    time_limit: float | None = None,
    should_stop: Callable[[], bool] | None = None,
    near: np.ndarray | None = None,
) -> Relaxation:
    """Solve DSCoP or SVM by the engine; see :func:`frugalsvm.relax`.

    ``near`` is a dual point of a similar problem, used to start DSCoP.
    """
    if problem.is_watched:
        # Inside a run that is supervised already.
        return _native(problem, model, tol, should_stop, near)
    compilation.ensure(f"relax {model}", partial(_warm_up, model))
    stop = StopCondition(time_limit)

    def is_over() -> bool:
        return stop.should_stop() or (should_stop is not None and should_stop())

    work = partial(_native, problem.watching(stop.flag), model, tol, is_over, near)
    return supervise(work, stop, patient=False)[0]


def _warm_up(model: str, stop: StopCondition) -> None:
    problem = compilation.tiny_problem().watching(stop.flag)
    _native(problem, model, 1e-6, stop.should_stop, None)


def _native(
    problem: Problem,
    model: str,
    tol: float,
    should_stop: Callable[[], bool] | None,
    near: np.ndarray | None,
) -> Relaxation:
    return (
        _native_svm(problem, tol)
        if model == "SVM"
        else _native_dscop(problem, tol, should_stop, near)
    )


def _native_dscop(
    problem: Problem,
    tol: float,
    should_stop: Callable[[], bool] | None,
    near: np.ndarray | None,
) -> Relaxation:
    started = time.perf_counter()
    found = perspective(
        problem.engine, problem.root_region(), tol=tol, should_stop=should_stop,
        near=near,
    )  # fmt: skip
    reached = found.primal - found.bound <= tol * abs(found.primal)
    return Relaxation(
        bound=found.bound,
        value=found.primal,
        u=1.0 - found.z,
        w=found.w,
        squares=found.squares,
        alpha=found.alpha,
        seconds=time.perf_counter() - started,
        iterations=found.iterations,
        status="optimal" if reached else "inaccurate",
    )


def _native_svm(problem: Problem, tol: float) -> Relaxation:
    started = time.perf_counter()
    region = problem.root_region().affordable(problem.costs)
    used = np.concatenate([region.forced, region.free])
    svm = problem.engine.solve_svm(used, tol=tol)
    value = svm.primal
    certified = certified_bound(problem, svm.alpha, "SVM")
    w = np.zeros(problem.n_columns)
    w[problem.columns.of(used)] = svm.w
    u = np.ones(problem.n_features)
    u[used] = 0.0
    reached = value - certified.bound <= 2 * tol * abs(value)
    return Relaxation(
        bound=certified.bound,
        value=value,
        u=u,
        w=w,
        squares=certified.squares,
        alpha=certified.alpha,
        seconds=time.perf_counter() - started,
        iterations=0,
        model="SVM",
        status="optimal" if reached else "inaccurate",
    )
