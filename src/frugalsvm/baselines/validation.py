"""Checks of the baselines' parameters, with errors that name the remedy."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from ..solvers import SolverNotAvailable
from ..solvers.registry import missing_package


def require_solver(estimator: object, solver: str) -> None:
    """Say what to install before any work is done."""
    missing = missing_package(solver)
    if missing is not None:
        raise SolverNotAvailable(f"{type(estimator).__name__} runs on {missing}")


def check_real(name: str, value: Any, *, least: float, included: bool) -> None:
    """Refuse what is no finite number above (or at) a least one."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    inside = is_number and (value >= least if included else value > least)
    if not inside or not np.isfinite(value):
        sign = ">=" if included else ">"
        raise ValueError(
            f"{name} must be a finite number {sign} {least:g}, got {value!r}."
        )


def check_limit(name: str, value: Any) -> None:
    """Refuse what is neither None nor a positive number of seconds."""
    if value is not None:
        check_real(name, value, least=0.0, included=False)


def check_integer(name: str, value: Any, *, least: int) -> None:
    """Refuse what is no integer of at least this."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_integer or value < least:
        raise ValueError(f"{name} must be an integer >= {least}, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse what is none of some words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {list(choices)}, got {value!r}.")
