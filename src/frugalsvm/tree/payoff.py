"""Payoff: whether more work on a tree is likely to pay."""

from __future__ import annotations

import math

# Work at the first check, independent of the limit: so a tree with a larger limit goes
# at least as far as the same tree with a smaller one.
FIRST_CHECK = 1.875e8
# Fraction of the gap that the remaining work should be expected to close.
LEAST_PAYOFF = 0.3
# Consecutive checks that must expect less: bounds rise unevenly.
BAD_CHECKS = 2


class Payoff:
    """Checks the gap each time the work has doubled.

    Trees close about the same fraction of a gap per doubling of the work. So the
    expected progress is that of the last doubling times the doublings left.

    Parameters
    ----------
    max_work : float
        The work limit; without one the work never ends here.

    Attributes
    ----------
    next_check : float
        Work at the next check.
    """

    def __init__(self, max_work: float):
        self.max_work = max_work
        self.next_check = (
            min(FIRST_CHECK, max_work) if max_work < math.inf else math.inf
        )
        self._gap = math.inf
        self._bad_checks = 0

    def start(self, gap: float) -> None:
        """Record the gap of the root."""
        self._gap = gap

    def is_over(self, work: float, gap: float) -> bool:
        """Whether the work is used up, or the rest of it is not worthwhile."""
        if work >= self.max_work:
            return True
        if work < self.next_check:
            return False
        closed = (self._gap - gap) / gap if gap > 0.0 else math.inf
        left = math.log2(self.max_work / work)
        self._gap = gap
        self.next_check = min(2.0 * work, self.max_work)
        self._bad_checks = self._bad_checks + 1 if closed * left < LEAST_PAYOFF else 0
        return self._bad_checks >= BAD_CHECKS
