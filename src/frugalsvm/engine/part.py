"""Part: some of the features, as tasks about them alone see them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .protocol import RelaxationRequest, WorkingSet
from .region import Region


class Part(NamedTuple):
    """Some features, numbered anew, of which the first are forced.

    Attributes
    ----------
    n_features : int
        Of the data.
    features : integer array
        The forced features of a region, and some of the free ones.
    n_forced : int
    number : integer array
        Of each feature of the data within the part, if it is there.
    """

    n_features: int
    features: np.ndarray
    n_forced: int
    number: np.ndarray

    @classmethod
    def of(cls, n_features: int, region: Region, free: np.ndarray) -> Part:
        """The forced features and some free ones."""
        features = np.concatenate([region.forced, free])
        number = np.full(n_features, -1, dtype=np.int64)
        number[features] = np.arange(features.size)
        return cls(n_features, features, region.forced.size, number)

    def inside(self, task: RelaxationRequest) -> RelaxationRequest:
        """A task in the numbers of the part; it starts from what is in the part."""
        size = self.features.size
        region = task.region._replace(
            forced=np.arange(self.n_forced), free=np.arange(self.n_forced, size)
        )
        start = self.number[task.start.features]
        return task._replace(
            region=region, start=WorkingSet(start[start >= 0], task.start.side)
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the part at the places of its features, zero elsewhere."""
        spread = np.zeros(self.n_features)
        spread[self.features] = values
        return spread
