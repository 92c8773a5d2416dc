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
        # Work, and fraction of the gap that was closed.
        self._checks: list[tuple[float, float]] = []

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
        self._checks.append((work, closed))
        self._gap = gap
        self.next_check = min(2.0 * work, self.max_work)
        return self.is_bad

    @property
    def is_bad(self) -> bool:
        """Whether the last checks expect too little of the work that is left."""
        least, number = self._parameters.min_payoff, self._parameters.bad_checks
        bad = [
            closed * math.log2(self.max_work / work) < least
            for work, closed in self._checks[-number:]
        ]
        return len(bad) == number and all(bad)

    def raise_limit(self, max_work: float) -> None:
        """Judge the same checks by a larger limit from now on."""
        self.max_work = max(max_work, self.max_work)
        last = self._checks[-1][0] if self._checks else 0.0
        following = max(self._parameters.first_check, 2.0 * last)
        self.next_check = min(following, self.max_work)
