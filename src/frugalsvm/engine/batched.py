"""BatchedEngine: the relaxations of many nodes at a time, by ADMM.

Where samples and features are hundreds to thousands and most of them matter, an
interior point spends its time on a matrix for each node. Here one matrix serves all
nodes, and a batch of them is solved by products of matrices, in single precision
(``engine.admm``).

Every bound is recomputed in double precision by the kernels of ``kernels.bounds``, as
that of any other engine: the iterations only propose dual points. SVMs, leaves and
the root are left to the interior point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.bounds import bound_and_price, repair_machines, square_bounds
from ..kernels.pricing import screen_region
from .admm import FORCED, SINGLE, BatchRegions, StepMatrices, iterate, make_system
from .native import NativeEngine
from .protocol import RelaxationRequest, RelaxationResult
from .region import Region

NO_WEIGHTS = np.empty(0)
# Shifts that balance a point: entries that reach 0 or C leave a rest to the others.
SHIFTS = 3


class _PreparedFeatures(NamedTuple):
    """The features that batches use, and their matrices.

    ``features`` are in increasing order; ``columns`` are their signed rows, transposed.
    """

    features: np.ndarray
    columns: np.ndarray
    system: StepMatrices


def why_not_batched(engine: object) -> str | None:
    """What keeps the data of an engine from being solved in batches, if anything."""
    if not isinstance(engine, NativeEngine):
        return "sparse data, or data that are not in memory"
    data, columns, parameters = engine.data, engine.columns, engine.parameters
    n, m = columns.n_features, data.y.size
    is_large = n * (n + m) > parameters.batch.max_entries
    limits = (
        (data.n_machines > 1, "several classes"),
        (data.signs.size > 0, "signs of weights"),
        (columns.n_columns > n, "feature groups"),
        (is_large, f"{n} features of {m} samples: its matrices would be too large"),
        (m >= parameters.tall_min_samples, f"as many as {m} samples"),
    )
    return next((name for holds, name in limits if holds), None)


class BatchedEngine(NativeEngine):
    """Engine that relaxes many nodes at a time; for the rest it is the native one.

    A request without a state is solved by the interior point, and begins a state; one
    with a state continues it. What an interior point knows of curvatures is replaced by
    an upper bound, which the branching rule corrects as it learns.

    Parameters
    ----------
    native : NativeEngine
        For data that ``why_not_batched`` has nothing against.
    """

    def __init__(self, native: NativeEngine):
        super().__init__(native.data, native.parameters, native.columns)
        self._penalty = native.parameters.batch.penalty * float(native.data.C.mean())
        # Replaced as a whole: threads may share the engine.
        self._part: _PreparedFeatures | None = None

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations: those that continue a state together."""
        together = [t for t, one in enumerate(requests) if _continues(one)]
        others = [t for t, one in enumerate(requests) if not _continues(one)]
        found: dict[int, RelaxationResult] = {}
        if others:
            results = self._alone([requests[t] for t in others])
            found.update(zip(others, results, strict=True))
        rows = self.parameters.batch.rows
        for first in range(0, len(together), rows):
            places = together[first : first + rows]
            results = self._together([requests[t] for t in places])
            found.update(zip(places, results, strict=True))
        return [found[t] for t in range(len(requests))]

    # --- by the interior point -----------------------------------------------------

    def _alone(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve by the interior point; where features are free, begin a state."""
        results = super().solve(requests)
        return [
            self._with_state(request, found) if request.region.free.size else found
            for request, found in zip(requests, results, strict=True)
        ]

    def _with_state(
        self, request: RelaxationRequest, found: RelaxationResult
    ) -> RelaxationResult:
        parameters = self.parameters.batch
        part = self._part_for([request.region])
        state = np.zeros((1, self.n_features + self.n_samples + 1), dtype=SINGLE)
        state[0, -1] = 1.0
        self._iterate(
            part, [request.region], state, parameters.first_steps,
            parameters.first_tries,
        )  # fmt: skip
        started = found.working_set._replace(state=state[0])
        return found._replace(working_set=started)

    # --- in batches ------------------------------------------------------------------

    def _together(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Continue the states of some requests."""
        parameters = self.parameters.batch
        regions = [request.region for request in requests]
        part = self._part_for(regions)
        state = np.array([request.start.state for request in requests])
        z, alpha = self._iterate(
            part, regions, state, parameters.steps, parameters.tries
        )
        points = self._repaired(part, regions, alpha)
        products = np.zeros((len(requests), self.n_features))
        products[:, part.features] = points @ part.columns
        return [
            self._result(*each)
            for each in zip(requests, points, products, z, state, strict=True)
        ]

    def _part_for(self, regions: list[Region]) -> _PreparedFeatures:
        """Features that contain those of all regions, and not many more."""
        parameters = self.parameters.batch
        used = np.zeros(self.n_features, dtype=bool)
        for region in regions:
            used[region.free] = True
            used[region.forced] = True
        part = self._part
        if part is not None:
            is_known = np.zeros(self.n_features, dtype=bool)
            is_known[part.features] = True
            is_small = len(regions) < parameters.min_rows_to_drop
            most = parameters.drop_below * part.features.size
            if not np.any(used & ~is_known) and (is_small or used.sum() >= most):
                return part
        self._part = part = self._make_part(np.flatnonzero(used))
        return part

    def _make_part(self, features: np.ndarray) -> _PreparedFeatures:
        data = self.data
        rows = data.A[features]
        with np.errstate(over="ignore", invalid="ignore"):
            system = make_system(rows, data.y, data.C, data.intercept, self._penalty)
        return _PreparedFeatures(features, np.ascontiguousarray(rows.T), system)

    def _iterate(
        self,
        part: _PreparedFeatures,
        regions: list[Region],
        state: np.ndarray,
        steps: int,
        tries: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Change states by some steps; return z of all features and dual points."""
        n = self.n_features
        own = np.concatenate([part.features, np.arange(n, n + self.n_samples + 1)])
        moving = state[:, own]
        z = np.zeros((len(regions), n))
        # What overflows single precision ends as a dual point of zeros.
        with np.errstate(over="ignore", invalid="ignore"):
            found, alpha = iterate(
                part.system, _choice(regions, n, part.features), moving, steps, tries,
                self.parameters.batch.over_relaxation, lambda: bool(self.data.stop[0]),
            )  # fmt: skip
        z[:, part.features] = np.nan_to_num(found)
        state[:, own] = moving
        return z, alpha

    def _repaired(
        self, part: _PreparedFeatures, regions: list[Region], alpha: np.ndarray
    ) -> np.ndarray:
        """Feasible dual points close to those of the iterations."""
        data = self.data
        points = np.clip(alpha.astype(float), 0.0, data.C)
        if data.intercept:
            points = _shifted(points, data.y, data.C)
            points *= _balancing(points, data.y)
        return np.array(
            [
                repair_machines(point, data.y, data.C, data.intercept, 1)
                for point in points
            ]
        )

    def _result(
        self,
        request: RelaxationRequest,
        point: np.ndarray,
        products: np.ndarray,
        z: np.ndarray,
        state: np.ndarray,
    ) -> RelaxationResult:
        """The result at a repaired dual point."""
        data, region, parameters = self.data, request.region, self.parameters.batch
        squares = square_bounds(
            products, data.norms, point, data.starts, data.columns, data.signs
        )
        decided = (
            point, squares, region.forced, region.free, region.k, data.costs,
            region.budget,
        )  # fmt: skip
        bound, price = bound_and_price(*decided)
        decision = np.zeros(region.free.shape[0], dtype=np.int8)
        if bound <= request.cutoff:
            decision = screen_region(*decided, request.cutoff)
        is_last = request.n_before + 1 >= parameters.max_rounds
        return RelaxationResult(
            max(0.0, bound), price, np.inf, 1, parameters.steps, is_last, point,
            squares, z, _curvature(squares, z, parameters.least_z), NO_WEIGHTS,
            request.start._replace(state=state), decision, bool(decision.any()),
        )  # fmt: skip


def _continues(request: RelaxationRequest) -> bool:
    """Whether a request can be solved together with others."""
    state = request.start.state
    if state is None or request.region.free.size == 0:
        return False
    return bool(np.isfinite(state).all())


def _choice(regions: list[Region], n: int, features: np.ndarray) -> BatchRegions:
    """What regions decide about some of n features."""
    free = np.zeros((len(regions), n), dtype=SINGLE)
    forced = np.zeros((len(regions), n), dtype=SINGLE)
    total = np.zeros((len(regions), 1), dtype=SINGLE)
    for t, region in enumerate(regions):
        free[t, region.free] = 1.0
        forced[t, region.forced] = FORCED
        total[t] = region.k + region.forced.shape[0]
    return BatchRegions(free[:, features], forced[:, features], total)


def _shifted(points: np.ndarray, y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """The points with classes that are about as heavy, by moving what is between.

    There the dual value has next to no slope. What is at C stays there, which also
    keeps certificates small.
    """
    for _ in range(SHIFTS):
        between = (points > 0.0) & (points < C)
        excess = points @ y / np.maximum(between.sum(axis=1), 1)
        moved = np.clip(points - excess[:, None] * y, 0.0, C)
        points = np.where(between, moved, points)
    return points


def _balancing(points: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Factors by which the heavier class of each point is as heavy as the other."""
    positive = y > 0
    sums = points @ np.array([positive, ~positive], dtype=float).T
    factors = sums.min(axis=1, keepdims=True) / np.maximum(sums, 1e-300)
    return factors[:, np.where(positive, 0, 1)]


def _curvature(squares: np.ndarray, z: np.ndarray, least_z: float) -> np.ndarray:
    """The curvature of a relaxation in z_j if no weight changes: ``c_j^2 / z_j``.

    An upper bound; zero where z is next to nothing.
    """
    return np.where(z > least_z, squares / np.maximum(z, least_z), 0.0)
