"""Tasks on whole data sets: methods of ``solve``, relaxations, programs by SCIP.

A task takes its data set (None if it generates its data), ``limit`` in seconds, its
parameters, and ``needs`` with the values of the cells it needs. It respects its limit
and returns ``capped`` if it reached it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frugalsvm import (Problem, Result, Status, relax)
from frugalsvm.paper.models import (Model, big_m, bigmp, cop)
from frugalsvm.paper.solvers import (ModelSolution, SolveStatus)
from frugalsvm.solving.options import SolveOptions
from frugalsvm.solving.solver import run_or_raise

from ..catalogue import CATALOGUE
from ..datasets import DataSet, differences
from ..statistics import relative_gap

# Relative gap at which the tree and SCIP may stop.
GAP_TOL = 1e-4


def solved(
    problem: Problem,
    method: str,
    limit: float | None,
    *,
    effort: str = "normal",
    options: dict[str, Any] | None = None,
    n_jobs: int = 1,
) -> Result:
    """A run with seed 0; Ctrl-C is raised, since partial cells are useless."""
    # Unlike solve, it raises Ctrl-C whenever it comes.
    return run_or_raise(
        problem,
        SolveOptions(
            method=method,
            effort=effort,
            gap_tol=GAP_TOL,
            time_limit=limit,
            method_options=options,
            n_jobs=n_jobs,
            random_state=0,
        ),
    )


def method(
    data: DataSet,
    *,
    limit: float | None,
    method: str,
    B: int,
    C: float,
    effort: str = "normal",
    n_jobs: int = 1,
    **options: Any,
) -> dict[str, Any]:
    """A method of ``solve`` on the whole data set, standardised."""
    problem = data.problem(B, C)
    return described(
        solved(problem, method, limit, effort=effort, options=options, n_jobs=n_jobs)
    )


def described(result: Result) -> dict[str, Any]:
    """The values of a result used in tables."""
    counters = result.counters
    return {
        "objective": float(result.objective),
        "bound": float(result.lower_bound),
        "gap": float(result.gap),
        "seconds": float(result.seconds),
        "status": str(result.status),
        "support": [int(j) for j in result.selected],
        "coef": [float(w) for w in result.coef[result.selected]],
        "intercept": float(result.intercept),
        "nodes": int(counters.get("nodes", 0)),
        "subproblems": int(counters.get("subproblems", 0)),
        "subproblems solved": int(counters.get("subproblems solved", 0)),
        "semi-relaxations": int(counters.get("semi-relaxations", 0)),
        "capped": result.status is Status.TIME_LIMIT,
    }


def relaxation(
    data: DataSet, *, limit: float | None, model: str, B: int, C: float
) -> dict[str, Any]:
    """A native relaxation, DSCoP or SVM, with its recomputed bound."""
    result = relax(data.problem(B, C), model, solver="native", time_limit=limit)
    return {
        "bound": float(result.bound),
        "seconds": float(result.seconds),
        "capped": limit is not None and result.seconds >= limit,
    }


def facts(data: DataSet) -> dict[str, Any]:
    """Shape, classes and digest of a data set, and differences from the reference."""
    counts = [int(np.sum(data.y < 0)), int(np.sum(data.y > 0))]
    return {
        "m": data.X.shape[0],
        "n": data.X.shape[1],
        "counts": counts,
        "shares": [round(100 * count / sum(counts)) for count in counts],
        "constant": int((np.ptp(data.X, axis=0) == 0).sum()),
        "differences": "; ".join(differences(CATALOGUE[data.name], data.X, data.y)),
        "capped": False,
    }


# --- programs -------------------------------------------------------------------------

SOLVER = "scip"
# Accuracy of the SVM on the features selected by SCIP.
REFIT_TOL = 1e-8


def program(
    data: DataSet,
    *,
    limit: float | None,
    model: str,
    B: int,
    C: float,
    needs: list[dict[str, Any]] | None = None,
    solver: str = SOLVER,
) -> dict[str, Any]:
    """BigMP, CoP or CoP* under a time limit.

    BigMP needs the values of a cell with a known solution, whose objective determines M
    (see :func:`valid_m`); CoP* those of its initial solution. Neither M nor the start
    is part of the time.
    """
    problem = data.problem(B, C)
    built, start, M = _build(problem, model, needs or [])
    solution = built.solve(solver, time_limit=limit, tolerance=GAP_TOL, start=start)
    _raise_if_interrupted(solution)
    objective = _refitted(problem, solution, B)
    bound = float(solution.bound) if np.isfinite(solution.bound) else None
    gap = 1.0 if objective is None or bound is None else relative_gap(objective, bound)
    return {
        "objective": objective,
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
    needs: list[dict[str, Any]] | None = None,
    solver: str = SOLVER,
) -> dict[str, Any]:
    """The bound of the root node of BigMP or CoP."""
    built, _, M = _build(data.problem(B, C), model, needs or [])
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
    problem: Problem, model: str, needs: list[dict[str, Any]]
) -> tuple[Model, dict[str, np.ndarray] | None, float | None]:
    """The program, a start for it, and its M."""
    if model == "BigMP":
        M = valid_m(problem, needs[0]["objective"])
        return bigmp(problem, M), None, M
    built = cop(problem)
    if model == "CoP":
        return built, None, None
    coef = np.zeros(problem.n_features)
    coef[needs[0]["support"]] = needs[0]["coef"]
    return built, built.start_from(coef, needs[0]["intercept"]), None


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
