"""Compile kernels before the clock of a run starts.

The first call of a kernel in a new environment compiles it, and the first call in a
process loads it from the cache. Time limits include neither.
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

# Loading compiled kernels takes less than this many seconds; compiling takes more.
LOADING = 3.0

_ready: set[str] = set()
_lock = threading.Lock()


class _WarmUp(StopCondition):
    """Never stops; prints a message if compilation takes long."""

    def __init__(self) -> None:
        super().__init__()
        # The duration is watched.
        self.needs_watching = True
        self._begun = time.monotonic()
        self._said = False

    def watch(self) -> None:
        """Print once that kernels are being compiled."""
        if not self._said and time.monotonic() - self._begun > LOADING:
            self._said = True
            logger.warning(
                "compiling kernels: about half a minute, once per environment"
            )


def ensure(method: str, warm_up: Callable[[StopCondition], None]) -> None:
    """Warm up a method, once per process.

    Ctrl-C is raised at once. Only the compilation of the current function goes on then,
    and the next call starts again.
    """
    if method in _ready:
        return
    stop = _WarmUp()
    supervise(lambda: _locked(warm_up, stop), stop, patient=False)
    _ready.add(method)


def _locked(warm_up: Callable[[StopCondition], None], stop: StopCondition) -> None:
    # Concurrent threads would compile the same functions.
    with _lock:
        stop.should_stop()
        warm_up(stop)


def tiny_problem() -> Problem:
    """A problem that needs a tree with a few nodes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 6))
    y = np.where(X @ np.array([2.0, -1.5, 1.2, 0.9, -0.7, 0.5]) > 0, 1.0, -1.0)
    return Problem(X, y, C=1.0, max_features=3)
