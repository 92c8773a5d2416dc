"""Survey: statistics of all features from one pass over the data."""

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
UNIT_ROUNDOFF = 2.0**-53
# Square root of an upper bound of underflow in a sum of squares.
UNDERFLOW = 1e-150


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

    def may_need_shift(self) -> np.ndarray:
        """Candidates for a small spread: all such features, and a few others."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        same_sign = np.sign(self.low) * np.sign(self.high) > 0
        # Both ends are within SMALL_SPREAD of the mean.
        near = self.high - self.low <= 2.01 * SMALL_SPREAD * size
        return np.flatnonzero(same_sign & near)

    def shift_some(self, features: np.ndarray, values: np.ndarray) -> None:
        """Shift those of the given features that have a small spread.

        ``values`` has a row for each of them.
        """
        first = values[:, :1]
        # The mean of a constant feature is exactly its value.
        means = first[:, 0] + (values - first).mean(axis=1)
        shifted = values - means[:, None]
        spread = np.abs(shifted).max(axis=1)
        small = spread <= SMALL_SPREAD * np.abs(means)
        chosen, shifted, spread = features[small], shifted[small], spread[small]
        self.shift[chosen] = means[small]
        squares = np.einsum("ij,ij->i", shifted, shifted)
        self.norms[chosen] = norm_bounds(squares, spread, values.shape[1])


def norm_bounds(squares: np.ndarray, size: np.ndarray, n_samples: int) -> np.ndarray:
    """Upper bounds of norms, given computed sums of squares and largest entries.

    The sums may have been made in any order.
    """
    slack = 1.0 + 2 * (n_samples + 8) * UNIT_ROUNDOFF
    return np.where(size > 0.0, np.sqrt(squares) * slack + UNDERFLOW, 0.0)


def not_finite(row: int, column: int, value: float) -> ValueError:
    """The error for NaN or infinite values."""
    return ValueError(
        f"X contains {value} (first at row {row}, column {column}); "
        "impute or drop NaN and infinite values first."
    )


def too_large(size: float) -> ValueError:
    """The error for values beyond the limit."""
    return ValueError(
        f"X contains values up to {size:g}, more than {LARGEST_VALUE:g}; rescale the "
        "features first, for instance by sklearn.preprocessing.StandardScaler."
    )


# --- ArraySource: a table of any real type, in memory or mapped from a file -----------

# Entries of a block, and of the blocks of a mapped file kept in memory.
BLOCK, AT_ONCE = 2**19, 2**25


class ArraySource:
    """Features of a dense table; at most one block of it is copied at a time.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Of any real type and order; it is read on demand, so it must not change.
    kept : integer array, default=None
        The samples that count; all by default.
    shifts : bool, default=True
        Whether features of small spread are shifted.
    """

    def __init__(
        self, X: np.ndarray, kept: np.ndarray | None = None, shifts: bool = True
    ):
        self._X = np.asarray(X)
        self._kept = kept
        self.n_samples = X.shape[0] if kept is None else kept.size
        self.n_features = X.shape[1]
        self.n_entries = self.n_samples * self.n_features
        self._survey = Survey.empty(self.n_features)
        self._for_all_blocks(lambda at, end: self._look(at, end, shifts), 1)
        self.low, self.high = self._survey.low, self._survey.high
        self.shift, self.norms = self._survey.shift, self._survey.norms
        self.varies = self._survey.varies

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features."""
        out = np.empty(self.n_features)
        compiled = _product_for(self._X)
        if compiled is None:

            def one(start: int, stop: int) -> None:
                block, shift = self._block(start, stop), self.shift[start:stop]
                np.matmul(v, block - shift, out=out[start:stop])

        else:
            factors = v
            if self._kept is not None:
                factors = np.zeros(self._X.shape[0])
                factors[self._kept] = v

            def one(start: int, stop: int) -> None:
                compiled(self._X, factors, self.shift, start, stop, out)

        self._for_all_blocks(one, n_threads)
        return out

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Some features without shifts, one row each."""
        out = np.empty((features.size, self.n_samples))
        # A few samples at a time: mapped files are read in whole pages.
        step = max(1, AT_ONCE // self.n_features)
        for start in range(0, self.n_samples, step):
            rows = slice(start, start + step)
            if self._kept is None:
                out[:, rows] = self._X[rows, features].T
            else:
                out[:, rows] = self._X[np.ix_(self._kept[rows], features)].T
            _release_pages(self._X)
        return out

    def first(self, is_such: Property) -> tuple[int, int, float]:
        """Row, column and value of the first entry of a kind, feature by feature."""
        of_ends = is_such(self.low) | is_such(self.high)
        j = int(np.flatnonzero(of_ends)[0])
        column = self._block(j, j + 1)[:, 0]
        t = int(np.flatnonzero(is_such(column))[0])
        row = t if self._kept is None else self._kept[t]
        return int(row), j, float(column[t])

    def _block(self, start: int, stop: int) -> np.ndarray:
        """Neighbouring features in double precision, one column each."""
        some = self._X[:, start:stop]
        if self._kept is not None:
            some = some[self._kept]
        return np.asarray(some, dtype=np.float64)

    def _look(self, start: int, stop: int, shifts: bool) -> None:
        block, facts = self._block(start, stop), self._survey.part(start, stop)
        block.min(axis=0, out=facts.low)
        block.max(axis=0, out=facts.high)
        size = np.maximum(np.abs(facts.low), np.abs(facts.high))
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->j", block, block)
            facts.norms[:] = norm_bounds(squares, size, self.n_samples)
        some = facts.may_need_shift()
        if shifts and some.size:
            facts.shift_some(some, np.ascontiguousarray(block[:, some].T))

    def _for_all_blocks(self, work: Callable[[int, int], None], n_threads: int) -> None:
        """Apply a function to each block of neighbouring features."""
        width = max(1, BLOCK // self.n_samples)
        starts = range(0, self.n_features, width)
        with ThreadPoolExecutor(n_threads) as pool:
            # Number of blocks of a file in memory at a time.
            at_once = max(n_threads, AT_ONCE // BLOCK)
            for t in range(0, len(starts), at_once):
                some = starts[t : t + at_once]
                stops = [min(start + width, self.n_features) for start in some]
                each = map if n_threads == 1 or len(some) == 1 else pool.map
                list(each(work, some, stops))
                _release_pages(self._X)


def _product_for(X: np.ndarray) -> Any:
    """The kernel that multiplies a table of this type; None if there is none."""
    if X.dtype not in (np.float32, np.float64) or not X.flags.aligned:
        return None
    if X.flags.c_contiguous:
        return row_by_row
    return column_by_column if X.flags.f_contiguous else None


def _release_pages(array: np.ndarray) -> None:
    """Release the pages of a mapped file from the memory of the process.

    The system may keep them cached. Copy-on-write maps are skipped, since changes would
    be lost.
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
    kept : integer array, default=None
        The samples to use; all by default.
    shifts : bool, default=True
        Whether features of small spread are shifted.
    """

    def __init__(self, X: Any, kept: np.ndarray | None = None, shifts: bool = True):
        X = X if kept is None else X.tocsr()[kept]
        self._kept, self._shifts = kept, shifts
        self.n_samples, self.n_features = X.shape
        columns = _canonical(X)
        self._starts, self._rows = columns.indptr, columns.indices
        self._values = columns.data
        self.n_entries = int(self._starts[-1])
        facts = Survey.empty(self.n_features)
        survey_columns(
            self._starts,
            self._values,
            self.n_samples,
            facts.low,
            facts.high,
            facts.norms,
        )
        size = np.maximum(np.abs(facts.low), np.abs(facts.high))
        with np.errstate(invalid="ignore"):
            facts.norms[:] = norm_bounds(facts.norms, size, self.n_samples)
        if shifts:
            some = facts.may_need_shift()
            step = max(1, SPARSE_BLOCK // self.n_samples)
            for at in range(0, some.size, step):
                few = some[at : at + step]
                facts.shift_some(few, self.columns(few))
        self.low, self.high, self.norms, self.shift = facts
        self.varies = facts.varies

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features."""
        out = np.empty(self.n_features)

        def one(first: int, last: int) -> None:
            column_products(
                self._starts, self._rows, self._values, v, self.shift, first, last, out
            )

        n_parts = min(n_threads, 1 + self.n_entries // PART)
        # Parts with equal numbers of entries.
        ends = np.arange(1, n_parts) * (self.n_entries / n_parts)
        cuts = [0, *np.searchsorted(self._starts, ends).tolist(), self.n_features]
        if n_parts == 1:
            one(0, self.n_features)
        else:
            with ThreadPoolExecutor(n_parts) as pool:
                list(pool.map(one, cuts[:-1], cuts[1:]))
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

    def first(self, is_such: Property) -> tuple[int, int, float]:
        """Row, column and value of the first entry of a kind, feature by feature."""
        at = int(np.flatnonzero(is_such(self._values))[0])
        row = self._rows[at]
        column = np.searchsorted(self._starts, at, side="right") - 1
        value = float(self._values[at])
        return int(row if self._kept is None else self._kept[row]), int(column), value


def _canonical(X: Any) -> Any:
    """Sorted columns without repeated entries, of a type the kernels accept."""
    columns = X.tocsc()
    wanted = _value_type(columns.dtype)
    if columns.dtype != wanted:
        columns = columns.astype(wanted)
    if not columns.has_canonical_format:
        # In place, but never in arrays of the caller.
        columns = columns.copy()
        columns.sum_duplicates()
    return columns


def _value_type(given: np.dtype) -> type:
    """A type that holds all values exactly."""
    if given == np.float32 or given.itemsize <= 2:
        return np.float32
    return np.float64
