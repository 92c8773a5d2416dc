"""Solvers that CVXPY drives for us: for licensed ones that we cannot test in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .base import Solution, SolverNotAvailable, SolveStatus

if TYPE_CHECKING:
    from ..models.model import Model

_STATUS = {
    "optimal": SolveStatus.OPTIMAL,
    "optimal_inaccurate": SolveStatus.INACCURATE,
    "infeasible": SolveStatus.INFEASIBLE,
    "unbounded": SolveStatus.UNBOUNDED,
    "user_limit": SolveStatus.TIME_LIMIT,
    "infeasible_inaccurate": SolveStatus.TIME_LIMIT,
}


def solve_through_cvxpy(
    model: Model, solver: str, options: dict[str, Any], verbose: bool
) -> tuple[Solution, Any]:
    """Solve a model by one of CVXPY's solvers; also returns the solver's statistics.

    The bound is the objective when the solver says optimal, minus infinity otherwise.
    """
    import cvxpy as cp

    program = model.program
    try:
        program.solve(solver=solver.upper(), verbose=verbose, **options)
    except Exception as error:
        # Whatever the package raises: without a licence each has its own exception.
        raise SolverNotAvailable(
            f"{solver} could not solve {model.name}: {error}. If it has no licence for "
            "a model of this size, use an open-source solver: clarabel, or scip for "
            "binary variables."
        ) from error
    status = _STATUS.get(program.status, SolveStatus.FAILED)
    sign = 1.0 if isinstance(program.objective, cp.Minimize) else -1.0
    objective, bound = sign * np.inf, -sign * np.inf
    variables: dict[str, np.ndarray] = {}
    if program.variables()[0].value is not None:
        variables = model.read_variables()
        objective = float(program.objective.value)
    if status is SolveStatus.OPTIMAL:
        bound = objective
    multipliers = {
        name: np.atleast_1d(constraint.dual_value)
        for name, constraint in model.multipliers.items()
        if constraint.dual_value is not None
    }
    stats = program.solver_stats.extra_stats if program.solver_stats else None
    return (
        Solution(status, objective, bound, variables, multipliers, solver=solver),
        stats,
    )
