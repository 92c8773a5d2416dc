"""Survey: statistics of all features from one pass over the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

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
