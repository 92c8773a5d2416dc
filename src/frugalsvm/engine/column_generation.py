"""ColumnGenerationEngine: data of which only a few features are dense at a time.

The rows of a working set of features are fetched, and compiled code relaxes a region as
if there were no others. Then one product prices all features, the missing ones join the
working set, and so on until the bound over all features meets the value.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..kernels.bounds import bound_and_price, repair_dual, square_bounds
from ..kernels.data import NEVER, Data
from ..kernels.screening import screen_region
from .columns import Columns, smallest
from .native import NativeEngine
from .parameters import DEFAULTS, EngineParameters
from .protocol import (
    DualBound,
    Region,
    RelaxationRequest,
    RelaxationResult,
    SupportSVM,
    WorkingSet,
)
from .source import Prices, RowCache, Source
from .working_set_rounds import Part, WorkingSetRound, WorkingSetRounds

# --- Merging of samples that a few sparse features do not distinguish -----------------
#
# Samples of one class with zeros in all features of a support are the same point. One
# sample with their total weight replaces them, which is exact.


class Merged(NamedTuple):
    """Signed rows with merged samples.

    Attributes
    ----------
    A : array (p, m)
        The remaining samples, then the merged ones.
    y, C : arrays (m,)
    samples : integer array
        The remaining samples in the original numbering.
    groups : list of integer arrays
        The samples in each merged one.
    weights : array
        C of all original samples.
    """

    A: np.ndarray
    y: np.ndarray
    C: np.ndarray
    samples: np.ndarray
    groups: list[np.ndarray]
    weights: np.ndarray

    def spread(self, alpha: np.ndarray) -> np.ndarray:
        """Dual variables of all samples: each gets its share of that of its group."""
        whole = np.empty(self.weights.shape[0])
        whole[self.samples] = alpha[: self.samples.size]
        merged = alpha[self.samples.size :]
        for group, value, weight in zip(
            self.groups, merged, self.C[self.samples.size :], strict=True
        ):
            whole[group] = self.weights[group] * (value / weight)
        return whole


def merge_zeros(
    A: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    parameters: EngineParameters = DEFAULTS,
) -> Merged | None:
    """Merge the samples whose features are all zero; None if they are few."""
    if A.shape[1] < parameters.merging_min_samples:
        return None
    has_entries = A.any(axis=0)
    samples = np.flatnonzero(has_entries)
    if samples.size > (1.0 - parameters.merging_min_fraction) * A.shape[1]:
        return None
    groups = [np.flatnonzero(~has_entries & (y == sign)) for sign in (1.0, -1.0)]
    groups = [group for group in groups if group.size]
    rows = np.zeros((A.shape[0], samples.size + len(groups)))
    rows[:, : samples.size] = A[:, samples]
    signs = [y[group[0]] for group in groups]
    sums = [C[group].sum() for group in groups]
    return Merged(
        rows,
        np.append(y[samples], signs),
        np.append(C[samples], sums),
        samples,
        groups,
        C,
    )


# --- The engine -----------------------------------------------------------------------


def signed_columns(source: Source, columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rows of A: some columns of X, shifted and multiplied by the labels."""
    rows = source.columns(columns)
    shift = source.shift[columns]
    if shift.any():
        rows -= shift[:, None]
    rows *= y
    return rows


class ColumnGenerationEngine:
    """Engine for data that are not a dense matrix in memory.

    Parameters
    ----------
    source : Source
    y, C : arrays (m,)
    intercept : bool
    costs : array (n,)
    stop : array (1,)
        See ``kernels.data.Data``.
    cache : RowCache, default=None
        Cache of rows, if worthwhile; engines of the same data may share it.
    n_threads : int, default=1
        Threads for products with all features.
    parameters : EngineParameters, optional
    columns : Columns, optional
        Those of the source; by default every feature is one column.
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
        parameters: EngineParameters = DEFAULTS,
        columns: Columns | None = None,
    ):
        self.source = source
        self.columns = Columns.single(source.n_features) if columns is None else columns
        self.costs = costs
        self.n_threads = n_threads
        self.parameters = parameters
        self._y, self._C, self._intercept = y, C, intercept
        self._stop = stop
        self._cache = cache

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.columns.n_features

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.source.n_samples

    @property
    def n_entries(self) -> int:
        """Number of data entries read by a product with all features."""
        return self.source.n_entries

    # --- the two heavy operations ------------------------------------------------

    def products(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all columns."""
        # Labels only change signs.
        return self.source.multiply(self._y * alpha, self.n_threads)

    def squares(self, alpha: np.ndarray) -> np.ndarray:
        """The worth of features at a dual point, with rounding errors."""
        return self.columns.squares(self.products(alpha))

    def prices(
        self, alpha: np.ndarray, most: int | None = None, above: float = 0.0
    ) -> Prices:
        """``|c|`` of at least the most valuable features; see ``DistantSource``."""
        if not self.is_distant:
            values = self.columns.norms(self.products(alpha))
            return Prices(values, np.broadcast_to(True, self.n_features))
        source: Any = self.source
        return source.price(self._y * alpha, most, above)

    @property
    def is_distant(self) -> bool:
        """Whether one number per feature is expensive to transfer.

        A distant source prices columns; features of several, or with signs, take the
        products of all of them.
        """
        return hasattr(self.source, "price") and self.columns.is_plain

    def signed_rows(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of the columns of some features."""
        columns = self.columns.of(features)
        if self._cache is None:
            return self._signed(columns)
        return self._cache.get(columns, self.n_samples, self._signed)

    def _signed(self, columns: np.ndarray) -> np.ndarray:
        return signed_columns(self.source, columns, self._y)

    # --- derived operations ------------------------------------------------------

    def native(self, features: np.ndarray) -> NativeEngine:
        """An engine for some features, renumbered in their order."""
        return self._native(features, self.signed_rows(features), self._y, self._C)

    def _native(
        self, features: np.ndarray, A: np.ndarray, y: np.ndarray, C: np.ndarray
    ) -> NativeEngine:
        norms = self.source.norms[self.columns.of(features)]
        costs, columns = self.costs[features], self.columns.restrict(features)
        # Read-only like those of a problem: otherwise kernels would compile again.
        for array in (A, y, C, norms, costs):
            array.setflags(write=False)
        data = Data(
            A, norms, y, C, self._intercept, costs, self._stop, *columns.in_kernels
        )
        return NativeEngine(data, self.parameters, columns)

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
        rows, numbers = self.signed_rows(support), np.arange(support.size)
        merged = merge_zeros(rows, self._y, self._C, self.parameters)
        if merged is None:
            engine = self._native(support, rows, self._y, self._C)
            return engine.solve_svm(numbers, tol=tol, cutoff=cutoff, warm_w=warm_w)
        engine = self._native(support, *merged[:3])
        svm = engine.solve_svm(numbers, tol=tol, cutoff=cutoff, warm_w=warm_w)
        return svm._replace(alpha=merged.spread(svm.alpha))

    def bound(self, region: Region, alpha: np.ndarray) -> DualBound:
        """A valid bound of a region from any dual point."""
        alpha = repair_dual(alpha, self._y, self._C, self._intercept)
        return self._bound_by(region, alpha, self._values(region, alpha))

    def _bound_by(
        self, region: Region, alpha: np.ndarray, values: np.ndarray
    ) -> DualBound:
        """The bound from a dual point and c, or upper bounds of ``|c|``."""
        squares = square_bounds(
            values, self.source.norms, alpha, *self.columns.in_kernels
        )
        bound, price = self._bound_and_price(region, alpha, squares)
        # No objective is negative.
        return DualBound(max(0.0, bound), alpha, squares, price)

    def _values(self, region: Region, alpha: np.ndarray) -> np.ndarray:
        """``|c|`` of all features that matter to a bound; others are smaller."""
        if not self.is_distant or region.budget < np.inf:
            return self.products(alpha)
        # Features that are not free may be among the most valuable.
        most = region.k + self.n_features - region.free.size
        values = self.prices(alpha, most=most).values
        values[region.forced] = np.abs(self.signed_rows(region.forced) @ alpha)
        return values

    def _values_near(
        self,
        region: Region,
        features: np.ndarray,
        alpha: np.ndarray,
        local_values: np.ndarray,
    ) -> np.ndarray:
        """``_values``, with ``|c|`` of all candidates for a working set.

        ``local_values`` holds those of forced features and working set, whose rows are
        local.
        """
        above = 0.0
        in_working_set = local_values[region.forced.size :]
        if 0 < region.k <= in_working_set.size:
            # The price of the count of features, as in ``working_set_rounds``.
            count_price = np.partition(in_working_set, -region.k)[-region.k]
            above = math.sqrt(self.parameters.keep_above) * count_price
        values = self.prices(alpha, above=above).values
        values[features] = local_values
        return values

    def unclipped_bound(self, region: Region, result: RelaxationResult) -> float:
        """The bound of a result, which may be negative."""
        return self._bound_and_price(region, result.alpha, result.squares)[0]

    def _bound_and_price(
        self, region: Region, alpha: np.ndarray, squares: np.ndarray
    ) -> tuple[float, float]:
        return bound_and_price(
            alpha,
            squares,
            region.forced,
            region.free,
            region.k,
            self.costs,
            region.budget,
        )

    def first_features(self, free: np.ndarray, size: int) -> np.ndarray:
        """The free features most correlated with the balanced labels."""
        alpha = repair_dual(0.5 * self._C, self._y, self._C, True)
        # More if rows are short; half of it is enough if they are long.
        parameters = self.parameters
        short = min(parameters.first_rows, self._rows_in(parameters.whole_bytes))
        fitting = self._rows_in(parameters.first_row_bytes)
        long = max(size // 2, min(size, fitting))
        size = max(long, short)
        most = size + self.n_features - free.size
        scores = self.prices(alpha, most=most).certain[free]
        return free[smallest(-scores, size)]

    # --- relaxations -------------------------------------------------------------

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations, one after the other."""
        return [self._solve(request) for request in requests]

    def _rows_in(self, n_bytes: int) -> int:
        return n_bytes // (8 * self.n_samples)

    def most_free(self, region: Region) -> int:
        """Maximum number of free features in a working set."""
        parameters = self.parameters
        most = max(parameters.max_rows, parameters.rows_per_choice * region.k)
        fitting = self._rows_in(parameters.max_row_bytes)
        fitting -= self.columns.count(region.forced)
        per_feature = self.columns.n_columns / self.n_features
        return max(1, int(min(most, fitting) / per_feature))

    @property
    def min_joining(self) -> int:
        """Minimum number of features that join a working set at once."""
        parameters = self.parameters
        if self._rows_in(parameters.whole_bytes) >= parameters.joining_short_rows:
            return parameters.joining_short_rows
        return parameters.joining_long_rows

    def _solve(self, request: RelaxationRequest) -> RelaxationResult:
        region = request.region
        n_rows = self.columns.count(region.forced, region.free)
        most = self._rows_in(self.parameters.whole_bytes)
        # Few features may be left free after fixings.
        if n_rows <= most or region.free.shape[0] == 0:
            return self._solve_whole(request)
        if request.start.features.shape[0] > self.most_free(region):
            # For example, all free features.
            features = self.first_features(region.free, self.most_free(region))
            request = request._replace(start=request.start._replace(features=features))
        return WorkingSetRounds(self, request).run()

    def _solve_whole(self, request: RelaxationRequest) -> RelaxationResult:
        """Relax a region with all its rows fetched."""
        part = Part.of(self.n_features, request.region, request.region.free)
        result = self.native(part.features).solve([part.inside(request)])[0]
        working_set = WorkingSet(
            part.features[result.working_set.features], result.working_set.side
        )
        return result._replace(
            squares=part.spread(result.squares),
            z=part.spread(result.z),
            curvature=part.spread(result.curvature),
            working_set=working_set,
        )

    def relax_on(
        self, request: RelaxationRequest, features: np.ndarray, screens: bool
    ) -> WorkingSetRound:
        """Relax a region restricted to some of its free features.

        If ``screens``, all squares are needed.
        """
        region = request.region
        part = Part.of(self.n_features, region, features)
        native = self.native(part.features)
        inner = native.solve([part.inside(request)])[0]
        alpha = repair_dual(inner.alpha, self._y, self._C, self._intercept)
        if screens or not self.is_distant or region.budget < np.inf:
            values = self.products(alpha)
        else:
            # Rows that do not fit into the cache would be transferred again.
            local_values = np.abs(native.products(alpha))
            values = self._values_near(region, part.features, alpha, local_values)
        return WorkingSetRound(features, inner, self._bound_by(region, alpha, values))

    def is_stopped(self) -> bool:
        """Whether a stop was requested."""
        return bool(self._stop[0])

    def screen(self, request: RelaxationRequest, dual: DualBound) -> np.ndarray:
        """Screening decisions of a dual point and the cutoff for the free features."""
        region = request.region
        return screen_region(
            dual.alpha,
            dual.squares,
            region.forced,
            region.free,
            region.k,
            self.costs,
            region.budget,
            request.cutoff,
        )
