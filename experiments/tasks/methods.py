"""Tasks on whole data sets: methods of ``solve``, relaxations, programs by SCIP.

A task takes its data set (None if it generates its data), ``limit`` in seconds, its
parameters, and ``needs`` with the values of the cells it needs. It respects its limit
and returns ``capped`` if it reached it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frugalsvm import Problem, Result, Status, relax
from frugalsvm.paper.models import Model, big_m, bigmp, cop
from frugalsvm.paper.solvers import ModelSolution, SolveStatus
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
    request = SolveOptions(
        method=method,
        effort=effort,
        gap_tol=GAP_TOL,
        time_limit=limit,
        method_options=options,
        n_jobs=n_jobs,
        random_state=0,
    )
    # Unlike solve, it raises Ctrl-C whenever it comes.
    return run_or_raise(problem, request)


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
    counts = ("nodes", "subproblems", "subproblems solved", "semi-relaxations")
    return {
        "objective": float(result.objective),
        "bound": float(result.lower_bound),
        "gap": float(result.gap),
        "seconds": float(result.seconds),
        "status": str(result.status),
        "support": [int(j) for j in result.selected],
        "coef": [float(w) for w in result.coef[result.selected]],
        "intercept": float(result.intercept),
        **{name: int(result.counters.get(name, 0)) for name in counts},
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


def program(
    data: DataSet,
    *,
    limit: float | None,
    model: str,
    B: int,
    C: float,
    needs: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """BigMP, CoP or CoP* under a time limit.

    BigMP needs the values of a cell with a known solution, whose objective determines M
    (by the tight bound problems, as far as dual points prove it); CoP* those of its
    initial solution. Neither M nor the start is part of the time.
    """
    problem = data.problem(B, C)
    solution, M = _solved(problem, model, needs, time_limit=limit)
    objective, bound = _refitted(problem, solution, B), _finite(solution.bound)
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
) -> dict[str, Any]:
    """The bound of the root node of BigMP or CoP."""
    options = {"time_limit": limit, "node_limit": 1}
    solution, M = _solved(data.problem(B, C), model, needs, **options)
    return {
        "bound": _finite(solution.bound),
        "seconds": solution.seconds,
        "M": M,
        "capped": solution.status is SolveStatus.TIME_LIMIT,
    }


def _solved(
    problem: Problem, model: str, needs: list[dict[str, Any]] | None, **options: Any
) -> tuple[ModelSolution, float | None]:
    """SCIP's solution of a program, from a start for CoP*, and M of BigMP."""
    M = start = None
    if model == "BigMP":
        assert needs
        M = big_m(problem, needs[0]["objective"], max_programs=0)
        program: Model = bigmp(problem, M)
    else:
        program = cop(problem)
    if model == "CoP*":
        assert needs
        coef = np.zeros(problem.n_features)
        coef[needs[0]["support"]] = needs[0]["coef"]
        start = program.start_from(coef, needs[0]["intercept"])
    solution = program.solve("scip", tolerance=GAP_TOL, start=start, **options)
    if solution.status is SolveStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return solution, M


def _finite(bound: float) -> float | None:
    return float(bound) if np.isfinite(bound) else None


def _refitted(problem: Problem, solution: ModelSolution, B: int) -> float | None:
    """The objective of the SVM on the selected features, free of SCIP's errors."""
    w = solution.variables.get("w")
    if w is None:
        return None
    largest = np.argsort(-np.abs(w), kind="stable")[:B]
    support = np.sort(largest[w[largest] != 0.0])
    return float(problem.engine.solve_svm(support, tol=1e-8).primal)
