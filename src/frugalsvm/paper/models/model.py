"""Model: one of the paper's programs, ready for any suitable solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...problem.problem import Problem
from ..solvers import ModelSolution, Trait, solver_for
from ..solvers.base import DEFAULT_TOLERANCE, Request, SolverNotAvailable

if TYPE_CHECKING:
    import cvxpy as cp

# --- CVXPY, imported when the first model is built ------------------------------------


def import_cvxpy() -> Any:
    """The package ``cvxpy``, or an error that says how to install it."""
    try:
        import cvxpy
    except ImportError as error:
        raise SolverNotAvailable(
            "building a model of the paper needs CVXPY: pip install 'frugalsvm[paper]'."
        ) from error
    return cvxpy


# --- The model ------------------------------------------------------------------------

# Variables with one entry per feature, and their values for omitted features.
_PER_FEATURE = dict.fromkeys(("W", "v", "s"), 0.0) | {"u": 1.0}
# Variables with one entry per column of X; zero for columns of omitted features.
_PER_COLUMN = ("w", "w_plus", "w_minus")


@dataclass(frozen=True)
class Model:
    """A program of the paper on the data of a problem.

    The functions of :mod:`frugalsvm.paper.models` make them.

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
        CVXPY expressions by the paper's names.
    multipliers : dict of str to cvxpy constraint
        The constraints whose dual values a ModelSolution reports.
    binaries : dict of str to ndarray of int
        Names of variables with positions that must be 0 or 1.
    complementary : (str, str) or None
        The u of features and the w of their columns, whose products must be zero.
    traits : frozenset of Trait
        Conic parts of the program.
    remedy : str
        Advice if no solver takes the model.
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
        """The traits that a solver must support."""
        needs = set(self.traits)
        if any(positions.size for positions in self.binaries.values()):
            needs.add(Trait.INTEGER)
        if self.complementary is not None:
            needs.add(Trait.COMPLEMENTARITY)
        return frozenset(needs)

    @property
    def columns(self) -> np.ndarray:
        """The columns of X that the weights of the model belong to."""
        return self.problem.columns.of(self.features)

    @property
    def owners(self) -> np.ndarray:
        """The position among the model's features of each weight's feature."""
        return np.searchsorted(self.features, self.problem.columns.groups[self.columns])

    @cached_property
    def program(self) -> cp.Problem:
        """The whole program for CVXPY, which cannot express complementarity."""
        cp = import_cvxpy()
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
        cp = import_cvxpy()
        program = self.continuous
        return cp.Problem(program.objective, program.constraints + constraints)

    def fix(self, **values: np.ndarray) -> Model:
        """The model with some binary variables fixed, which are then not binary.

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
        binaries = {k: v for k, v in self.binaries.items() if k not in values}
        return replace(self, continuous=self._with(rows), binaries=binaries)

    def solve(
        self,
        solver: str | None = None,
        *,
        time_limit: float | None = None,
        tolerance: float = DEFAULT_TOLERANCE,
        verbose: bool = False,
        should_stop: Callable[[], bool] | None = None,
        start: Mapping[str, np.ndarray] | None = None,
        node_limit: int | None = None,
    ) -> ModelSolution:
        """Solve the model.

        Parameters
        ----------
        solver : str, default=None
            "clarabel", "scip", "highs", "gurobi", "mosek" or "copt"; None for the
            default open-source solver of the model.
        time_limit : float, default=None
            Seconds from the call on, including compilation. When time is up, the solver
            returns its results so far; compilation itself is not interrupted.
        tolerance : float, default=1e-8
            Relative gap and feasibility tolerance of the solver.
        verbose : bool, default=False
            Show the solver's own log.
        should_stop : callable, default=None
            SCIP and Gurobi call it regularly and stop when it returns True; the others
            run until they are done or out of time.
        start : mapping of str to ndarray, default=None
            Values of variables by the paper's names, e.g. of another model's solution
            or from :meth:`start_from`: SCIP, Gurobi and HiGHS start from them, the
            others ignore them.
        node_limit : int, default=None
            Maximum number of nodes of a tree; with 1, ``bound`` is the bound of the
            root.

        Returns
        -------
        ModelSolution
        """
        check_limits(time_limit, tolerance)
        if node_limit is not None and node_limit < 1:
            raise ValueError(f"node_limit must be at least 1, got {node_limit!r}.")
        adapter = solver_for(self, solver)
        request = Request(
            time_limit,
            tolerance,
            verbose,
            should_stop,
            None if start is None else self._checked_start(start),
            node_limit,
        )
        solution = adapter.solve(self, request)
        return replace(solution, seconds=time.perf_counter() - request.asked)

    def start_from(self, coef: ArrayLike, intercept: float) -> dict[str, np.ndarray]:
        """Values of the model's variables for a classifier: a start for ``solve``.

        Parameters
        ----------
        coef : array of shape (n_columns,)
            Weights, e.g. of a :class:`~frugalsvm.Result`. Features of nonzero weight
            count as selected.
        intercept : float

        Returns
        -------
        dict of str to ndarray
        """
        w = np.asarray(coef, dtype=float)
        columns = self.problem.columns
        if w.shape != (columns.n_columns,):
            raise ValueError(
                f"coef must have one entry per column of X ({columns.n_columns}), "
                f"got shape {w.shape}."
            )
        margins = self.problem.margins(w, intercept)
        selected = np.zeros(columns.n_features)
        selected[columns.used(w)] = 1.0
        selected[self.problem.include] = 1.0
        values = {
            "w": w,
            "w_plus": np.maximum(w, 0.0),
            "w_minus": np.maximum(-w, 0.0),
            "b": np.array(intercept),
            "xi": np.maximum(0.0, 1.0 - margins),
            "W": columns.sums(w**2),
            "v": selected,
            "s": selected,
            "u": 1.0 - selected,
        }
        return {name: values[name] for name in self.variables if name in values}

    def _checked_start(
        self, start: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        for name, value in start.items():
            if name not in self.variables:
                raise ValueError(
                    f"start has {name!r}, but the variables of {self.name} are "
                    f"{sorted(self.variables)}."
                )
            array = self.restrict_value(name, np.asarray(value, dtype=float))
            is_finite = np.isfinite(array).all()
            if array.shape != self.variables[name].shape or not is_finite:
                raise ValueError(
                    f"start[{name!r}] must be finite, with one entry per feature (or "
                    f"sample), got {value!r}."
                )
        return start

    def read_variables(self) -> dict[str, np.ndarray]:
        """Values of the CVXPY variables by name, for all features."""
        return {
            name: self._extend_value(name, np.asarray(expression.value))
            for name, expression in self.variables.items()
        }

    def restrict_value(self, name: str, value: np.ndarray) -> np.ndarray:
        """The entries of the model's features, of a variable's value for all features.

        Other values remain as they are.
        """
        if name in _PER_FEATURE and value.shape == (self.problem.n_features,):
            return value[self.features]
        if name in _PER_COLUMN and value.shape == (self.problem.n_columns,):
            return value[self.columns]
        return value

    def _extend_value(self, name: str, value: np.ndarray) -> np.ndarray:
        """A variable's value for all features, or columns, of the problem."""
        if name in _PER_COLUMN:
            extended = np.zeros(self.problem.n_columns)
            extended[self.columns] = value
        elif name in _PER_FEATURE and value.shape == self.features.shape:
            extended = np.full(self.problem.n_features, _PER_FEATURE[name])
            extended[self.features] = value
        else:
            return value
        return extended


def check_limits(time_limit: float | None, tolerance: float) -> None:
    """Refuse invalid limits."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be positive or None, got {time_limit!r}.")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance must be between 0 and 1, got {tolerance!r}.")
