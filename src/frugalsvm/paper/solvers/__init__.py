"""Solvers behind one Protocol.

Open source, in the extra ``paper``: Clarabel, SCIP, HiGHS. Optional, by name: Gurobi,
MOSEK, COPT. Models find their solver here; nothing else imports a solver's package.
"""

from __future__ import annotations

from importlib.util import find_spec

from .base import (
    AnyModel,
    ModelSolution,
    Solver,
    SolverFailed,
    SolverNotAvailable,
    SolveStatus,
    Trait,
    UnsupportedModel,
    accepts,
)
from .bridge import Copt, Gurobi, Mosek
from .clarabel import Clarabel
from .highs import Highs
from .scip import Scip

# Open-source solvers first: the first solver that takes a model is its default.
SOLVERS: dict[str, type[Solver]] = {
    adapter.name: adapter for adapter in (Clarabel, Scip, Highs, Gurobi, Mosek, Copt)
}


def available_solvers() -> list[str]:
    """Names of the solvers whose packages are installed (licences are not checked)."""
    return [name for name, adapter in SOLVERS.items() if find_spec(adapter.package)]


def able_solvers(model: AnyModel) -> list[str]:
    """Names of the solvers that take programs of a model's kind, default first."""
    return [key for key, adapter in SOLVERS.items() if accepts(adapter, model.needs)]


def solver_for(model: AnyModel, name: str | None = None) -> Solver:
    """The adapter that solves a model: by name, or the open-source default.

    Raises
    ------
    ValueError
        For an unknown name.
    UnsupportedModel
        If the solver cannot handle a program of this kind.
    SolverNotAvailable
        If its package is not installed.
    """
    able = able_solvers(model)
    traits = " and ".join(sorted(model.needs)) or "linear constraints"
    if not able:
        raise UnsupportedModel(
            f"{model.name} has {traits}, which no solver here takes together. "
            f"{model.remedy}".strip()
        )
    if name is None:
        name = able[0]
    if name not in SOLVERS:
        raise ValueError(f"solver must be one of {sorted(SOLVERS)}, got {name!r}.")
    if name not in able:
        raise UnsupportedModel(
            f"{name} cannot take {model.name}, a program with {traits}; use one of "
            f"{able}."
        )
    missing = missing_package(name)
    if missing is not None:
        others = [key for key in able if SOLVERS[key].extra == "paper"]
        hint = "" if name in others else f" Or use an open-source solver: {others}."
        raise SolverNotAvailable(f"{missing}{hint}")
    return SOLVERS[name]()


def missing_package(name: str) -> str | None:
    """A sentence on what to install for a solver; None if nothing is missing."""
    adapter = SOLVERS[name]
    for package in ("cvxpy", adapter.package):
        if find_spec(package) is None:
            extra = "paper" if package == "cvxpy" else adapter.extra
            return (
                f"{name} needs the package {package}, which is not installed: "
                f"pip install 'frugalsvm[{extra}]'."
            )
    return None


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
