"""Solvers called through CVXPY: licensed ones that cannot be tested in full here."""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .base import (
    AnyModel,
    ModelSolution,
    Request,
    SolverFailed,
    SolverNotAvailable,
    SolveStatus,
    Trait,
)

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
    ask: Request,
) -> tuple[ModelSolution, Any]:
    """Solve a model by one of CVXPY's solvers; also returns the solver's statistics.

    The bound is the objective when the solver says optimal, minus infinity otherwise.
    ``time_option`` is the solver's name for its time limit, which is set to the time
    left after compilation.
    """
    import cvxpy as cp

    program = model.program
    data, chain, inverse = program.get_problem_data(solver.upper())
    sign = 1.0 if isinstance(program.objective, cp.Minimize) else -1.0
    nothing = ModelSolution(
        SolveStatus.TIME_LIMIT, sign * np.inf, -sign * np.inf, solver=solver
    )
    if ask.is_late:
        return nothing, None
    if ask.seconds_left is not None:
        options = options | {time_option: ask.seconds_left}
    if solver == "mosek":
        options = {"mosek_params": options}
    try:
        with kept_interrupt():
            found = chain.solve_via_data(
                program, data, verbose=ask.verbose, solver_opts=options
            )
        program.unpack_results(found, chain, inverse)
    except Exception as error:
        # Any exception: each package raises its own.
        raise failure(solver, model, error) from error
    solution = _read(model, solver, sign)
    stats = program.solver_stats.extra_stats if program.solver_stats else None
    return solution, stats


@contextmanager
def kept_interrupt() -> Iterator[None]:
    """Restore the handler of Ctrl-C.

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
    from .registry import SOLVERS, able_solvers

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
