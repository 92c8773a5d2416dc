"""Monitor: time, stop conditions, the best solution and bound so far, and the log.

One object per run. Search threads report incumbents to it and ask it whether to stop;
it never decides anything about the mathematics.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

logger = logging.getLogger("frugalsvm")

_HEADER = (
    f"{'time':>8} {'nodes':>9} {'open':>8} {'objective':>13} {'bound':>13} {'gap':>8}"
    "  event"
)
# Seconds between two lines of the log when nothing happens.
LOG_INTERVAL = 5.0
# A bound enters the history when it closes this part of the gap.
NOTABLE = 0.01
# Seconds after a stop that the SVM of a first solution may still take.
GRACE = 0.5


class Abandoned(Exception):
    """Raised inside a run that nobody waits for any more."""


@dataclass(frozen=True)
class Progress:
    """What a callback is told.

    Attributes
    ----------
    seconds : float
    nodes, open_nodes : int
        Nodes of the tree evaluated so far, and waiting; 0 before there is a tree.
    objective, lower_bound, gap : float
        Best solution and bound so far.
    """

    seconds: float
    nodes: int
    open_nodes: int
    objective: float
    lower_bound: float
    gap: float


Callback = Callable[[Progress], object]


def relative_gap(objective: float, bound: float) -> float:
    """``(objective - bound) / objective``, the paper's gap; 0 when they meet."""
    if not np.isfinite(objective):
        return np.inf
    difference = max(0.0, objective - bound)
    return difference / abs(objective) if difference > 0.0 else 0.0


class Monitor:
    """Shared state of one run.

    Parameters
    ----------
    time_limit : float, default=None
        Seconds after which ``should_stop`` turns true.
    gap_tol : float, default=0.0
        Relative gap at which the run is finished.
    verbose : int, default=0
        Above 0, progress is printed through the ``frugalsvm`` logger.
    callback : callable, default=None
        Called with a :class:`Progress` after improvements and nodes; the run stops when
        it returns True.

    Attributes
    ----------
    flag : ndarray of shape (1,)
        Not zero once the run is to stop: compiled code looks at it.
    urgent_flag : ndarray of shape (1,)
        The same a little later, for what a result cannot do without.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        gap_tol: float = 0.0,
        verbose: int = 0,
        callback: Callback | None = None,
    ):
        self.started = time.perf_counter()
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.gap_tol = gap_tol
        self.objective = np.inf
        self.bound = -np.inf
        self.history: list[tuple[float, float, float]] = []
        self.interrupted = False
        self.flag = np.zeros(1, dtype=np.uint8)
        self.urgent_flag = np.zeros(1, dtype=np.uint8)
        self._abandoned = False
        self._stopped_at = np.inf
        # Why a third-party solver failed, if one did: there is no going on then.
        self.failure: str | None = None
        self.nodes = 0
        self.open_nodes = 0
        self._callback = callback
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        self._verbose = verbose
        self._last_log = 0.0
        if verbose:
            _ensure_handler()
            logger.info(_HEADER)

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.started

    @property
    def gap(self) -> float:
        """Relative gap between the best objective and the best bound."""
        return relative_gap(self.objective, self.bound)

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self.seconds >= self.time_limit

    def should_stop(self) -> bool:
        """Whether time is up, the user interrupted, or a solver failed."""
        if self._abandoned:
            raise Abandoned
        return self.interrupted or self.out_of_time or self.failure is not None

    def watch(self) -> None:
        """Set the flags that compiled code looks at when it is time."""
        if self.interrupted or self.out_of_time:
            self.flag[0] = 1
            self._stopped_at = min(self.seconds, self._stopped_at)
            if self.seconds > self._stopped_at + GRACE:
                self.urgent_flag[0] = 1

    def interrupt(self) -> None:
        """Stop soon, with the best solution and bound so far."""
        self.interrupted = True
        self.flag[0] = 1

    def abandon(self) -> None:
        """Stop at once: nobody waits for the outcome."""
        self._abandoned = True
        self.flag[0] = self.urgent_flag[0] = 1

    def finished(self) -> bool:
        """Whether there is nothing left to do: stop asked for, or gap closed."""
        return self.should_stop() or self.gap <= self.gap_tol

    def update(
        self, *, objective: float = np.inf, bound: float = -np.inf, event: str = ""
    ) -> None:
        """Record a solution's objective or a valid bound if it is better."""
        with self._lock:
            if objective >= self.objective and bound <= self.bound:
                return
            improved = objective < self.objective
            self.objective = min(objective, self.objective)
            self.bound = max(bound, self.bound)
            if improved or self._is_notable(bound):
                self.history.append((self.seconds, self.objective, self.bound))
        if event:
            self.log(event)
            self.tick()

    def _is_notable(self, bound: float) -> bool:
        """Whether a bound closes a visible part of the gap last recorded."""
        if not self.history:
            return True
        last = self.history[-1][2]
        return bool(bound - last > NOTABLE * max(self.objective - last, 0.0))

    def tick(self) -> None:
        """Tell the callback, and the log if it was silent for long."""
        if self._verbose and self.seconds - self._last_log >= LOG_INTERVAL:
            self.log("")
        if self._callback is not None:
            # One call at a time, whatever thread it comes from.
            with self._telling:
                if self._callback(self._progress()):
                    self.interrupt()

    def _progress(self) -> Progress:
        return Progress(
            self.seconds,
            self.nodes,
            self.open_nodes,
            self.objective,
            self.bound,
            self.gap,
        )

    def close(self) -> None:
        """Complete the history: the run is over."""
        if not self.history or self.history[-1][1:] != (self.objective, self.bound):
            self.history.append((self.seconds, self.objective, self.bound))

    def log(self, event: str) -> None:
        """One line of the progress table."""
        if self._verbose:
            self._last_log = self.seconds
            objective, gap = f"{self.objective:.7g}", f"{100 * self.gap:.2f}%"
            if np.isinf(self.objective):
                objective = gap = "-"
            nodes = f"{self.nodes:,}" if self.nodes else "-"
            open_nodes = f"{self.open_nodes:,}" if self.nodes else "-"
            logger.info(
                f"{self.seconds:7.1f}s {nodes:>9} {open_nodes:>8} {objective:>13} "
                f"{self.bound:13.7g} {gap:>8}  {event}"
            )


def _ensure_handler() -> None:
    """Let verbose output appear when the application has not configured logging."""
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
