"""Region: a set of supports, as a relaxation sees it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Region(NamedTuple):
    """What is decided about the features and what is left to decide.

    Attributes
    ----------
    forced : integer array
        Features that are used.
    free : integer array
        Features among which to choose; all others are not used.
    k : int
        How many of the free ones may be chosen.
    budget : float
        What they may cost together; may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float

    def fits(self, costs: np.ndarray) -> bool:
        """Whether all free features fit the budgets."""
        return self.free.shape[0] <= self.k and bool(
            np.isinf(self.budget) or costs[self.free].sum() <= self.budget
        )

    def is_decided(self, costs: np.ndarray) -> bool:
        """Whether nothing is left to decide: no feature fits, or all of them do."""
        return self.k == 0 or self.fits(costs)

    def affordable(self, costs: np.ndarray) -> Region:
        """The region without the free features that cost more than the budget."""
        if np.isinf(self.budget):
            return self
        return self._replace(free=self.free[costs[self.free] <= self.budget])

    def settled(self, costs: np.ndarray) -> Region:
        """The region without free features if it is decided, or else as it is."""
        if not self.is_decided(costs):
            return self
        chosen = self.free if self.k > 0 else self.free[:0]
        forced = np.concatenate([self.forced, chosen])
        return Region(forced, self.free[:0], 0, self.budget)
