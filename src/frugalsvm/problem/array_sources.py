"""Sources of features: dense tables, sparse matrices, and statistics of both."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..checker import SparseColumns
from ..kernels.data import (
    column_by_column,
    column_products,
    fill_columns,
    row_by_row,
    survey_columns,
)

# An elementwise test of values.
Property = Callable[[np.ndarray], np.ndarray]

# Features with a smaller relative spread are shifted to their mean.
SMALL_SPREAD = 0.01
# Beyond this squares and sums could overflow, and bounds would prove nothing.
LARGEST_VALUE = 1e50


class Survey(NamedTuple):
    """Statistics of features.

    Attributes
    ----------
    low, high : arrays (n,)
        Smallest and largest value of each feature; NaN where a feature has any.
    norms : array (n,)
        Upper bounds of the Euclidean norms, zero for features that are zero.
    shift : array (n,)
        See ``Problem.shift``.
    """

    low: np.ndarray
    high: np.ndarray
    norms: np.ndarray
    shift: np.ndarray

    @classmethod
    def empty(cls, n_features: int) -> Survey:
        """Empty statistics, to be filled in."""
        low, high, norms = (np.empty(n_features) for _ in range(3))
        return cls(low, high, norms, np.zeros(n_features))

    @property
    def varies(self) -> np.ndarray:
        """Whether a feature has at least two distinct values."""
        return self.low < self.high

    def part(self, start: int, stop: int) -> Survey:
        """A view of the statistics of neighbouring features."""
        return Survey(*(array[start:stop] for array in self))

    def shift_candidates(self) -> np.ndarray:
        """All features of small spread, and a few others."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        same_sign = np.sign(self.low) * np.sign(self.high) > 0
        # Both ends are within SMALL_SPREAD of the mean.
        near = self.high - self.low <= 2.01 * SMALL_SPREAD * size
        return np.flatnonzero(same_sign & near)

    def shift_features(self, features: np.ndarray, values: np.ndarray) -> None:
        """Shift features that have a small spread; ``values`` has a row for each."""
        first = values[:, :1]
        # The mean of a constant feature is exactly its value.
        means = first[:, 0] + (values - first).mean(axis=1)
        shifted = values - means[:, None]
        spread = np.abs(shifted).max(axis=1)
        small = spread <= SMALL_SPREAD * np.abs(means)
        features, shifted, spread = features[small], shifted[small], spread[small]
        self.shift[features] = means[small]
        squares = np.einsum("ij,ij->i", shifted, shifted)
        self.norms[features] = norm_bounds(squares, spread, values.shape[1])


def norm_bounds(squares: np.ndarray, size: np.ndarray, n_samples: int) -> np.ndarray:
    """Upper bounds of norms from computed sums of squares and largest entries.

    The sums may have been made in any order.
    """
    slack = 1.0 + 2 * (n_samples + 8) * 2.0**-53
    # Square root of an upper bound of underflow in a sum of squares.
    underflow = 1e-150
    return np.where(size > 0.0, np.sqrt(squares) * slack + underflow, 0.0)


def check_values(
    low: float, high: float, first: Callable[[Property], tuple[int, int, float]]
) -> None:
    """Refuse NaN, infinite and too large values, by the smallest and largest one.

    ``first`` returns row, column and value of the first entry with a property.
    """
    if not (np.isfinite(low) and np.isfinite(high)):
        row, column, value = first(lambda values: ~np.isfinite(values))
        raise ValueError(
            f"X contains {value} (first at row {row}, column {column}); "
            "impute or drop NaN and infinite values first."
        )
    if max(-low, high) > LARGEST_VALUE:
        raise ValueError(
            f"X contains values up to {max(-low, high):g}, more than "
            f"{LARGEST_VALUE:g}; rescale the features first, for instance by "
            "sklearn.preprocessing.StandardScaler."
        )


# --- ArraySource: a table of any real type, in memory or mapped from a file -----------

# Entries of a block, and of the blocks of a mapped file that are in memory.
BLOCK, AT_ONCE = 2**19, 2**25


class ArraySource:
    """Features of a dense table; at most one block of it is copied at a time.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Of any real type and order; it is read on demand, so it must not change.
    samples : integer array, default=None
        The samples to use; all by default.
    shifts : bool, default=True
        Whether features of small spread are shifted.
    """

    def __init__(
        self, X: np.ndarray, samples: np.ndarray | None = None, shifts: bool = True
    ):
        self._X = np.asarray(X)
        self._samples = samples
        self.n_samples = X.shape[0] if samples is None else samples.size
        self.n_features = X.shape[1]
        self.n_entries = self.n_samples * self.n_features
        self._survey = Survey.empty(self.n_features)
        self._for_all_blocks(
            lambda start, stop: self._survey_block(start, stop, shifts), 1
        )
        self.low, self.high = self._survey.low, self._survey.high
        self.shift, self.norms = self._survey.shift, self._survey.norms
        self.varies = self._survey.varies

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features."""
        out = np.empty(self.n_features)
        compiled = _product_for(self._X)
        if compiled is None:

            def multiply_block(start: int, stop: int) -> None:
                block, shift = self._block(start, stop), self.shift[start:stop]
                np.matmul(v, block - shift, out=out[start:stop])

        else:
            factors = v
            if self._samples is not None:
                factors = np.zeros(self._X.shape[0])
                factors[self._samples] = v

            def multiply_block(start: int, stop: int) -> None:
                compiled(self._X, factors, self.shift, start, stop, out)

        self._for_all_blocks(multiply_block, n_threads)
        return out

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Some features without shifts, one row each."""
        out = np.empty((features.size, self.n_samples))
        # A few samples at a time: mapped files are read in whole pages.
        step = max(1, AT_ONCE // self.n_features)
        for start in range(0, self.n_samples, step):
            rows = slice(start, start + step)
            if self._samples is None:
                out[:, rows] = self._X[rows, features].T
            else:
                out[:, rows] = self._X[np.ix_(self._samples[rows], features)].T
            _release_pages(self._X)
        return out

    def first(self, predicate: Property) -> tuple[int, int, float]:
        """Row, column and value of the first entry with a property, by feature."""
        j = int(np.flatnonzero(predicate(self.low) | predicate(self.high))[0])
        column = self._block(j, j + 1)[:, 0]
        t = int(np.flatnonzero(predicate(column))[0])
        row = t if self._samples is None else self._samples[t]
        return int(row), j, float(column[t])

    def _block(self, start: int, stop: int) -> np.ndarray:
        """Neighbouring features in double precision, one column each."""
        block = self._X[:, start:stop]
        if self._samples is not None:
            block = block[self._samples]
        return np.asarray(block, dtype=np.float64)

    def _survey_block(self, start: int, stop: int, shifts: bool) -> None:
        block, survey = self._block(start, stop), self._survey.part(start, stop)
        block.min(axis=0, out=survey.low)
        block.max(axis=0, out=survey.high)
        size = np.maximum(np.abs(survey.low), np.abs(survey.high))
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->j", block, block)
            survey.norms[:] = norm_bounds(squares, size, self.n_samples)
        candidates = survey.shift_candidates()
        if shifts and candidates.size:
            values = np.ascontiguousarray(block[:, candidates].T)
            survey.shift_features(candidates, values)

    def _for_all_blocks(self, work: Callable[[int, int], None], n_threads: int) -> None:
        """Apply a function to each block of neighbouring features."""
        width = max(1, BLOCK // self.n_samples)
        starts = range(0, self.n_features, width)
        with ThreadPoolExecutor(n_threads) as pool:
            # Number of blocks of a file in memory at a time.
            step = max(n_threads, AT_ONCE // BLOCK)
            for t in range(0, len(starts), step):
                group = starts[t : t + step]
                stops = [min(start + width, self.n_features) for start in group]
                apply = map if n_threads == 1 or len(group) == 1 else pool.map
                list(apply(work, group, stops))
                _release_pages(self._X)


def _product_for(X: np.ndarray) -> Any:
    """The kernel that multiplies a table of this type, if there is one."""
    if X.dtype not in (np.float32, np.float64) or not X.flags.aligned:
        return None
    if X.flags.c_contiguous:
        return row_by_row
    return column_by_column if X.flags.f_contiguous else None


def _release_pages(array: np.ndarray) -> None:
    """Release the pages of a mapped file from the memory of the process.

    The operating system may still cache them. Copy-on-write maps are skipped, since
    changes would be lost.
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap) and base.mode == "c":
            return
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


# --- SparseSource: compressed sparse columns ------------------------------------------

# Entries of a block of full columns.
SPARSE_BLOCK = 2**20
# Minimum number of entries per thread in a product.
PART = 2**17


class SparseSource:
    """Features of a sparse matrix; only the requested rows become dense.

    A feature with a shift has all its entries, since an implicit zero would be far from
    the mean. So shifts need the same products as for dense data.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_samples, n_features)
        In any format and order; repeated entries are added up. Matrices without sorted
        columns are copied; others must not change.
    samples : integer array, default=None
        The samples to use; all by default.
    shifts : bool, default=True
        Whether features of small spread are shifted.
    """

    def __init__(self, X: Any, samples: np.ndarray | None = None, shifts: bool = True):
        X = X if samples is None else X.tocsr()[samples]
        self._samples, self._shifts = samples, shifts
        self.n_samples, self.n_features = X.shape
        columns = _canonical(X)
        self._starts, self._rows = columns.indptr, columns.indices
        self._values = columns.data
        self.n_entries = int(self._starts[-1])
        survey = Survey.empty(self.n_features)
        survey_columns(
            self._starts,
            self._values,
            self.n_samples,
            survey.low,
            survey.high,
            survey.norms,
        )
        size = np.maximum(np.abs(survey.low), np.abs(survey.high))
        with np.errstate(invalid="ignore"):
            survey.norms[:] = norm_bounds(survey.norms, size, self.n_samples)
        if shifts:
            candidates = survey.shift_candidates()
            step = max(1, SPARSE_BLOCK // self.n_samples)
            for start in range(0, candidates.size, step):
                features = candidates[start : start + step]
                survey.shift_features(features, self.columns(features))
        self.low, self.high, self.norms, self.shift = survey
        self.varies = survey.varies

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features."""
        out = np.empty(self.n_features)

        def multiply_part(first: int, last: int) -> None:
            column_products(
                self._starts, self._rows, self._values, v, self.shift, first, last, out
            )

        n_parts = min(n_threads, 1 + self.n_entries // PART)
        # Parts with equal numbers of entries.
        ends = np.arange(1, n_parts) * (self.n_entries / n_parts)
        cuts = [0, *np.searchsorted(self._starts, ends).tolist(), self.n_features]
        if n_parts == 1:
            multiply_part(0, self.n_features)
        else:
            with ThreadPoolExecutor(n_parts) as pool:
                list(pool.map(multiply_part, cuts[:-1], cuts[1:]))
        return out

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Some features without shifts, one row each."""
        out = np.zeros((features.size, self.n_samples))
        numbers = np.array(features, dtype=np.int64)
        fill_columns(self._starts, self._rows, self._values, numbers, out)
        return out

    @property
    def entries(self) -> SparseColumns:
        """All columns without shifts."""
        return SparseColumns(self._starts, self._rows, self._values)

    def part(self, features: np.ndarray) -> SparseSource:
        """Some of the features, renumbered in their order."""
        shape = self.n_samples, self.n_features
        whole = sp.csc_array((self._values, self._rows, self._starts), shape=shape)
        # Shifts do not change: each depends on its own feature only.
        return SparseSource(whole[:, features], shifts=self._shifts)

    def first(self, predicate: Property) -> tuple[int, int, float]:
        """Row, column and value of the first entry with a property, by feature."""
        index = int(np.flatnonzero(predicate(self._values))[0])
        row = self._rows[index]
        column = np.searchsorted(self._starts, index, side="right") - 1
        value = float(self._values[index])
        return (
            int(row if self._samples is None else self._samples[row]),
            int(column),
            value,
        )


def _canonical(X: Any) -> Any:
    """Sorted columns without repeated entries, of a type the kernels accept."""
    columns = X.tocsc()
    # A type that holds all values exactly.
    is_single = columns.dtype == np.float32 or columns.dtype.itemsize <= 2
    dtype = np.float32 if is_single else np.float64
    if columns.dtype != dtype:
        columns = columns.astype(dtype)
    if not columns.has_canonical_format:
        # In place, but never in arrays of the caller.
        columns = columns.copy()
        columns.sum_duplicates()
    return columns
