"""relax: any relaxation of the paper by any solver, with a bound that we recompute."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import compilation
from ..engine.perspective import perspective
from ..problem import Problem
from ..stopping import StopCondition
from ..supervision import supervise
from .certified import (
    FAMILY,
    WITH_K,
    certified_bound,
    check_model,
)

#: The relaxations that :func:`relax` knows, by the paper's names.
RELAXATIONS = tuple(FAMILY)

# Models that the native kernels solve.
_NATIVE = ("DSCoP", "SVM")


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
    w : ndarray of shape (n_features,)
        Weights of the relaxed solution.
    squares : ndarray of shape (n_features,)
        ``c_j(alpha)^2``, what the features are worth at the dual point.
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
        The bound that another solver claims; we do not vouch for it.
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


def relax(
    problem: Problem,
    model: str = "DSCoP",
    *,
    solver: str | None = None,
    M: ArrayLike | None = None,
    K: Iterable[int] | None = None,
    tol: float = 1e-6,
    time_limit: float | None = None,
    verbose: bool = False,
    should_stop: Callable[[], bool] | None = None,
    **options: Any,
) -> Relaxation:
    """Solve a relaxation of a problem.

    Parameters
    ----------
    problem : Problem
    model : str, default="DSCoP"
        The paper's name: one of "SVM", "BoxMP", "SMP", "DSMP", "SCoP", "DSCoP",
        "SCoMP", "DSCoMP", "SR-DSCoP", "SR-DLMP". SR-DSCoP is solved as SR-DLMP, which
        is the same program by the paper's lemma.
    solver : str, default=None
        "native" for our own kernel (DSCoP and SVM, for which it is the default) or one
        of the solvers of :mod:`frugalsvm.solvers`; None for the best open-source one.
    M : float or array of shape (n_features,), default=None
        Bound of the weights for models that have one, e.g. from
        :func:`frugalsvm.models.big_m`.
    K : iterable of int, default=None
        The features with binary u in the semi-relaxations.
    tol : float, default=1e-6
        Native: relative gap between ``value`` and ``bound``. Others: the tolerance
        asked of the solver.
    time_limit : float, default=None
        Seconds; the bound is valid whenever the solver stops.
    verbose : bool, default=False
        Show the log of a solver that is not native.
    should_stop : callable, default=None
        Native: asked between rounds.
    **options
        Passed to the function that builds the model, e.g. ``cardinality``.

    Returns
    -------
    Relaxation
        Its ``bound`` never depends on a solver's honesty. For a semi-relaxation, or a
        solver without dual multipliers, it is the best that the native dual point
        proves, and ``reported_bound`` is what the solver claims.
    """
    _check(model, M, K)
    if solver is None:
        solver = "native" if model in _NATIVE and not options else None
    if solver == "native":
        return _solve_natively(problem, model, tol, time_limit, should_stop, options)
    return _solve_model(problem, model, solver, M, K, tol, time_limit, verbose, options)


def _check(model: str, M: ArrayLike | None, K: Iterable[int] | None) -> None:
    check_model(model, M)
    if (model in WITH_K) != (K is not None):
        raise ValueError(
            f"{model} needs K, the features with binary u."
            if K is None
            else f"{model} has no set K; leave it out."
        )


def _solve_natively(
    problem: Problem,
    model: str,
    tol: float,
    time_limit: float | None,
    should_stop: Callable[[], bool] | None,
    options: dict[str, Any],
) -> Relaxation:
    if model not in _NATIVE or options:
        what = f"{model} with {', '.join(options)}" if options else model
        raise ValueError(
            f'solver "native" takes {" and ".join(_NATIVE)} without further options, '
            f'not {what}; use solver="clarabel", or None for the default.'
        )
    if problem.is_watched:
        # Part of a run that is supervised already.
        return _native(problem, model, tol, should_stop)
    compilation.ensure(f"relax {model}", partial(_rehearse, model))
    stop = StopCondition(time_limit)

    def is_over() -> bool:
        return stop.should_stop() or (should_stop is not None and should_stop())

    work = partial(_native, problem.watching(stop.flag), model, tol, is_over)
    return supervise(work, stop, patient=False)[0]


def _rehearse(model: str, stop: StopCondition) -> None:
    problem = compilation.tiny_problem().watching(stop.flag)
    _native(problem, model, 1e-6, stop.should_stop)


def _native(
    problem: Problem,
    model: str,
    tol: float,
    should_stop: Callable[[], bool] | None,
) -> Relaxation:
    return (
        _native_svm(problem, tol)
        if model == "SVM"
        else _native_dscop(problem, tol, should_stop)
    )


def _native_dscop(
    problem: Problem, tol: float, should_stop: Callable[[], bool] | None
) -> Relaxation:
    started = time.perf_counter()
    found = perspective(
        problem.engine, problem.root_region(), tol=tol, should_stop=should_stop
    )
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
    w = np.zeros(problem.n_features)
    w[used] = svm.w
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


def _solve_model(
    problem: Problem,
    model: str,
    solver: str | None,
    M: ArrayLike | None,
    K: Iterable[int] | None,
    tol: float,
    time_limit: float | None,
    verbose: bool,
    options: dict[str, Any],
) -> Relaxation:
    # Imported here: CVXPY is for those who ask for it.
    from ..models import MODELS

    started = time.perf_counter()
    name = "SR-DLMP" if model == "SR-DSCoP" else model
    program = MODELS[name](problem, *(x for x in (K, M) if x is not None), **options)
    solution = program.solve(
        solver, time_limit=time_limit, tolerance=tol, verbose=verbose
    )
    alpha = solution.multipliers.get("alpha")
    points = [alpha] if alpha is not None and model not in WITH_K else []
    if not points:
        points = [relax(problem, native, tol=tol).alpha for native in _NATIVE]
    certified = max(
        (certified_bound(problem, point, model, M) for point in points),
        key=lambda one: one.bound,
    )
    return Relaxation(
        bound=certified.bound,
        value=solution.objective,
        u=_shares(solution.variables, program.features, problem.n_features),
        w=solution.variables.get("w", np.zeros(problem.n_features)),
        squares=certified.squares,
        alpha=certified.alpha,
        seconds=time.perf_counter() - started,
        iterations=0,
        model=model,
        solver=solution.solver,
        status=str(solution.status),
        reported_bound=solution.bound,
    )


def _shares(
    variables: dict[str, np.ndarray], features: np.ndarray, n: int
) -> np.ndarray:
    """The paper's u: given, or 1 - v, or (SVM) zero for all features in use."""
    if "u" in variables:
        return variables["u"]
    if "v" in variables:
        return 1.0 - variables["v"]
    u = np.ones(n)
    u[features] = 0.0
    return u
