"""Quick fits of very many rows, one part at a time.

A relaxation of a million rows takes more memory than the rows themselves. Here the rows
are split into parts. A search on one part finds the features. Each part's relaxation,
with C scaled up by the number of parts, has a dual point. Divided by that number and
concatenated, these points are a dual point of all rows, because the bounds on the
variables and the balance hold in each part. Like any dual point it proves a bound, and
a good one if the parts are alike. The weights are fitted to all rows.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from ..checker import objective_bound
from ..driver.result import Result, Status
from ..engine.protocol import RelaxationRequest, WorkingSet
from ..engine.region import Region
from ..problem.problem import Problem
from ..runtime.progress import Progress, relative_gap
from ..search.intercept import best_intercept
from ..search.native.relaxation import relax_natively
from ..tree.node import DualPoint
from ..tree.proof import build_certificate

# Number of rows from which a quick fit is done in parts, and rows per part.
MANY, PART = 200_000, 100_000
# Accuracy of the weights, and maximum rounds until all rows agree with them.
FINAL_TOL, MAX_ROUNDS = 1e-8, 30
# Fraction of the rows that count as near the margin at first.
NEAR = 0.2
# More than the rounding error of adding a few thousand numbers.
ROUNDING = 1e-12


class LargeFit:
    """A fit of many rows.

    Parameters
    ----------
    problem : Problem
    search : Search
        Search settings.
    callback : callable or None
        Called with the progress.
    """

    def __init__(self, problem: Problem, search: Any, callback: Any = None):
        # The data are standardised.
        assert not problem.shift.any()
        self._problem = problem
        self._search = search
        self._callback = callback
        self._started = time.perf_counter()
        self._n_parts = -(-problem.n_samples // PART)
        # Rows of the rarer class come first and are spread evenly over the parts, so
        # that the first part has both classes.
        rarer = 1.0 if np.count_nonzero(problem.y > 0) * 2 < problem.y.size else -1.0
        self._order = np.argsort(problem.y != rarer, kind="stable")
        self._coef = np.zeros(problem.n_features)
        self._intercept = 0.0
        self._objective, self._bound = np.inf, -np.inf
        self._history: list[tuple[float, float, float]] = []

    def run(
        self, gap_tol: float, certificate: bool, prove: bool = True
    ) -> tuple[Result, bool]:
        """The result, and whether Ctrl-C was pressed.

        Parameters
        ----------
        gap_tol : float
            Gap at which the result is called optimal.
        certificate : bool
            Whether to keep the proof.
        prove : bool, default=True
            Whether to relax the parts; otherwise the bound is trivial.
        """
        found, interrupted = self._search.run(self._part(0), method="swap", whole=True)
        self._offer(found.coef, found.intercept)
        point = np.zeros(self._problem.n_samples)
        try:
            if not interrupted:
                self._fit_weights(found.selected)
                if prove:
                    self._relax_parts(point)
        except KeyboardInterrupt:
            interrupted = True
        proved = self._problem.engine.bound(self._problem.root_region(), point)
        self._bound = proved.bound
        self._tell()
        status = self._status(gap_tol, interrupted)
        proof = None
        if certificate:
            proof = build_certificate(
                self._problem, self._coef, self._intercept, self._objective,
                proved.bound, None, DualPoint.of(proved.alpha, proved.price),
            )  # fmt: skip
        result = Result(
            objective=self._objective,
            lower_bound=proved.bound,
            selected=np.flatnonzero(self._coef),
            coef=self._coef,
            intercept=self._intercept,
            status=status,
            method="parts",
            seconds=self._seconds,
            counters={**found.counters, "parts": self._n_parts},
            history=self._history,
            dual_point=proved.alpha,
            certificate=proof,
        )
        return result, interrupted

    def _relax_parts(self, point: np.ndarray) -> None:
        """Assemble a dual point from those of the parts, while time allows.

        Rows of skipped parts have zeros, which is also valid; a part with one class has
        no other dual point.
        """
        for k in range(self._n_parts):
            if self._is_late():
                return
            rows = self._rows(k)
            if np.ptp(self._problem.y[rows]) > 0:
                relaxed = relax_natively(self._part(k))
                point[rows] = relaxed.alpha / self._scale(k)

    def _rows(self, k: int) -> np.ndarray:
        """The rows of a part, spread over the whole table."""
        return self._order[k :: self._n_parts]

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._started

    def _is_late(self) -> bool:
        limit = self._search.time_limit
        return limit is not None and self._seconds > limit

    def _scale(self, k: int) -> float:
        """How many times larger the whole is than a part."""
        return self._problem.n_samples / self._rows(k).size

    def _part(self, k: int) -> Problem:
        """The problem of the rows of a part."""
        problem, rows = self._problem, self._rows(k)
        # Labels are +1 and -1: this takes them out of the signed rows.
        X = (problem.A[:, rows] * problem.y[rows]).T
        has_costs = np.isfinite(problem.max_cost)
        return Problem(
            X,
            problem.y[rows],
            sample_weight=problem.C[rows] * self._scale(k),
            max_features=problem.max_features,
            feature_costs=problem.costs if has_costs else None,
            max_cost=problem.max_cost if has_costs else None,
            include=problem.include,
            exclude=problem.exclude,
            overwrite_X=True,
        )

    def _fit_weights(self, selected: np.ndarray) -> None:
        """The SVM of all rows on the features that were found."""
        problem = self._problem
        support = np.union1d(selected, problem.include).astype(np.int64)
        nothing = np.empty(0, dtype=np.int64)
        task = RelaxationRequest(
            Region(support, nothing, 0, np.inf), WorkingSet(nothing, self._sides()),
            FINAL_TOL, FINAL_TOL, np.inf, MAX_ROUNDS, False,
        )  # fmt: skip
        answer = problem.engine.solve([task])[0]
        coef = np.zeros(problem.n_features)
        coef[support] = answer.w[: support.size]
        self._offer(coef, best_intercept(problem, coef))

    def _sides(self) -> np.ndarray:
        """Where samples far from the margin are likely to stay: 1 inside, -1 beyond."""
        margins = self._problem.margins(self._coef, self._intercept)
        far = np.abs(1.0 - margins)
        is_near = far <= np.quantile(far, NEAR)
        return np.where(is_near, 0, np.where(margins < 1.0, 1, -1)).astype(np.int8)

    def _objective_of(self, coef: np.ndarray, intercept: float) -> float:
        """The objective, rounded up, computed in parts to save memory."""
        problem, used = self._problem, np.flatnonzero(coef)
        sums = []
        for k in range(self._n_parts):
            rows = slice(k, None, self._n_parts)
            sums.append(
                objective_bound(
                    problem.A[used, rows], problem.y[rows], problem.C[rows],
                    coef[used], intercept,
                )
            )  # fmt: skip
        # Each part includes the penalty; the excess subtracted is rounded down.
        penalty = 0.5 * float(coef @ coef) * (1.0 - ROUNDING)
        excess = (self._n_parts - 1) * penalty
        return (math.fsum(sums) - excess) * (1.0 + ROUNDING)

    def _offer(self, coef: np.ndarray, intercept: float) -> None:
        objective = self._objective_of(coef, float(intercept))
        if objective < self._objective:
            self._coef, self._intercept = coef, float(intercept)
            self._objective = objective
        self._tell()

    def _tell(self) -> None:
        known = (self._objective, self._bound)
        self._history.append((self._seconds, *known))
        if self._callback is not None:
            gap = relative_gap(*known)
            self._callback(Progress(self._seconds, 0, 0, *known, gap))

    def _status(self, gap_tol: float, interrupted: bool) -> Status:
        if relative_gap(self._objective, self._bound) <= gap_tol:
            return Status.OPTIMAL
        if interrupted:
            return Status.INTERRUPTED
        return Status.TIME_LIMIT if self._is_late() else Status.FEASIBLE
