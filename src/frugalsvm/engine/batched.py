"""BatchedEngine: the relaxations of many nodes at a time, by ADMM.

Where samples and features are hundreds to thousands and most of them matter, an
interior point spends its time on a matrix for each node. Here one matrix serves all
nodes, and a batch of them is solved by products of matrices, in single precision.

Every bound is recomputed in strict double precision (``kernels.screening``), as for any
other engine: the iterations only propose dual points. The interior point solves
SVMs, leaves and the root.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.screening import BatchBounds, RegionBatch, bound_rows, repair_rows
from .native import NativeEngine
from .protocol import Region, RelaxationRequest, RelaxationResult

# --- The steps of ADMM ----------------------------------------------------------------
#
# The relaxation of a region, with A the signed data and k features still to choose,
#
#     min 1/2 sum_j w_j^2 / z_j + C sum_i max(0, 1 - s_i),    s = A'w + b y,
#     0 <= z <= 1,  sum z = k over the free features,  z = 1 at the forced ones
#
# is split into the linear equation, a least-squares problem whose matrix is the same
# for all regions, and the rest, which falls into samples and features. A step for N
# regions is two products of N rows with matrices that are made once; all else is done
# entry by entry.
#
# Iterations are Douglas-Rachford steps on ``state``, one row for each region: the
# weights plus their multipliers (n entries), the margins plus theirs (m), and the scale
# at which z is cut (one). They are in single precision: nothing here is part of a
# proof. The dual point that comes out is valid for any state once it is repaired.

SINGLE = np.float32
# Limits of the scales.
LEAST_SCALE, LARGEST_SCALE = 1e-6, 1e8
# Forced features: large enough that z = 1 at any scale that occurs.
FORCED = 1e12


class StepMatrices(NamedTuple):
    """The matrices of the steps, for some features of a problem.

    Attributes
    ----------
    backward : array (n + m, n)
        From targets of weights and margins to the weights that are nearest.
    forward : array (n + 1, m)
        From weights, and the product of targets with ``y``, to margins.
    y : array (m,)
        Labels; zero without an intercept.
    lowest : array (m,)
        The smallest multipliers of the margins, ``-C / penalty``.
    penalty : float
    """

    backward: np.ndarray
    forward: np.ndarray
    y: np.ndarray
    lowest: np.ndarray
    penalty: float


class BatchChoice(NamedTuple):
    """The decisions of the regions of a batch, one row for each.

    Attributes
    ----------
    free, forced : arrays (N, n)
        1 for these features, else 0; forced features have ``FORCED``.
    total : array (N, 1)
        Number of features to choose, forced ones included.
    """

    free: np.ndarray
    forced: np.ndarray
    total: np.ndarray


def make_system(
    rows: np.ndarray, y: np.ndarray, C: np.ndarray, intercept: bool, penalty: float
) -> StepMatrices:
    """The system for some signed rows."""
    n, m = rows.shape
    labels = y if intercept else np.zeros(m)
    centred = rows - np.outer(rows @ (labels / m), labels)
    try:
        inverse = np.linalg.inv(np.eye(n) + penalty * centred @ centred.T)
    except np.linalg.LinAlgError:
        # So large that the identity is lost: no state will be finite.
        inverse = np.full((n, n), np.nan)
    backward = np.vstack([inverse, penalty * (inverse @ centred).T])
    forward = np.vstack([centred, labels / m])
    lowest = -C / penalty
    return StepMatrices(
        backward.astype(SINGLE),
        forward.astype(SINGLE),
        labels.astype(SINGLE),
        lowest.astype(SINGLE),
        penalty,
    )


def iterate(
    system: StepMatrices,
    choice: BatchChoice,
    state: np.ndarray,
    steps: int,
    tries: int,
    over: float,
    should_stop: Callable[[], bool],
) -> tuple[np.ndarray, np.ndarray]:
    """Change the states by some steps; return their z and their dual points.

    ``tries`` is the number of Newton steps for the first scales, ``over`` the factor of
    over-relaxation. The dual points are within their box, up to rounding, but not
    balanced.
    """
    n = choice.free.shape[1]
    p, q, scale = state[:, :n], state[:, n:-1], state[:, -1:]
    targets = np.empty_like(state[:, :-1])
    weights = np.empty_like(state[:, : n + 1])
    for _ in range(steps):
        if should_stop():
            break
        chosen = _nearest_weights(system, choice, p, scale, tries)
        tries = 1
        v = _multipliers(system, q)
        s = q - v
        targets[:, :n] = 2.0 * chosen - p
        targets[:, n:] = s - v
        weights[:, :n] = targets @ system.backward
        weights[:, n] = targets[:, n:] @ system.y
        p += over * (weights[:, :n] - chosen)
        q += over * (weights @ system.forward - s)
    z = _cut(_sizes(choice, p) * scale)
    return z, -system.penalty * _multipliers(system, q)


def _multipliers(system: StepMatrices, q: np.ndarray) -> np.ndarray:
    """The multipliers of the margins, divided by the penalty."""
    return np.maximum(np.minimum(q - 1.0, 0.0), system.lowest)


def _sizes(choice: BatchChoice, p: np.ndarray) -> np.ndarray:
    sizes = np.abs(p)
    sizes *= choice.free
    sizes += choice.forced
    return sizes


def _cut(scaled: np.ndarray) -> np.ndarray:
    scaled -= 1.0
    return np.clip(scaled, 0.0, 1.0)


def _nearest_weights(
    system: StepMatrices,
    choice: BatchChoice,
    p: np.ndarray,
    scale: np.ndarray,
    tries: int,
) -> np.ndarray:
    """The weights nearest to p in the sense of the k-support norm; updates the scale.

    They are ``p z / (1 + z)`` with ``z = clip(scale |p| - 1, 0, 1)`` of the given sum.
    The scale is found by Newton steps; in one iteration it moves little.
    """
    sizes = _sizes(choice, p)
    for _ in range(tries):
        z = _cut(sizes * scale)
        lacking = choice.total - np.sum(z, axis=1, keepdims=True)
        between = (z > 0.0) & (z < 1.0)
        slope = np.sum(sizes * between, axis=1, keepdims=True)
        # Without a slope, all z are at their limits: go up or down quickly.
        guess = np.where(
            slope > 0.0, lacking / np.maximum(slope, 1e-30), lacking * scale
        )
        scale += np.maximum(np.minimum(guess, scale), -0.5 * scale)
        np.clip(scale, LEAST_SCALE, LARGEST_SCALE, out=scale)
    z = _cut(sizes * scale)
    chosen = p * z
    z += 1.0
    chosen /= z
    return chosen


# --- The engine -----------------------------------------------------------------------

NO_WEIGHTS = np.empty(0)
# Shifts that balance a point: entries that reach 0 or C leave some to the others.
SHIFTS = 3


class _PreparedFeatures(NamedTuple):
    """The features that batches use, and their matrices.

    ``features`` are in increasing order; ``columns`` are their signed rows, transposed,
    in double precision.
    """

    features: np.ndarray
    columns: np.ndarray
    system: StepMatrices


def batching_obstacle(engine: object) -> str | None:
    """The property of the data of an engine that rules out batches, if any."""
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

    The first request is solved by the interior point, and begins a state, from which
    all that have none continue; a child continues the state of its parent. Curvatures
    are upper bounds, which the branching rule corrects as it learns.

    Parameters
    ----------
    native : NativeEngine
        For data without a ``batching_obstacle``.

    Attributes
    ----------
    open_nodes : int
        How many open nodes of a tree make a good batch.
    """

    def __init__(self, native: NativeEngine):
        super().__init__(native.data, native.parameters, native.columns)
        parameters = native.parameters.batch
        self.open_nodes = parameters.open_nodes
        self._rows = parameters.rows
        self._penalty = parameters.penalty * float(native.data.C.mean())
        # Both are replaced as a whole: threads may share the engine.
        self._part: _PreparedFeatures | None = None
        self._first_state: np.ndarray | None = None

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations: together, except for SVMs and the first one."""
        continuing: list[int] = []
        new: list[int] = []
        for t, request in enumerate(requests):
            if request.region.free.size > 0 and self._first_state is not None:
                (new if request.start.state is None else continuing).append(t)
        parameters = self.parameters.batch
        results = self._in_batches(requests, continuing, parameters.steps)
        results |= self._in_batches(requests, new, parameters.new_steps)
        alone = [t for t in range(len(requests)) if t not in results]
        if alone:
            singles = [requests[t] for t in alone]
            results.update(zip(alone, super().solve(singles), strict=True))
            self._make_first_state(singles)
        return [results[t] for t in range(len(requests))]

    def _in_batches(
        self, requests: list[RelaxationRequest], indices: list[int], steps: int
    ) -> dict[int, RelaxationResult]:
        """Results by index, for all of these requests that batches can solve."""
        results = {}
        while indices:
            chunk = indices[: self._rows]
            try:
                solved = self._solve_batch([requests[t] for t in chunk], steps)
            except MemoryError:
                if len(chunk) == 1:
                    break
                # Smaller batches from now on.
                self._rows = len(chunk) // 2
                continue
            for t, result in zip(chunk, solved, strict=True):
                # States that overflowed have proved nothing.
                if result.working_set.state is not None:
                    results[t] = result
            indices = indices[len(chunk) :]
        return results

    def _make_first_state(self, requests: list[RelaxationRequest]) -> None:
        """Make the first state, for the first request that has free features."""
        undecided = [request for request in requests if request.region.free.size]
        if self._first_state is not None or not undecided:
            return
        regions, parameters = [undecided[0].region], self.parameters.batch
        state = np.zeros((1, self.n_features + self.n_samples + 1), dtype=SINGLE)
        state[0, -1] = 1.0
        try:
            self._iterate(
                self._part_for(regions),
                _batch_of(regions),
                state,
                parameters.first_steps,
                parameters.first_tries,
            )
        except MemoryError:
            return
        if np.isfinite(state).all():
            self._first_state = state[0]

    def _solve_batch(
        self, requests: list[RelaxationRequest], steps: int
    ) -> list[RelaxationResult]:
        """Continue the states of some requests, or the first state."""
        regions = [request.region for request in requests]
        part = self._part_for(regions)
        batch = _batch_of(regions)
        first = self._first_state
        starts = [request.start.state for request in requests]
        state = np.array([first if start is None else start for start in starts])
        z, alpha = self._iterate(part, batch, state, steps, self.parameters.batch.tries)
        data = self.data
        points = np.clip(alpha.astype(float), 0.0, data.C)
        if data.intercept:
            points = _shifted(points, data.y, data.C)
        points = repair_rows(points, data.y, data.C, data.intercept)
        products = np.zeros((len(requests), self.n_features))
        # In double precision; bounds cover every order of summation.
        products[:, part.features] = points @ part.columns
        cutoffs = np.array([request.cutoff for request in requests])
        bounds = bound_rows(data, points, products, batch, cutoffs)
        return self._results(requests, batch, steps, points, bounds, z, state)

    def _part_for(self, regions: list[Region]) -> _PreparedFeatures:
        """Features that contain those of all regions, and not many more."""
        parameters = self.parameters.batch
        in_regions = np.zeros(self.n_features, dtype=bool)
        for region in regions:
            in_regions[region.free] = True
            in_regions[region.forced] = True
        part = self._part
        if part is not None:
            in_part = np.zeros(self.n_features, dtype=bool)
            in_part[part.features] = True
            is_small = len(regions) < parameters.min_rows_to_drop
            most = parameters.drop_below * part.features.size
            if not np.any(in_regions & ~in_part) and (
                is_small or in_regions.sum() >= most
            ):
                return part
        data, features = self.data, np.flatnonzero(in_regions)
        rows = data.A[features]
        with np.errstate(over="ignore", invalid="ignore"):
            system = make_system(rows, data.y, data.C, data.intercept, self._penalty)
        self._part = part = _PreparedFeatures(features, rows.T, system)
        return part

    def _iterate(
        self,
        part: _PreparedFeatures,
        batch: RegionBatch,
        state: np.ndarray,
        steps: int,
        tries: int,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Change states by some steps; return z of all features and dual points."""
        n = self.n_features
        entries = np.concatenate([part.features, np.arange(n, n + self.n_samples + 1)])
        moving = state[:, entries]
        choice = _batch_choice(batch, n, part.features)
        z = np.zeros((state.shape[0], n))
        # States that overflow single precision end as dual points of zeros.
        with np.errstate(over="ignore", invalid="ignore"):
            part_z, alpha = iterate(
                part.system,
                choice,
                moving,
                steps,
                tries,
                self.parameters.batch.over_relaxation,
                lambda: bool(self.data.stop[0]),
            )
        z[:, part.features] = np.nan_to_num(part_z)
        state[:, entries] = moving
        return z, alpha

    def _results(
        self,
        requests: list[RelaxationRequest],
        batch: RegionBatch,
        steps: int,
        points: np.ndarray,
        batch_bounds: BatchBounds,
        z: np.ndarray,
        state: np.ndarray,
    ) -> list[RelaxationResult]:
        """The results at some repaired dual points."""
        parameters = self.parameters.batch
        # ``c_j^2 / z_j`` if no weight changes, an upper bound; zero where z is tiny.
        curvature = np.where(
            z > parameters.least_z,
            batch_bounds.squares / np.maximum(z, parameters.least_z),
            0.0,
        )
        starts, counts = batch.free_starts.tolist(), batch_bounds.n_decided.tolist()
        is_finite = np.isfinite(state).all(axis=1).tolist()
        results = []
        for t, (request, bound) in enumerate(
            zip(requests, batch_bounds.bounds.tolist(), strict=True)
        ):
            results.append(
                RelaxationResult(
                    max(0.0, bound), 0.0, np.inf, 1, steps,
                    request.n_before + 1 >= parameters.max_rounds, points[t],
                    batch_bounds.squares[t], z[t], curvature[t], NO_WEIGHTS,
                    request.start._replace(state=state[t] if is_finite[t] else None),
                    batch_bounds.decision[starts[t] : starts[t + 1]], counts[t] > 0,
                )
            )  # fmt: skip
        return results


def _batch_of(regions: list[Region]) -> RegionBatch:
    """The arrays of regions, concatenated."""
    forced = [region.forced for region in regions]
    free = [region.free for region in regions]
    return RegionBatch(
        np.concatenate(forced),
        np.concatenate(free),
        _starts(forced),
        _starts(free),
        np.array([region.k for region in regions]),
    )


def _starts(parts: list[np.ndarray]) -> np.ndarray:
    return np.cumsum([0, *(part.shape[0] for part in parts)])


def _batch_choice(batch: RegionBatch, n: int, features: np.ndarray) -> BatchChoice:
    """The decisions of regions about some of n features."""
    count = batch.k.shape[0]
    free = np.zeros((count, n), dtype=SINGLE)
    forced = np.zeros((count, n), dtype=SINGLE)
    n_forced = np.diff(batch.forced_starts)
    rows = np.arange(count)
    free[rows.repeat(np.diff(batch.free_starts)), batch.free] = 1.0
    forced[rows.repeat(n_forced), batch.forced] = FORCED
    total = (batch.k + n_forced).astype(SINGLE)[:, np.newaxis]
    return BatchChoice(free[:, features], forced[:, features], total)


def _shifted(points: np.ndarray, y: np.ndarray, C: np.ndarray) -> np.ndarray:
    """The points with classes of about equal sums, by moving entries between 0 and C.

    The dual value has next to no slope in them. Entries at C stay there, which also
    keeps certificates small.
    """
    for _ in range(SHIFTS):
        between = (points > 0.0) & (points < C)
        excess = points @ y / np.maximum(between.sum(axis=1), 1)
        moved = np.clip(points - excess[:, None] * y, 0.0, C)
        points = np.where(between, moved, points)
    return points
