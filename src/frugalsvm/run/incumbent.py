"""Incumbent: the single place that holds the best solution so far.

Searches and trees offer their solutions. Listeners are notified of improvements.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from ..problem.solution import Solution

# Gaps below this are rounding errors; bounds need not be tighter.
LEAST_GAP = 1e-8

# Called with a better solution and its origin.
Listener = Callable[[Solution, str], None]


class Incumbent:
    """The best solution so far, and the value that bounds have to exceed.

    Parameters
    ----------
    gap_tol : float, default=0.0
        Relative gap within which solutions count as equally good.
    limit : float, default=inf
        Solutions with a larger objective are ignored.

    Attributes
    ----------
    solution : Solution or None
    cutoff : float
        Regions whose bound exceeds it can be pruned.
    """

    def __init__(self, gap_tol: float = 0.0, limit: float = np.inf):
        self.gap_tol = max(gap_tol, LEAST_GAP)
        self.limit = limit
        self.solution: Solution | None = None
        self.cutoff = limit
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    @property
    def objective(self) -> float:
        """Objective of the best solution; infinite if there is none."""
        return np.inf if self.solution is None else self.solution.objective

    def listen(self, listener: Listener) -> None:
        """Notify a listener of every improvement from now on."""
        self._listeners.append(listener)

    def offer(self, solution: Solution, event: str = "") -> bool:
        """Store the solution if it is better; return whether it was."""
        with self._lock:
            if not solution.objective < self.objective:
                return False
            if solution.objective > self.limit:
                return False
            self.solution = solution
            self._cut_at(solution.objective)
        for listener in self._listeners:
            listener(solution, event)
        return True

    def lower_cutoff(self, value: float) -> None:
        """Accept bounds within the gap of a value, even if no solution attains it.

        This is used to solve only a relaxation, whose value is given.
        """
        with self._lock:
            self._cut_at(value)

    def _cut_at(self, value: float) -> None:
        # Slightly less than the gap, since the final solve may end slightly higher.
        gap = self.gap_tol - min(0.2 * self.gap_tol, 1e-8)
        self.cutoff = min(self.cutoff, value * (1.0 - gap))
