"""COPT, if installed: conic and mixed-integer conic programs, through CVXPY.

Without a licence coptpy solves small models only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from .base import AnyModel, ModelSolution, Request, Trait
from .bridge import solve_through_cvxpy


class Copt:
    """Adapter of COPT."""

    name: ClassVar[str] = "copt"
    package: ClassVar[str] = "coptpy"
    extra: ClassVar[str] = "copt"
    takes: ClassVar[tuple[frozenset[Trait], ...]] = (
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.SEMIDEFINITE}),
        frozenset({Trait.QUADRATIC, Trait.SECOND_ORDER, Trait.INTEGER}),
    )

    def solve(self, model: AnyModel, request: Request) -> ModelSolution:
        """Solve a model."""
        options: dict[str, Any] = {
            "RelGap": request.tolerance,
            "FeasTol": max(request.tolerance, 1e-9),
        }
        if request.node_limit is not None:
            options["NodeLimit"] = request.node_limit
        solution, stats = solve_through_cvxpy(
            model, self.name, options, "TimeLimit", request
        )
        if Trait.INTEGER in model.needs and stats is not None:
            solution = replace(solution, bound=float(stats.bestbnd))
        return solution
