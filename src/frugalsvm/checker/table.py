"""Large and sparse data, of which only a few columns are dense at a time.

Blocks are recomputed whenever they are needed, which is slower, but saves memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .arithmetic import TINY, U

# Larger data are rejected, see ``statement``.
LARGEST_VALUE = 1e50
# Maximum number of entries of a table that is made dense as a whole, of a table that is
# already an array of doubles in memory, and of a block of a larger table.
WHOLE, WHOLE_DOUBLES, BLOCK = 2**24, 2**26, 2**22


class Units(NamedTuple):
    """Means and scales of all features."""

    mean: np.ndarray
    scale: np.ndarray


class SparseColumns(NamedTuple):
    """Sparse columns: the rows of their entries, in increasing order, and the values.

    The entries of column j have the positions ``starts[j]`` to ``starts[j + 1]``.
    """

    starts: np.ndarray
    rows: np.ndarray
    values: np.ndarray

    def __matmul__(self, factors: np.ndarray) -> np.ndarray:
        """The product of each column with a vector."""
        return self._sums(np.add, self.values * factors[self.rows])

    def length_bounds(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the columns."""
        counts = np.diff(self.starts)
        size = np.abs(np.asarray(self.values, dtype=np.float64))
        largest = self._sums(np.maximum, size)
        scale = np.where(largest > 0.0, largest, 1.0)
        squares = self._sums(np.add, (size / np.repeat(scale, counts)) ** 2)
        slack = 1.0 + 2 * (counts + 8) * U
        return np.where(largest > 0.0, scale * np.sqrt(squares) * slack + TINY, 0.0)

    def are_constant(self, n_rows: int) -> np.ndarray:
        """Mask of the constant columns, if no stored entry is zero."""
        counts = np.diff(self.starts)
        mask = counts == 0
        for j in np.flatnonzero(counts == n_rows).tolist():
            values = self.values[self.starts[j] : self.starts[j + 1]]
            mask[j] = (values == values[0]).all()
        return mask

    def _sums(self, add: np.ufunc, values: np.ndarray) -> np.ndarray:
        """The sum, or the maximum, of numbers of all entries in each column."""
        sums, is_filled = np.zeros(len(self.starts) - 1), np.diff(self.starts) > 0
        if is_filled.any():
            sums[is_filled] = add.reduceat(values, self.starts[:-1][is_filled])
        return sums

    def split(self, size: int) -> Iterator[SparseColumns]:
        """The columns in parts of about ``size`` entries."""
        first, last = 0, len(self.starts) - 1
        while first < last:
            end = int(np.searchsorted(self.starts, self.starts[first] + size, "right"))
            end = min(max(end - 1, first + 1), last)
            where = slice(self.starts[first], self.starts[end])
            starts = self.starts[first : end + 1] - self.starts[first]
            yield SparseColumns(starts, self.rows[where], self.values[where])
            first = end

    def times(self, factors: np.ndarray) -> SparseColumns:
        """The columns with a factor for each row."""
        return self._replace(values=self.values * factors[self.rows])

    def without_zeros(self) -> SparseColumns:
        """The same columns without entries that are zero."""
        mask = self.values != 0
        if mask.all():
            return self
        starts = np.concatenate([[0], np.cumsum(mask)])[self.starts]
        return SparseColumns(starts, self.rows[mask], self.values[mask])


class DataMatrix:
    """Real numbers, one row per sample, as the user passed them.

    Parameters
    ----------
    X : array of real numbers, or sparse matrix or array of SciPy
    units : Units, default=None
        Means and scales to standardise with.
    """

    def __init__(self, X: Any, units: Units | None = None):
        self.is_sparse = hasattr(X, "tocsc")
        self._X = _columns(X) if self.is_sparse else X
        self._units = units
        self.shape: tuple[int, int] = X.shape

    def __getitem__(self, mask: np.ndarray) -> DataMatrix:
        """The samples of a mask."""
        if mask.all():
            return self
        samples = self._X.tocsr()[mask] if self.is_sparse else self._X[mask]
        return DataMatrix(samples, self._units)

    def standardised(self, units: Units) -> DataMatrix:
        """The same table in other units."""
        return DataMatrix(self._X, units)

    def as_rows(self) -> TableRows:
        """The columns, one row each."""
        return TableRows(self)

    def rows(self, features: Any) -> np.ndarray:
        """Some features, one row each."""
        columns = self._X[:, features].T
        dense = columns.toarray() if self.is_sparse else columns
        rows = np.array(dense, dtype=np.float64, order="C")
        if self._units is not None:
            rows -= self._units.mean[features][:, None]
            rows /= self._units.scale[features][:, None]
        return rows

    def blocks(self) -> Iterator[np.ndarray]:
        """All features in order, some of them at a time."""
        step = max(1, BLOCK // self.shape[0])
        for start in range(0, self.shape[1], step):
            yield self.rows(slice(start, start + step))

    @property
    def sparse(self) -> SparseColumns | None:
        """All features, if they are sparse."""
        if not self.is_sparse or self._units is not None:
            return None
        return SparseColumns(self._X.indptr, self._X.indices, self._X.data)

    def parts(self) -> Iterator[np.ndarray | SparseColumns]:
        """All features in order, as they are stored: sparse, or in blocks."""
        sparse = self.sparse
        yield from self.blocks() if sparse is None else [sparse]


def times(
    part: np.ndarray | SparseColumns, factors: np.ndarray
) -> np.ndarray | SparseColumns:
    """Columns with a factor for each sample."""
    return part.times(factors) if isinstance(part, SparseColumns) else part * factors


class TableRows:
    """Like an array with the columns of a table as rows, made on demand.

    Iteration yields blocks of them.
    """

    def __init__(self, table: DataMatrix):
        self._table = table

    def __iter__(self) -> Iterator[np.ndarray]:
        return self._table.blocks()

    def __getitem__(self, columns: np.ndarray) -> np.ndarray:
        return self._table.rows(columns)

    @property
    def sparse(self) -> SparseColumns | None:
        """The columns, if they are sparse."""
        return self._table.sparse

    def parts(self) -> Iterator[np.ndarray | SparseColumns]:
        """The columns as they are stored: sparse, or in blocks."""
        return self._table.parts()


def read_table(X: Any) -> np.ndarray | DataMatrix:
    """A dense table in double precision, or a table read in blocks if it is large.

    Sparse matrices are made dense if they are small.
    """
    is_sparse = hasattr(X, "tocsc")
    is_numbers = isinstance(X, np.ndarray) and X.dtype.kind in "fiub"
    if (is_sparse or is_numbers) and len(X.shape) == 2:
        in_memory = X.dtype == np.float64 and not (
            is_sparse or isinstance(X, np.memmap)
        )
        if X.shape[0] * X.shape[1] > (WHOLE_DOUBLES if in_memory else WHOLE):
            return DataMatrix(X)
    return np.asarray(X.toarray() if is_sparse else X, dtype=np.float64)


def standardised(
    table: np.ndarray | DataMatrix, units: Units
) -> np.ndarray | DataMatrix:
    """``(x - mean) / scale``, with the rounding of these two operations."""
    if isinstance(table, DataMatrix):
        return table.standardised(units)
    return (table - units.mean) / units.scale


def _columns(X: Any) -> Any:
    """Compressed sparse columns without duplicate entries."""
    columns = X.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    return columns
