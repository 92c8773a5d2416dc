"""Checks of the optional dependencies of the baselines."""

from __future__ import annotations

from ..solvers import SolverNotAvailable
from ..solvers.registry import missing_package


def require_solver(estimator: object, solver: str) -> None:
    """Raise an error that says what to install, before any work is done."""
    missing = missing_package(solver)
    if missing is not None:
        raise SolverNotAvailable(f"{type(estimator).__name__} runs on {missing}")
