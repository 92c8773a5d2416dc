"""GatheringEngine: data of which only a few features are dense at a time.

The rows of some features, a pool, are gathered, and compiled code relaxes a region as
if there were no others. Then one product prices all features, those that the pool lacks
join it, and so on until the bound over all features meets the value.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.bounds import bound_and_price, repair_dual, square_bounds
from ..kernels.data import NEVER, Data
from ..kernels.pricing import screen_region
from .merging import merge_zeros
from .native import NativeEngine
from .ordering import smallest
from .protocol import ActiveSet, Answer, DualBound, SupportSVM, Task
from .region import Region
from .rows import RowCache
from .source import Prices, Source

# Regions whose rows take no more than this are gathered as a whole.
WHOLE_BYTES = 2**24
# Rows of a pool at most, and for each feature that may be chosen, and what they may
# take. Where that is too little, the bound is weaker.
MAX_POOL, POOL_RATE, POOL_BYTES = 5000, 4, 2**30
# Features of the first pool where rows are short, and what they take where they are
# long.
FIRST_POOL, LONG_BYTES = 500, 2**26
# Features that join at once, at least, if so many are missing: short rows and long.
FEW, FEW_LONG = 200, 20
# Features worth this part of their price stay in the pool of the first rounds.
NEARLY = 0.5
# Rounds after which no feature is dropped again, so that rounds come to an end.
DROP_ROUNDS = 8
# Features worth this part of their price are where children start.
NEARLY_FOR_CHILDREN = 0.6
# First rounds only have to find the right features. Later ones are as accurate as a
# part of the gap before them, and that of a task that is continued by so much for each
# round so far.
ROUGH_TOL, PART_OF_GAP, PROGRESS = 1e-2, 0.1, 0.3
# Samples are frozen below this relative gap.
NEAR = 0.05
# The pool is to leave this part of the gap that is allowed.
INNER_TOL = 0.5
# Rounds of compiled code on a pool.
INNER_ROUNDS = 30


def signed_columns(source: Source, features: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows of A: some features, shifted and times the labels."""
    rows = source.columns(features)
    shift = source.shift[features]
    if shift.any():
        rows -= shift[:, None]
    rows *= y
    return rows


class _Round(NamedTuple):
    """A relaxation on a pool, and what it proves of all features.

    ``inner`` is numbered within the pool.
    """

    pool: np.ndarray
    inner: Answer
    dual: DualBound


class GatheringEngine:
    """Answers for data that are no dense matrix in memory.

    Parameters
    ----------
    source : Source
    y, C : arrays (m,)
    intercept : bool
    costs : array (n,)
    stop : array (1,)
        See ``kernels.data.Data``.
    cache : RowCache, default=None
        Where rows are kept, if that is worth while; engines of the same data may
        share it.
    n_threads : int, default=1
        Of products with all features.
    """

    def __init__(
        self,
        source: Source,
        y: np.ndarray,
        C: np.ndarray,
        intercept: bool,
        costs: np.ndarray,
        stop: np.ndarray = NEVER,
        cache: RowCache | None = None,
        n_threads: int = 1,
    ):
        self.source = source
        self.costs = costs
        self.n_threads = n_threads
        self._y, self._C, self._intercept = y, C, intercept
        self._stop = stop
        self._cache = cache

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.source.n_features

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.source.n_samples

    @property
    def n_entries(self) -> int:
        """Entries that a product with all features reads."""
        return self.source.n_entries

    # --- the two heavy operations ------------------------------------------------

    def products(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all features."""
        # Signs change nothing but signs.
        return self.source.multiply(self._y * alpha, self.n_threads)

    def prices(
        self, alpha: np.ndarray, most: int | None = None, above: float = 0.0
    ) -> Prices:
        """``|c|`` of the most valuable features at least; see ``DistantSource``."""
        if not self.is_distant:
            return Prices(
                np.abs(self.products(alpha)), np.broadcast_to(True, self.n_features)
            )
        source: Any = self.source
        return source.price(self._y * alpha, most, above)

    @property
    def is_distant(self) -> bool:
        """Whether a number for each feature is dear."""
        return hasattr(self.source, "price")

    def gather(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of some features."""
        if self._cache is None:
            return self._signed(features)
        return self._cache.get(features, self.n_samples, self._signed)

    def _signed(self, features: np.ndarray) -> np.ndarray:
        return signed_columns(self.source, features, self._y)

    # --- what follows from them --------------------------------------------------

    def native(self, features: np.ndarray) -> NativeEngine:
        """An engine for some features, numbered anew in their order."""
        return self._native(features, self.gather(features), self._y, self._C)

    def _native(
        self, features: np.ndarray, A: np.ndarray, y: np.ndarray, C: np.ndarray
    ) -> NativeEngine:
        norms, costs = self.source.norms[features], self.costs[features]
        # Read-only, as those of a problem are: kernels are compiled for either.
        for array in (A, y, C, norms, costs):
            array.setflags(write=False)
        return NativeEngine(Data(A, norms, y, C, self._intercept, costs, self._stop))

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """The SVM on a support; ends early once its value exceeds the cutoff."""
        support = np.asarray(support, dtype=np.int64)
        rows, numbers = self.gather(support), np.arange(support.size)
        merged = merge_zeros(rows, self._y, self._C)
        if merged is None:
            engine = self._native(support, rows, self._y, self._C)
            return engine.solve_svm(numbers, tol=tol, cutoff=cutoff, warm_w=warm_w)
        engine = self._native(support, *merged[:3])
        found = engine.solve_svm(numbers, tol=tol, cutoff=cutoff, warm_w=warm_w)
        return found._replace(alpha=merged.spread(found.alpha))

    def bound(self, region: Region, alpha: np.ndarray) -> DualBound:
        """A valid bound of a region from any dual point."""
        alpha = repair_dual(alpha, self._y, self._C, self._intercept)
        return self._bound_by(region, alpha, self._values(region, alpha))

    def _bound_by(
        self, region: Region, alpha: np.ndarray, values: np.ndarray
    ) -> DualBound:
        """The bound from a dual point and ``|c|``, or more than that."""
        squares = square_bounds(values, self.source.norms, alpha)
        bound, price = self._bound_and_price(region, alpha, squares)
        # No objective is negative.
        return DualBound(max(0.0, bound), alpha, squares, price)

    def _values(self, region: Region, alpha: np.ndarray) -> np.ndarray:
        """``|c|`` of all features that matter to a bound, others have at most those."""
        if not self.is_distant or region.budget < np.inf:
            return self.products(alpha)
        # Features that are not free may be among the most valuable.
        most = region.k + self.n_features - region.free.size
        values = self.prices(alpha, most=most).values
        values[region.forced] = np.abs(self.gather(region.forced) @ alpha)
        return values

    def _values_near(
        self, region: Region, features: np.ndarray, alpha: np.ndarray, own: np.ndarray
    ) -> np.ndarray:
        """The same, and ``|c|`` of all that may join a pool or stay in it.

        ``own`` are those of forced features and pool, whose rows are here.
        """
        above = 0.0
        in_pool = own[region.forced.size :]
        if 0 < region.k <= in_pool.size:
            # What a place among the chosen ones costs, as in ``_Rounds._worth``.
            place = np.partition(in_pool, -region.k)[-region.k]
            above = math.sqrt(NEARLY) * place
        values = self.prices(alpha, above=above).values
        values[features] = own
        return values

    def unclipped_bound(self, region: Region, found: Answer) -> float:
        """The bound of an answer, below zero if it is."""
        return self._bound_and_price(region, found.alpha, found.squares)[0]

    def _bound_and_price(
        self, region: Region, alpha: np.ndarray, squares: np.ndarray
    ) -> tuple[float, float]:
        return bound_and_price(
            alpha, squares, region.forced, region.free, region.k, self.costs,
            region.budget,
        )  # fmt: skip

    def first_features(self, free: np.ndarray, size: int) -> np.ndarray:
        """The free features most correlated with the balanced labels."""
        alpha = repair_dual(0.5 * self._C, self._y, self._C, True)
        # More where rows are short, but half of it is enough where they are long.
        short = min(FIRST_POOL, self._rows_in(WHOLE_BYTES))
        long = max(size // 2, min(size, self._rows_in(LONG_BYTES)))
        size = max(long, short)
        most = size + self.n_features - free.size
        scores = self.prices(alpha, most=most).certain[free]
        return free[smallest(-scores, size)]

    def margins(self, support: np.ndarray, w: np.ndarray, b: float) -> np.ndarray:
        """``y_i (w x_i + b)`` of all samples."""
        return w @ self.gather(support) + b * self._y

    # --- relaxations -------------------------------------------------------------

    def solve(self, tasks: list[Task]) -> list[Answer]:
        """Solve relaxations, one after the other."""
        return [self._solve(task) for task in tasks]

    def _rows_in(self, n_bytes: int) -> int:
        return n_bytes // (8 * self.n_samples)

    def most_free(self, region: Region) -> int:
        """Free features of a pool at most."""
        most = max(MAX_POOL, POOL_RATE * region.k)
        return max(1, min(most, self._rows_in(POOL_BYTES) - region.forced.size))

    @property
    def few(self) -> int:
        """Features that join a pool at once at least."""
        return FEW if self._rows_in(WHOLE_BYTES) >= FEW else FEW_LONG

    def _solve(self, task: Task) -> Answer:
        region = task.region
        n_rows = region.forced.shape[0] + region.free.shape[0]
        # What is left free after fixings may be little.
        if n_rows <= self._rows_in(WHOLE_BYTES) or region.free.shape[0] == 0:
            return self._solve_whole(task)
        if task.start.features.shape[0] > self.most_free(region):
            # All that is free, for instance.
            features = self.first_features(region.free, self.most_free(region))
            task = task._replace(start=task.start._replace(features=features))
        return _Rounds(self, task).run()

    def _solve_whole(self, task: Task) -> Answer:
        """Gather all rows of a region."""
        part = Part.of(self.n_features, task.region, task.region.free)
        found = self.native(part.features).solve([part.inside(task)])[0]
        active = ActiveSet(part.features[found.active.features], found.active.side)
        return found._replace(
            squares=part.spread(found.squares),
            z=part.spread(found.z),
            curvature=part.spread(found.curvature),
            active=active,
        )

    def relax_pool(self, task: Task, pool: np.ndarray, screens: bool) -> _Round:
        """Relax a region as if it had no other free features than some.

        If ``screens``, all squares are needed.
        """
        region = task.region
        part = Part.of(self.n_features, region, pool)
        native = self.native(part.features)
        inner = native.solve([part.inside(task)])[0]
        alpha = repair_dual(inner.alpha, self._y, self._C, self._intercept)
        if screens or not self.is_distant or region.budget < np.inf:
            values = self.products(alpha)
        else:
            # Rows that do not fit into the cache would travel once more.
            own = np.abs(native.products(alpha))
            values = self._values_near(region, part.features, alpha, own)
        return _Round(pool, inner, self._bound_by(region, alpha, values))

    def is_stopped(self) -> bool:
        """Whether somebody has asked to stop."""
        return bool(self._stop[0])

    def screen(self, task: Task, dual: DualBound) -> np.ndarray:
        """What a dual point and the cutoff say of the free features."""
        region = task.region
        return screen_region(
            dual.alpha, dual.squares, region.forced, region.free, region.k, self.costs,
            region.budget, task.cutoff,
        )  # fmt: skip


class Part(NamedTuple):
    """Some features, numbered anew, of which the first are forced.

    Attributes
    ----------
    n_features : int
        Of the data.
    features : integer array
        The forced features of a region, and some of the free ones.
    n_forced : int
    number : integer array
        Of each feature of the data within the part, if it is there.
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

    def inside(self, task: Task) -> Task:
        """A task in the numbers of the part; it starts from what is in the part."""
        size = self.features.size
        region = task.region._replace(
            forced=np.arange(self.n_forced), free=np.arange(self.n_forced, size)
        )
        start = self.number[task.start.features]
        return task._replace(
            region=region, start=ActiveSet(start[start >= 0], task.start.side)
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the part at the places of its features, zero elsewhere."""
        spread = np.zeros(self.n_features)
        spread[self.features] = values
        return spread


class _Rounds:
    """Rounds on a growing pool of free features, for one task."""

    def __init__(self, engine: GatheringEngine, task: Task):
        self._engine = engine
        self._task = task
        self._start = task.start
        self._best: DualBound | None = None
        self._n_rounds = self._n_iterations = 0

    def run(self) -> Answer:
        """Rounds until the gap is closed, or there were enough of them."""
        task = self._task
        last, is_finished = self._rounds(task.tol, task.max_rounds)
        # Too coarse to tell whether the region can be pruned?
        assert self._best is not None
        is_open = self._best.bound <= task.cutoff < last.inner.primal
        if task.fine_tol < task.tol and is_open and not self._engine.is_stopped():
            last, is_finished = self._rounds(task.fine_tol, 2 * task.max_rounds)
        return self._answer(last, is_finished)

    def _rounds(self, tol: float, limit: int) -> tuple[_Round, bool]:
        task, engine = self._task, self._engine
        round_tol = tol
        if task.rough or task.n_before > 0:
            round_tol = max(tol, ROUGH_TOL * PROGRESS**task.n_before)
        pool = self._start.features
        limit += self._n_rounds
        while True:
            inner_tol = INNER_TOL * round_tol
            last = engine.relax_pool(
                task._replace(
                    start=self._start, tol=inner_tol, fine_tol=inner_tol, cutoff=np.inf,
                    max_rounds=INNER_ROUNDS, rough=False, n_before=0,
                ),
                pool,
                screens=task.cutoff < np.inf,
            )  # fmt: skip
            self._n_rounds += 1
            self._n_iterations += last.inner.iterations
            if self._best is None or last.dual.bound > self._best.bound:
                self._best = last.dual
            gap, size = last.inner.primal - self._best.bound, abs(last.inner.primal)
            if gap <= tol * size or self._best.bound > task.cutoff:
                return last, True
            pool, grown = self._grow(last)
            if not grown and round_tol <= tol:
                return last, last.inner.finished
            # No more accurate than it takes to see what is missing.
            round_tol = min(round_tol, PART_OF_GAP * gap / size) if grown else tol
            round_tol = max(round_tol, tol)
            side = last.inner.active.side
            # As long as much is missing, samples far from the margin will come back.
            is_near = gap <= NEAR * size
            self._start = ActiveSet(pool, side if is_near else np.zeros_like(side))
            if self._n_rounds >= limit or engine.is_stopped():
                return last, False

    def _grow(self, last: _Round) -> tuple[np.ndarray, bool]:
        """Keep what is nearly worth its price, add the most valuable of the others."""
        engine, region, pool = self._engine, self._task.region, last.pool
        worth = self._worth(last, pool)
        kept = pool
        if self._n_rounds + self._task.n_before <= DROP_ROUNDS:
            kept = pool[worth[pool] > NEARLY]
        is_outside = np.zeros(engine.n_features, dtype=bool)
        is_outside[region.free] = True
        is_outside[pool] = False
        is_outside &= worth > 1.0
        missing = np.flatnonzero(is_outside)
        room = max(0, engine.most_free(region) - kept.size)
        size = min(missing.size, max(engine.few, kept.size), room)
        if size == 0:
            return pool, False
        joining = missing[smallest(-worth[missing], size)]
        return np.concatenate([kept, joining]), True

    def _worth(self, last: _Round, features: np.ndarray) -> np.ndarray:
        """What all features are worth, as parts of their prices.

        The price of a feature is that of its cost and of a place among those that are
        chosen; if none but some features had more than their price, the bound would be
        that of a region without the others.
        """
        squares, costs = last.dual.squares, self._engine.costs
        price = last.inner.price
        rest = squares[features] - price * costs[features]
        k = self._task.region.k
        place = 0.0
        if k <= features.size:
            place = max(0.0, -np.partition(-rest, k - 1)[k - 1])
        return squares / np.maximum(place + price * costs, np.finfo(float).tiny)

    def _answer(self, last: _Round, is_finished: bool) -> Answer:
        task, engine, dual = self._task, self._engine, self._best
        assert dual is not None
        region, inner = task.region, last.inner
        part = Part.of(engine.n_features, region, last.pool)
        w = np.zeros(region.forced.size + region.free.size)
        at = part.number[region.free]
        w[: region.forced.size] = inner.w[: region.forced.size]
        w[region.forced.size :][at >= 0] = inner.w[at[at >= 0]]
        decision = np.zeros(region.free.size, dtype=np.int8)
        active = self._start
        if dual.bound <= task.cutoff:
            decision = engine.screen(task, dual)
            if is_finished:
                active = self._active_set(last)
        return Answer(
            dual.bound, dual.price, inner.primal, self._n_rounds, self._n_iterations,
            is_finished, dual.alpha, dual.squares, part.spread(inner.z),
            part.spread(inner.curvature), w, active, decision, bool(decision.any()),
        )  # fmt: skip

    def _active_set(self, last: _Round) -> ActiveSet:
        """The features and samples that mattered, for children to start from."""
        free = self._task.region.free
        worthy = free[self._worth(last, free)[free] > NEARLY_FOR_CHILDREN]
        if worthy.size > self._engine.most_free(self._task.region):
            worthy = last.pool
        return ActiveSet(worthy, last.inner.active.side)
