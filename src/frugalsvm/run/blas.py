"""One BLAS thread during runs: threads work on independent nodes instead.

The setting is global to the process, and runs may overlap: the first one to start
changes it and the last one to end restores it, however they end. A run enters the
context in its worker thread, where no signal can arrive between changing and restoring
it; abandoned work restores the setting when it notices the stop.

In threadpoolctl a setting belongs to the thread that made it: while that thread lives,
others cannot change or restore it. The first and the last run may be in different
threads, so a dedicated thread does it for all of them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_n_runs = 0
_keeper: _Keeper | None = None


class _Keeper:
    """A thread that has changed the setting and can restore it."""

    def __init__(self) -> None:
        self.controller = ThreadpoolController()
        self._thread = ThreadPoolExecutor(1, "frugalsvm BLAS")
        self._limits = self._thread.submit(self.limit).result()

    def limit(self) -> Any:
        """Limit BLAS to one thread, as far as the calling thread can."""
        return self.controller.limit(limits=1, user_api="blas")

    def restore(self) -> None:
        """Restore the setting and end the thread."""
        with self._thread as thread:
            thread.submit(self._limits.restore_original_limits).result()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Context that limits BLAS to one thread while any run is inside."""
    global _n_runs, _keeper
    with _lock:
        if _keeper is None:
            _keeper = _Keeper()
        keeper = _keeper
        _n_runs += 1
    try:
        # With OpenMP each thread has its own BLAS setting.
        with keeper.limit():
            yield
    finally:
        with _lock:
            _n_runs -= 1
            if _n_runs == 0:
                _keeper = None
                keeper.restore()
