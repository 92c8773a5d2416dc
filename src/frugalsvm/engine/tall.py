"""TallEngine: dense data in memory with very many samples.

Most samples are far from the margin, and their dual variables are 0 or C. A random
subsample predicts roughly which ones: their dual variables are fixed, compiled code
solves for the others and checks the margins of *all* samples, and those on the wrong
side are added. The subsample is solved recursively in the same way. So the work is a
few passes over the data, and interior-point solves on a small fraction of them; the
result is that for all samples, whatever the subsample.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.data import Data
from ..kernels.smoothing import intercept_of
from .columns import Columns
from .native import NativeEngine
from .parameters import DEFAULTS, EngineParameters
from .perspective import perspective
from .protocol import (
    Region,
    RelaxationRequest,
    RelaxationResult,
    SupportSVM,
    WorkingSet,
)

# --- Weighted random subsamples, stratified by class ----------------------------------


class Subsample(NamedTuple):
    """A subsample in increasing order, and its weights.

    Attributes
    ----------
    samples : integer array
    C : array
        Their weights, scaled so that each class keeps its total weight.
    """

    samples: np.ndarray
    C: np.ndarray


def draw(
    y: np.ndarray,
    C: np.ndarray,
    size: int,
    rng: np.random.Generator,
    least: int = 1,
) -> Subsample:
    """Draw about ``size`` samples, if possible at least ``least`` of each class."""
    samples, weights = [], []
    for sign in (1.0, -1.0):
        members = np.flatnonzero(y == sign)
        count = max(round(size * members.size / y.size), least)
        chosen = members[_stratified(members.size, min(count, members.size), rng)]
        samples.append(chosen)
        sample_weights = C[chosen]
        weights.append(sample_weights * (C[members].sum() / sample_weights.sum()))
    both = np.concatenate(samples)
    order = np.argsort(both)
    return Subsample(both[order], np.concatenate(weights)[order])


def _stratified(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """One random number from each of ``size`` equal segments of ``range(count)``.

    Neighbouring rows of a table are often alike, so this is better than uniform
    sampling, and it is much quicker.
    """
    ends = np.arange(size + 1) * count // max(size, 1)
    return rng.integers(ends[:-1], ends[1:]) if size else ends[:0]


# --- The engine -----------------------------------------------------------------------

# Fixed seed: subsamples are reproducible.
SEED = 20

_NONE = np.empty(0, dtype=np.int64)


def native_engine(
    data: Data, parameters: EngineParameters = DEFAULTS, columns: Columns | None = None
) -> NativeEngine:
    """The engine for dense data of any number of samples."""
    is_tall = data.y.size >= parameters.tall_min_samples
    return (TallEngine if is_tall else NativeEngine)(data, parameters, columns)


class TallEngine(NativeEngine):
    """Engine for dense data in memory with very many samples.

    Parameters
    ----------
    data : Data
    parameters : EngineParameters, optional
    columns : Columns, optional
    """

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations, from a subsample if there is no start."""
        return super().solve(
            [self._with_predicted_sides(request) for request in requests]
        )

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """The SVM on a support; ends early once its value exceeds the cutoff.

        A subsample gives a better start than ``warm_w``.
        """
        numbers = np.array(support, dtype=np.int64)
        if numbers.size and tol < self.parameters.central_path_tol:
            svm = self._part(numbers)._solve_all(tol, cutoff)
            if svm is not None:
                return svm
        return super().solve_svm(numbers, tol=tol, cutoff=cutoff, warm_w=warm_w)

    @property
    def _is_stopped(self) -> bool:
        return bool(self.data.stop[0])

    # --- some of the features, or of the samples -----------------------------------

    def _part(self, features: np.ndarray) -> TallEngine:
        """An engine for some features, renumbered."""
        data = self.data
        numbers, columns = self.columns.of(features), self.columns.restrict(features)
        rows, norms, costs = data.A[numbers], data.norms[numbers], data.costs[features]
        for array in (rows, norms, costs):
            # Read-only like those of a problem: otherwise kernels would compile again.
            array.setflags(write=False)
        part = Data(
            rows,
            norms,
            data.y,
            data.C,
            data.intercept,
            costs,
            data.stop,
            *columns.in_kernels,
        )
        return TallEngine(part, self.parameters, columns)

    def _subsample(self) -> NativeEngine:
        """An engine for some of the samples."""
        data, parameters = self.data, self.parameters
        size = int(parameters.subsample_fraction * self.n_samples)
        least = parameters.subsample_min_per_class
        rng = np.random.default_rng(SEED)
        samples, C = draw(data.y, data.C, size, rng, least)
        y, A = data.y[samples], np.take(data.A, samples, axis=1)
        for array in (A, y, C):
            array.setflags(write=False)
        # Norms over all samples are upper bounds of those over some.
        return native_engine(data._replace(A=A, y=y, C=C), parameters, self.columns)

    @property
    def _most_active(self) -> float:
        """Number of active samples above which all samples take no longer."""
        return self.parameters.max_active * self.n_samples

    # --- starting points ---------------------------------------------------------

    def _with_predicted_sides(self, request: RelaxationRequest) -> RelaxationRequest:
        if request.n_before or request.start.side.any():
            return request
        subsample = self._subsample()
        if subsample.n_samples > self._most_active:
            return request
        relaxation = perspective(
            subsample,
            request.region,
            tol=self.parameters.subsample_tol,
            should_stop=lambda: self._is_stopped,
        )
        counted = np.flatnonzero(relaxation.z > self.parameters.counted_z)
        size = self.columns.count(counted)
        scores = self._scores(relaxation.w)
        margins = (scores + self._intercept(scores)) * self.data.y
        side = self._sides(margins, size + 1, subsample.n_samples)
        if side is None:
            return request
        return request._replace(start=request.start._replace(side=side))

    def _scores(self, w: np.ndarray) -> np.ndarray:
        """Scores of all samples, given weights of all columns."""
        return (w @ self.data.A) * self.data.y

    def _intercept(self, scores: np.ndarray) -> float:
        """The best intercept for given scores."""
        data = self.data
        return float(intercept_of(scores, data.y, data.C)) if data.intercept else 0.0

    def _sides(
        self, margins: np.ndarray, n_weights: int, n_subsample: int
    ) -> np.ndarray | None:
        """Sides of the samples far from the margin; None if there are few.

        ``n_weights`` weights were fitted to ``n_subsample`` samples.
        """
        part = self.parameters.active_rate * np.sqrt(n_weights / n_subsample)
        if part > self.parameters.max_active:
            return None
        distance = np.abs(margins - 1.0)
        count = int(part * self.n_samples)
        side = np.where(margins < 1.0, 1, -1).astype(np.int8)
        side[distance <= np.partition(distance, count)[count]] = 0
        return side

    # --- the SVM on all features -----------------------------------------------------

    def _solve_all(self, tol: float, cutoff: float) -> SupportSVM | None:
        """The SVM on all features; None if it needs all samples at once."""
        data, parameters = self.data, self.parameters
        everything = np.arange(self.n_features)
        subsample = self._subsample()
        if subsample.n_samples > self._most_active:
            return None
        rough = subsample.solve_svm(everything, tol=parameters.subsample_tol)
        margins = rough.w @ data.A + rough.b * data.y
        side = self._sides(margins, rough.w.size + 1, subsample.n_samples)
        if side is None:
            return None
        request = RelaxationRequest(
            Region(everything, _NONE, 0, np.inf),
            WorkingSet(_NONE, side),
            tol,
            tol,
            cutoff,
            parameters.tall_max_rounds,
            rough=False,
        )
        result = super().solve([request])[0]
        scores = self._scores(result.w)
        b = self._intercept(scores)
        losses = np.maximum(1.0 - (scores + b) * data.y, 0.0)
        primal = 0.5 * float(result.w @ result.w) + float(data.C @ losses)
        finest = max(tol, parameters.tall_min_tol)
        is_solved = primal - result.bound <= finest * abs(primal)
        if not (is_solved or result.bound > cutoff or self._is_stopped):
            return None
        return SupportSVM(result.w, b, result.alpha, primal, result.bound)
