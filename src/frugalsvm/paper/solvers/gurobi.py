"""Gurobi, if installed: everything but semidefinite programs.

Without a licence gurobipy solves small models only (2,000 variables or constraints, 200
variables when there are quadratic terms).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import AnyModel, ModelSolution, Request, SolveStatus, Trait
from .bridge import failure
from .standard_form import StandardForm, compile_model

SMALLEST_TOLERANCE = 1e-9


class Gurobi:
    """Adapter of Gurobi."""

    name: ClassVar[str] = "gurobi"
    package: ClassVar[str] = "gurobipy"
    extra: ClassVar[str] = "gurobi"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset(
            {
                Trait.QUADRATIC,
                Trait.SECOND_ORDER,
                Trait.INTEGER,
                Trait.COMPLEMENTARITY,
            }
        ),
    )

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model; complementarity by SOS1 constraints."""
        import gurobipy

        form = compile_model(model)
        try:
            with gurobipy.Env(params={"OutputFlag": int(request.verbose)}) as env:
                program, x, rows = _build(form, env)
                _set_limits(program, request)
                if request.start is not None:
                    _set_start(x, form.start_point(request.start))
                program.optimize(_asking(request.should_stop))
                return _read(program, x, rows, form)
        except gurobipy.GurobiError as error:
            raise failure(self.name, model, error) from error


def _set_limits(program: Any, request: Request) -> None:
    if request.seconds_left is not None:
        program.setParam("TimeLimit", request.seconds_left)
    if request.node_limit is not None:
        program.setParam("NodeLimit", request.node_limit)
    _set_accuracy(program, request.tolerance)


def _set_start(x: Any, point: np.ndarray) -> None:
    """An initial solution; Gurobi completes the entries that are NaN."""
    from gurobipy import GRB

    x.Start = np.where(np.isfinite(point), point, GRB.UNDEFINED)


def _build(form: StandardForm, environment: Any) -> tuple[Any, Any, Any]:
    import gurobipy
    from gurobipy import GRB

    program = gurobipy.Model(env=environment)
    kinds = np.full(form.q.size, GRB.CONTINUOUS)
    kinds[form.binaries] = GRB.BINARY
    x = program.addMVar(form.q.size, lb=-GRB.INFINITY, vtype=kinds)
    senses = np.repeat(["=", "<"], [form.n_zero, form.n_nonneg])
    linear = slice(form.n_linear)
    rows = program.addMConstr(form.A[linear], x, senses, form.b[linear])
    cones = form.cones()
    if cones:
        count = form.A.shape[0] - form.n_linear
        slack = program.addMVar(count, lb=-GRB.INFINITY)
        stacked = sp.hstack([form.A[form.n_linear :], sp.eye_array(count)])
        both = gurobipy.concatenate([x, slack])
        program.addMConstr(sp.csr_matrix(stacked), both, "=", form.b[form.n_linear :])
        for cone in cones:
            part = slack[cone.start - form.n_linear : cone.stop - form.n_linear]
            part[0].LB = 0.0
            program.addConstr(part[1:] @ part[1:] <= part[0] * part[0])
    for pair in form.pairs:
        program.addSOS(GRB.SOS_TYPE1, x[pair].tolist())
    half = sp.csr_matrix(0.5 * form.P)
    program.setObjective(x @ half @ x + form.q @ x, GRB.MINIMIZE)
    return program, x, rows


def _asking(
    should_stop: Callable[[], bool] | None,
) -> Callable[[Any, int], None] | None:
    """A Gurobi callback that terminates the run on a stop request."""
    if should_stop is None:
        return None

    def callback(program: Any, where: int) -> None:
        if should_stop():
            program.terminate()

    return callback


def _set_accuracy(program: Any, tolerance: float) -> None:
    accuracy = max(tolerance, SMALLEST_TOLERANCE)
    for name in ("FeasibilityTol", "OptimalityTol", "IntFeasTol", "BarConvTol"):
        program.setParam(name, accuracy)
    program.setParam("BarQCPConvTol", accuracy)
    program.setParam("MIPGap", tolerance)
    program.setParam("QCPDual", 1)


def _read(program: Any, x: Any, rows: Any, form: StandardForm) -> ModelSolution:
    from gurobipy import GRB

    status = {
        GRB.OPTIMAL: SolveStatus.OPTIMAL,
        GRB.SUBOPTIMAL: SolveStatus.INACCURATE,
        GRB.TIME_LIMIT: SolveStatus.TIME_LIMIT,
        GRB.NODE_LIMIT: SolveStatus.NODE_LIMIT,
        GRB.INTERRUPTED: SolveStatus.INTERRUPTED,
        GRB.INFEASIBLE: SolveStatus.INFEASIBLE,
        GRB.INF_OR_UNBD: SolveStatus.INFEASIBLE,
        GRB.UNBOUNDED: SolveStatus.UNBOUNDED,
    }.get(program.Status, SolveStatus.FAILED)
    point = duals = None
    bound = -np.inf
    if program.SolCount:
        point = x.X
    if program.IsMIP:
        bound = program.ObjBound
    elif status is SolveStatus.OPTIMAL:
        bound = program.ObjVal
        # Gurobi's multipliers of "<=" are nonpositive.
        duals = -rows.Pi
    return form.solution(Gurobi.name, status, bound, point, duals)
