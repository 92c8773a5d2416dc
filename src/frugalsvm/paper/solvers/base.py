"""The interface of solver adapters: a protocol, requests, solutions and errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Protocol

import numpy as np

# Relative gap, feasibility and optimality tolerance unless the caller says otherwise.
DEFAULT_TOLERANCE = 1e-8


class Trait(StrEnum):
    """A trait that makes a program harder than a linear one."""

    QUADRATIC = "quadratic objective"
    SECOND_ORDER = "second-order cones"
    SEMIDEFINITE = "semidefinite matrices"
    INTEGER = "binary variables"
    COMPLEMENTARITY = "complementarity constraints"


# Traits that several solvers support together.
CONIC = frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.SEMIDEFINITE})
MIXED_INTEGER_CONIC = frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.INTEGER})


class SolveStatus(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"
    INACCURATE = "inaccurate"
    TIME_LIMIT = "time limit"
    NODE_LIMIT = "node limit"
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    FAILED = "failed"


@dataclass(frozen=True)
class ModelSolution:
    """The unchecked result of a solver.

    Attributes
    ----------
    status : SolveStatus
    objective : float
        Objective of ``variables``; infinite if the solver has no point.
    bound : float
        The solver's claim of a lower bound (for a maximum: an upper bound).
    variables : dict of str to ndarray
        Values by the paper's names, if the solver has a point that is feasible up to
        its tolerance; empty otherwise. Entries of features that are not part of the
        model are filled in: 0 for w, W and v, 1 for u.
    multipliers : dict of str to ndarray
        Dual values by name where the solver has them: ``alpha`` of the margins,
        not negative, and others that the model names.
    seconds : float
        Duration of the solve, including compilation of the model.
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


class SolverFailed(RuntimeError):
    """The solver failed on a program that it should be able to solve."""


class UnsupportedModel(ValueError):
    """The solver cannot handle a program of this kind."""


@dataclass(frozen=True)
class Request:
    """A request to a solver, and its time.

    Attributes
    ----------
    time_limit : float or None
        Seconds from the request on, including compilation of the model.
    tolerance : float
        Relative gap, feasibility and optimality tolerance.
    verbose : bool
    should_stop : callable or None
        Called regularly by solvers that support it: SCIP and Gurobi.
    start : mapping of str to ndarray, or None
        Values of the model's variables by name, all features included: an initial
        solution. SCIP, Gurobi and HiGHS use it.
    node_limit : int or None
        Maximum number of nodes of a tree; with 1 the bound is that of the root.
    asked : float
        Time of the request, by ``time.perf_counter``.
    """

    time_limit: float | None = None
    tolerance: float = DEFAULT_TOLERANCE
    verbose: bool = False
    should_stop: Callable[[], bool] | None = None
    start: Mapping[str, np.ndarray] | None = None
    node_limit: int | None = None
    asked: float = field(default_factory=time.perf_counter)

    @property
    def seconds_left(self) -> float | None:
        """The remaining time, at least 0; None without a limit."""
        if self.time_limit is None:
            return None
        return max(0.0, self.time_limit - (time.perf_counter() - self.asked))

    @property
    def is_late(self) -> bool:
        """Whether the time limit has passed."""
        return self.seconds_left == 0.0


class AnyModel(Protocol):
    """The models that solvers take; see :class:`frugalsvm.paper.models.Model`."""

    @property
    def name(self) -> str:
        """The paper's name."""

    @property
    def needs(self) -> frozenset[Trait]:
        """The traits that a solver must support."""

    @property
    def remedy(self) -> str:
        """Advice if no solver takes the model."""

    @property
    def continuous(self) -> Any:
        """The CVXPY program without binary and complementarity constraints."""

    @property
    def program(self) -> Any:
        """The whole program for CVXPY."""

    @property
    def variables(self) -> dict[str, Any]:
        """CVXPY expressions by name."""

    @property
    def multipliers(self) -> dict[str, Any]:
        """CVXPY constraints whose dual values are reported, by name."""

    @property
    def binaries(self) -> dict[str, np.ndarray]:
        """Names of variables with positions that must be 0 or 1."""

    @property
    def complementary(self) -> tuple[str, str] | None:
        """A variable of features and one of their columns, with products of zero."""

    @property
    def owners(self) -> np.ndarray:
        """The position among the model's features of each weight's feature."""

    def read_variables(self) -> dict[str, np.ndarray]:
        """Values of the CVXPY variables by name, for all features."""

    def restrict_value(self, name: str, value: np.ndarray) -> np.ndarray:
        """The entries of the model's features, from values for all features."""


class Solver(Protocol):
    """A thin adapter of a solver; callers do not depend on the solver.

    ``takes`` lists the sets of traits that the solver supports together. ``solve`` may
    assume that the model is of such a kind.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str]
    takes: ClassVar[tuple[frozenset[Trait], ...]]

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model; a solver that stops early returns its results so far."""


def accepts(solver: Solver | type[Solver], needs: Iterable[Trait]) -> bool:
    """Whether a solver takes programs with these traits."""
    traits = frozenset(needs)
    return any(traits <= together for together in solver.takes)
