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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.screening import BatchBounds, RegionBatch, bound_rows, repair_rows
from .native import NativeEngine
from .protocol import Region, RelaxationRequest, RelaxationResult

# --- ADMM for the relaxations of many nodes at a time, by products with few matrices --
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


class BatchRegions(NamedTuple):
    """What the regions of a batch decide, one row for each.

    Attributes
    ----------
    free, forced : arrays (N, n)
        1 for these features, else 0; forced features have ``FORCED``.
    total : array (N, 1)
        The number of features with all that are forced.
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
    choice: BatchRegions,
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
        chosen = _chosen(system, choice, p, scale, tries)
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
    return np.maximum(np.clip(q - 1.0, None, 0.0), system.lowest)


def _sizes(choice: BatchRegions, p: np.ndarray) -> np.ndarray:
    sizes = np.abs(p)
    sizes *= choice.free
    sizes += choice.forced
    return sizes


def _cut(scaled: np.ndarray) -> np.ndarray:
    scaled -= 1.0
    return np.clip(scaled, 0.0, 1.0)


def _chosen(
    system: StepMatrices,
    choice: BatchRegions,
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
            slope > 0.0, lacking / np.clip(slope, 1e-30, None), lacking * scale
        )
        scale += np.maximum(np.minimum(guess, scale), -0.5 * scale)
        scale[...] = np.clip(scale, LEAST_SCALE, LARGEST_SCALE)
    z = _cut(sizes * scale)
    chosen = p * z
    z += 1.0
    chosen /= z
    return chosen


# --- BatchedEngine: the relaxations of many nodes at a time, by ADMM ------------------

NO_WEIGHTS = np.empty(0)
# Shifts that balance a point: entries that reach 0 or C leave a rest to the others.
SHIFTS = 3


class _PreparedFeatures(NamedTuple):
    """The features that batches use, and their matrices.

    ``features`` are in increasing order; ``columns`` are their signed rows, transposed,
    in double precision.
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

    The first request is solved by the interior point, and begins a state, from which
    all that have none continue; a child continues the state of its parent. What an
    interior point knows of curvatures is replaced by an upper bound, which the
    branching rule corrects as it learns.

    Parameters
    ----------
    native : NativeEngine
        For data that ``why_not_batched`` has nothing against.

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
        known: list[int] = []
        new: list[int] = []
        for t, request in enumerate(requests):
            if request.region.free.size > 0 and self._first_state is not None:
                (new if request.start.state is None else known).append(t)
        parameters = self.parameters.batch
        found = self._in_batches(requests, known, parameters.steps)
        found |= self._in_batches(requests, new, parameters.new_steps)
        alone = [t for t in range(len(requests)) if t not in found]
        if alone:
            results = super().solve([requests[t] for t in alone])
            found.update(zip(alone, results, strict=True))
            self._begin([requests[t] for t in alone])
        return [found[t] for t in range(len(requests))]

    def _in_batches(
        self, requests: list[RelaxationRequest], places: list[int], steps: int
    ) -> dict[int, RelaxationResult]:
        """Results of those of the requests at some places that batches can solve."""
        found = {}
        while places:
            several = places[: self._rows]
            try:
                results = self._together([requests[t] for t in several], steps)
            except MemoryError:
                if len(several) == 1:
                    break
                # Smaller batches from now on.
                self._rows = len(several) // 2
                continue
            for t, one in zip(several, results, strict=True):
                # States that overflowed have proved nothing.
                if one.working_set.state is not None:
                    found[t] = one
            places = places[len(several) :]
        return found

    def _begin(self, requests: list[RelaxationRequest]) -> None:
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

    # --- in batches ------------------------------------------------------------------

    def _together(
        self, requests: list[RelaxationRequest], steps: int
    ) -> list[RelaxationResult]:
        """Continue the states of some requests, or the first state."""
        regions = [request.region for request in requests]
        part = self._part_for(regions)
        batch = _batch_of(regions)
        first = self._first_state
        states = [request.start.state for request in requests]
        state = np.array([first if one is None else one for one in states])
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
        found = bound_rows(data, points, products, batch, cutoffs)
        return self._results(requests, batch, steps, points, found, z, state)

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
        return _PreparedFeatures(features, rows.T, system)

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
        own = np.concatenate([part.features, np.arange(n, n + self.n_samples + 1)])
        moving = state[:, own]
        choice = _choice(batch, n, part.features)
        z = np.zeros((state.shape[0], n))
        # What overflows single precision ends as a dual point of zeros.
        with np.errstate(over="ignore", invalid="ignore"):
            found, alpha = iterate(
                part.system,
                choice,
                moving,
                steps,
                tries,
                self.parameters.batch.over_relaxation,
                lambda: bool(self.data.stop[0]),
            )
        z[:, part.features] = np.nan_to_num(found)
        state[:, own] = moving
        return z, alpha

    def _results(
        self,
        requests: list[RelaxationRequest],
        batch: RegionBatch,
        steps: int,
        points: np.ndarray,
        found: BatchBounds,
        z: np.ndarray,
        state: np.ndarray,
    ) -> list[RelaxationResult]:
        """The results at some repaired dual points."""
        parameters = self.parameters.batch
        curvature = _curvature(found.squares, z, parameters.least_z)
        starts, counts = batch.free_starts.tolist(), found.n_decided.tolist()
        goes_on = np.isfinite(state).all(axis=1).tolist()
        results = []
        for t, (request, bound) in enumerate(
            zip(requests, found.bounds.tolist(), strict=True)
        ):
            results.append(
                RelaxationResult(
                    max(0.0, bound), 0.0, np.inf, 1, steps,
                    request.n_before + 1 >= parameters.max_rounds, points[t],
                    found.squares[t], z[t], curvature[t], NO_WEIGHTS,
                    request.start._replace(state=state[t] if goes_on[t] else None),
                    found.decision[starts[t] : starts[t + 1]], counts[t] > 0,
                )
            )  # fmt: skip
        return results


def _batch_of(regions: list[Region]) -> RegionBatch:
    """Regions side by side."""
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


def _choice(batch: RegionBatch, n: int, features: np.ndarray) -> BatchRegions:
    """What regions decide about some of n features."""
    count = batch.k.shape[0]
    free = np.zeros((count, n), dtype=SINGLE)
    forced = np.zeros((count, n), dtype=SINGLE)
    n_forced = np.diff(batch.forced_starts)
    rows = np.arange(count)
    free[rows.repeat(np.diff(batch.free_starts)), batch.free] = 1.0
    forced[rows.repeat(n_forced), batch.forced] = FORCED
    total = (batch.k + n_forced).astype(SINGLE)[:, np.newaxis]
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


def _curvature(squares: np.ndarray, z: np.ndarray, least_z: float) -> np.ndarray:
    """The curvature of a relaxation in z_j if no weight changes: ``c_j^2 / z_j``.

    An upper bound; zero where z is next to nothing.
    """
    return np.where(z > least_z, squares / np.maximum(z, least_z), 0.0)
