"""Large and sparse data: signed features, only a few of them dense at a time.

Blocks are recomputed whenever they are needed: slower, but without more memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

# Maximum number of entries of a table that is made dense as a whole, of one that is
# already an array of doubles in memory, and of a block of a larger one.
WHOLE, WHOLE_DOUBLES, BLOCK = 2**24, 2**26, 2**22


class DataMatrix:
    """Real numbers, one row per sample, as the user passed them.

    Parameters
    ----------
    X : array of real numbers, or sparse matrix or array of SciPy
    """

    def __init__(self, X: Any):
        self.is_sparse = hasattr(X, "tocsc")
        self._X = _columns(X) if self.is_sparse else X
        self.shape: tuple[int, int] = X.shape

    def __getitem__(self, kept: np.ndarray) -> DataMatrix:
        """Some of the samples, given by a mask."""
        if kept.all():
            return self
        return DataMatrix(self._X.tocsr()[kept] if self.is_sparse else self._X[kept])

    def signed(self, signs: np.ndarray) -> SignedRows:
        """The features, one row each, times the labels."""
        return SignedRows(self, signs)

    def rows(self, features: Any) -> np.ndarray:
        """Some features, one row each."""
        some = self._X[:, features]
        dense = some.toarray() if self.is_sparse else some
        return np.array(dense.T, dtype=np.float64, order="C")

    def blocks(self) -> Iterator[np.ndarray]:
        """All features in order, some of them at a time."""
        step = max(1, BLOCK // self.shape[0])
        for start in range(0, self.shape[1], step):
            yield self.rows(slice(start, start + step))


class SignedRows:
    """Like ``rows * signs`` for features of a table as rows, computed on demand."""

    def __init__(self, table: DataMatrix, signs: np.ndarray):
        self._table, self._signs = table, signs

    def __iter__(self) -> Iterator[np.ndarray]:
        for block in self._table.blocks():
            yield block * self._signs

    def __getitem__(self, features: np.ndarray) -> np.ndarray:
        return self._table.rows(features) * self._signs


def read_table(X: Any) -> np.ndarray | DataMatrix:
    """A dense table in double precision, or one that is read in blocks if it is large.

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


def _columns(X: Any) -> Any:
    """Compressed sparse columns without duplicate entries."""
    columns = X.tocsc()
    if not columns.has_canonical_format:
        columns = columns.copy()
        columns.sum_duplicates()
    return columns
