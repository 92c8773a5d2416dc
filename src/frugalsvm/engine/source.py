"""Source: data that are not one dense matrix in memory, feature by feature."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np


class Prices(NamedTuple):
    """What features are worth at a dual point, the most valuable ones exactly.

    Attributes
    ----------
    values : array (n,)
        ``|c_j|``, or more than that where it is not known.
    known : boolean array (n,)
    """

    values: np.ndarray
    known: np.ndarray

    @property
    def certain(self) -> np.ndarray:
        """``|c_j|``, or zero where it is not known."""
        return np.where(self.known, self.values, 0.0)


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


class DistantSource(Source, Protocol):
    """A source from which a number for each feature is dear."""

    def price(self, v: np.ndarray, most: int | None, above: float) -> Prices:
        """The absolute values of ``multiply(v)``.

        Known are the ``most`` largest and maybe others, or, if it is None, all that are
        larger than ``above``. Those of others are below that.
        """
