"""Region: a set of supports to relax."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Region(NamedTuple):
    """Which features are decided and which are free.

    Attributes
    ----------
    forced : integer array
        Features that are used.
    free : integer array
        Features to choose from; all others are excluded.
    k : int
        Maximum number of free features that may be chosen.
    budget : float
        Their maximum total cost; may be infinite.
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
        """The region without free features if it is decided, else unchanged."""
        if not self.is_decided(costs):
            return self
        chosen = self.free if self.k > 0 else self.free[:0]
        forced = np.concatenate([self.forced, chosen])
        return Region(forced, self.free[:0], 0, self.budget)
