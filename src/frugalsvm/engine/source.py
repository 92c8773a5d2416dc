"""Source: data that are not one dense matrix in memory, feature by feature."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Prices(NamedTuple):
    """Prices of features at a dual point, exact for the most valuable ones.

    Attributes
    ----------
    values : array (n,)
        ``|c_j|``, or an upper bound if it is not known.
    known : boolean array (n,)
    """

    values: np.ndarray
    known: np.ndarray

    @property
    def certain(self) -> np.ndarray:
        """``|c_j|``, or zero if it is not known."""
        return np.where(self.known, self.values, 0.0)


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

        The ``most`` largest values are known, or, if ``most`` is None, all values
        larger than ``above``. Others may be known, too; unknown values are smaller.
        """
