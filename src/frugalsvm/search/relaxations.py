"""relax: any relaxation of the paper by any solver, with a recomputed bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem.problem import Problem
from .native import (
    FAMILY,
    NATIVE,
    WITH_K,
    Relaxation,
    certified_bound,
    check_model,
    relax_natively,
)

#: The relaxations that :func:`relax` knows, by the paper's names.
RELAXATIONS = tuple(FAMILY)


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
        "native" for the library's own kernel (DSCoP and SVM, for which it is the
        default) or one of the solvers of :mod:`frugalsvm.paper.solvers`; None for the
        best open-source one.
    M : float or array of shape (n_features,), default=None
        Bound on the absolute weights for models that use one, e.g. from
        :func:`frugalsvm.paper.models.big_m`.
    K : iterable of int, default=None
        The features with binary u in the semi-relaxations.
    tol : float, default=1e-6
        Native: relative gap between ``value`` and ``bound``. Others: the tolerance
        of the solver.
    time_limit : float, default=None
        Seconds; the bound is valid whenever the solver stops.
    verbose : bool, default=False
        Show the log of a solver that is not native.
    should_stop : callable, default=None
        Native: called between rounds; True stops the solver.
    **options
        Passed to the function that builds the model, e.g. ``cardinality``.

    Returns
    -------
    Relaxation
        Its ``bound`` does not rely on the solver being right. For a semi-relaxation, or
        a solver without dual multipliers, it is the best bound that the native dual
        point proves, and ``reported_bound`` is the solver's claim.
    """
    check_model(model, M)
    if (model in WITH_K) != (K is not None):
        raise ValueError(
            f"{model} needs K, the features with binary u."
            if K is None
            else f"{model} has no set K; leave it out."
        )
    if solver is None:
        solver = "native" if model in NATIVE and not options else None
    if solver == "native":
        if model not in NATIVE or options:
            request = f"{model} with {', '.join(options)}" if options else model
            raise ValueError(
                f'solver "native" takes {" and ".join(NATIVE)} without further '
                f'options, not {request}; use solver="clarabel", or None for the '
                "default."
            )
        return relax_natively(
            problem, model, tol=tol, time_limit=time_limit, should_stop=should_stop
        )
    return _solve_model(problem, model, solver, M, K, tol, time_limit, verbose, options)


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
    # Imported here: native relaxations need neither models nor solvers.
    from ..paper.models import MODELS

    started = time.perf_counter()
    name = "SR-DLMP" if model == "SR-DSCoP" else model
    program = MODELS[name](problem, *(x for x in (K, M) if x is not None), **options)
    solution = program.solve(
        solver, time_limit=time_limit, tolerance=tol, verbose=verbose
    )
    alpha = solution.multipliers.get("alpha")
    points = [alpha] if alpha is not None and model not in WITH_K else []
    if not points:
        points = [relax_natively(problem, name, tol=tol).alpha for name in NATIVE]
    certified = max(
        (certified_bound(problem, point, model, M) for point in points),
        key=lambda candidate: candidate.bound,
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
    """The paper's u: itself, or 1 - v, or (SVM) zero for the features of the model."""
    if "u" in variables:
        return variables["u"]
    if "v" in variables:
        return 1.0 - variables["v"]
    u = np.ones(n)
    u[features] = 0.0
    return u


# --- From a relaxed solution to a support within the budgets --------------------------


def round_relaxation(problem: Problem, relaxation: Relaxation) -> np.ndarray:
    """The included features and those with the largest ``z_j c_j^2`` that fit."""
    value = (1.0 - relaxation.u) * relaxation.squares
    value = value[problem.candidates]
    if np.isfinite(problem.max_cost):
        value = value / problem.costs[problem.candidates]
    ranked = problem.candidates[np.argsort(-value, kind="stable")]
    return fit_budgets(problem, ranked)


def fit_budgets(problem: Problem, ranked: np.ndarray) -> np.ndarray:
    """Take the ranked features in order, skipping those that no longer fit."""
    room = problem.max_features - problem.include.size
    if not np.isfinite(problem.max_cost):
        return np.sort(np.concatenate([problem.include, ranked[:room]]))
    remaining = problem.cost_budget - problem.costs[problem.include].sum()
    chosen: list[int] = []
    for j in ranked:
        if len(chosen) == room:
            break
        if problem.costs[j] <= remaining:
            chosen.append(int(j))
            remaining -= problem.costs[j]
    return np.sort(np.concatenate([problem.include, np.array(chosen, dtype=np.int64)]))
