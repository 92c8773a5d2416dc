"""Small programs whose dual points bound single weights tightly.

    max  s w_j   s.t.  margins,  1/2 w_j^2 + 1/2 sum_W w_l^2 / z_l + loss <= UB,
                       sum_W z_l <= B - 1

This is the tight bound problem with ``z_j = 1`` on a working set W of the other
features: W leaves out features whose ``c_l^2`` is not among the B - 1 largest at the
solution. The row of feature j is a parameter, so that one compiled program serves all
j. W is enlarged when a dual point shows that features are missing. For any W, the
intervals are computed with all features afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...problem.problem import Problem
from ..solvers.base import Trait
from .blocks import rotated_cones, usable_features
from .bound_problem import scaled_point
from .model import Model
from .modelling import modelling

# Initial number of features, and minimum number to add at a time.
FIRST_SIZE = 300
GROWTH = 50


class TightPrograms:
    """The programs of one problem and upper bound.

    Parameters
    ----------
    problem : Problem
    upper_bound : float
    start : ndarray of shape (n_kept_samples,)
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
        cp = modelling()
        problem = self.problem
        self.working = working
        self.row = cp.Parameter(problem.n_samples, name="row of feature j")
        self.own = cp.Parameter(working.size, name="where it is in W")
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
            z <= 1 - self.own,
            cp.sum(z) <= problem.max_features - 1,
        ]
        forced = np.flatnonzero(np.isin(working, problem.include))
        if forced.size:
            rows.append(z[forced] >= 1 - self.own[forced])
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
            self.own.value = (self.working == j).astype(float)
            self.cost.value = self.problem.costs[j]
            found = self.model.solve(solver, tolerance=tolerance).multipliers
            point = scaled_point(found)
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
