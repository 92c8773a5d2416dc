"""Monitor: the state of one run and its observers.

It combines the stop condition (``stop``), the best results (``incumbent``, ``bound``)
and the observers (history, log, callback). It makes no algorithmic decisions.
"""

from __future__ import annotations

import threading

import numpy as np

from ..problem.solution import Solution
from .incumbent import Incumbent
from .progress import Callback, History, Progress, ProgressLog, relative_gap
from .stopping import StopCondition

__all__ = ["Callback", "Monitor", "Progress"]


class Monitor:
    """Shared state of one run.

    Parameters
    ----------
    stop : StopCondition, default=None
        The stop condition; None for a run without limits.
    gap_tol : float, default=0.0
        Relative gap at which the run is finished.
    verbose : int, default=0
        Above 0, progress is printed through the ``frugalsvm`` logger.
    callback : callable, default=None
        Called with a :class:`Progress` after improvements and nodes; the run stops if
        it returns True.

    Attributes
    ----------
    incumbent : Incumbent
    bound : float
        The best bound so far, which never decreases.
    nodes, open_nodes : int
        Nodes evaluated so far in all trees, and open nodes of the current one.
    """

    def __init__(
        self,
        stop: StopCondition | None = None,
        gap_tol: float = 0.0,
        verbose: int = 0,
        callback: Callback | None = None,
    ):
        self.gap_tol = gap_tol
        self.stop = StopCondition() if stop is None else stop
        self.incumbent = Incumbent(gap_tol)
        self.incumbent.listen(self._improved)
        self.bound = -np.inf
        self.nodes = 0
        self.open_nodes = 0
        self._history = History()
        self._log = ProgressLog(verbose)
        self._callback = callback
        # A callback may stop the run at any time.
        self.stop.needs_watching |= callback is not None
        self._lock = threading.Lock()
        self._telling = threading.Lock()

    @property
    def history(self) -> list[tuple[float, float, float]]:
        """Objectives and bounds over time, as (seconds, objective, bound)."""
        return self._history.entries

    @property
    def gap(self) -> float:
        """Relative gap between the best objective and the best bound."""
        return relative_gap(self.incumbent.objective, self.bound)

    def should_stop(self) -> bool:
        """Whether the run must stop."""
        return self.stop.should_stop()

    def is_finished(self) -> bool:
        """Whether the run is finished: stop requested, or gap closed."""
        return self.should_stop() or self.gap <= self.gap_tol

    def raise_bound(self, bound: float, event: str = "") -> None:
        """Record a valid bound if it is better."""
        with self._lock:
            if bound <= self.bound:
                return
            self.bound = bound
        if self._history.is_notable(bound):
            self._history.add(self.progress)
        if event:
            self.log(event)
            self.tick()

    def count_nodes(self, n_new: int, open_nodes: int) -> None:
        """Record the number of evaluated and of open nodes."""
        with self._lock:
            self.nodes += n_new
            self.open_nodes = open_nodes

    def tick(self) -> None:
        """Call the callback, and write to the log after a long silence."""
        if self._log.is_due(self.stop.seconds):
            self.log("")
        if self._callback is not None:
            # One call at a time, from any thread.
            with self._telling:
                if self._callback(self.progress):
                    self.stop.interrupt()

    def log(self, event: str) -> None:
        """One line of the progress table."""
        self._log.line(self.progress, event)

    def close(self, objective: float, bound: float, event: str) -> None:
        """Complete history and log with the final figures of the run."""
        final = self._progress(objective, bound)
        self._history.close(final)
        self._log.line(final, event)

    @property
    def progress(self) -> Progress:
        """The current progress of the run."""
        return self._progress(self.incumbent.objective, self.bound)

    def _progress(self, objective: float, bound: float) -> Progress:
        return Progress(
            self.stop.seconds,
            self.nodes,
            self.open_nodes,
            objective,
            bound,
            relative_gap(objective, bound),
        )

    def _improved(self, solution: Solution, event: str) -> None:
        self._history.add(self.progress)
        if event:
            self.log(event)
            self.tick()
