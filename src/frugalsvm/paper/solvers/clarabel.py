"""Clarabel, an interior-point solver of QPs, SOCPs and SDPs; compilation of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import CONIC, AnyModel, ModelSolution, Request, SolveStatus, Trait

# --- A model compiled by CVXPY, for adapters that call a solver directly --------------
#
#     min 1/2 x'Px + q'x   s.t.  b - A x in K,  x_i binary,  x_s x_t = 0
#
# K is a product of zero cones, non-negative orthants, second-order cones and (in
# Clarabel's packing) semidefinite triangles, in this order. Working with the compiled
# form preserves what CVXPY's own interfaces drop: bounds, points of early stops, and
# constraints that CVXPY cannot express.


@dataclass(frozen=True)
class StandardForm:
    """A compiled model, in the form above; ``sign`` is -1 for maximisation."""

    model: AnyModel
    P: sp.csc_array
    q: np.ndarray
    A: sp.csr_array
    b: np.ndarray
    sign: float
    n_zero: int
    n_nonneg: int
    soc: list[int]
    psd: list[int]
    binaries: np.ndarray
    pairs: np.ndarray
    columns: dict[int, int]
    rows: dict[int, slice]

    @property
    def n_linear(self) -> int:
        """Number of equations and inequalities."""
        return self.n_zero + self.n_nonneg

    def cones(self) -> list[slice]:
        """The rows of each second-order cone."""
        ends = self.n_linear + np.cumsum(self.soc, dtype=int)
        return [slice(end - k, end) for end, k in zip(ends, self.soc, strict=True)]

    def solution(
        self,
        solver: str,
        status: SolveStatus,
        bound: float,
        x: np.ndarray | None = None,
        z: np.ndarray | None = None,
    ) -> ModelSolution:
        """The solution for a primal point ``x`` and row multipliers ``z``, if any.

        ``z`` is nonnegative on inequalities. ``x`` is also stored in the CVXPY
        variables. The objective is computed from ``x``, not taken from the solver.
        """
        objective = np.inf
        variables: dict[str, np.ndarray] = {}
        multipliers: dict[str, np.ndarray] = {}
        if x is not None:
            objective = float(0.5 * x @ (self.P @ x) + self.q @ x)
            self._assign(x)
            variables = self.model.read_variables()
        if z is not None:
            for name, constraint in self.model.multipliers.items():
                multipliers[name] = np.array(z[self.rows[constraint.id]])
        return ModelSolution(
            status,
            self.sign * objective,
            self.sign * float(bound),
            variables,
            multipliers,
            solver=solver,
        )

    def start_point(self, start: Mapping[str, np.ndarray]) -> np.ndarray:
        """Values of the columns for values of variables; NaN for all others."""
        point = np.full(self.q.size, np.nan)
        for name, value in start.items():
            variable = self.model.variables[name]
            # Expressions such as s = 1 - u have no columns.
            if getattr(variable, "id", None) in self.columns:
                part = self.model.restrict_value(name, np.asarray(value, dtype=float))
                first = self.columns[variable.id]
                point[first : first + variable.size] = part.ravel(order="F")
        return point

    def _assign(self, x: np.ndarray) -> None:
        for variable in self.model.continuous.variables():
            start = self.columns[variable.id]
            part = x[start : start + variable.size]
            variable.save_value(np.reshape(part, variable.shape, order="F"))


def compile_model(model: AnyModel) -> StandardForm:
    """Compile the continuous part of a model and locate the rest in its columns."""
    import cvxpy as cp

    program = model.continuous
    data, _, _ = program.get_problem_data(cp.CLARABEL)
    compiled = data["param_prob"]
    dims = data["dims"]
    columns = compiled.var_id_to_col
    size = data["c"].shape[0]
    P = data["P"] if "P" in data else sp.csc_array((size, size))
    return StandardForm(
        model,
        sp.csc_array(P),
        data["c"],
        sp.csr_array(data["A"]),
        data["b"],
        1.0 if isinstance(program.objective, cp.Minimize) else -1.0,
        dims.zero,
        dims.nonneg,
        list(dims.soc),
        list(dims.psd),
        _binary_columns(model, columns),
        _complementary_columns(model, columns),
        columns,
        _row_ranges(compiled.constraints),
    )


def _row_ranges(constraints: list[Any]) -> dict[int, slice]:
    """Rows of each constraint: the compiled matrix stacks them in this order."""
    rows = {}
    start = 0
    for constraint in constraints:
        rows[constraint.id] = slice(start, start + constraint.size)
        start += constraint.size
    return rows


def _binary_columns(model: AnyModel, columns: dict[int, int]) -> np.ndarray:
    parts = [
        columns[model.variables[name].id] + positions
        for name, positions in model.binaries.items()
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=int)


def _complementary_columns(model: AnyModel, columns: dict[int, int]) -> np.ndarray:
    if model.complementary is None:
        return np.empty((0, 2), dtype=int)
    first, second = (model.variables[name] for name in model.complementary)
    steps = np.arange(second.size)
    return np.column_stack(
        [columns[first.id] + model.owners, columns[second.id] + steps]
    )


# --- The solver -----------------------------------------------------------------------

_STATUS = {
    "Solved": SolveStatus.OPTIMAL,
    "AlmostSolved": SolveStatus.INACCURATE,
    "MaxIterations": SolveStatus.INACCURATE,
    "InsufficientProgress": SolveStatus.INACCURATE,
    "MaxTime": SolveStatus.TIME_LIMIT,
    "PrimalInfeasible": SolveStatus.INFEASIBLE,
    "AlmostPrimalInfeasible": SolveStatus.INFEASIBLE,
    "DualInfeasible": SolveStatus.UNBOUNDED,
    "AlmostDualInfeasible": SolveStatus.UNBOUNDED,
}
_HAS_POINT = (SolveStatus.OPTIMAL, SolveStatus.INACCURATE, SolveStatus.TIME_LIMIT)
# Maximum residual for a non-final iterate to count as feasible.
NEARLY_FEASIBLE = 1e-4


class Clarabel:
    """Adapter of Clarabel."""

    name: ClassVar[str] = "clarabel"
    package: ClassVar[str] = "clarabel"
    extra: ClassVar[str] = "paper"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (CONIC,)

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a convex model; the bound is Clarabel's dual objective.

        Interior-point iterates are feasible only at the end: without small residuals,
        neither point nor bound is returned. Multipliers are always returned, since any
        vector proves a bound.
        """
        import clarabel

        form = compile_model(model)
        if request.is_late:
            return form.solution(self.name, SolveStatus.TIME_LIMIT, -np.inf)
        settings = clarabel.DefaultSettings()
        settings.verbose = request.verbose
        tolerance = request.tolerance
        settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tolerance
        if request.seconds_left is not None:
            settings.time_limit = request.seconds_left
        result = clarabel.DefaultSolver(
            sp.csc_matrix(sp.triu(form.P)),
            form.q,
            sp.csc_matrix(form.A),
            form.b,
            _cones(form),
            settings,
        ).solve()
        status = _STATUS.get(str(result.status), SolveStatus.FAILED)
        if status not in _HAS_POINT:
            return form.solution(self.name, status, -np.inf)
        final = status is SolveStatus.OPTIMAL
        is_point = final or result.r_prim <= NEARLY_FEASIBLE
        is_bound = final or result.r_dual <= NEARLY_FEASIBLE
        x = np.asarray(result.x) if is_point else None
        bound = result.obj_val_dual if is_bound else -np.inf
        return form.solution(self.name, status, bound, x, np.asarray(result.z))


def _cones(form: StandardForm) -> list:
    import clarabel

    cones = []
    if form.n_zero:
        cones.append(clarabel.ZeroConeT(form.n_zero))
    if form.n_nonneg:
        cones.append(clarabel.NonnegativeConeT(form.n_nonneg))
    cones += [clarabel.SecondOrderConeT(size) for size in form.soc]
    cones += [clarabel.PSDTriangleConeT(order) for order in form.psd]
    return cones
