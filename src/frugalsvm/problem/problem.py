"""Problem: the data and constraints of FS-SVM, validated once and then immutable.

min 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w x_i + b))
s.t. ||w||_0 <= max_features,  sum_{w_j != 0} cost_j <= max_cost,
     w_j = 0 for excluded features; included features count against both budgets
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checker import objective_bound
from ..engine.column_generation import ColumnGenerationEngine, signed_columns
from ..engine.native import NativeEngine
from ..engine.region import Region
from ..engine.rows import RowCache
from ..engine.source import Source
from ..engine.subsampling import draw
from ..engine.tall import native_engine
from ..kernels.bounds import row_norm_bounds, varying_rows
from ..kernels.data import NEVER, Data
from .sources import (
    SMALL_SPREAD,
    SparseSource,
    check_room,
    is_for_source,
    is_sparse,
    make_source,
)
from .validation import (
    check_costs,
    check_data,
    check_indices,
    check_labels,
    check_max_features,
    check_shape,
    check_weights,
    freeze,
)

# Costs are sums of floats: a budget of 0.3 must admit 0.1 + 0.2. Bounds hold for a
# slightly larger budget, so that rounding of sums cannot invalidate them.
COST_SLACK, BOUND_SLACK = 0.999e-9, 1e-9
# Remaining budgets are rounded up by this fraction.
LEFT_SLACK = 1e-12
# Entries of a block of rows.
BLOCK = 2**20
# Advice if a dense matrix does not fit into memory.
NOT_DENSE = (
    "methods auto, swap, relax-and-round and branch-and-bound do without it, all "
    "others need fewer features or samples."
)


class Problem:
    """An instance of FS-SVM.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Real data of at most 1e50 in absolute value. They are not scaled. Sparse
        matrices and large tables of more than 1000 features (2^26 doubles, or 2^22
        entries of another type or of a ``numpy.memmap``) are not copied; do not modify
        them while the problem is in use.
    y : array-like of shape (n_samples,)
        Labels in {-1, +1}; both must occur.
    C : float, default=1.0
        Weight of the hinge loss.
    sample_weight : array-like of shape (n_samples,), default=None
        Multipliers of C, one per sample. Samples of weight zero are dropped; otherwise
        C times the weight must lie between 1e-30 and 1e30.
    max_features : int, default=None
        Maximum number of features; None for no limit.
    feature_costs : array-like of shape (n_features,), default=None
        Positive cost of each feature, between 1e-50 and 1e50.
    max_cost : float, default=None
        Maximum total cost of the features used; needs ``feature_costs``.
    include, exclude : iterables of int, default=()
        Features that are always selected (and count against the budgets), and features
        that are never selected.
    fit_intercept : bool, default=True
        Whether the intercept b is free or zero.
    overwrite_X : bool, default=False
        Whether X may be overwritten. This avoids a copy if X is an array of doubles in
        Fortran order and no sample has weight zero.

    Attributes
    ----------
    source : Source or None
        The data source that holds X, if X was not copied.
    shift : ndarray of shape (n_features,)
        The mean of features with a relatively small spread; 0 for all others and
        without an intercept. With a free intercept, shifts change neither solutions nor
        dual points, but they reduce rounding errors.
    y, C : ndarrays of shape (n_kept,)
        Labels and loss weights of the samples that were kept.
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        max_features: int | None = None,
        feature_costs: ArrayLike | None = None,
        max_cost: float | None = None,
        include: Iterable[int] = (),
        exclude: Iterable[int] = (),
        fit_intercept: bool = True,
        overwrite_X: bool = False,
    ):
        data: Any = check_shape(X) if is_for_source(X) else check_data(X)
        labels = check_labels(y, data.shape[0])
        weights = check_weights(C, sample_weight, data.shape[0])
        # Weights of all samples; C has only the positive ones.
        self.weights = freeze(weights)
        self._sample_weight = None if sample_weight is None else np.array(sample_weight)
        kept = weights > 0
        if np.unique(labels[kept]).size < 2:
            raise ValueError(
                "y has only one class among the samples of positive weight; a "
                "classifier needs samples of both classes with sample_weight > 0."
            )
        n = data.shape[1]
        self.y = freeze(labels[kept])
        self.C = freeze(np.array(weights[kept]))
        self.fit_intercept = bool(fit_intercept)
        self.n_threads = 1
        self._unshifted: dict[int, np.ndarray] = {}
        self._A: np.ndarray | None = None
        self.source: Source | None = None
        self._cache: RowCache | None = None
        if is_for_source(X):
            self._set_source(data, kept)
        else:
            self._set_dense(data, kept, overwrite_X and data is X)
        self.max_features = check_max_features(max_features, n)
        self.costs, self.max_cost = check_costs(feature_costs, max_cost, n)
        self._has_unit_costs = feature_costs is None
        self.include = check_indices("include", include, n)
        self.exclude = check_indices("exclude", exclude, n)
        self.stop_flag, self.is_watched = NEVER, False
        self._check_sets()

    def _set_source(self, data: Any, kept: np.ndarray) -> None:
        """Use the data in place."""
        some = None if kept.all() else np.flatnonzero(kept)
        self.source = make_source(data, some, shifts=self.fit_intercept)
        # Sparse rows are expanded as quickly as dense ones are copied.
        self._cache = None if is_sparse(data) else RowCache()
        self.shift = freeze(self.source.shift)

    def _set_dense(self, data: np.ndarray, kept: np.ndarray, in_place: bool) -> None:
        """Store the data as one matrix: a copy, or X overwritten."""
        if not kept.all():
            data = data[kept]
        # Never modify arrays of the caller.
        in_place &= bool(data.flags.f_contiguous and data.flags.writeable)
        in_place &= data.dtype == np.float64
        if not in_place:
            check_room(8.0 * data.size, f"a copy of X {data.shape}", NOT_DENSE)
        A = _signed(data, self.y, in_place and bool(kept.all()))
        self.shift = freeze(np.zeros(A.shape[0]))
        if self.fit_intercept:
            self.shift, self._unshifted = _shift_rows(A, self.y)
        self._A = freeze(A)

    def _check_sets(self) -> None:
        both = np.intersect1d(self.include, self.exclude)
        if both.size:
            raise ValueError(
                f"include and exclude overlap in feature(s) {both.tolist()}; remove "
                "them from one of the two."
            )
        if self.include.size > self.max_features:
            raise ValueError(
                f"include has {self.include.size} features, but max_features is "
                f"{self.max_features}; raise max_features or include fewer."
            )
        price = self.costs[self.include].sum()
        if not price <= self.cost_budget:
            raise ValueError(
                f"the features in include cost {price:g}, but max_cost is "
                f"{self.max_cost:g}; raise max_cost or include fewer."
            )

    @property
    def A(self) -> np.ndarray:
        """Signed data, ``A[j, i] = y_i (X_ij - shift_j)``, one row per feature.

        Built on first use if X was not copied. Callers that can do without it use
        products or a few rows from ``engine`` instead.
        """
        if self._A is None:
            shape = self.n_features, self.n_samples
            check_room(
                8.0 * shape[0] * shape[1], f"X as a dense matrix {shape}", NOT_DENSE
            )
            self._A = freeze(self._gather(np.arange(self.n_features)))
        return self._A

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.shift.size

    @property
    def n_samples(self) -> int:
        """Number of samples of positive weight."""
        return self.y.size

    @property
    def cost_budget(self) -> float:
        """``max_cost`` with an allowance for rounding in sums of costs."""
        return self.max_cost * (1.0 + COST_SLACK)

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the rows of A."""
        if self.source is not None:
            return freeze(self.source.norms)
        return freeze(row_norm_bounds(self.A))

    @cached_property
    def candidates(self) -> np.ndarray:
        """Features that may be chosen freely, in increasing order.

        With an intercept, constant features are omitted: they cannot improve any
        solution, so this changes neither optimum nor bounds.
        """
        allowed = np.ones(self.n_features, dtype=bool)
        allowed[self.include] = False
        allowed[self.exclude] = False
        allowed &= self.norms > 0
        if self.fit_intercept:
            source = self.source
            allowed &= varying_rows(self.A, self.y) if source is None else source.varies
        return freeze(np.flatnonzero(allowed))

    @property
    def engine(self) -> NativeEngine | ColumnGenerationEngine:
        """The engine that computes with the data."""
        if self.source is not None:
            return ColumnGenerationEngine(
                self.source, self.y, self.C, self.fit_intercept, self.costs,
                self.stop_flag, self._cache, self.n_threads,
            )  # fmt: skip
        return native_engine(
            Data(
                self.A, self.norms, self.y, self.C, self.fit_intercept, self.costs,
                self.stop_flag,
            )
        )  # fmt: skip

    def watching(self, flag: np.ndarray, n_threads: int | None = None) -> Problem:
        """The same problem with a stop flag for compiled code.

        ``flag`` is an array of one byte, set by another thread. ``n_threads`` is for
        products with large data; None keeps the present number.
        """
        other = self._copy()
        other.stop_flag, other.is_watched = flag, True
        other.n_threads = self.n_threads if n_threads is None else n_threads
        return other

    def with_budget(
        self, max_features: int | None, max_cost: float | None = None
    ) -> Problem:
        """The same problem with other budgets; the data are shared.

        ``max_cost`` needs feature costs; None keeps the present one.
        """
        other = self._copy()
        other.max_features = check_max_features(max_features, self.n_features)
        if max_cost is not None:
            costs = None if self._has_unit_costs else self.costs
            _, other.max_cost = check_costs(costs, max_cost, self.n_features)
        other._check_sets()
        return other

    def with_C(self, C: float) -> Problem:
        """The same problem with another weight of the loss; the data are shared."""
        other = self._copy()
        weights = check_weights(C, self._sample_weight, self.weights.size)
        other.weights = freeze(weights)
        other.C = freeze(np.array(weights[weights > 0]))
        return other

    def _copy(self) -> Problem:
        # Cached values are shared.
        _ = self.norms, self.candidates
        return copy.copy(self)

    def root_region(self) -> Region:
        """The region of all supports: only include and exclude are decided."""
        budget = self.max_cost * (1.0 + BOUND_SLACK)
        left = budget
        if np.isfinite(budget):
            spent = self.costs[self.include].sum()
            # Rounded up, so that the bound cannot profit from the subtraction.
            left = (budget - spent) + LEFT_SLACK * (budget + spent)
        return Region(
            # Copies: read-only arrays would make the kernels compile again.
            np.array(self.include),
            np.array(self.candidates),
            int(self.max_features - self.include.size),
            float(left),
        )

    def restrict(self, features: np.ndarray, *, dense: bool = True) -> Problem:
        """The problem on some of the features, renumbered in the given order.

        ``features`` must have no duplicates and contain all included features. Only
        their rows of the data are copied, and nothing is validated again. Sparse data
        become dense unless ``dense`` is False.
        """
        small = object.__new__(Problem)
        small._A, small.source, small._cache = None, None, None
        if not dense and isinstance(self.source, SparseSource):
            small.source = self.source.part(features)
        else:
            check_room(
                8.0 * len(features) * self.n_samples,
                f"a problem on {len(features)} features",
                "choose fewer of them.",
            )
            small._A = freeze(self._gather(features))
        small.n_threads = self.n_threads
        small.shift = freeze(self.shift[features])
        small._unshifted = self._as_given(features)
        small.y, small.C, small.weights = self.y, self.C, self.weights
        small._sample_weight = self._sample_weight
        small._has_unit_costs = self._has_unit_costs
        small.stop_flag, small.is_watched = self.stop_flag, self.is_watched
        small.fit_intercept = self.fit_intercept
        small.max_features = min(self.max_features, small.n_features)
        small.costs = freeze(self.costs[features])
        small.max_cost = self.max_cost
        small.include = freeze(np.flatnonzero(np.isin(features, self.include)))
        small.exclude = freeze(np.flatnonzero(np.isin(features, self.exclude)))
        # Known for all features, and expensive if there are many samples.
        small.norms = freeze(self.norms[features])
        return small

    def drawn(self, size: int, rng: np.random.Generator) -> Problem:
        """The problem on a weighted subsample of about the given size.

        Each class has at least a quarter of it, if the data have enough. The new
        problem is always dense.
        """
        samples, C = draw(self.y, self.C, size, rng, least=size // 4)
        check_room(
            8.0 * samples.size * self.n_features,
            f"{samples.size} samples of {self.n_features} features",
            "choose fewer features.",
        )
        small = self._copy()
        small.source = small._cache = None
        small._A = freeze(self._at_samples(samples))
        as_given = self._as_given(np.arange(self.n_features))
        small._unshifted = {j: row[samples] for j, row in as_given.items()}
        small.y, small.C = freeze(self.y[samples]), freeze(C)
        # As factors of a C of 1.
        small.weights, small._sample_weight = small.C, np.array(C)
        # Features may be constant on the subsample.
        del small.norms, small.candidates
        return small

    def requiring(self, feature: int) -> Problem:
        """The problem with one more included feature."""
        other = self._copy()
        other.include = freeze(np.union1d(self.include, [feature]))
        del other.candidates
        other._check_sets()
        return other

    def admits(self, support: np.ndarray) -> bool:
        """Whether a set of features satisfies all constraints."""
        support = np.asarray(support)
        return bool(
            support.size <= self.max_features
            and self.costs[support].sum() <= self.cost_budget
            and np.isin(self.include, support).all()
            and not np.isin(support, self.exclude).any()
        )

    def dual_bound(self, alpha: np.ndarray) -> float:
        """Lower bound of the problem's optimum, valid for any vector ``alpha``.

        The point is repaired to satisfy the dual constraints exactly, and all roundings
        are directed so that the bound stays valid. A poor point gives a poor bound,
        never a wrong one.
        """
        point = np.ascontiguousarray(alpha, dtype=np.float64)
        if point.shape != (self.n_samples,):
            raise ValueError(
                f"alpha must have one entry per sample of positive weight "
                f"({self.n_samples}), got shape {point.shape}."
            )
        return float(self.engine.bound(self.root_region(), point).bound)

    def _gather(self, features: np.ndarray) -> np.ndarray:
        """Rows of A; large requests are not cached."""
        if self.source is None:
            return self.A[features]
        cache = self._cache
        if cache is not None and 8 * features.size * self.n_samples <= cache.max_bytes:
            return self.engine.signed_rows(features)
        return signed_columns(self.source, features, self.y)

    def _at_samples(self, samples: np.ndarray) -> np.ndarray:
        """A at some samples."""
        if self.source is None:
            return np.take(self.A, samples, axis=1)
        A = np.empty((self.n_features, samples.size))
        for features in self._blocks():
            A[features] = np.take(self._gather(features), samples, axis=1)
        return A

    def _as_given(self, features: np.ndarray) -> dict[int, np.ndarray]:
        """Signed unshifted rows of the shifted features, by position."""
        shifted = np.flatnonzero(self.shift[features])
        if self.source is None:
            numbers = features.tolist()
            return {t: self._unshifted[numbers[t]] for t in shifted.tolist()}
        rows = self.source.columns(features[shifted]) * self.y
        return dict(zip(shifted.tolist(), rows, strict=True))

    def _blocks(self) -> Iterator[np.ndarray]:
        """All features, in blocks of a limited number of entries."""
        step = max(1, BLOCK // self.n_samples)
        for start in range(0, self.n_features, step):
            yield np.arange(start, min(start + step, self.n_features))

    def signed_rows(self, features: np.ndarray | None = None) -> np.ndarray:
        """``y_i X_ij`` of some features, or of all, without shifts."""
        if features is None:
            features = np.arange(self.n_features)
            rows = self.A
        else:
            rows = self.engine.signed_rows(features)
        if not self.shift.any():
            return rows
        rows = np.array(rows)
        for t, row in self._as_given(features).items():
            rows[t] = row
        return rows

    def signed_blocks(self) -> Iterator[np.ndarray]:
        """``y_i X_ij`` of all features without shifts, block by block."""
        for features in self._blocks():
            if self.source is None:
                yield self.signed_rows(features)
            else:
                yield self.source.columns(features) * self.y

    def unshifted_intercept(self, coef: np.ndarray, intercept: float) -> float:
        """The intercept for X, given the one for A."""
        used = np.flatnonzero(coef * self.shift)
        return math.fsum([intercept, *(-coef[used] * self.shift[used])])

    def margins(self, coef: np.ndarray, intercept: float) -> np.ndarray:
        """``y_i (w x_i + b)``, with ``coef`` for all features of X."""
        used = np.flatnonzero(coef)
        if not self.shift.any():
            return self.engine.margins(used, coef[used], intercept)
        return coef[used] @ self.signed_rows(used) + intercept * self.y

    def objective(self, coef: np.ndarray, intercept: float) -> float:
        """Objective of FS-SVM, rounded up, with ``coef`` for all features of X."""
        used = np.flatnonzero(coef)
        rows = self.signed_rows(used)
        return objective_bound(rows, self.y, self.C, coef[used], float(intercept))


def _signed(data: np.ndarray, y: np.ndarray, in_place: bool) -> np.ndarray:
    """Data times labels, one row per feature, as doubles."""
    if in_place:
        return np.multiply(data.T, y, out=data.T)
    A = np.empty(data.shape[::-1])
    # In blocks of samples: faster than a pass over all samples for each feature.
    step = max(256, BLOCK // (8 * data.shape[1]))
    for start in range(0, data.shape[0], step):
        some = slice(start, start + step)
        np.multiply(data[some].T, y[some], out=A[:, some])
    return A


def _shift_rows(
    A: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Shift rows of small spread in place; return shifts and unshifted rows."""
    shift = np.zeros(A.shape[0])
    before = {}
    size = np.maximum(-A.min(axis=1), A.max(axis=1))
    means = (A @ y) / y.size
    # Small relative spread requires a large mean, which is quick to check.
    for j in np.flatnonzero(np.abs(means) > (1 - SMALL_SPREAD) * size):
        values = A[j] * y
        # The mean of a constant feature is exactly its value.
        mean = values[0] + (values - values[0]).mean()
        if np.abs(values - mean).max() <= SMALL_SPREAD * abs(mean):
            shift[j], before[int(j)] = mean, A[j].copy()
            A[j] = (values - mean) * y
    return freeze(shift), before
