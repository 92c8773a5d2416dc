"""The bound problems for the largest and smallest w_j (the paper's Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ...problem.problem import Problem
from ...problem.validation import check_indices
from ..solvers.base import Trait
from .blocks import choose_features, draft, rotated_cones, usable_features
from .formulations import check_upper_bound, half_norm_and_loss
from .model import Model, import_cvxpy

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
        Objective of a solution.
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
    model = _parametric(problem, upper_bound, form, sense)
    _set_direction(model, j, 1.0)
    return model


def check_form(form: str) -> None:
    """Refuse unknown forms."""
    if form not in ("tight", "printed"):
        raise ValueError(f'form must be "tight" or "printed", got {form!r}.')


def _parametric(
    problem: Problem, upper_bound: float, form: Form, sense: Sense = "max"
) -> Model:
    """One program for all bound problems, with the objective's direction as parameter.

    So CVXPY compiles it once.
    """
    cp = import_cvxpy()
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


def _set_direction(model: Model, j: int, sign: float) -> None:
    """Make ``sign * w_j`` the objective of a bound problem."""
    direction = np.where(model.features == j, sign, 0.0)
    if not direction.any():
        raise ValueError(f"feature {j} cannot be used in this problem: its w is 0.")
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
        self.model = _parametric(problem, upper_bound, "printed")

    def dual_point(
        self, j: int, sign: float, solver: str, tolerance: float
    ) -> np.ndarray | None:
        """A dual point that bounds ``sign * w_j``, or None if the solver failed."""
        _set_direction(self.model, j, sign)
        return scaled_point(self.model.solve(solver, tolerance=tolerance).multipliers)


def scaled_point(multipliers: dict[str, np.ndarray]) -> np.ndarray | None:
    """Multipliers of the margins, divided by that of "objective <= UB"."""
    if "theta" not in multipliers or not multipliers["theta"][0] > 0:
        return None
    return multipliers["alpha"] / multipliers["theta"][0]


# --- Small programs whose dual points bound single weights tightly --------------------
#
#     max  s w_j   s.t.  margins,  1/2 w_j^2 + 1/2 sum_W w_l^2 / z_l + loss <= UB,
#                        sum_W z_l <= B - 1
#
# This is the tight bound problem with ``z_j = 1`` on a working set W of the other
# features: those whose ``c_l^2`` is not among the B - 1 largest at the solution are not
# needed. The row of feature j is a parameter, so that one compiled program serves all
# j. W is enlarged when a dual point shows that features are missing. For any W, the
# intervals are computed with all features afterwards.

# Initial number of features, and minimum number to add at a time.
FIRST_SIZE = 300
GROWTH = 50


class TightPrograms:
    """The tight bound problems of all features.

    Parameters
    ----------
    problem : Problem
    upper_bound : float
    start : ndarray of shape (n_samples,)
        A dual point that determines the initial working set.
    """

    def __init__(self, problem: Problem, upper_bound: float, start: np.ndarray):
        self.problem = problem
        self.upper_bound = upper_bound
        self.usable = usable_features(problem)
        values = np.abs(problem.A[self.usable] @ start)
        order = np.argsort(-values, kind="stable")[:FIRST_SIZE]
        working = np.union1d(self.usable[order], problem.include)
        self._build(working)

    def _build(self, working: np.ndarray) -> None:
        cp = import_cvxpy()
        problem = self.problem
        self.working = working
        self.row = cp.Parameter(problem.n_samples, name="row of feature j")
        self.is_j = cp.Parameter(working.size, name="position of feature j in W")
        target = cp.Variable(name="w_j")
        w, W, z = (cp.Variable(working.size, name=name) for name in ("w", "W", "z"))
        xi = cp.Variable(problem.n_samples, name="xi")
        scores: Any = problem.A[working].T @ w + self.row * target
        if problem.fit_intercept:
            scores = scores + problem.y * cp.Variable(name="b")
        margins = scores >= 1 - xi
        limit = (
            0.5 * cp.square(target) + 0.5 * cp.sum(W) + problem.C @ xi
            <= self.upper_bound
        )
        rows = [
            margins,
            limit,
            xi >= 0,
            z >= 0,
            # Feature j itself has its own variable; its copy in W is switched off.
            z <= 1 - self.is_j,
            cp.sum(z) <= problem.max_features - 1,
        ]
        forced = np.flatnonzero(np.isin(working, problem.include))
        if forced.size:
            rows.append(z[forced] >= 1 - self.is_j[forced])
        self.cost = cp.Parameter(name="cost of feature j")
        if np.isfinite(problem.max_cost):
            spent = problem.costs[working] @ z + self.cost
            rows.append(spent <= problem.cost_budget)
        self.model = Model(
            "M_j",
            "subproblem_bound_M",
            problem,
            working,
            cp.Problem(cp.Maximize(target), rows + rotated_cones(w, z, W)),
            {"w_j": target},
            {"alpha": margins, "theta": limit},
            traits=frozenset({Trait.SECOND_ORDER}),
        )

    def dual_point(
        self, j: int, sign: float, solver: str, tolerance: float
    ) -> np.ndarray | None:
        """A dual point that bounds ``sign * w_j``, or None if the solver failed."""
        while True:
            self.row.value = sign * self.problem.A[j]
            self.is_j.value = (self.working == j).astype(float)
            self.cost.value = self.problem.costs[j]
            solution = self.model.solve(solver, tolerance=tolerance)
            point = scaled_point(solution.multipliers)
            missing = self._missing(point, j)
            if missing.size == 0:
                return point
            self._build(np.union1d(self.working, missing))

    def _missing(self, point: np.ndarray | None, j: int) -> np.ndarray:
        """Features outside W with larger values than the last one admitted in W."""
        if point is None or self.working.size == self.usable.size:
            return self.usable[:0]
        values = (self.problem.A[self.usable] @ point) ** 2
        inside = np.isin(self.usable, self.working)
        values[self.usable == j] = 0.0
        size = max(1, self.problem.max_features - 1)
        last = np.partition(values[inside], -size)[-size]
        outside = np.flatnonzero(~inside & (values > last * (1 + 1e-6)))
        most = max(GROWTH, self.working.size // 4)
        best = outside[np.argsort(-values[outside], kind="stable")[:most]]
        return self.usable[best]


# --- A descent in the dual of all bound problems at once ------------------------------
#
# The bound of ``s w_j`` (s = +1 or -1) proved by a dual point alpha is
#
#     phi(alpha) = s c_j + sqrt(2 (UB - LB_j)),
#     LB_j = sum(alpha) - 1/2 [ c_j^2 + sum of the k - 1 largest c_l^2 of the others ]
#
# with ``c = A alpha``. Each column of a matrix is the point of one (j, s); an Adam step
# on all columns costs two matrix products. Everything here is heuristic: the
# resulting points are repaired and evaluated with directed rounding afterwards.

STEPS = 80
MOMENTUM, SMOOTHING = 0.9, 0.99
# Columns per batch.
BATCH = 2048


def descend(
    problem: Problem,
    start: np.ndarray,
    upper_bound: float,
    k: int,
    should_stop: Callable[[], bool] = lambda: False,
    features: np.ndarray | None = None,
) -> np.ndarray:
    """Dual points, one per row, for the largest and smallest weight of each feature.

    ``features`` are by default all that may be chosen. ``should_stop`` is called
    between steps; points from fewer steps prove weaker bounds.
    """
    node = problem.root_region()
    if k == 0 or node.free.size == 0:
        return np.empty((0, problem.n_samples))
    rows = np.concatenate([node.forced, node.free])
    chosen = node.free if features is None else np.intersect1d(features, node.free)
    targets = np.repeat(chosen, 2)
    signs = np.tile([1.0, -1.0], chosen.size)
    batches = [
        _descend_batch(
            problem, start, upper_bound, k, rows,
            targets[first : first + BATCH], signs[first : first + BATCH], should_stop,
        )
        for first in range(0, targets.size, BATCH)
        if not should_stop()
    ]  # fmt: skip
    return np.vstack(batches) if batches else np.empty((0, problem.n_samples))


def _descend_batch(
    problem: Problem,
    start: np.ndarray,
    upper_bound: float,
    k: int,
    rows: np.ndarray,
    targets: np.ndarray,
    signs: np.ndarray,
    should_stop: Callable[[], bool],
) -> np.ndarray:
    n_forced = problem.include.size
    others, target_rows = problem.A[rows], problem.A[targets].T
    is_target = rows[:, None] == targets[None, :]
    C, y = problem.C[:, None], problem.y[:, None]
    # On separable data the multipliers are far below C.
    unit = start.max() if start.any() else problem.C.max()
    alpha = np.repeat(start[:, None], targets.size, axis=1)
    best, best_value = alpha.copy(), np.full(targets.size, np.inf)
    mean, square = np.zeros_like(alpha), np.zeros_like(alpha)
    for step in range(STEPS):
        if should_stop():
            break
        value, gradient = _value_and_gradient(
            alpha, others, target_rows, is_target, n_forced, k, signs, upper_bound
        )
        better = value < best_value
        best_value[better] = value[better]
        best[:, better] = alpha[:, better]
        if problem.fit_intercept:
            gradient -= y * (y * gradient).mean(axis=0)
        mean += (1 - MOMENTUM) * (gradient - mean)
        square += (1 - SMOOTHING) * (gradient**2 - square)
        direction = mean / (1 - MOMENTUM ** (step + 1))
        scale = np.sqrt(square / (1 - SMOOTHING ** (step + 1))) + 1e-300
        # In units of the largest multiplier.
        length = 0.05 * (1 - step / STEPS)
        alpha = np.clip(alpha - length * unit * direction / scale, 0.0, C)
        if problem.fit_intercept:
            alpha = _balance(alpha, problem.y > 0)
    return best.T


def _value_and_gradient(
    alpha: np.ndarray,
    others: np.ndarray,
    target_rows: np.ndarray,
    is_target: np.ndarray,
    n_forced: int,
    k: int,
    signs: np.ndarray,
    upper_bound: float,
) -> tuple[np.ndarray, np.ndarray]:
    c = others @ alpha
    scores = c**2
    scores[:n_forced] = np.inf
    scores[is_target] = -1.0
    chosen = n_forced + k - 1
    if chosen == 0:
        c[:] = 0.0
    elif chosen < scores.shape[0]:
        threshold = np.partition(scores, -chosen, axis=0)[-chosen]
        c[scores < threshold] = 0.0
    c[is_target] = 0.0
    c_target = np.einsum("ij,ij->j", target_rows, alpha)
    penalty = np.einsum("ij,ij->j", c, c) + c_target**2
    gap = upper_bound - alpha.sum(axis=0) + 0.5 * penalty
    radius = np.sqrt(2.0 * np.maximum(gap, 1e-12 * upper_bound)) + 1e-300
    gradient = (others.T @ c + target_rows * c_target - 1.0) / radius
    return signs * c_target + radius, gradient + signs * target_rows


def _balance(alpha: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Scale the heavier class of each column down to the weight of the lighter."""
    up, down = alpha[positive].sum(axis=0), alpha[~positive].sum(axis=0)
    sums = np.where(positive[:, None], up, down)
    return alpha * (np.minimum(up, down) / np.maximum(sums, 1e-300))
