"""Monitor: the state of one run and its observers.

It combines the stop condition (``stop``), the best results (``incumbent``, ``bound``)
and the observers (history, log, callback). It makes no algorithmic decisions.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..problem.solution import Solution
from .stopping import StopCondition

# --- Progress of a run, for its history, the callback and the log ---------------------

logger = logging.getLogger("frugalsvm")

# Maximum number of seconds between two lines of the log.
LOG_INTERVAL = 5.0
# The counter of restarts since the last improvement.
SINCE_BEST = "restarts since the best"


@dataclass(frozen=True)
class Progress:
    """The argument of a callback.

    Attributes
    ----------
    seconds : float
    nodes, open_nodes : int
        Evaluated and open nodes of the tree; 0 before there is a tree.
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


def relative_gaps(objectives: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Elementwise gaps of arrays of the same shape."""
    pairs = zip(objectives.ravel(), bounds.ravel(), strict=True)
    gaps = [relative_gap(*pair) for pair in pairs]
    return np.array(gaps).reshape(objectives.shape)


class History:
    """Objectives and bounds over time: one entry per notable improvement.

    Reports of threads may arrive late; entries are kept monotone in time and value.

    Attributes
    ----------
    entries : list of (seconds, objective, bound)
    """

    def __init__(self) -> None:
        self.entries: list[tuple[float, float, float]] = []
        self._lock = threading.Lock()

    def is_notable(self, bound: float) -> bool:
        """Whether a bound closes one per cent of the last recorded gap."""
        if not self.entries:
            return True
        _, objective, last = self.entries[-1]
        return bound - last > 0.01 * max(objective - last, 0.0)

    def add(self, progress: Progress) -> None:
        """Record an objective if it is better, or a bound if it is notably better."""
        with self._lock:
            seconds, objective, bound = self._monotone(progress)
            improved = not self.entries or objective < self.entries[-1][1]
            if improved or self.is_notable(bound):
                self.entries.append((seconds, objective, bound))

    def close(self, progress: Progress) -> None:
        """Record the end of the run; final rounding does not worsen entries."""
        with self._lock:
            last = self._monotone(progress)
            if not self.entries or last[1:] != self.entries[-1][1:]:
                self.entries.append(last)

    def _monotone(self, progress: Progress) -> tuple[float, float, float]:
        """A new entry, neither worse nor earlier than the last one."""
        entry = progress.seconds, progress.objective, progress.lower_bound
        if not self.entries:
            return entry
        seconds, objective, bound = self.entries[-1]
        return max(entry[0], seconds), min(entry[1], objective), max(entry[2], bound)


class ProgressLog:
    """The table of a verbose run.

    Parameters
    ----------
    verbose : int
        Above 0, lines go to the ``frugalsvm`` logger.
    """

    def __init__(self, verbose: int):
        self._verbose = verbose
        self._last = 0.0
        if verbose:
            ensure_handler()
            logger.info(
                f"{'time':>8} {'nodes':>9} {'open':>8} {'objective':>13} "
                f"{'bound':>13} {'gap':>8}  event"
            )

    def is_due(self, seconds: float) -> bool:
        """Whether it is time for a line without an event."""
        return self._verbose > 0 and seconds - self._last >= LOG_INTERVAL

    def line(self, progress: Progress, event: str) -> None:
        """Write a line of the table."""
        if not self._verbose:
            return
        self._last = progress.seconds
        objective, gap = f"{progress.objective:.7g}", f"{100 * progress.gap:.2f}%"
        bound = f"{progress.lower_bound:.7g}"
        if np.isinf(progress.objective):
            objective = "-"
        if np.isinf(progress.lower_bound):
            bound = "-"
        if np.isinf(progress.gap):
            gap = "-"
        nodes = f"{progress.nodes:,}" if progress.nodes else "-"
        open_nodes = f"{progress.open_nodes:,}" if progress.nodes else "-"
        logger.info(
            f"{progress.seconds:7.1f}s {nodes:>9} {open_nodes:>8} {objective:>13} "
            f"{bound:>13} {gap:>8}  {event}"
        )


def ensure_handler() -> None:
    """Let verbose output appear when the application has not configured logging."""
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)


# --- Incumbent: the single place that holds the best solution so far ------------------
#
# Searches and trees offer their solutions. Listeners are notified of improvements.

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

        This is used to solve only a relaxation of known value.
        """
        with self._lock:
            self._cut_at(value)

    def _cut_at(self, value: float) -> None:
        # Slightly less than the gap, since the final solve may end slightly higher.
        gap = self.gap_tol - min(0.2 * self.gap_tol, 1e-8)
        self.cutoff = min(self.cutoff, value * (1.0 - gap))


# --- Monitor --------------------------------------------------------------------------


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
        self._calling = threading.Lock()

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
            with self._calling:
                if self._callback(self.progress):
                    self.stop.interrupt()

    def log(self, event: str) -> None:
        """Write a line of the progress table."""
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
