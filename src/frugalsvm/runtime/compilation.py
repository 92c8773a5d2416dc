"""Compile kernels before the clock of a run starts.

The first call of a kernel in a new environment compiles it, the first in a process
loads it from the cache. Neither is the user's time: a time limit does not count it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

import numpy as np

from ..problem.problem import Problem
from .stopping import StopCondition
from .supervision import supervise

logger = logging.getLogger("frugalsvm")

# Loading compiled kernels takes less than this many seconds; then it is compiling.
LOADING = 3.0

_ready: set[str] = set()
_lock = threading.Lock()


class _WarmUp(StopCondition):
    """Stops nothing, and says what takes so long."""

    def __init__(self) -> None:
        super().__init__()
        # How long it takes is what is watched.
        self.needs_watching = True
        self._begun = time.monotonic()
        self._said = False

    def watch(self) -> None:
        """Say once that kernels are being compiled."""
        if not self._said and time.monotonic() - self._begun > LOADING:
            self._said = True
            logger.warning(
                "compiling kernels: about half a minute, once per environment"
            )


def ensure(method: str, rehearse: Callable[[StopCondition], None]) -> None:
    """Rehearse a method unless this process has done so before.

    Ctrl-C is raised at once; then only the compilation of the function in hand goes on,
    and the next call begins again.
    """
    if method in _ready:
        return
    stop = _WarmUp()
    supervise(lambda: _locked(rehearse, stop), stop, patient=False)
    _ready.add(method)


def _locked(rehearse: Callable[[StopCondition], None], stop: StopCondition) -> None:
    # Threads that start at once would compile the same functions.
    with _lock:
        stop.should_stop()
        rehearse(stop)


def tiny_problem() -> Problem:
    """A problem that needs a tree with a few nodes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 6))
    y = np.where(X @ np.array([2.0, -1.5, 1.2, 0.9, -0.7, 0.5]) > 0, 1.0, -1.0)
    return Problem(X, y, C=1.0, max_features=3)
