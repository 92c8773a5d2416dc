"""Data that are not one dense matrix in memory: sparse, mapped, or in single precision.

A source multiplies all features by a vector and copies a few of them; see
:class:`~frugalsvm.engine.source.Source`. Small tables of any format are better stored
as one dense matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import ArraySource
from .memory import check_room
from .sparse import SparseSource
from .survey import LARGEST_VALUE, SMALL_SPREAD, not_finite, too_large

__all__ = [
    "LARGEST_VALUE",
    "SMALL_SPREAD",
    "ArraySource",
    "SparseSource",
    "check_room",
    "dense",
    "is_for_source",
    "is_sparse",
    "make_source",
    "not_finite",
    "too_large",
]

# Tables with at most this many entries are copied, and so are those with at most this
# many features, whose working sets are not much smaller than the data.
FEW_ENTRIES, FEW_FEATURES = 2**22, 1000
# Advice if a table is too large.
FEWER = "choose columns or samples first."
# Arrays of doubles in memory are copied up to this many entries.
FEW_DOUBLES = 2**26


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    return hasattr(X, "toarray") and hasattr(X, "tocsc")


def dense(X: Any) -> Any:
    """A sparse matrix as an array, if there is room for it; all else as it is."""
    if not is_sparse(X):
        return X
    check_room(8.0 * X.shape[0] * X.shape[1], f"X {X.shape} as a dense matrix", FEWER)
    return X.toarray()


def is_for_source(X: Any) -> bool:
    """Whether X should be used in place instead of copied to doubles."""
    if is_sparse(X) or hasattr(X, "as_source"):
        return True
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiub":
        return False
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        # Types more precise than doubles are rounded once.
        return False
    if X.shape[1] <= FEW_FEATURES:
        return False
    in_memory = X.dtype == np.float64 and not isinstance(X, np.memmap)
    return X.size > (FEW_DOUBLES if in_memory else FEW_ENTRIES)


def make_source(X: Any, kept: np.ndarray | None = None, shifts: bool = True) -> Any:
    """The data source of a table, with checked values.

    Parameters
    ----------
    X : ndarray, or sparse matrix or array
        Or external data with a method ``X.as_source(kept, shifts)``.
    kept : integer array, default=None
        The samples that count; all by default.
    shifts : bool, default=True
        Whether features of small spread are shifted to their mean.

    Returns
    -------
    Source
    """
    if hasattr(X, "as_source"):
        source: Any = X.as_source(kept, shifts)
    elif is_sparse(X):
        source = SparseSource(X, kept, shifts)
    else:
        source = ArraySource(X, kept, shifts)
    low, high = float(source.low.min()), float(source.high.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise not_finite(*source.first(lambda values: ~np.isfinite(values)))
    if max(-low, high) > LARGEST_VALUE:
        raise too_large(max(-low, high))
    return source
