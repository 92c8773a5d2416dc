"""Outlook: how many branchings a tree has left, estimated from its open nodes."""

from __future__ import annotations

from collections import deque

import numpy as np

from .parameters import DEFAULTS, TreeParameters

# Bisections of the rate of growth, and the largest exponent: sums must not overflow.
BISECTIONS, MAX_EXPONENT = 40, 600.0


class Outlook:
    """Counts the nodes still to be branched on, as in a branching process.

    If children are closer to the cutoff than their parents by gains g, the tree below a
    node at distance d has about exp(rate * d) nodes to branch on, where the mean of
    exp(-rate * g) over the children is one half: then the trees of the two children are
    together as large as that of their parent.

    Parameters
    ----------
    parameters : TreeParameters, optional
    """

    def __init__(self, parameters: TreeParameters = DEFAULTS):
        self._parameters = parameters
        self._gains: deque[float] = deque(maxlen=2 * parameters.max_known)

    def learn(self, gain: float) -> None:
        """Record how much the bound of a child exceeds that of its parent."""
        self._gains.append(gain)

    def branchings_left(self, distances: np.ndarray) -> float:
        """Expected number of branchings below nodes at distances from the cutoff.

        The smallest that may be true: from few branchings the expectation may be orders
        of magnitude too large, from fewer nothing follows.
        """
        least = float(distances.size)
        n_known, parameters = len(self._gains) // 2, self._parameters
        if least == 0.0 or n_known < parameters.least_known:
            return least
        rate = self._rate()
        if rate == np.inf:
            return np.inf
        expected = float(np.exp(np.minimum(rate * distances, MAX_EXPONENT)).sum())
        if n_known < parameters.well_known:
            expected /= parameters.doubt
        return max(expected, least)

    def _rate(self) -> float:
        """The rate of growth per unit of distance; infinite if most gains are zero.

        Gains change as the tree grows: only the last half of those known count, unless
        that is too few.
        """
        n_used = max(len(self._gains) // 2, 2 * self._parameters.well_known)
        gains = np.array(self._gains)[-n_used:]
        if np.count_nonzero(gains) <= 0.5 * gains.size:
            return np.inf
        scale = 1.0 / gains.mean()
        low, high = 0.0, 1.0
        while _mean(gains, scale * high) > 0.5:
            low, high = high, 2.0 * high
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            if _mean(gains, scale * middle) > 0.5:
                low = middle
            else:
                high = middle
        return scale * high


def _mean(gains: np.ndarray, rate: float) -> float:
    return float(np.exp(-rate * gains).mean())
