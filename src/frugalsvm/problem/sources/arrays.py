"""ArraySource: a table of any real type, in memory or mapped from a file."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ...kernels.dense import column_by_column, row_by_row
from .survey import Property, Survey, norm_bounds

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
