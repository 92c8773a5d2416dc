"""HiGHS: linear programs, mixed-integer linear programs and convex QPs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import DEFAULT_TOLERANCE, Solution, SolveStatus, Trait
from .standard_form import StandardForm, compile_model

if TYPE_CHECKING:
    from ..models.model import Model

_STATUS = {
    "kOptimal": SolveStatus.OPTIMAL,
    "kTimeLimit": SolveStatus.TIME_LIMIT,
    "kInterrupt": SolveStatus.INTERRUPTED,
    "kInfeasible": SolveStatus.INFEASIBLE,
    "kUnbounded": SolveStatus.UNBOUNDED,
    "kIterationLimit": SolveStatus.INACCURATE,
}
SMALLEST_TOLERANCE = 1e-10


class Highs:
    """Adapter of HiGHS."""

    name: ClassVar[str] = "highs"
    package: ClassVar[str] = "highspy"
    extra: ClassVar[str] = "paper"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC}),
        frozenset({Trait.INTEGER}),
    )

    def solve(
        self,
        model: Model,
        *,
        time_limit: float | None = None,
        tolerance: float = DEFAULT_TOLERANCE,
        verbose: bool = False,
        should_stop: Callable[[], bool] | None = None,
    ) -> Solution:
        """Solve an LP, MILP or QP."""
        import highspy

        form = compile_model(model)
        highs = highspy.Highs()
        accuracy = max(tolerance, SMALLEST_TOLERANCE)
        highs.setOptionValue("output_flag", verbose)
        highs.setOptionValue("primal_feasibility_tolerance", accuracy)
        highs.setOptionValue("dual_feasibility_tolerance", accuracy)
        highs.setOptionValue("mip_rel_gap", tolerance)
        if time_limit is not None:
            highs.setOptionValue("time_limit", float(time_limit))
        highs.passModel(_build(form))
        highs.run()
        status = _STATUS.get(highs.getModelStatus().name, SolveStatus.FAILED)
        return _read(highs, form, status)


def _build(form: StandardForm) -> Any:
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


def _read(highs: Any, form: StandardForm, status: SolveStatus) -> Solution:
    found, info = highs.getSolution(), highs.getInfo()
    point = np.array(found.col_value) if found.value_valid else None
    # HiGHS signs multipliers by the side that binds: not positive for "<=".
    duals = -np.array(found.row_dual) if found.dual_valid else None
    bound = -np.inf
    if form.binaries.size:
        bound = info.mip_dual_bound
    elif status is SolveStatus.OPTIMAL:
        bound = info.objective_function_value
    return form.solution(Highs.name, status, bound, point, duals)
