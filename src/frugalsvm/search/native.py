"""Relaxations by the native engine, and bounds from any dual point.

This module needs neither a solver nor CVXPY. ``paper.models``, the paper's programs,
uses it, and ``relaxations`` uses both to solve any relaxation by any solver.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..engine.perspective import perspective
from ..kernels.big_m import box_bound, huber_values
from ..kernels.bounds import bound_and_price, repair_machines, square_bounds
from ..problem.problem import Problem
from ..run import compilation
from ..run.stopping import StopCondition
from ..run.supervision import supervise

# --- Bounds of relaxations recomputed from any dual point -----------------------------

# Relaxations with the same dual function, by the paper's theorems.
FAMILY = {
    "SVM": "SVM",
    "BoxMP": "BoxMP",
    "SMP": "BoxMP",
    "DSMP": "BoxMP",
    "SCoP": "DSCoP",
    "DSCoP": "DSCoP",
    "SCoMP": "DSCoMP",
    "DSCoMP": "DSCoMP",
    # Dual points of a mixed-integer program prove no more than its relaxation.
    "SR-DSCoP": "DSCoP",
    "SR-DLMP": "DSCoP",
}
# Models with a big-M, and models with a set K of binary features.
WITH_M = ("BoxMP", "SMP", "DSMP", "SCoMP", "DSCoMP", "SR-DSCoP", "SR-DLMP")
WITH_K = ("SR-DSCoP", "SR-DLMP")


class CertifiedBound(NamedTuple):
    """A bound, its repaired dual point and the squares ``c_j^2`` there."""

    bound: float
    alpha: np.ndarray
    squares: np.ndarray


def certified_bound(
    problem: Problem, alpha: ArrayLike, model: str = "DSCoP", M: ArrayLike | None = None
) -> CertifiedBound:
    r"""Lower bound of a relaxation from any vector, with directed rounding.

    With :math:`c = A\alpha` the dual functions are, for SVM,
    :math:`1^\top\alpha - \tfrac12 \sum_j c_j^2`; for DSCoP and SCoP the B largest
    squares only; for DSCoMP and SCoMP the B largest Huber terms,
    :math:`\tfrac12 c^2` up to :math:`|c| = M` and :math:`M|c| - \tfrac12 M^2` beyond;
    for BoxMP, SMP and DSMP :math:`\max_v \sum_j M v_j |c_j| - \tfrac12 M^2 v_j^2` over
    :math:`0 \le v \le 1, e^\top v \le B`, computed through the price of the budget.

    Parameters
    ----------
    problem : Problem
    alpha : array of shape (n_kept_samples,)
        Any vector; it is repaired to satisfy the dual constraints exactly.
    model : str, default="DSCoP"
        The paper's name of a relaxation.
    M : float or array of shape (n_features,), default=None
        Bound on the absolute weights, for the models that use one. (The
        semi-relaxations do, but the bound from a dual point does not depend on it.)

    Returns
    -------
    CertifiedBound
        ``bound`` is below the value of the model, and of FS-SVM if M is valid.
    """
    check_model(model, M, M_optional=model in WITH_K)
    if model in WITH_M and not problem.columns.is_plain:
        raise ValueError(
            f"{model} bounds weights of single columns; it knows neither feature "
            "groups nor signs. DSCoP and SVM do."
        )
    limits = None if M is None else check_big_m(M, problem.n_features)
    point = np.ascontiguousarray(alpha, dtype=np.float64)
    if point.shape != (problem.n_samples,):
        raise ValueError(
            f"alpha must have one entry per sample of positive weight "
            f"({problem.n_samples}), got shape {point.shape}."
        )
    repaired = repair_machines(
        point, problem.y, problem.C, problem.fit_intercept, problem.n_machines
    )
    squares = square_bounds(
        problem.engine.products(repaired),
        problem.norms,
        repaired,
        *problem.columns.in_kernels,
    )
    bound = _bound(problem, repaired, squares, FAMILY[model], limits)
    # No objective is negative.
    return CertifiedBound(max(0.0, float(bound)), repaired, squares)


def check_model(model: str, M: ArrayLike | None, *, M_optional: bool = False) -> None:
    """Refuse unknown models, and an M that is missing or not used."""
    if model not in FAMILY:
        raise ValueError(f"model must be one of {list(FAMILY)}, got {model!r}.")
    if M is None and model in WITH_M and not M_optional:
        raise ValueError(
            f"{model} needs M, a bound of the weights: frugalsvm.paper.models.big_m "
            "computes one."
        )
    if M is not None and model not in WITH_M:
        raise ValueError(f"{model} has no big-M; leave M out.")


def check_big_m(M: ArrayLike, n_features: int) -> np.ndarray:
    """One bound on ``|w_j|`` per feature.

    Zero means that no good solution uses a feature. It is allowed only in arrays:
    :func:`~frugalsvm.paper.models.weight_bounds` proves it for some features.
    """
    values = np.asarray(M, dtype=np.float64)
    if values.ndim > 1 or (values.ndim and values.shape != (n_features,)):
        raise ValueError(
            f"M must be a number or have one entry per feature ({n_features}), got "
            f"shape {values.shape}."
        )
    valid = np.isfinite(values) & (values >= 0 if values.ndim else values > 0)
    if not valid.all():
        raise ValueError(
            f"M must be positive and finite (an array may have zeros), got "
            f"{values[~valid][0]:g}; frugalsvm.paper.models.big_m computes a "
            "valid value from the objective of any solution."
        )
    return np.array(np.broadcast_to(values, n_features))


def _bound(
    problem: Problem,
    alpha: np.ndarray,
    squares: np.ndarray,
    family: str,
    limits: np.ndarray | None,
) -> float:
    region = problem.root_region().affordable(problem.costs)
    if family == "SVM":
        features = np.concatenate([region.forced, region.free])
        nothing = region.free[:0]
        return bound_and_price(
            alpha, squares, features, nothing, 0, problem.costs, np.inf
        )[0]
    choice = (region.forced, region.free, region.k, problem.costs, region.budget)
    if family == "DSCoP":
        return bound_and_price(alpha, squares, *choice)[0]
    if family == "DSCoMP":
        return bound_and_price(alpha, huber_values(squares, limits), *choice)[0]
    return box_bound(alpha, squares, limits, *choice)


# --- DSCoP and SVM by the native engine -----------------------------------------------

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

    def warm_up(stop: StopCondition) -> None:
        tiny = compilation.tiny_problem().watching(stop.flag)
        _native(tiny, model, 1e-6, stop.should_stop, None)

    compilation.ensure(f"relax {model}", warm_up)
    stop = StopCondition(time_limit)

    def is_over() -> bool:
        return stop.should_stop() or (should_stop is not None and should_stop())

    work = partial(_native, problem.watching(stop.flag), model, tol, is_over, near)
    return supervise(work, stop, patient=False)[0]


def _native(
    problem: Problem,
    model: str,
    tol: float,
    should_stop: Callable[[], bool] | None,
    near: np.ndarray | None,
) -> Relaxation:
    if model == "SVM":
        return _native_svm(problem, tol)
    started = time.perf_counter()
    result = perspective(
        problem.engine,
        problem.root_region(),
        tol=tol,
        should_stop=should_stop,
        near=near,
    )
    is_accurate = result.primal - result.bound <= tol * abs(result.primal)
    return Relaxation(
        bound=result.bound,
        value=result.primal,
        u=1.0 - result.z,
        w=result.w,
        squares=result.squares,
        alpha=result.alpha,
        seconds=time.perf_counter() - started,
        iterations=result.iterations,
        status="optimal" if is_accurate else "inaccurate",
    )


def _native_svm(problem: Problem, tol: float) -> Relaxation:
    started = time.perf_counter()
    region = problem.root_region().affordable(problem.costs)
    features = np.concatenate([region.forced, region.free])
    svm = problem.engine.solve_svm(features, tol=tol)
    value = svm.primal
    certified = certified_bound(problem, svm.alpha, "SVM")
    w = np.zeros(problem.n_columns)
    w[problem.columns.of(features)] = svm.w
    u = np.ones(problem.n_features)
    u[features] = 0.0
    is_accurate = value - certified.bound <= 2 * tol * abs(value)
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
        status="optimal" if is_accurate else "inaccurate",
    )
