"""Solvers behind one Protocol.

Open source, in the extra ``paper``: Clarabel, SCIP, HiGHS. Optional, by name: Gurobi,
MOSEK, COPT. Models find their solver here; nothing else imports a solver's package.
"""

from .base import (
    ModelSolution,
    Solver,
    SolverFailed,
    SolverNotAvailable,
    SolveStatus,
    Trait,
    UnsupportedModel,
)
from .registry import SOLVERS, available_solvers, solver_for

__all__ = [
    "SOLVERS",
    "ModelSolution",
    "SolveStatus",
    "Solver",
    "SolverFailed",
    "SolverNotAvailable",
    "Trait",
    "UnsupportedModel",
    "available_solvers",
    "solver_for",
]
