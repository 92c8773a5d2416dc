"""HiGHS: linear programs, mixed-integer linear programs and convex QPs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import AnyModel, ModelSolution, Request, SolveStatus, Trait
from .clarabel import StandardForm, compile_model

_STATUS = {
    "kOptimal": SolveStatus.OPTIMAL,
    "kTimeLimit": SolveStatus.TIME_LIMIT,
    # The solution limit is only ever reached through the node limit.
    "kSolutionLimit": SolveStatus.NODE_LIMIT,
    "kInterrupt": SolveStatus.INTERRUPTED,
    "kInfeasible": SolveStatus.INFEASIBLE,
    "kUnbounded": SolveStatus.UNBOUNDED,
    "kIterationLimit": SolveStatus.INACCURATE,
}
# highspy's code of a feasible point.
FEASIBLE = 2


class Highs:
    """Adapter of HiGHS."""

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "highspy"
    extra: ClassVar[str] = "paper"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC}),
        frozenset({Trait.INTEGER}),
    )

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve an LP, MILP or QP."""
        import highspy

        form = compile_model(model)
        if request.is_late:
            return form.solution(self.name, SolveStatus.TIME_LIMIT, -np.inf)
        highs = highspy.Highs()
        # HiGHS takes no smaller tolerance.
        accuracy = max(request.tolerance, 1e-10)
        highs.setOptionValue("output_flag", request.verbose)
        highs.setOptionValue("primal_feasibility_tolerance", accuracy)
        highs.setOptionValue("dual_feasibility_tolerance", accuracy)
        highs.setOptionValue("mip_rel_gap", request.tolerance)
        if request.seconds_left is not None:
            highs.setOptionValue("time_limit", request.seconds_left)
        if request.node_limit is not None:
            highs.setOptionValue("mip_max_nodes", request.node_limit)
        if _is_large(form):
            highs.setOptionValue("solver", "ipm")
            highs.setOptionValue("run_crossover", "off")
        highs.passModel(build(form))
        if request.start is not None:
            # HiGHS completes the entries that are NaN.
            point = form.start_point(request.start)
            columns = np.flatnonzero(np.isfinite(point))
            highs.setSolution(columns.size, columns.astype(np.int32), point[columns])
        highs.run()
        status = _STATUS.get(highs.getModelStatus().name, SolveStatus.FAILED)
        return _read(highs, form, status)


def _is_large(form: StandardForm) -> bool:
    """Whether a linear program is large enough for the interior-point method.

    On 2000 x 500 dense data the simplex method took more than a minute.
    """
    is_linear = not (form.P.nnz or form.binaries.size)
    return is_linear and form.A.shape[0] >= 1000 and form.A.nnz >= 500_000


def build(form: StandardForm) -> Any:
    """The model of HiGHS for a standard form without cones."""
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = form.q.size, form.n_linear
    lp.col_cost_ = form.q
    lp.col_lower_ = np.full(form.q.size, -highspy.kHighsInf)
    lp.col_upper_ = np.full(form.q.size, highspy.kHighsInf)
    lower = np.full(form.n_linear, -highspy.kHighsInf)
    lower[: form.n_zero] = form.b[: form.n_zero]
    lp.row_lower_, lp.row_upper_ = lower, form.b
    A = sp.csc_array(form.A)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
    lp.a_matrix_.value_ = A.data
    if form.binaries.size:
        kinds = np.full(form.q.size, highspy.HighsVarType.kContinuous)
        kinds[form.binaries] = highspy.HighsVarType.kInteger
        lp.integrality_ = kinds.tolist()
    model = highspy.HighsModel()
    model.lp_ = lp
    if form.P.nnz:
        P = sp.csc_array(sp.tril(form.P))
        model.hessian_.dim_ = form.q.size
        model.hessian_.format_ = highspy.HessianFormat.kTriangular
        model.hessian_.start_, model.hessian_.index_ = P.indptr, P.indices
        model.hessian_.value_ = P.data
    return model


def _read(highs: Any, form: StandardForm, status: SolveStatus) -> ModelSolution:
    solution, info = highs.getSolution(), highs.getInfo()
    # A simplex run that stopped early also has values, but they are not feasible.
    is_point = solution.value_valid and info.primal_solution_status == FEASIBLE
    point = np.array(solution.col_value) if is_point else None
    # HiGHS signs multipliers by the binding side: nonpositive for "<=".
    duals = -np.array(solution.row_dual) if solution.dual_valid else None
    bound = -np.inf
    if form.binaries.size:
        bound = info.mip_dual_bound
    elif status is SolveStatus.OPTIMAL:
        bound = info.objective_function_value
    return form.solution(Highs.name, status, bound, point, duals)


# --- Maximum differences of variables over a linear program, by warm-started HiGHS ----
#
# The programs differ in one pair of costs, so the simplex method continues from the
# previous basis.


def largest_differences(
    model: AnyModel, plus: str, minus: str, request: Request
) -> np.ndarray:
    """The largest ``|plus_j - minus_j|`` for each j, over the constraints of a model.

    Parameters
    ----------
    model : Model
        A linear model; its objective is ignored.
    plus, minus : str
        Names of two variables of the model.
    request : Request

    Returns
    -------
    ndarray
        The values of HiGHS, valid up to its tolerances; infinite if time ran out.
    """
    import highspy

    form = compile_model(model)
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", request.verbose)
    highs.passModel(build(form))
    size = form.q.size
    highs.changeColsCost(size, np.arange(size, dtype=np.int32), np.zeros(size))
    first, second = (form.columns[model.variables[name].id] for name in (plus, minus))
    largest = np.full(model.variables[plus].size, np.inf)
    for j in range(largest.size):
        ends = [_largest(highs, first + j, second + j, sign) for sign in (1.0, -1.0)]
        if request.is_late:
            break
        largest[j] = max(ends)
    return largest


def _largest(highs: Any, plus: int, minus: int, sign: float) -> float:
    """Maximum of ``sign * (x_plus - x_minus)``, infinite if HiGHS does not find it."""
    highs.changeColCost(plus, -sign)
    highs.changeColCost(minus, sign)
    highs.run()
    solved = highs.getModelStatus().name == "kOptimal"
    value = -highs.getInfo().objective_function_value
    highs.changeColCost(plus, 0.0)
    highs.changeColCost(minus, 0.0)
    return value if solved else np.inf
