"""Block: neighbouring features on a worker, and the functions run there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from dask.sizeof import sizeof

from ..engine.columns import smallest
from ..problem.array_sources import ArraySource, Property, SparseSource
from ..problem.sources import is_sparse
from ..problem.validation import check_unmasked


class Facts(NamedTuple):
    """Facts about the features of a block, for the calling process.

    Attributes
    ----------
    n_entries : int
    low, high : float
        Smallest and largest value; NaN if any value is.
    norms, varies : arrays
        One entry per feature.
    shifted : integer array
        The shifted features, which are few.
    shift : array
        Their shifts.
    """

    n_entries: int
    low: float
    high: float
    norms: np.ndarray
    varies: np.ndarray
    shifted: np.ndarray
    shift: np.ndarray

    @property
    def n_bytes(self) -> int:
        """Bytes of the arrays."""
        return sum(part.nbytes for part in self if isinstance(part, np.ndarray))


class Block:
    """Features held by a worker. Only requested data leave it.

    Parameters
    ----------
    X : ndarray, or sparse matrix or array
    rows : integer array or None
        The samples to use; all if None.
    shifts : bool
        Whether features of small spread are shifted.
    """

    def __init__(self, X: Any, rows: np.ndarray | None, shifts: bool):
        self.is_sparse = is_sparse(X)
        self.dtype = X.dtype
        self.source: ArraySource | SparseSource
        if self.is_sparse:
            matrix = X.tocsc()
            parts = (matrix.data, matrix.indices, matrix.indptr)
            self.n_bytes = sum(part.nbytes for part in parts)
            self.source = SparseSource(X, rows, shifts)
        else:
            self.n_bytes = X.nbytes
            self.source = ArraySource(X, rows, shifts)

    def facts(self) -> Facts:
        """The facts about the features."""
        source = self.source
        shifted = np.flatnonzero(source.shift)
        return Facts(
            source.n_entries,
            float(source.low.min()),
            float(source.high.max()),
            source.norms,
            source.varies,
            shifted,
            source.shift[shifted],
        )

    def columns(self, features: np.ndarray) -> Any:
        """Columns of features, one row each, in the smallest exact type."""
        rows = self.source.columns(features)
        if self.is_sparse:
            return sp.csr_array(rows)
        if self.dtype.itemsize == 8:
            # Doubles take no more space, and a large integer may be rounded to a value
            # outside the range of its type.
            return rows
        return rows.astype(self.dtype, copy=False)


@sizeof.register(Block)
def _block_size(block: Block) -> int:
    # Otherwise dask assumes a few bytes and never spills it to disk.
    return block.n_bytes


# --- functions for workers -----------------------------------------------------------


def same(value: Any) -> Any:
    """The value: a task whose result dask can make again if a worker is lost."""
    return value


def make_block(
    X: Any, shape: tuple[int, int], rows: np.ndarray | None, shifts: bool
) -> Block:
    """A chunk of a dask array as a block."""
    if not (is_sparse(X) or isinstance(X, np.ndarray)):
        raise TypeError(
            "the chunks of X must be NumPy arrays or SciPy sparse matrices, got "
            f"{type(X).__name__}."
        )
    check_unmasked("X", X)
    if X.shape != shape or X.dtype.kind not in "fiub":
        raise ValueError(
            f"a chunk of X has shape {X.shape} and type {X.dtype}, but dask was told "
            f"{shape} and real numbers; fix the function that makes the chunks."
        )
    return Block(X, rows, shifts)


def multiply(block: Block, v: np.ndarray) -> np.ndarray:
    """The products of all features of a block with a vector."""
    return block.source.multiply(v)


def most_valuable(
    block: Block, v: np.ndarray, most: int | None, above: float
) -> tuple[np.ndarray | None, np.ndarray, float]:
    """Features, their absolute products, and the largest product of all others.

    See ``engine.source.DistantSource``. None means all features, if that is not much
    more data.
    """
    values = np.abs(block.source.multiply(v))
    features = (
        np.flatnonzero(values > above) if most is None else smallest(-values, most)
    )
    if 2 * features.size >= values.size:
        return None, values, 0.0
    others = np.ones(values.size, dtype=bool)
    others[features] = False
    return features.astype(np.int32), values[features], float(values[others].max())


def first_of(block: Block, is_kind: Property) -> tuple[int, int, float]:
    """Row, column and value of the first entry of a kind."""
    return block.source.first(is_kind)
