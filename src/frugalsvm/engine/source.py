"""Source: data that are not one dense matrix in memory, feature by feature."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np


class Prices(NamedTuple):
    """Prices of features at a dual point, exact for the most valuable ones.

    Attributes
    ----------
    values : array (n,)
        ``|c_j|``, or an upper bound of it.
    exact : boolean array (n,)
        Where it is ``|c_j|`` itself.
    """

    values: np.ndarray
    exact: np.ndarray

    @property
    def certain(self) -> np.ndarray:
        """``|c_j|``, or zero where it is not exact."""
        return np.where(self.exact, self.values, 0.0)


class Source(Protocol):
    """Holds X and does two things with it: multiply all of it, and copy a few rows.

    Labels, weights and budgets are handled elsewhere. Features are independent of each
    other, so several sources side by side form a source again.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_entries(self) -> int:
        """Number of data entries read by a product with all features."""

    @property
    def shift(self) -> np.ndarray:
        """The shift subtracted from each feature: see ``Problem.shift``."""

    @property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the shifted features."""

    @property
    def varies(self) -> np.ndarray:
        """Whether a feature has at least two distinct values."""

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features, in double precision.

        The order of summation is free, but the result must not depend on the threads.
        """

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Some features without shifts, one row each, in double precision."""


class DistantSource(Source, Protocol):
    """A source from which one number per feature is expensive to transfer."""

    def price(self, v: np.ndarray, most: int | None, above: float) -> Prices:
        """The absolute values of ``multiply(v)``.

        The ``most`` largest values are exact, or, if ``most`` is None, all values
        larger than ``above``. Others may be exact, too; the absolute values of features
        that are not are smaller.
        """


# --- A cache of rows ------------------------------------------------------------------

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
            missing_features = features[missing]
            new = fetch(missing_features)
            rows[missing] = new
            self._store(missing_features.tolist(), new)
        return rows

    def _store(self, features: list[int], rows: np.ndarray) -> None:
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
