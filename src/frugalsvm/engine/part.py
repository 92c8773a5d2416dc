"""Part: a subset of the features, and requests restricted to it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .protocol import RelaxationRequest, WorkingSet
from .region import Region


class Part(NamedTuple):
    """Some features, renumbered, with the forced ones first.

    Attributes
    ----------
    n_features : int
        Number of features of the data.
    features : integer array
        The forced features of a region, and some of the free ones.
    n_forced : int
    number : integer array
        Position of each feature of the data within the part, if present.
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

    def inside(self, request: RelaxationRequest) -> RelaxationRequest:
        """A request in the numbering of the part; its start is restricted, too."""
        size = self.features.size
        region = request.region._replace(
            forced=np.arange(self.n_forced), free=np.arange(self.n_forced, size)
        )
        start = self.number[request.start.features]
        return request._replace(
            region=region, start=WorkingSet(start[start >= 0], request.start.side)
        )

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Values of the part scattered to all features, zero elsewhere."""
        spread = np.zeros(self.n_features)
        spread[self.features] = values
        return spread
