"""Clarabel: open-source interior point for QPs, SOCPs and SDPs."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from .base import AnyModel, ModelSolution, Request, SolveStatus, Trait
from .standard_form import StandardForm, compile_model

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
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.SEMIDEFINITE}),
    )

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
        found = clarabel.DefaultSolver(
            sp.csc_matrix(sp.triu(form.P)), form.q, sp.csc_matrix(form.A), form.b,
            _cones(form), settings,
        ).solve()  # fmt: skip
        status = _STATUS.get(str(found.status), SolveStatus.FAILED)
        if status not in _HAS_POINT:
            return form.solution(self.name, status, -np.inf)
        final = status is SolveStatus.OPTIMAL
        x = np.asarray(found.x) if final or found.r_prim <= NEARLY_FEASIBLE else None
        is_bound = final or found.r_dual <= NEARLY_FEASIBLE
        bound = found.obj_val_dual if is_bound else -np.inf
        return form.solution(self.name, status, bound, x, np.asarray(found.z))


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
