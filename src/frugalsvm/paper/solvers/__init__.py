"""Solvers behind one Protocol.

Open source, in the extra ``paper``: Clarabel, SCIP, HiGHS. Optional, by name: Gurobi,
MOSEK, COPT. Models find their solver here; nothing else imports a solver's package.
"""

import warnings
from typing import Any

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


def __getattr__(name: str) -> Any:
    if name != "Solution":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "Solution of frugalsvm's solvers is now called ModelSolution; the old name "
        "will be removed.",
        DeprecationWarning,
        stacklevel=2,
    )
    return ModelSolution
