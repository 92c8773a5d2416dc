"""StopCondition: what ends a run. The clock, Ctrl-C, a solver that failed."""

from __future__ import annotations

import time

import numpy as np

# Seconds after a stop that the SVM of a first solution may still take.
GRACE = 0.5


class Abandoned(Exception):
    """Raised inside a run that nobody waits for any more."""


class StopCondition:
    """Whether a run is to end, for Python code and for compiled code.

    Parameters
    ----------
    time_limit : float, default=None
        Seconds after which ``should_stop`` turns true.

    Attributes
    ----------
    flag : ndarray of shape (1,)
        Not zero once the run is to stop: compiled code looks at it.
    urgent_flag : ndarray of shape (1,)
        The same a little later, for what a result cannot do without.
    needs_watching : bool
        Whether somebody has to look at the clock now and then.
    interrupted : bool
    failure : str or None
        Why a third-party solver failed, if one did: there is no going on then.
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

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit, none after Ctrl-C; may be infinite."""
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
