"""The bound problems for the largest and smallest w_j (the paper's Section 4.2)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...problem.problem import Problem
from ...problem.validation import check_indices
from ..solvers.base import Trait
from .blocks import choose_features, draft, rotated_cones
from .formulations import check_upper_bound, half_norm_and_loss
from .model import Model
from .modelling import modelling

Form = Literal["tight", "printed"]
Sense = Literal["max", "min"]


def bound_problem(
    problem: Problem,
    j: int,
    upper_bound: float,
    *,
    sense: Sense = "max",
    form: Form = "tight",
) -> Model:
    r"""M_j: :math:`\max\,(\min)\; w_j` s.t. :math:`(w,b,\xi)\in\Xi`,
    :math:`\tfrac12\|w\|_2^2 + C\sum_i\xi_i \le UB,\; e^\top u = n - B,\;
    [1\; w_j\; u_j; w_j\; W_{jj}\; 0; u_j\; 0\; u_j] \succeq 0`
    (``subproblem_bound_M``).

    As printed, the cones and the budget have no effect, because W is free; the
    "printed" form therefore omits them. The "tight" form bounds
    :math:`\tfrac12\,\mathrm{trace}(W) + C\sum_i\xi_i` instead, which every solution of
    FS-SVM satisfies as well, and is much smaller.

    Parameters
    ----------
    problem : Problem
    j : int
        The feature.
    upper_bound : float
        Objective of a known solution.
    sense : {"max", "min"}, default="max"
    form : {"tight", "printed"}, default="tight"

    Returns
    -------
    Model
        Its value holds up to the solver's tolerance;
        :func:`~frugalsvm.paper.models.weight_bounds` gives intervals that hold exactly.
    """
    check_form(form)
    if sense not in ("max", "min"):
        raise ValueError(f'sense must be "max" or "min", got {sense!r}.')
    check_indices("j", [j], problem.n_features)
    model = _family(problem, upper_bound, form, sense)
    _aim(model, j, 1.0)
    return model


def check_form(form: str) -> None:
    """Refuse unknown forms."""
    if form not in ("tight", "printed"):
        raise ValueError(f'form must be "tight" or "printed", got {form!r}.')


def _family(
    problem: Problem, upper_bound: float, form: Form, sense: Sense = "max"
) -> Model:
    """All bound problems in one: they differ only in the direction of the objective.

    The direction is a parameter of the CVXPY program, so that it is compiled once.
    """
    cp = modelling()
    parts = draft("M_j", problem)
    direction = cp.Parameter(parts.size, name="direction")
    limit = check_upper_bound(upper_bound)
    variables = dict(parts.variables)
    if form == "printed":
        row = half_norm_and_loss(parts) <= limit
        rows = []
    else:
        u = variables["u"] = cp.Variable(parts.size, name="u")
        W = variables["W"] = cp.Variable(parts.size, name="W")
        row = 0.5 * cp.sum(W) + parts.loss <= limit
        rows = rotated_cones(parts.w, 1 - u, W) + choose_features(parts, 1 - u, "<=")
    goal = cp.Maximize if sense == "max" else cp.Minimize
    return Model(
        "M_j",
        "subproblem_bound_M",
        problem,
        parts.features,
        cp.Problem(goal(direction @ parts.w), [*parts.constraints, row, *rows]),
        variables,
        {"alpha": parts.margins, "theta": row},
        traits=frozenset({Trait.SECOND_ORDER}),
    )


def _aim(model: Model, j: int, sign: float) -> None:
    """Let a bound problem optimise ``sign * w_j``."""
    where = np.flatnonzero(model.features == j)
    if where.size == 0:
        raise ValueError(f"feature {j} cannot be used in this problem: its w is 0.")
    direction = np.zeros(model.features.size)
    direction[where] = sign
    (parameter,) = model.continuous.parameters()
    parameter.value = direction


class PrintedPrograms:
    """The printed bound problems of all features, compiled once.

    Parameters
    ----------
    problem : Problem
    upper_bound : float
    start : ndarray
        Not used: this form needs all features.
    """

    def __init__(self, problem: Problem, upper_bound: float, start: np.ndarray):
        self.model = _family(problem, upper_bound, "printed")

    def dual_point(
        self, j: int, sign: float, solver: str, tolerance: float
    ) -> np.ndarray | None:
        """A dual point that bounds ``sign * w_j``, or None if the solver failed."""
        _aim(self.model, j, sign)
        found = self.model.solve(solver, tolerance=tolerance).multipliers
        return scaled_point(found)


def scaled_point(multipliers: dict[str, np.ndarray]) -> np.ndarray | None:
    """Multipliers of the margins per unit of that of "objective <= UB"."""
    if "theta" not in multipliers or not multipliers["theta"][0] > 0:
        return None
    return multipliers["alpha"] / multipliers["theta"][0]
