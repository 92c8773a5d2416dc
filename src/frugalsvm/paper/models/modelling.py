"""CVXPY, imported when the first model is built."""

from __future__ import annotations

from typing import Any

from ..solvers.base import SolverNotAvailable


def modelling() -> Any:
    """The package ``cvxpy``, or an error that says how to install it."""
    try:
        import cvxpy
    except ImportError as error:
        raise SolverNotAvailable(
            "building a model of the paper needs CVXPY: pip install 'frugalsvm[paper]'."
        ) from error
    return cvxpy
