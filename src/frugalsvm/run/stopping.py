"""StopCondition: stops a run after a time limit, Ctrl-C or a solver failure."""

from __future__ import annotations

import time

import numpy as np

# Extra seconds after a stop for the SVM of a first solution.
GRACE = 0.5


class Abandoned(Exception):
    """Raised inside a run whose caller no longer waits for it."""


class StopCondition:
    """Whether a run must stop, for Python code and compiled code.

    Parameters
    ----------
    time_limit : float, default=None
        Seconds after which ``should_stop`` becomes true.

    Attributes
    ----------
    flag : ndarray of shape (1,)
        Nonzero once the run must stop; compiled code polls it.
    urgent_flag : ndarray of shape (1,)
        The same with a short delay, for steps that are essential to a result.
    needs_watching : bool
        Whether the clock must be checked regularly.
    interrupted : bool
    failure : str or None
        Why a third-party solver failed, if it did; the run cannot continue then.
    """

    def __init__(self, time_limit: float | None = None):
        self.started = time.perf_counter()
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.flag = np.zeros(1, dtype=np.uint8)
        self.urgent_flag = np.zeros(1, dtype=np.uint8)
        self.needs_watching = self.time_limit < np.inf
        self.interrupted = False
        self.failure: str | None = None
        self._abandoned = False
        self._stopped_at = np.inf

    def restart(self, time_limit: float | None) -> None:
        """Set the clock to zero, with another limit; what has stopped stays so."""
        self.started = time.perf_counter()
        self.limit(time_limit)

    def limit(self, time_limit: float | None) -> None:
        """Set another limit, in seconds since the clock was set to zero."""
        self.time_limit = np.inf if time_limit is None else float(time_limit)
        self.needs_watching |= self.time_limit < np.inf

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit; zero after Ctrl-C; may be infinite."""
        return 0.0 if self.interrupted else self.time_limit - self.seconds

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
        """Set the flags polled by compiled code when it is time to stop."""
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
        """Stop at once: the caller no longer waits for the result."""
        self._abandoned = True
        self.flag[0] = self.urgent_flag[0] = 1
