"""Licensed solvers, which cannot be tested in full here; COPT, MOSEK through CVXPY."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import (
    CONIC,
    MIXED_INTEGER_CONIC,
    AnyModel,
    ModelSolution,
    Request,
    SolverFailed,
    SolverNotAvailable,
    SolveStatus,
    Trait,
)
from .clarabel import StandardForm, compile_model

_STATUS = {
    "optimal": SolveStatus.OPTIMAL,
    "optimal_inaccurate": SolveStatus.INACCURATE,
    "infeasible": SolveStatus.INFEASIBLE,
    "unbounded": SolveStatus.UNBOUNDED,
    "user_limit": SolveStatus.TIME_LIMIT,
    "infeasible_inaccurate": SolveStatus.TIME_LIMIT,
}


def solve_through_cvxpy(
    model: AnyModel,
    solver: str,
    options: dict[str, Any],
    time_option: str,
    request: Request,
) -> tuple[ModelSolution, Any]:
    """Solve a model by one of CVXPY's solvers; also returns the solver's statistics.

    The bound is the objective if the solver says optimal, minus infinity otherwise.
    ``time_option`` is the solver's name for its time limit, which is set to the
    remaining time after compilation.
    """
    import cvxpy as cp

    program = model.program
    data, chain, inverse = program.get_problem_data(solver.upper())
    sign = 1.0 if isinstance(program.objective, cp.Minimize) else -1.0
    if request.is_late:
        status, infinity = SolveStatus.TIME_LIMIT, sign * np.inf
        return ModelSolution(status, infinity, -infinity, solver=solver), None
    if request.seconds_left is not None:
        options = options | {time_option: request.seconds_left}
    if solver == "mosek":
        options = {"mosek_params": options}
    try:
        with preserved_interrupt_handler():
            raw = chain.solve_via_data(
                program, data, verbose=request.verbose, solver_opts=options
            )
        program.unpack_results(raw, chain, inverse)
    except Exception as error:
        # Every package raises exceptions of its own.
        raise failure(solver, model, error) from error
    solution = _read(model, solver, sign)
    stats = program.solver_stats.extra_stats if program.solver_stats else None
    return solution, stats


@contextmanager
def preserved_interrupt_handler() -> Iterator[None]:
    """Restore the handler of Ctrl-C afterwards.

    COPT removes Python's handler, so the next Ctrl-C would end the process. Python's
    own functions for this work only in the main thread, and solvers run in another.
    """
    read, write = ctypes.pythonapi.PyOS_getsig, ctypes.pythonapi.PyOS_setsig
    read.restype = write.restype = ctypes.c_void_p
    read.argtypes, write.argtypes = [ctypes.c_int], [ctypes.c_int, ctypes.c_void_p]
    before = read(signal.SIGINT)
    try:
        yield
    finally:
        write(signal.SIGINT, before)


def _read(model: AnyModel, solver: str, sign: float) -> ModelSolution:
    program = model.program
    status = _STATUS.get(program.status, SolveStatus.FAILED)
    objective, bound = sign * np.inf, -sign * np.inf
    variables: dict[str, np.ndarray] = {}
    # The iterate of a continuous solver that stopped early is not feasible.
    cut_short = status is SolveStatus.TIME_LIMIT and Trait.INTEGER not in model.needs
    if program.variables()[0].value is not None and not cut_short:
        variables = model.read_variables()
        objective = float(program.objective.value)
    if status is SolveStatus.OPTIMAL:
        bound = objective
    multipliers = {
        name: np.atleast_1d(constraint.dual_value)
        for name, constraint in model.multipliers.items()
        if constraint.dual_value is not None
    }
    return ModelSolution(
        status, objective, bound, variables, multipliers, solver=solver
    )


def failure(solver: str, model: AnyModel, error: Exception) -> Exception:
    """The exception to raise if a solver fails: its reason, and alternatives."""
    # Imported here: the registry imports all adapters, which import this module.
    from . import SOLVERS, able_solvers

    others = [
        name
        for name in able_solvers(model)
        if SOLVERS[name].extra == "paper" and name != solver
    ]
    remedy = f" Use an open-source solver that takes it: {others}." if others else ""
    reason = str(error).strip().rstrip(".")
    text = f"{solver} could not solve {model.name}: {reason}."
    if "licen" in str(error).lower():
        return SolverNotAvailable(f"{text} It has no licence for this model.{remedy}")
    note = ""
    if SOLVERS[solver].extra != "paper":
        note = " Without a licence it takes small models only."
    return SolverFailed(f"{text}{note}{remedy}")


# --- COPT, if installed: conic and mixed-integer conic programs, through CVXPY --------
#
# Without a licence coptpy solves small models only.


class Copt:
    """Adapter of COPT."""

    name: ClassVar[str] = "copt"
    package: ClassVar[str] = "coptpy"
    extra: ClassVar[str] = "copt"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (CONIC, MIXED_INTEGER_CONIC)

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model."""
        options: dict[str, Any] = {
            "RelGap": request.tolerance,
            "FeasTol": max(request.tolerance, 1e-9),
        }
        if request.node_limit is not None:
            options["NodeLimit"] = request.node_limit
        solution, stats = solve_through_cvxpy(
            model, self.name, options, "TimeLimit", request
        )
        if Trait.INTEGER in model.needs and stats is not None:
            solution = replace(solution, bound=float(stats.bestbnd))
        return solution


# --- MOSEK, if installed and licensed: conic and mixed-integer conic programs ---------


class Mosek:
    """Adapter of MOSEK."""

    name: ClassVar[str] = "mosek"
    package: ClassVar[str] = "mosek"
    extra: ClassVar[str] = "mosek"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (CONIC, MIXED_INTEGER_CONIC)

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model."""
        tolerance = request.tolerance
        options: dict[str, Any] = {
            "MSK_DPAR_INTPNT_CO_TOL_REL_GAP": tolerance,
            "MSK_DPAR_INTPNT_CO_TOL_PFEAS": tolerance,
            "MSK_DPAR_INTPNT_CO_TOL_DFEAS": tolerance,
            "MSK_DPAR_MIO_TOL_REL_GAP": tolerance,
        }
        if request.node_limit is not None:
            options["MSK_IPAR_MIO_MAX_NUM_RELAXS"] = request.node_limit
        solution, _ = solve_through_cvxpy(
            model, self.name, options, "MSK_DPAR_OPTIMIZER_MAX_TIME", request
        )
        return solution


# --- Gurobi, if installed: everything but semidefinite programs -----------------------
#
# Without a licence gurobipy solves small models only (2,000 variables or constraints,
# 200 variables when there are quadratic terms).


class Gurobi:
    """Adapter of Gurobi."""

    name: ClassVar[str] = "gurobi"
    package: ClassVar[str] = "gurobipy"
    extra: ClassVar[str] = "gurobi"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        MIXED_INTEGER_CONIC | {Trait.COMPLEMENTARITY},
    )

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model; complementarity by SOS1 constraints."""
        import gurobipy

        form = compile_model(model)
        try:
            with gurobipy.Env(params={"OutputFlag": int(request.verbose)}) as env:
                program, x, rows = _build(form, env)
                _set_parameters(program, request)
                if request.start is not None:
                    # Gurobi completes the undefined entries.
                    point = form.start_point(request.start)
                    undefined = gurobipy.GRB.UNDEFINED
                    x.Start = np.where(np.isfinite(point), point, undefined)
                program.optimize(_stop_callback(request.should_stop))
                return _read_matrices(program, x, rows, form)
        except gurobipy.GurobiError as error:
            raise failure(self.name, model, error) from error


def _set_parameters(program: Any, request: Request) -> None:
    if request.seconds_left is not None:
        program.setParam("TimeLimit", request.seconds_left)
    if request.node_limit is not None:
        program.setParam("NodeLimit", request.node_limit)
    # Gurobi takes no smaller tolerance.
    accuracy = max(request.tolerance, 1e-9)
    for name in ("FeasibilityTol", "OptimalityTol", "IntFeasTol", "BarConvTol"):
        program.setParam(name, accuracy)
    program.setParam("BarQCPConvTol", accuracy)
    program.setParam("MIPGap", request.tolerance)
    program.setParam("QCPDual", 1)


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
        columns = gurobipy.concatenate([x, slack])
        right = form.b[form.n_linear :]
        program.addMConstr(sp.csr_matrix(stacked), columns, "=", right)
        for cone in cones:
            part = slack[cone.start - form.n_linear : cone.stop - form.n_linear]
            part[0].LB = 0.0
            program.addConstr(part[1:] @ part[1:] <= part[0] * part[0])
    for pair in form.pairs:
        program.addSOS(GRB.SOS_TYPE1, x[pair].tolist())
    half = sp.csr_matrix(0.5 * form.P)
    program.setObjective(x @ half @ x + form.q @ x, GRB.MINIMIZE)
    return program, x, rows


def _stop_callback(
    should_stop: Callable[[], bool] | None,
) -> Callable[[Any, int], None] | None:
    """A Gurobi callback that terminates the run on a stop request."""
    if should_stop is None:
        return None

    def callback(program: Any, where: int) -> None:
        if should_stop():
            program.terminate()

    return callback


def _read_matrices(
    program: Any, x: Any, rows: Any, form: StandardForm
) -> ModelSolution:
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
