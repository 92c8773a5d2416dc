"""Payoff: whether more work on a tree can be expected to pay."""

from __future__ import annotations

import math

# Work at the first look, whatever the limit: a tree with a larger limit then goes at
# least as far as the same tree with a smaller one.
FIRST_LOOK = 1.875e8
# Part of the gap that the rest of the work should be expected to close.
LEAST_PAYOFF = 0.3
# Looks in a row that must expect less: bounds do not rise evenly.
BAD_LOOKS = 2


class Payoff:
    """Looks at a gap whenever the work has doubled.

    Trees close about the same part of a gap each time their work doubles. So what can
    be expected is what the last doubling has closed, times the doublings that are left.

    Parameters
    ----------
    max_work : float
        Where the work ends in any case; without a limit it is never over.

    Attributes
    ----------
    next_look : float
        Work until which there is nothing to look at.
    """

    def __init__(self, max_work: float):
        self.max_work = max_work
        self.next_look = min(FIRST_LOOK, max_work) if max_work < math.inf else math.inf
        self._gap = math.inf
        self._bad_looks = 0

    def start(self, gap: float) -> None:
        """Remember the gap of the root."""
        self._gap = gap

    def is_over(self, work: float, gap: float) -> bool:
        """Whether the work is done, or the rest of it is not worth while."""
        if work >= self.max_work:
            return True
        if work < self.next_look:
            return False
        closed = (self._gap - gap) / gap if gap > 0.0 else math.inf
        left = math.log2(self.max_work / work)
        self._gap = gap
        self.next_look = min(2.0 * work, self.max_work)
        self._bad_looks = self._bad_looks + 1 if closed * left < LEAST_PAYOFF else 0
        return self._bad_looks >= BAD_LOOKS
