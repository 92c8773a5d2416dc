"""Incumbent: the best solution so far, and nobody else holds it.

Searches and trees offer what they find. Whoever wants to know of improvements listens.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from ..problem.solution import Solution

# Gaps below this are rounding errors: no bound is asked to be tighter.
LEAST_GAP = 1e-8

# Told about a better solution, and by what it was found.
Listener = Callable[[Solution, str], None]


class Incumbent:
    """The best solution so far, and the value that bounds have to exceed.

    Parameters
    ----------
    gap_tol : float, default=0.0
        What is within this relative gap of the objective is as good.
    limit : float, default=inf
        Solutions of a larger objective are not taken.

    Attributes
    ----------
    solution : Solution or None
    cutoff : float
        A region whose bound exceeds it holds nothing worth looking for.
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
        """Tell a listener about every improvement from now on."""
        self._listeners.append(listener)

    def offer(self, solution: Solution, event: str = "") -> bool:
        """Take the solution if it is better; whether it was."""
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
        """Be content with bounds within the gap of a value, though nothing attains it.

        Such is the value of a relaxation that is to be solved, and no further.
        """
        with self._lock:
            self._cut_at(value)

    def _cut_at(self, value: float) -> None:
        # A little less than the gap, for the final solve may end a little higher.
        gap = self.gap_tol - min(0.2 * self.gap_tol, 1e-8)
        self.cutoff = min(self.cutoff, value * (1.0 - gap))
