"""Monitor: one run, seen from outside.

It joins what ends a run (``stop``), what it has found (``incumbent``, ``bound``) and
those who are told (history, log, callback). It never decides anything about the
mathematics.
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
        What ends the run; None for a run without limits.
    gap_tol : float, default=0.0
        Relative gap at which the run is finished.
    verbose : int, default=0
        Above 0, progress is printed through the ``frugalsvm`` logger.
    callback : callable, default=None
        Called with a :class:`Progress` after improvements and nodes; the run stops when
        it returns True.

    Attributes
    ----------
    incumbent : Incumbent
    bound : float
        The best bound so far, which is never taken back.
    nodes, open_nodes : int
        Nodes of all trees evaluated so far, and waiting in the present one.
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
        """Objectives and bounds over time, with the seconds first."""
        return self._history.entries

    @property
    def gap(self) -> float:
        """Relative gap between the best objective and the best bound."""
        return relative_gap(self.incumbent.objective, self.bound)

    def should_stop(self) -> bool:
        """Whether something ends the run."""
        return self.stop.should_stop()

    def is_finished(self) -> bool:
        """Whether there is nothing left to do: stop asked for, or gap closed."""
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
        """Record that nodes were evaluated, and how many wait."""
        with self._lock:
            self.nodes += n_new
            self.open_nodes = open_nodes

    def tick(self) -> None:
        """Tell the callback, and the log if it was silent for long."""
        if self._log.is_due(self.stop.seconds):
            self.log("")
        if self._callback is not None:
            # One call at a time, whatever thread it comes from.
            with self._telling:
                if self._callback(self.progress):
                    self.stop.interrupt()

    def log(self, event: str) -> None:
        """One line of the progress table."""
        self._log.line(self.progress, event)

    def close(self, objective: float, bound: float, event: str) -> None:
        """Complete history and log with the final figures: the run is over."""
        final = self._progress(objective, bound)
        self._history.close(final)
        self._log.line(final, event)

    @property
    def progress(self) -> Progress:
        """What the run has reached."""
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
