"""Clarabel: open-source interior point for QPs, SOCPs and SDPs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import scipy.sparse as sp

from .base import DEFAULT_TOLERANCE, Solution, SolveStatus, Trait
from .standard_form import StandardForm, compile_model

if TYPE_CHECKING:
    from ..models.model import Model

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


class Clarabel:
    """Adapter of Clarabel."""

    name: ClassVar[str] = "clarabel"
    package: ClassVar[str] = "clarabel"
    extra: ClassVar[str] = "paper"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.SEMIDEFINITE}),
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
        """Solve a convex model; the bound is Clarabel's dual objective."""
        import clarabel

        form = compile_model(model)
        settings = clarabel.DefaultSettings()
        settings.verbose = verbose
        settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tolerance
        if time_limit is not None:
            settings.time_limit = time_limit
        found = clarabel.DefaultSolver(
            sp.csc_matrix(sp.triu(form.P)), form.q, sp.csc_matrix(form.A), form.b,
            _cones(form), settings,
        ).solve()  # fmt: skip
        status = _STATUS.get(str(found.status), SolveStatus.FAILED)
        if status not in _HAS_POINT:
            return form.solution(self.name, status, -np.inf)
        x, z = np.asarray(found.x), np.asarray(found.z)
        return form.solution(self.name, status, found.obj_val_dual, x, z)


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
