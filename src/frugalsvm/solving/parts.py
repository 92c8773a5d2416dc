"""Quick runs on very many samples, one part at a time.

A relaxation of a million samples takes more memory than the samples themselves. Here
they are split into parts. A search on one part finds the features. Each part's
relaxation, with C scaled up by the number of parts, has a dual point. Divided by that
number and concatenated, these points are a dual point of all samples, because the
bounds on the variables and the balance hold in each part. Like any dual point it proves
a bound, and a good one if the parts are alike. The weights are fitted to all samples.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np

from ..engine.protocol import DualBound, Region, RelaxationRequest, WorkingSet
from ..problem.constraints import HingeLoss
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import LEAST_GAP, Monitor
from ..run.threads import single_threaded_blas
from ..search.evaluator import best_intercept
from ..search.native import relax_natively
from ..search.restarts import SwapOptions
from .methods import Outcome
from .options import SolveOptions
from .polish import PrimalPoint, ghost_limit, polished, without_ghosts
from .result import Result
from .running import RunRequest, checked_support, conclude, run, work_limits

# Accuracy of the weights.
FINAL_TOL = 1e-8
# More than the rounding error of adding a few thousand numbers.
ROUNDING = 1e-12


def is_in_parts(problem: Problem, options: SolveOptions) -> bool:
    """Whether a run is quick enough, and its data large enough, to be done in parts.

    A limit on nodes asks for a tree. A search alone is done in parts only if its bound
    does not matter.
    """
    is_quick = options.effort == "fast" and options.max_nodes is None
    method_fits = options.method == "auto" or (
        options.method == "swap" and not options.proof
    )
    is_large = problem.source is None and problem.n_samples > options.part_sizes.many
    return is_quick and method_fits and is_large and problem.n_machines == 1


def run_in_parts(
    problem: Problem, request: RunRequest, options: SolveOptions, monitor: Monitor
) -> Result:
    """Search one part, fit the weights to all samples, and relax the parts."""
    with single_threaded_blas():
        watched = problem.watching(monitor.stop.flag, request.n_jobs)
        return _PartsRun(watched, request, options, monitor).run()


class _PartsRun:
    """A run in parts.

    Parameters
    ----------
    problem : Problem
    request : RunRequest
        The request for the whole problem.
    options : SolveOptions
    monitor : Monitor
    """

    def __init__(
        self,
        problem: Problem,
        request: RunRequest,
        options: SolveOptions,
        monitor: Monitor,
    ):
        self._problem = problem
        self._request = request
        self._options = options
        self._monitor = monitor
        self._n_parts = -(-problem.n_samples // options.part_sizes.part)
        # Samples of the rarer class come first and are spread evenly over the parts, so
        # that the first part has both classes.
        rarer = 1.0 if np.count_nonzero(problem.y > 0) * 2 < problem.y.size else -1.0
        self._order = np.argsort(problem.y != rarer, kind="stable")
        self._model = PrimalPoint(np.zeros(problem.n_columns), 0.0, np.inf)

    def run(self) -> Result:
        """The result; the bound is trivial without a proof."""
        problem, stop = self._problem, self._monitor.stop
        result = self._search()
        self._offer(result.coef, result.intercept, "part")
        if not stop.interrupted:
            self._fit_weights(result.selected)
        point = np.zeros(problem.n_samples)
        if self._options.proof:
            self._relax_parts(point)
        proved = problem.engine.bound(problem.root_region(), point)
        self._monitor.raise_bound(proved.bound, "parts")
        return self._conclude(result, proved)

    def _conclude(self, part: Result, proved: DualBound) -> Result:
        """The result of the whole, without features that do not matter."""
        problem, monitor = self._problem, self._monitor
        objective, gap_tol = self._model.objective, max(monitor.gap_tol, LEAST_GAP)
        # A refit of all samples takes too long; the weights hardly change.
        limit = ghost_limit(objective, proved.bound, gap_tol)
        model = without_ghosts(
            problem, self._model, limit, objective_of=self._objective_of, refit=False
        )
        self._model = polished(
            problem, model, limit=limit, objective_of=self._objective_of
        )
        return conclude(
            problem,
            monitor,
            self._model,
            "parts",
            Outcome({"parts": self._n_parts}, elites=part.elites),
            part.counters,
            proved.bound,
            proved.alpha,
            self._request.keep_proof,
        )

    def _search(self) -> Result:
        """The result of a search on the first part; it proves nothing of the whole."""
        part, request, monitor = self._part(0), self._request, self._monitor
        names = [option.name for option in fields(SwapOptions)]
        inner = replace(
            request,
            method="swap",
            options=SwapOptions(**{k: getattr(request.options, k) for k in names}),
            initial_support=checked_support(part, request.initial_support),
            keep_proof=False,
            near=None,
            limits=work_limits(part, self._options),
        )
        # Observers are told that the search goes on, but not its figures, as they
        # belong to a part.
        listener = Monitor(
            monitor.stop, monitor.gap_tol, callback=lambda _: monitor.tick()
        )
        return run(part, inner, listener)

    def _relax_parts(self, point: np.ndarray) -> None:
        """Assemble a dual point from those of the parts, while time allows.

        Samples of skipped parts have zeros, which is also valid; a part with one class
        has no other dual point.
        """
        should_stop = self._monitor.should_stop
        for k in range(self._n_parts):
            if should_stop():
                return
            rows = self._rows(k)
            if np.ptp(self._problem.y[rows]) > 0:
                relaxed = relax_natively(self._part(k), should_stop=should_stop)
                point[rows] = relaxed.alpha / self._scale(k)
                self._monitor.tick()

    def _rows(self, k: int) -> np.ndarray:
        """The samples of a part, spread over the whole table."""
        return self._order[k :: self._n_parts]

    def _scale(self, k: int) -> float:
        """How many times larger the whole is than a part."""
        return self._problem.n_samples / self._rows(k).size

    def _part(self, k: int) -> Problem:
        """The problem of the samples of a part."""
        rows = self._rows(k)
        return self._problem.at_samples(rows, self._problem.C[rows] * self._scale(k))

    def _fit_weights(self, selected: np.ndarray) -> None:
        """Fit the SVM of all samples on the selected features."""
        # It may exceed the time limit by a moment: no model is final without it.
        problem = self._problem.watching(self._monitor.stop.urgent_flag)
        support = np.union1d(selected, problem.include).astype(np.int64)
        nothing = np.empty(0, dtype=np.int64)
        task = RelaxationRequest(
            Region(support, nothing, 0, np.inf),
            WorkingSet(nothing, self._sides()),
            FINAL_TOL,
            FINAL_TOL,
            np.inf,
            30,  # rounds at most, until all samples agree with the weights
            False,
        )
        relaxed = problem.engine.solve([task])[0]
        columns = problem.columns.of(support)
        coef = np.zeros(problem.n_columns)
        coef[columns] = relaxed.w[: columns.size]
        if np.isfinite(coef).all():
            self._offer(coef, best_intercept(problem, coef), "weights")

    def _sides(self) -> np.ndarray:
        """Where samples far from the margin are likely to stay: 1 inside, -1 beyond."""
        margins = self._problem.margins(self._model.coef, self._model.intercept)
        far = np.abs(1.0 - margins)
        # A fifth of the samples counts as near the margin.
        is_near = far <= np.quantile(far, 0.2)
        return np.where(is_near, 0, np.where(margins < 1.0, 1, -1)).astype(np.int8)

    def _objective_of(self, coef: np.ndarray, intercept: float) -> float:
        """The objective, rounded up, computed in parts to save memory."""
        problem, columns = self._problem, np.flatnonzero(coef)
        is_shifted = problem.shift[columns].any()
        unshifted = problem.signed_rows(columns) if is_shifted else None
        sums = []
        for k in range(self._n_parts):
            rows = slice(k, None, self._n_parts)
            A = problem.A[columns, rows] if unshifted is None else unshifted[:, rows]
            loss = HingeLoss.of_positive(problem.C[rows])
            sums.append(loss.objective(A, problem.y[rows], coef[columns], intercept))
        # Each part includes the penalty; the excess subtracted is rounded down.
        penalty = 0.5 * float(coef @ coef) * (1.0 - ROUNDING)
        excess = (self._n_parts - 1) * penalty
        return (math.fsum(sums) - excess) * (1.0 + ROUNDING)

    def _offer(self, coef: np.ndarray, intercept: float, event: str) -> None:
        """Keep a model if it is better, and tell the observers."""
        objective = self._objective_of(coef, float(intercept))
        if not objective < self._model.objective:
            return
        self._model = PrimalPoint(coef, float(intercept), objective)
        columns = self._problem.columns
        support = columns.used(coef)
        # The intercept for shifted features and the dual point are not needed any more.
        solution = Solution(
            support, coef[columns.of(support)], float(intercept), np.empty(0), objective
        )
        self._monitor.incumbent.offer(solution, event)
