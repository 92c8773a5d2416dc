"""MOSEK, if installed and licensed: conic and mixed-integer conic programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from .base import DEFAULT_TOLERANCE, Solution, Trait
from .bridge import solve_through_cvxpy

if TYPE_CHECKING:
    from ..models.model import Model


class Mosek:
    """Adapter of MOSEK."""

    name: ClassVar[str] = "mosek"
    package: ClassVar[str] = "mosek"
    extra: ClassVar[str] = "mosek"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.SEMIDEFINITE}),
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.INTEGER}),
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
        """Solve a model."""
        options = {
            "MSK_DPAR_INTPNT_CO_TOL_REL_GAP": tolerance,
            "MSK_DPAR_INTPNT_CO_TOL_PFEAS": tolerance,
            "MSK_DPAR_INTPNT_CO_TOL_DFEAS": tolerance,
            "MSK_DPAR_MIO_TOL_REL_GAP": tolerance,
        }
        if time_limit is not None:
            options["MSK_DPAR_OPTIMIZER_MAX_TIME"] = time_limit
        solution, _ = solve_through_cvxpy(
            model, self.name, {"mosek_params": options}, verbose
        )
        return solution
