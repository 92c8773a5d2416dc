"""What every solver adapter promises: one Protocol, one Solution, clear refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

if TYPE_CHECKING:
    from ..models.model import Model

# Relative gap, feasibility and optimality tolerance unless the caller says otherwise.
DEFAULT_TOLERANCE = 1e-8


class Trait(StrEnum):
    """What makes a program harder than a linear one."""

    QUADRATIC = "quadratic objective"
    SECOND_ORDER = "second-order cones"
    SEMIDEFINITE = "semidefinite matrices"
    INTEGER = "binary variables"
    COMPLEMENTARITY = "complementarity constraints"


class SolveStatus(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"
    INACCURATE = "inaccurate"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


@dataclass(frozen=True)
class Solution:
    """What a solver returned; nothing in it has been checked.

    Attributes
    ----------
    status : SolveStatus
    objective : float
        Objective of ``variables``; infinite if the solver has no point.
    bound : float
        The solver's claim of a lower bound (for a maximum: an upper bound).
    variables : dict of str to ndarray
        Values by the paper's names. Entries of features that are not part of the
        model are filled in: 0 for w, W and v, 1 for u.
    multipliers : dict of str to ndarray
        Dual values by name where the solver has them: ``alpha`` of the margins,
        not negative, and others that the model names.
    seconds : float
        Compilation of the model included.
    solver : str
    """

    status: SolveStatus
    objective: float
    bound: float
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    multipliers: dict[str, np.ndarray] = field(default_factory=dict)
    seconds: float = 0.0
    solver: str = ""


class SolverNotAvailable(ImportError):
    """The solver is not installed, or has no licence for this program."""


class UnsupportedModel(ValueError):
    """The solver cannot take a program of this kind."""


class Solver(Protocol):
    """One thin adapter per solver; nothing above it knows which one runs.

    ``takes`` lists the sets of traits that the solver handles together. ``solve`` may
    assume that the model is of such a kind.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str]
    takes: ClassVar[tuple[frozenset[Trait], ...]]

    def solve(
        self,
        model: Model,
        *,
        time_limit: float | None = None,
        tolerance: float = DEFAULT_TOLERANCE,
        verbose: bool = False,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve a model; a solver that stops early returns what it has.

        ``should_stop`` is asked now and then by those that can: SCIP and Gurobi. The
        time limit counts from the call: compiling the model is part of it.
        """


def accepts(solver: Solver | type[Solver], needs: Iterable[Trait]) -> bool:
    """Whether a solver takes programs with these traits."""
    wanted = frozenset(needs)
    return any(wanted <= together for together in solver.takes)
