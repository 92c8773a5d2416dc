"""MOSEK, if installed and licensed: conic and mixed-integer conic programs."""

from __future__ import annotations

from typing import Any, ClassVar

from .base import AnyModel, ModelSolution, Request, Trait
from .bridge import solve_through_cvxpy


class Mosek:
    """Adapter of MOSEK."""

    name: ClassVar[str] = "mosek"
    package: ClassVar[str] = "mosek"
    extra: ClassVar[str] = "mosek"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.SEMIDEFINITE}),
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.INTEGER}),
    )

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model."""
        tolerance = request.tolerance
        options: dict[str, Any] = {
            "MSK_DPAR_INTPNT_CO_TOL_REL_GAP": tolerance,
            "MSK_DPAR_INTPNT_CO_TOL_PFEAS": tolerance,
            "MSK_DPAR_INTPNT_CO_TOL_DFEAS": tolerance,
            "MSK_DPAR_MIO_TOL_REL_GAP": tolerance,
        }
        if request.node_limit is not None:
            options["MSK_IPAR_MIO_MAX_NUM_RELAXS"] = request.node_limit
        solution, _ = solve_through_cvxpy(
            model, self.name, options, "MSK_DPAR_OPTIMIZER_MAX_TIME", request
        )
        return solution
