"""The list of a certificate: sets of features with their weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .reading import require
from .statement import is_increasing_within


@dataclass(frozen=True)
class Alternatives:
    """What a certificate proves about alternatives.

    Attributes
    ----------
    supports : list of ndarrays of int
        The sets of features that are listed; some of their weights may be zero.
    objectives : ndarray of float
        Recomputed from their weights: the optimum of a set is at most this.
    threshold : float
        A choice of features whose objective is below this is one of ``supports``, or a
        part of one (but for features that are constant, which change nothing).
    """

    supports: list[np.ndarray]
    objectives: np.ndarray
    threshold: float


class Listed:
    """The sets of features of a certificate; none if it is about a bound alone."""

    def __init__(self, arrays: Mapping[str, np.ndarray], n_features: int):
        self.supports: list[np.ndarray] = []
        self.coefs: list[np.ndarray] = []
        self.intercepts = np.empty(0)
        self._holders: dict[int, set[int]] = {}
        if "threshold" not in arrays:
            return
        starts, features = arrays["listed_start"], arrays["listed_feature"]
        check_starts(starts, features.size, "listed_start")
        self.supports = np.split(features, starts[1:-1])[: starts.size - 1]
        self.coefs = np.split(arrays["listed_coef"], starts[1:-1])[: starts.size - 1]
        self.intercepts = arrays["listed_intercept"]
        for number, support in enumerate(self.supports):
            require(
                is_increasing_within(support, n_features), "bad features in the list"
            )
            for feature in support.tolist():
                self._holders.setdefault(feature, set()).add(number)
        distinct = {support.tobytes() for support in self.supports}
        require(
            len(distinct) == len(self.supports), "a set of features is listed twice"
        )

    def hold(self, features: Iterable[int]) -> bool:
        """Whether one of the listed sets has all of some features."""
        holders = [self._holders.get(feature, set()) for feature in features]
        if not holders:
            return bool(self.supports)
        return bool(set.intersection(*sorted(holders, key=len)))


def check_starts(starts: np.ndarray, end: int, name: str) -> None:
    """Where parts begin when they are joined, and the end."""
    require(
        # Compared, not subtracted: differences may overflow.
        starts[0] == 0 and starts[-1] == end and (starts[1:] >= starts[:-1]).all(),
        f"bad {name}",
    )
