"""Features and labels, as one dense matrix, in a source, or for several machines."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..checker import SparseColumns
from ..engine.column_generation import signed_columns
from ..engine.columns import Columns
from ..engine.source import RowCache, Source
from ..kernels.bounds import row_norm_bounds, varying_rows
from .array_sources import SMALL_SPREAD, SparseSource
from .sources import FEWER, check_room, is_sparse, make_source
from .validation import freeze

# Entries of a block of rows.
BLOCK = 2**20
# Advice if a dense matrix does not fit into memory.
NOT_DENSE = (
    "methods auto, swap, relax-and-round and branch-and-bound do without it, all "
    "others need fewer features or samples."
)


@dataclass(frozen=True, eq=False)
class SignedData:
    """Signed data, ``A[j, i] = y_i (X_ij - shift_j)``, one row per column of X.

    Attributes
    ----------
    y : ndarray of shape (n_samples,)
        Labels -1 and +1.
    fit_intercept : bool
        Whether there is an intercept, so that features may be shifted.
    shift : ndarray of shape (n_columns,)
        The mean of features with a relatively small spread; 0 for all others. With a
        free intercept, shifts change neither solutions nor dual points, but they reduce
        rounding errors.
    dense : ndarray or None
        A, unless a source holds the data.
    source : Source or None
    unshifted : dict
        For dense data: the rows of shifted features without their shift.
    cache : RowCache or None
        Cache of rows of the source, if worthwhile.
    precomputed_norms : ndarray or None
        The norms, if available: they take long if there are many samples.
    """

    y: np.ndarray
    fit_intercept: bool
    shift: np.ndarray
    dense: np.ndarray | None = None
    source: Source | None = None
    unshifted: dict[int, np.ndarray] = field(default_factory=dict)
    cache: RowCache | None = None
    precomputed_norms: np.ndarray | None = None

    @classmethod
    def in_place(
        cls, X: Any, y: np.ndarray, mask: np.ndarray, fit_intercept: bool
    ) -> SignedData:
        """Data that stay where they are; ``mask`` selects the samples."""
        samples = None if mask.all() else np.flatnonzero(mask)
        source = make_source(X, samples, shifts=fit_intercept)
        # Sparse rows are expanded as quickly as dense ones are copied.
        cache = None if is_sparse(X) else RowCache()
        return cls(y, fit_intercept, freeze(source.shift), source=source, cache=cache)

    @classmethod
    def copied(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        mask: np.ndarray,
        fit_intercept: bool,
        overwrite: bool,
    ) -> SignedData:
        """Data as one matrix: a copy, or X overwritten."""
        if not mask.all():
            X, overwrite = X[mask], False
        # Never modify arrays of the caller.
        overwrite &= bool(X.flags.f_contiguous and X.flags.writeable)
        overwrite &= X.dtype == np.float64
        if not overwrite:
            check_room(8.0 * X.size, f"a copy of X {X.shape}", NOT_DENSE)
        A = _signed(X, y, overwrite)
        shift = freeze(np.zeros(A.shape[0]))
        unshifted: dict[int, np.ndarray] = {}
        if fit_intercept:
            shift, unshifted = _shift_rows(A, y)
        return cls(y, fit_intercept, shift, freeze(A), unshifted=unshifted)

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        return self.shift.size

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.y.size

    @cached_property
    def A(self) -> np.ndarray:
        """All rows; made on first use if a source holds the data."""
        if self.dense is not None:
            return self.dense
        shape = self.n_columns, self.n_samples
        check_room(8.0 * shape[0] * shape[1], f"X as a dense matrix {shape}", NOT_DENSE)
        return freeze(self.rows(np.arange(self.n_columns)))

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the rows."""
        if self.precomputed_norms is not None:
            return self.precomputed_norms
        if self.source is not None:
            return freeze(self.source.norms)
        return freeze(row_norm_bounds(self.A))

    @cached_property
    def useful(self) -> np.ndarray:
        """Mask of the features that can improve a solution.

        Zero features cannot and, with an intercept, neither can constant ones.
        """
        useful = self.norms > 0
        if self.fit_intercept:
            source = self.source
            useful &= varying_rows(self.A, self.y) if source is None else source.varies
        return freeze(useful)

    # --- parts -----------------------------------------------------------------------

    def restrict(self, columns: np.ndarray, dense: bool) -> SignedData:
        """Some of the columns; sparse data become dense if ``dense``."""
        rows, source = None, None
        if not dense and isinstance(self.source, SparseSource):
            source = self.source.part(columns)
        else:
            check_room(
                8.0 * len(columns) * self.n_samples,
                f"a problem on {len(columns)} columns",
                "choose fewer of them.",
            )
            rows = freeze(self.rows(columns))
        return SignedData(
            self.y,
            self.fit_intercept,
            freeze(self.shift[columns]),
            rows,
            source,
            self._unshifted_rows(columns),
            precomputed_norms=freeze(self.norms[columns]),
        )

    def at_samples(self, samples: np.ndarray) -> SignedData:
        """Some of the samples, as one dense matrix."""
        unshifted = self._unshifted_rows(np.arange(self.n_columns))
        return SignedData(
            freeze(self.y[samples]),
            self.fit_intercept,
            self.shift,
            freeze(self._columns(samples)),
            unshifted={j: row[samples] for j, row in unshifted.items()},
        )

    # --- rows ------------------------------------------------------------------------

    def rows(self, features: np.ndarray) -> np.ndarray:
        """Rows of A; large requests are not cached."""
        if self.source is None:
            return self.A[features]
        n_bytes = 8 * features.size * self.n_samples
        if self.cache is not None and n_bytes <= self.cache.max_bytes:
            return self.cached_rows(features)
        return signed_columns(self.source, features, self.y)

    def cached_rows(self, features: np.ndarray) -> np.ndarray:
        """Rows of A, which are cached if that is worthwhile."""
        source = self.source
        if source is None:
            return self.A[features]
        if self.cache is None:
            return signed_columns(source, features, self.y)
        return self.cache.get(
            features,
            self.n_samples,
            lambda missing: signed_columns(source, missing, self.y),
        )

    def _columns(self, samples: np.ndarray) -> np.ndarray:
        """A at some samples."""
        if self.source is None:
            return np.take(self.A, samples, axis=1)
        A = np.empty((self.n_columns, samples.size))
        for features in self._blocks():
            A[features] = np.take(self.rows(features), samples, axis=1)
        return A

    def _unshifted_rows(self, features: np.ndarray) -> dict[int, np.ndarray]:
        """Signed unshifted rows of the shifted features, by position."""
        shifted = np.flatnonzero(self.shift[features])
        if self.source is None:
            numbers = features.tolist()
            return {t: self.unshifted[numbers[t]] for t in shifted.tolist()}
        rows = self.source.columns(features[shifted]) * self.y
        return dict(zip(shifted.tolist(), rows, strict=True))

    def _blocks(self) -> Iterator[np.ndarray]:
        """All features, in blocks of a limited number of entries."""
        step = max(1, BLOCK // self.n_samples)
        for start in range(0, self.n_columns, step):
            yield np.arange(start, min(start + step, self.n_columns))

    def signed_rows(self, features: np.ndarray | None = None) -> np.ndarray:
        """``y_i X_ij`` of some features, or of all, without shifts."""
        if features is None:
            features = np.arange(self.n_columns)
            rows = self.A
        else:
            rows = self.cached_rows(features)
        if not self.shift.any():
            return rows
        rows = np.array(rows)
        for t, row in self._unshifted_rows(features).items():
            rows[t] = row
        return rows

    def signed_blocks(self) -> Iterator[np.ndarray | SparseColumns]:
        """``y_i X_ij`` of all features without shifts: sparse, or block by block."""
        if isinstance(self.source, SparseSource):
            yield self.source.entries.times(self.y)
            return
        for features in self._blocks():
            if self.source is None:
                yield self.signed_rows(features)
            else:
                yield self.source.columns(features) * self.y

    def unshifted_intercept(self, coef: np.ndarray, intercept: float) -> float:
        """The intercept for X, from that for A."""
        shifted = np.flatnonzero(coef * self.shift)
        return math.fsum([intercept, *(-coef[shifted] * self.shift[shifted])])


def _signed(data: np.ndarray, y: np.ndarray, in_place: bool) -> np.ndarray:
    """Data times labels, one row per feature, as doubles."""
    if in_place:
        return np.multiply(data.T, y, out=data.T)
    A = np.empty(data.shape[::-1])
    # In blocks of samples: faster than a pass over all samples for each feature.
    step = max(256, BLOCK // (8 * data.shape[1]))
    for start in range(0, data.shape[0], step):
        block = slice(start, start + step)
        np.multiply(data[block].T, y[block], out=A[:, block])
    return A


def _shift_rows(
    A: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Shift rows of small spread in place; return shifts and unshifted rows."""
    shift = np.zeros(A.shape[0])
    unshifted = {}
    size = np.maximum(-A.min(axis=1), A.max(axis=1))
    means = (A @ y) / y.size
    # Small relative spread requires a large mean, which is quick to check.
    for j in np.flatnonzero(np.abs(means) > (1 - SMALL_SPREAD) * size):
        values = A[j] * y
        # The mean of a constant feature is exactly its value.
        mean = values[0] + (values - values[0]).mean()
        if np.abs(values - mean).max() <= SMALL_SPREAD * abs(mean):
            shift[j], unshifted[int(j)] = mean, A[j].copy()
            A[j] = (values - mean) * y
    return freeze(shift), unshifted


# --- StackedData: the samples of several machines, one after the other ----------------
#
# Several *machines*, SVMs that share the features they may use, are one problem:
# machine k has its own labels, weights and intercept, and its own copy of each column
# of X. With its columns and samples numbered after those of machine k - 1, a feature is
# a group of columns and is treated like any other group. For more than two classes,
# machine k is class k against all others.


@dataclass(frozen=True, eq=False)
class StackedData:
    """Features and labels of several machines; it has the interface of ``SignedData``.

    Attributes
    ----------
    parts : tuple of SignedData
        The data of each machine, whose matrix is a part of ``A``.
    machine_columns : Columns
        The columns of X, and their signs, for one machine.
    A : array (n_machines * n_columns, n_samples of X)
        The signed columns of the first machine, then those of the second, and so on.
    y : array (n_machines * n_samples of X,)
    """

    parts: tuple[SignedData, ...]
    machine_columns: Columns
    A: np.ndarray
    y: np.ndarray

    # The data are in memory.
    source = None
    cache = None

    @classmethod
    def copied(
        cls,
        X: np.ndarray,
        labels: np.ndarray,
        mask: np.ndarray,
        fit_intercept: bool,
        columns: Columns,
    ) -> StackedData:
        """Data as one matrix for each machine; ``labels`` has a column for each."""
        n_samples, n_machines = labels.shape
        check_room(
            8.0 * n_machines * X[mask].size,
            f"a copy of X {X.shape} for each of {n_machines} classes",
            FEWER,
        )
        unlabelled = SignedData.copied(
            X, np.ones(n_samples), mask, fit_intercept, overwrite=False
        )
        return cls.of(unlabelled, np.ascontiguousarray(labels.T), columns)

    @classmethod
    def of(
        cls, unlabelled: SignedData, labels: np.ndarray, columns: Columns
    ) -> StackedData:
        """The data of all machines, from data with labels of 1."""
        n_machines, n = len(labels), unlabelled.n_columns
        A = np.empty((n_machines * n, unlabelled.n_samples))
        parts = []
        for k, y in enumerate(labels):
            rows = A[k * n : (k + 1) * n]
            np.multiply(unlabelled.A, y, out=rows)
            unshifted = {j: row * y for j, row in unlabelled.unshifted.items()}
            parts.append(
                SignedData(
                    freeze(y),
                    unlabelled.fit_intercept,
                    unlabelled.shift,
                    freeze(rows),
                    unshifted=unshifted,
                    precomputed_norms=unlabelled.norms,
                )
            )
        return cls(tuple(parts), columns, freeze(A), freeze(labels.ravel()))

    @property
    def n_machines(self) -> int:
        """Number of machines."""
        return len(self.parts)

    @property
    def fit_intercept(self) -> bool:
        """Whether each machine has a free intercept."""
        return self.parts[0].fit_intercept

    @property
    def n_columns(self) -> int:
        """Number of columns of all machines."""
        return len(self.A)

    @property
    def n_samples(self) -> int:
        """Number of samples of all machines."""
        return self.y.size

    @cached_property
    def shift(self) -> np.ndarray:
        """The number that is subtracted from each column."""
        return freeze(np.concatenate([part.shift for part in self.parts]))

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the rows."""
        return freeze(np.concatenate([part.norms for part in self.parts]))

    @cached_property
    def useful(self) -> np.ndarray:
        """Mask of the columns that can improve a solution."""
        return freeze(np.concatenate([part.useful for part in self.parts]))

    def by_machine(self, values: np.ndarray) -> np.ndarray:
        """Values of all columns, or of all samples, one row for each machine."""
        return values.reshape(self.n_machines, -1)

    def signed_blocks(self) -> Iterator[np.ndarray | SparseColumns]:
        """The columns of X without labels and shifts: sparse, or block by block."""
        first = self.parts[0]
        for block in first.signed_blocks():
            if isinstance(block, SparseColumns):
                yield block.times(first.y)
            else:
                yield block * first.y

    def unshifted_intercept(
        self, coef: np.ndarray, intercepts: np.ndarray
    ) -> np.ndarray:
        """The intercepts for X, from those for A."""
        pairs = zip(self.parts, self.by_machine(coef), intercepts, strict=True)
        return np.array([part.unshifted_intercept(w, float(b)) for part, w, b in pairs])
