"""Column generation: rounds of a relaxation on a growing working set of features.

The engine relaxes the region restricted to the working set and prices all features,
which shows which ones are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .columns import smallest
from .protocol import DualBound, Region, RelaxationRequest, RelaxationResult, WorkingSet

if TYPE_CHECKING:
    from .column_generation import ColumnGenerationEngine  # circular import


class Part(NamedTuple):
    """Some features, renumbered, with the forced ones first.

    Attributes
    ----------
    n_features : int
        Number of features of the data.
    features : integer array
        The forced features of a region, and some of the free ones.
    n_forced : int
    number : integer array
        Position of each feature of the data within the part, if present.
    """

    n_features: int
    features: np.ndarray
    n_forced: int
    number: np.ndarray

    @classmethod
    def of(cls, n_features: int, region: Region, free: np.ndarray) -> Part:
        """The forced features and some free ones."""
        features = np.concatenate([region.forced, free])
        number = np.full(n_features, -1, dtype=np.int64)
        number[features] = np.arange(features.size)
        return cls(n_features, features, region.forced.size, number)

    def inside(self, request: RelaxationRequest) -> RelaxationRequest:
        """A request in the numbering of the part; its start is restricted, too."""
        size = self.features.size
        region = request.region._replace(
            forced=np.arange(self.n_forced), free=np.arange(self.n_forced, size)
        )
        start = self.number[request.start.features]
        return request._replace(
            region=region, start=WorkingSet(start[start >= 0], request.start.side)
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the part scattered to all features, zero elsewhere."""
        spread = np.zeros(self.n_features)
        spread[self.features] = values
        return spread


class WorkingSetRound(NamedTuple):
    """A relaxation on a working set, and its bound over all features.

    ``inner`` is numbered within the working set.
    """

    features: np.ndarray
    inner: RelaxationResult
    dual: DualBound


class WorkingSetRounds:
    """Rounds on a growing working set of free features, for one request."""

    def __init__(self, engine: ColumnGenerationEngine, request: RelaxationRequest):
        self._engine = engine
        self._parameters = engine.parameters
        self._request = request
        self._start = request.start
        self._best: DualBound | None = None
        self._n_rounds = self._n_iterations = 0

    def run(self) -> RelaxationResult:
        """Run rounds until the gap is closed or the limit is reached."""
        request = self._request
        last, is_finished = self._rounds(request.tol, request.max_rounds)
        # Too coarse to decide whether the region can be pruned?
        assert self._best is not None
        is_open = self._best.bound <= request.cutoff < last.inner.primal
        if request.fine_tol < request.tol and is_open and not self._engine.is_stopped():
            last, is_finished = self._rounds(request.fine_tol, 2 * request.max_rounds)
        return self._result(last, is_finished)

    def _rounds(self, tol: float, limit: int) -> tuple[WorkingSetRound, bool]:
        request, engine, parameters = self._request, self._engine, self._parameters
        round_tol = tol
        if request.rough or request.n_before > 0:
            progress = parameters.continued_progress**request.n_before
            round_tol = max(tol, parameters.first_round_tol * progress)
        features = self._start.features
        limit += self._n_rounds
        while True:
            inner_tol = parameters.inner_tol * round_tol
            last = engine.relax_on(
                request._replace(
                    start=self._start,
                    tol=inner_tol,
                    fine_tol=inner_tol,
                    cutoff=np.inf,
                    max_rounds=parameters.inner_rounds,
                    rough=False,
                    n_before=0,
                ),
                features,
                screens=request.cutoff < np.inf,
            )
            self._n_rounds += 1
            self._n_iterations += last.inner.iterations
            if self._best is None or last.dual.bound > self._best.bound:
                self._best = last.dual
            gap, size = last.inner.primal - self._best.bound, abs(last.inner.primal)
            if gap <= tol * size or self._best.bound > request.cutoff:
                return last, True
            features, grown = self._grow(last)
            if not grown and round_tol <= tol:
                return last, last.inner.finished
            # Only as accurate as needed to find the missing features.
            finer = parameters.fraction_of_gap * gap / size
            round_tol = max(min(round_tol, finer), tol) if grown else tol
            side = last.inner.working_set.side
            # While many features are missing, samples far from the margin may come
            # back.
            is_near = gap <= parameters.freeze_below_gap * size
            self._start = WorkingSet(features, side if is_near else np.zeros_like(side))
            if self._n_rounds >= limit or engine.is_stopped():
                return last, False

    def _grow(self, last: WorkingSetRound) -> tuple[np.ndarray, bool]:
        """Keep features nearly worth their price, and add the best of the others."""
        engine, region, features = self._engine, self._request.region, last.features
        ratios = self._price_ratios(last, features)
        retained = features
        if self._n_rounds + self._request.n_before <= self._parameters.drop_rounds:
            retained = features[ratios[features] > self._parameters.keep_above]
        is_outside = np.zeros(engine.n_features, dtype=bool)
        is_outside[region.free] = True
        is_outside[features] = False
        is_outside &= ratios > 1.0
        missing = np.flatnonzero(is_outside)
        room = max(0, engine.most_free(region) - retained.size)
        size = min(missing.size, max(engine.min_joining, retained.size), room)
        if size == 0:
            return features, False
        joining = missing[smallest(-ratios[missing], size)]
        return np.concatenate([retained, joining]), True

    def _price_ratios(self, last: WorkingSetRound, features: np.ndarray) -> np.ndarray:
        """The values of all features, as fractions of their prices.

        The price of a feature is that of its cost plus that of the count. If only some
        features are worth more than their price, the bound is that of a region without
        the others.
        """
        squares, costs = last.dual.squares, self._engine.costs
        price = last.inner.price
        surpluses = squares[features] - price * costs[features]
        k = self._request.region.k
        count_price = 0.0
        if k <= features.size:
            count_price = max(0.0, -np.partition(-surpluses, k - 1)[k - 1])
        return squares / np.maximum(count_price + price * costs, np.finfo(float).tiny)

    def _result(self, last: WorkingSetRound, is_finished: bool) -> RelaxationResult:
        request, engine, dual = self._request, self._engine, self._best
        assert dual is not None
        region, inner = request.region, last.inner
        part = Part.of(engine.n_features, region, last.features)
        columns = engine.columns
        w = np.zeros(columns.n_columns)
        w[columns.of(part.features)] = inner.w
        w = w[columns.of(np.concatenate([region.forced, region.free]))]
        decision = np.zeros(region.free.size, dtype=np.int8)
        working_set = self._start
        if dual.bound <= request.cutoff:
            decision = engine.screen(request, dual)
            if is_finished:
                working_set = self._child_working_set(last)
        return RelaxationResult(
            dual.bound, dual.price, inner.primal, self._n_rounds, self._n_iterations,
            is_finished, dual.alpha, dual.squares, part.spread(inner.z),
            part.spread(inner.curvature), w, working_set, decision,
            bool(decision.any()),
        )  # fmt: skip

    def _child_working_set(self, last: WorkingSetRound) -> WorkingSet:
        """The final working set, from which children start."""
        free = self._request.region.free
        ratios = self._price_ratios(last, free)[free]
        features = free[ratios > self._parameters.child_keep_above]
        if features.size > self._engine.most_free(self._request.region):
            features = last.features
        return WorkingSet(features, last.inner.working_set.side)
