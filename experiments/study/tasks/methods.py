"""Tasks on whole data sets: methods of ``solve``, and native relaxations."""

from __future__ import annotations

from typing import Any

import numpy as np

from frugalsvm.driver.options import SolveOptions
from frugalsvm.driver.result import Result, Status
from frugalsvm.driver.solving import run_or_raise
from frugalsvm.problem.problem import Problem
from frugalsvm.search.relaxations import relax

from ...datasets import CATALOGUE
from ...datasets.tables import differences
from ..sources import DataSet

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
    return run_or_raise(
        problem,
        SolveOptions(
            method=method, effort=effort, gap_tol=GAP_TOL, time_limit=limit,
            method_options=options, n_jobs=n_jobs, random_state=0,
        ),
    )  # fmt: skip


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
    found = solved(
        data.problem(B, C), method, limit, effort=effort, options=options, n_jobs=n_jobs
    )
    return described(found)


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
    found = relax(data.problem(B, C), model, solver="native", time_limit=limit)
    return {
        "bound": float(found.bound),
        "seconds": float(found.seconds),
        "capped": limit is not None and found.seconds >= limit,
    }


def facts(data: DataSet, *, limit: float | None) -> dict[str, Any]:
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
