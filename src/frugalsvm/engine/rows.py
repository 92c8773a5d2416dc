"""RowCache: dense rows of features that were fetched before."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

# Memory limit of the cached rows.
MAX_BYTES = 2**27


class RowCache:
    """The most recently used rows, up to a memory limit.

    Trees and searches use the same few features repeatedly, and a row of a sparse or
    mapped matrix is expensive. Threads may share a cache.

    Parameters
    ----------
    max_bytes : int
    """

    def __init__(self, max_bytes: int = MAX_BYTES):
        self.max_bytes = max_bytes
        self.n_bytes = 0
        self._rows: OrderedDict[int, np.ndarray] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # Rows can be fetched again, and locks cannot be pickled.
        return RowCache, (self.max_bytes,)

    def get(
        self,
        features: np.ndarray,
        n_samples: int,
        fetch: Callable[[np.ndarray], np.ndarray],
    ) -> np.ndarray:
        """The rows of some features; ``fetch`` returns those that are missing."""
        rows = np.empty((features.shape[0], n_samples))
        missing = []
        with self._lock:
            for t, feature in enumerate(features.tolist()):
                row = self._rows.get(feature)
                if row is None:
                    missing.append(t)
                else:
                    rows[t] = row
                    self._rows.move_to_end(feature)
        if missing:
            absent = features[missing]
            new = fetch(absent)
            rows[missing] = new
            self._keep(absent.tolist(), new)
        return rows

    def _keep(self, features: list[int], rows: np.ndarray) -> None:
        with self._lock:
            for feature, row in zip(features, rows, strict=True):
                if row.nbytes > self.max_bytes:
                    return
                if feature not in self._rows:
                    # A copy: a view would keep all rows of its block.
                    self._rows[feature] = row.copy()
                    self.n_bytes += row.nbytes
            while self.n_bytes > self.max_bytes:
                _, oldest = self._rows.popitem(last=False)
                self.n_bytes -= oldest.nbytes
