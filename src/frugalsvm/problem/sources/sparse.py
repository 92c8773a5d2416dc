"""SparseSource: compressed sparse columns."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...checker import SparseColumns
from ...kernels.sparse import column_products, fill_columns, survey_columns
from .survey import Property, Survey, norm_bounds

# Entries of a block of full columns.
BLOCK = 2**20
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
            self._starts, self._values, self.n_samples, facts.low, facts.high,
            facts.norms,
        )  # fmt: skip
        size = np.maximum(np.abs(facts.low), np.abs(facts.high))
        with np.errstate(invalid="ignore"):
            facts.norms[:] = norm_bounds(facts.norms, size, self.n_samples)
        if shifts:
            some = facts.may_need_shift()
            step = max(1, BLOCK // self.n_samples)
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
