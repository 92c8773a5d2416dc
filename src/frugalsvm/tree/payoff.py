"""Payoff: whether more work on a tree is likely to pay."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from .parameters import DEFAULTS, TreeParameters


class Payoff:
    """Checks gap and open nodes each time the work has doubled.

    Trees close about the same fraction of a gap per doubling of the work. So the
    expected progress is that of the last doubling times the number of doublings left.
    But the last part of a gap closes all at once. So a tree also goes on as long as its
    open nodes are likely to need little work.

    Parameters
    ----------
    max_work : float
        The work limit; infinite for no limit.
    closing_work : float, default=0.0
        A tree that is likely to close with this much more work may do it, up to twice
        as much in all.
    parameters : TreeParameters, optional

    Attributes
    ----------
    next_check : float
        Work at the next check.
    """

    def __init__(
        self,
        max_work: float,
        closing_work: float = 0.0,
        parameters: TreeParameters = DEFAULTS,
    ):
        self.max_work, self.closing_work = max_work, closing_work
        first = min(parameters.first_check, max_work)
        self.next_check = first if max_work < math.inf else math.inf
        self._parameters = parameters
        self._gap = math.inf
        # Work, and fraction of the gap that was closed.
        self._checks: list[tuple[float, float]] = []

    def start(self, gap: float) -> None:
        """Record the gap of the root."""
        self._gap = gap

    def restart(self, work: float, gap: float) -> None:
        """Forget the checks: from now on the tree grows at another rate."""
        self._checks.clear()
        self._gap = gap
        self.next_check = min(max(self.next_check, 2.0 * work), self.max_work)

    def is_over(
        self, work: float, gap: float, work_left: Callable[[], float] = lambda: math.inf
    ) -> bool:
        """Whether the work is used up, or more of it is not worthwhile.

        ``work_left`` returns the work that the open nodes are likely to need.
        """
        if work < self.next_check:
            return False
        is_spent = work >= self.max_work
        if not is_spent:
            closed = (self._gap - gap) / gap if gap > 0.0 else math.inf
            self._checks.append((work, closed))
            self._gap = gap
        limit = 2.0 * self.closing_work if is_spent else self.max_work
        self.next_check = min(2.0 * work, limit)
        return (is_spent or self.is_bad) and not self.will_close(work, work_left)

    def will_close(self, work: float, work_left: Callable[[], float]) -> bool:
        """Whether the tree is likely to close within the additional work."""
        limit = self.closing_work
        return work < 2.0 * limit and work_left() <= limit

    @property
    def is_bad(self) -> bool:
        """Whether the last checks expect too little of the work that is left."""
        least, number = self._parameters.min_payoff, self._parameters.bad_checks
        bad = [
            closed * math.log2(self.max_work / work) < least
            for work, closed in self._checks[-number:]
        ]
        return len(bad) == number and all(bad)

    def raise_limit(self, max_work: float, closing_work: float = 0.0) -> None:
        """Judge the same checks by larger limits from now on."""
        self.max_work = max(max_work, self.max_work)
        self.closing_work = max(closing_work, self.closing_work)
        last = self._checks[-1][0] if self._checks else 0.0
        check = max(self._parameters.first_check, 2.0 * last)
        self.next_check = min(check, self.max_work)


# --- Outlook: how many branchings a tree has left, estimated from its open nodes ------


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

        A cautious estimate: from few branchings the expectation may be orders of
        magnitude too large, and from very few there is none.
        """
        least = float(distances.size)
        n_known, parameters = len(self._gains) // 2, self._parameters
        if least == 0.0 or n_known < parameters.least_known:
            return least
        rate = self._rate()
        if rate == np.inf:
            return np.inf
        # The largest exponent: sums must not overflow.
        expected = float(np.exp(np.minimum(rate * distances, 600.0)).sum())
        if n_known < parameters.well_known:
            expected /= parameters.doubt
        return max(expected, least)

    def _rate(self) -> float:
        """The rate of growth per unit of distance; infinite if most gains are zero.

        Gains change as the tree grows: only the last half of the recorded gains count,
        unless these are too few.
        """
        n_used = max(len(self._gains) // 2, 2 * self._parameters.well_known)
        gains = np.array(self._gains)[-n_used:]
        if np.count_nonzero(gains) <= 0.5 * gains.size:
            return np.inf
        scale = 1.0 / gains.mean()
        low, high = 0.0, 1.0
        while _mean(gains, scale * high) > 0.5:
            low, high = high, 2.0 * high
        for _ in range(40):
            middle = 0.5 * (low + high)
            if _mean(gains, scale * middle) > 0.5:
                low = middle
            else:
                high = middle
        return scale * high


def _mean(gains: np.ndarray, rate: float) -> float:
    return float(np.exp(-rate * gains).mean())
