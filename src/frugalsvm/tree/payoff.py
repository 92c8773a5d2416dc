"""Payoff: whether more work on a tree is likely to pay."""

from __future__ import annotations

import math

from .parameters import DEFAULTS, TreeParameters


class Payoff:
    """Checks the gap each time the work has doubled.

    Trees close about the same fraction of a gap per doubling of the work. So the
    expected progress is that of the last doubling times the doublings left.

    Parameters
    ----------
    max_work : float
        The work limit; without one the work never ends here.
    parameters : TreeParameters, optional

    Attributes
    ----------
    next_check : float
        Work at the next check.
    """

    def __init__(self, max_work: float, parameters: TreeParameters = DEFAULTS):
        self.max_work = max_work
        first = min(parameters.first_check, max_work)
        self.next_check = first if max_work < math.inf else math.inf
        self._parameters = parameters
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
        is_bad = closed * left < self._parameters.min_payoff
        self._bad_checks = self._bad_checks + 1 if is_bad else 0
        return self._bad_checks >= self._parameters.bad_checks
