"""Model: one of the paper's programs, ready for any solver that can take it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import Problem
from ..solvers import Solution, Trait, solver_for
from ..solvers.base import DEFAULT_TOLERANCE
from .modelling import modelling

if TYPE_CHECKING:
    import cvxpy as cp

# Values of the paper's variables for features that a model leaves out.
_LEFT_OUT = {"w": 0.0, "W": 0.0, "v": 0.0, "s": 0.0, "u": 1.0}


@dataclass(frozen=True)
class Model:
    """A program of the paper on the data of a problem.

    Made by the functions of :mod:`frugalsvm.models`.

    Attributes
    ----------
    name : str
        The paper's name.
    equation : str
        Label of the equation in the paper's source.
    problem : Problem
    features : ndarray of int
        The features that the model's variables belong to; all others have w = 0.
    continuous : cvxpy.Problem
        The program without binary and complementarity constraints.
    variables : dict of str to cvxpy expression
        By the paper's names.
    multipliers : dict of str to cvxpy constraint
        The constraints whose dual values a Solution reports.
    binaries : dict of str to ndarray of int
        Names of variables with positions that must be 0 or 1.
    complementary : (str, str) or None
        Two variables whose products, entry by entry, must be zero.
    traits : frozenset of Trait
        Conic parts of the program.
    remedy : str
        What to do when no solver takes the model.
    """

    name: str
    equation: str
    problem: Problem
    features: np.ndarray
    continuous: cp.Problem
    variables: dict[str, Any]
    multipliers: dict[str, Any]
    binaries: dict[str, np.ndarray] = field(default_factory=dict)
    complementary: tuple[str, str] | None = None
    traits: frozenset[Trait] = frozenset()
    remedy: str = ""

    @property
    def needs(self) -> frozenset[Trait]:
        """What a solver must be able to handle."""
        needs = set(self.traits)
        if any(positions.size for positions in self.binaries.values()):
            needs.add(Trait.INTEGER)
        if self.complementary is not None:
            needs.add(Trait.COMPLEMENTARITY)
        return frozenset(needs)

    @cached_property
    def program(self) -> cp.Problem:
        """The whole program for CVXPY, which cannot express complementarity."""
        cp = modelling()
        if self.complementary is not None:
            raise NotImplementedError(
                f"{self.name} has complementarity constraints, which CVXPY cannot "
                "express; use solve(), or BigMP."
            )
        links = [
            self.variables[name][positions] == cp.Variable(positions.size, boolean=True)
            for name, positions in self.binaries.items()
            if positions.size
        ]
        if not links:
            return self.continuous
        return self._with(links)

    def _with(self, constraints: list[Any]) -> cp.Problem:
        cp = modelling()
        old = self.continuous
        return cp.Problem(old.objective, old.constraints + constraints)

    def fix(self, **values: np.ndarray) -> Model:
        """The model with binary variables set to given values, and no longer binary.

        Parameters
        ----------
        **values : arrays of 0 and 1
            By name, one entry per binary position of the variable.

        Returns
        -------
        Model
        """
        rows = [
            self.variables[name][self.binaries[name]] == np.asarray(value, dtype=float)
            for name, value in values.items()
        ]
        left = {k: v for k, v in self.binaries.items() if k not in values}
        return replace(self, continuous=self._with(rows), binaries=left)

    def solve(
        self,
        solver: str | None = None,
        *,
        time_limit: float | None = None,
        tolerance: float = DEFAULT_TOLERANCE,
        verbose: bool = False,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve the model.

        Parameters
        ----------
        solver : str, default=None
            "clarabel", "scip", "highs", "gurobi", "mosek" or "copt"; None for the
            open-source solver that suits the model.
        time_limit : float, default=None
            Seconds for the solver. It returns what it has when they are over.
        tolerance : float, default=1e-8
            Relative gap and feasibility tolerance asked of the solver.
        verbose : bool, default=False
            Show the solver's own log.
        should_stop : callable, default=None
            SCIP and Gurobi ask it now and then and end when it returns True; the
            others run until they are done or out of time.

        Returns
        -------
        Solution
        """
        check_limits(time_limit, tolerance)
        adapter = solver_for(self, solver)
        started = time.perf_counter()
        solution = adapter.solve(
            self,
            time_limit=time_limit,
            tolerance=tolerance,
            verbose=verbose,
            should_stop=should_stop,
        )
        return replace(solution, seconds=time.perf_counter() - started)

    def read_variables(self) -> dict[str, np.ndarray]:
        """Values of the CVXPY variables by name, for all features."""
        return {
            name: self._for_all_features(name, np.asarray(expression.value))
            for name, expression in self.variables.items()
        }

    def _for_all_features(self, name: str, value: np.ndarray) -> np.ndarray:
        if name not in _LEFT_OUT or value.shape != self.features.shape:
            return value
        whole = np.full(self.problem.n_features, _LEFT_OUT[name])
        whole[self.features] = value
        return whole


def check_limits(time_limit: float | None, tolerance: float) -> None:
    """Refuse limits that no solver could honour."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be positive or None, got {time_limit!r}.")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance must be between 0 and 1, got {tolerance!r}.")
