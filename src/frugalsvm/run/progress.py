"""Progress of a run, for its history, the callback and the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

logger = logging.getLogger("frugalsvm")

_HEADER = (
    f"{'time':>8} {'nodes':>9} {'open':>8} {'objective':>13} {'bound':>13} {'gap':>8}"
    "  event"
)
# Maximum number of seconds between two lines of the log.
LOG_INTERVAL = 5.0
# A bound enters the history if it closes this fraction of the gap.
NOTABLE = 0.01

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
        """Whether a bound closes a visible fraction of the last recorded gap."""
        if not self.entries:
            return True
        _, objective, last = self.entries[-1]
        return bound - last > NOTABLE * max(objective - last, 0.0)

    def add(self, progress: Progress) -> None:
        """Record an objective if it is better, or a bound if it is notably better."""
        with self._lock:
            seconds, objective, bound = self._following(progress)
            improved = not self.entries or objective < self.entries[-1][1]
            if improved or self.is_notable(bound):
                self.entries.append((seconds, objective, bound))

    def close(self, progress: Progress) -> None:
        """Record the end of the run; final rounding does not worsen entries."""
        with self._lock:
            last = self._following(progress)
            if not self.entries or last[1:] != self.entries[-1][1:]:
                self.entries.append(last)

    def _following(self, progress: Progress) -> tuple[float, float, float]:
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
            logger.info(_HEADER)

    def is_due(self, seconds: float) -> bool:
        """Whether the log has been silent for long."""
        return self._verbose > 0 and seconds - self._last >= LOG_INTERVAL

    def line(self, progress: Progress, event: str) -> None:
        """One line of the table."""
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
