"""Source: data that are not one dense matrix in memory, feature by feature."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Source(Protocol):
    """Who holds X and can do two things with it: multiply all of it, and copy a little.

    Labels, weights and budgets are none of its business. Sources are made of features
    that know nothing of each other, so that several, side by side, are a source again.
    """

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_entries(self) -> int:
        """Entries that a product with all features reads."""

    @property
    def shift(self) -> np.ndarray:
        """What is subtracted from each feature: see ``Problem.shift``."""

    @property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the shifted features."""

    @property
    def varies(self) -> np.ndarray:
        """Whether a feature has two values at least."""

    def multiply(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """``sum_i v_i (x_ij - shift_j)`` for all features, in double precision.

        In any order of summation, but each number does not depend on the threads.
        """

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Some features as they were given, one row each, in double precision."""
