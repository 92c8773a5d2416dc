"""Tasks that solve the paper's mixed-integer programs by SCIP."""

from __future__ import annotations

from typing import Any

import numpy as np

from frugalsvm.paper.models import Model, big_m, bigmp, cop
from frugalsvm.paper.solvers import ModelSolution, SolveStatus
from frugalsvm.problem.problem import Problem
from frugalsvm.runtime.progress import relative_gap

from ..sources import DataSet

SOLVER = "scip"
# Accuracy of the SVM on the features selected by SCIP.
REFIT_TOL = 1e-8
# Relative gap at which SCIP may stop, as for the native tree.
GAP_TOL = 1e-4


def program(
    data: DataSet,
    *,
    limit: float | None,
    model: str,
    B: int,
    C: float,
    given: list[dict[str, Any]] | None = None,
    solver: str = SOLVER,
) -> dict[str, Any]:
    """BigMP, CoP or CoP* under a time limit.

    BigMP needs the values of a cell with a known solution, whose objective determines M
    (see :func:`valid_m`); CoP* those of its initial solution. Neither M nor the start
    is part of the time.
    """
    problem = data.problem(B, C)
    built, start, M = _build(problem, model, given or [])
    solution = built.solve(solver, time_limit=limit, tolerance=GAP_TOL, start=start)
    _raise_if_interrupted(solution)
    found = _refitted(problem, solution, B)
    bound = float(solution.bound) if np.isfinite(solution.bound) else None
    gap = 1.0 if found is None or bound is None else relative_gap(found, bound)
    return {
        "objective": found,
        "bound": bound,
        "gap": gap,
        "seconds": solution.seconds,
        "status": str(solution.status),
        "M": M,
        "capped": solution.status is SolveStatus.TIME_LIMIT,
    }


def root_bound(
    data: DataSet,
    *,
    limit: float | None,
    model: str,
    B: int,
    C: float,
    given: list[dict[str, Any]] | None = None,
    solver: str = SOLVER,
) -> dict[str, Any]:
    """The bound of the root node of BigMP or CoP."""
    built, _, M = _build(data.problem(B, C), model, given or [])
    solution = built.solve(solver, time_limit=limit, tolerance=GAP_TOL, node_limit=1)
    _raise_if_interrupted(solution)
    return {
        "bound": float(solution.bound) if np.isfinite(solution.bound) else None,
        "seconds": solution.seconds,
        "M": M,
        "capped": solution.status is SolveStatus.TIME_LIMIT,
    }


def valid_m(problem: Problem, objective: float) -> float:
    """M by the tight bound problems, as far as dual points prove it."""
    return big_m(problem, objective, max_programs=0)


def _build(
    problem: Problem, model: str, given: list[dict[str, Any]]
) -> tuple[Model, dict[str, np.ndarray] | None, float | None]:
    """The program, a start for it, and its M."""
    if model == "BigMP":
        M = valid_m(problem, given[0]["objective"])
        return bigmp(problem, M), None, M
    built = cop(problem)
    if model == "CoP":
        return built, None, None
    coef = np.zeros(problem.n_features)
    coef[given[0]["support"]] = given[0]["coef"]
    return built, built.start_from(coef, given[0]["intercept"]), None


def _raise_if_interrupted(solution: ModelSolution) -> None:
    if solution.status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt


def _refitted(problem: Problem, solution: ModelSolution, B: int) -> float | None:
    """The objective of the SVM on the selected features, free of SCIP's errors."""
    w = solution.variables.get("w")
    if w is None:
        return None
    largest = np.argsort(-np.abs(w), kind="stable")[:B]
    support = np.sort(largest[w[largest] != 0.0])
    return float(problem.engine.solve_svm(support, tol=REFIT_TOL).primal)
