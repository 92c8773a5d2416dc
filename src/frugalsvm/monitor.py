"""Monitor: time, stop conditions, the best solution and bound so far, and the log.

One object per run. Search threads report incumbents to it and ask it whether to stop;
it never decides anything about the mathematics.
"""

from __future__ import annotations

import logging
import threading
import time

import numpy as np

logger = logging.getLogger("frugalsvm")

_HEADER = f"{'time':>8}  {'objective':>12}  {'bound':>12}  {'gap':>8}  event"


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
    """

    def __init__(
        self, time_limit: float | None = None, gap_tol: float = 0.0, verbose: int = 0
    ):
        self.started = time.perf_counter()
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.gap_tol = gap_tol
        self.objective = np.inf
        self.bound = -np.inf
        self.history: list[tuple[float, float, float]] = []
        self.interrupted = False
        self._lock = threading.Lock()
        self._verbose = verbose
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
        """Whether time is up or the user interrupted."""
        return self.interrupted or self.out_of_time

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
            self.objective = min(objective, self.objective)
            self.bound = max(bound, self.bound)
            self.history.append((self.seconds, self.objective, self.bound))
        if event:
            self.log(event)

    def log(self, event: str) -> None:
        """One line of the progress table."""
        if self._verbose:
            objective, gap = f"{self.objective:.6g}", f"{100 * self.gap:.2f}%"
            if np.isinf(self.objective):
                objective = gap = "-"
            logger.info(
                f"{self.seconds:7.1f}s  {objective:>12}  {self.bound:12.6g}  {gap:>8}  "
                f"{event}"
            )


def _ensure_handler() -> None:
    """Let verbose output appear when the application has not configured logging."""
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
    if not logger.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
