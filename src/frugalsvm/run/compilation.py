"""Compile kernels before the clock of a run starts.

The first call of a kernel in a new environment compiles it, and the first call in a
process loads it from the cache. Time limits include neither. Numba's compiler is
Python code that holds the interpreter, so threads do not help; a second process does.
"""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event

from ..problem.problem import Problem
from .stopping import StopCondition
from .supervision import supervise

logger = logging.getLogger("frugalsvm")

# Loading compiled kernels takes less than this many seconds; compiling takes more.
LOADING = 3.0
# Number of functions of the largest kernel, and how much longer it takes than its first
# functions suggest: the last are the longest, and all are optimised together.
N_FUNCTIONS, SLOWDOWN = 190, 2.0

_ready: set[str] = set()
_lock = threading.Lock()
_second_process: subprocess.Popen[bytes] | None = None
_has_announced = False
_spent = 0.0


class _Counter(event.Listener):
    """Counts the functions that are compiled in this process."""

    n = 0

    def on_start(self, event: Any) -> None:
        """Nothing to do."""

    def on_end(self, event: Any) -> None:
        """Count the function."""
        self.n += 1


class _WarmUp(StopCondition):
    """Never stops; announces how long compilation will take if it takes long."""

    def __init__(self) -> None:
        super().__init__()
        self.needs_watching = True
        self._begun = time.monotonic()
        self._compiled = _Counter()

    def run(self, warm_up: Callable[[StopCondition], object]) -> None:
        """Warm up, and count compiled functions."""
        # Concurrent threads would compile the same functions.
        with _lock, event.install_listener("numba:compile", self._compiled):
            self.should_stop()
            warm_up(self)

    def interrupt(self) -> None:
        """Go on: a kernel that is only half compiled would count as ready."""

    def watch(self) -> None:
        """Print once that kernels are being compiled."""
        global _has_announced
        elapsed = time.monotonic() - self._begun
        if not _has_announced and elapsed > LOADING:
            _has_announced = True
            logger.warning(
                "compiling kernels: about %d s, once per environment",
                estimated_seconds(elapsed, self._compiled.n),
            )


def estimated_seconds(elapsed: float, n_done: int) -> int:
    """Estimated duration of the whole compilation, in steps of 5 s."""
    total = elapsed * N_FUNCTIONS / max(n_done, 1) * SLOWDOWN
    return int(5 * np.clip(round(total / 5), 2, 60))


def ensure(name: str, warm_up: Callable[[StopCondition], object]) -> None:
    """Warm up a method or a part of one, once per process.

    Ctrl-C is raised at once, unless there are results to keep (``Hold``). Only the
    compilation of the current function goes on then, and the next call starts again.
    """
    if name in _ready:
        return
    global _spent
    stop, begun, before = _WarmUp(), time.perf_counter(), _spent
    try:
        supervise(lambda: stop.run(warm_up), stop, patient=False)
    finally:
        # A warm-up inside another is not counted twice.
        _spent = before + time.perf_counter() - begun
    _ready.add(name)


def seconds_spent() -> float:
    """How long this process has compiled or loaded kernels."""
    return _spent


def tiny_problem() -> Problem:
    """A problem that needs a tree with a few nodes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 6))
    y = np.where(X @ np.array([2.0, -1.5, 1.2, 0.9, -0.7, 0.5]) > 0, 1.0, -1.0)
    return Problem(X, y, C=1.0, max_features=3)


# --- the second process --------------------------------------------------------------


def compile_beside(warm_up: Callable[[StopCondition], object]) -> None:
    """Let a second process run a warm-up, if a core is idle.

    This process finds its kernels in the cache, or waits until they are there. The
    second process ends with this one.
    """
    global _second_process
    if _second_process is not None or not _has_idle_core():
        return
    name = f"{warm_up.__module__}:{warm_up.__qualname__}"
    folder = str(Path(__file__).parents[2])
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); "
        f"from {__name__} import run_warm_up; run_warm_up({name!r})"
    )
    with suppress(OSError):
        _second_process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for this process.
            start_new_session=True,
        )
        atexit.register(_end, _second_process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def run_warm_up(name: str) -> None:
    """Run a warm-up by its module and name; called in the second process."""
    module, _, function = name.partition(":")
    getattr(import_module(module), function)(StopCondition())


def _has_idle_core() -> bool:
    """Whether a second process can be started and would not disturb anything."""
    is_worker = multiprocessing.parent_process() is not None
    is_frozen = getattr(sys, "frozen", False) or not sys.executable
    if is_worker or is_frozen:
        return False
    n_cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        n_cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return n_cores > 1 and load <= n_cores - 1
