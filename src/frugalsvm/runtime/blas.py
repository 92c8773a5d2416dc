"""One BLAS thread while runs are under way: threads are spent on independent nodes.

The setting is the process's, and runs may overlap: the first to come changes it, the
last to go restores it, however they end. A run goes inside in the thread that does its
work, where no signal can strike between a change and what undoes it; work that was
abandoned by its caller restores when it has noticed.

To threadpoolctl a setting belongs to the thread that made it: as long as that thread
lives, others change and restore in vain. The first and the last run may be in different
threads, so that a thread of our own does it for all of them.
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
        """Limit BLAS to one thread, as far as this is up to the calling thread."""
        return self.controller.limit(limits=1, user_api="blas")

    def restore(self) -> None:
        """Restore the setting, and end."""
        with self._thread as thread:
            thread.submit(self._limits.restore_original_limits).result()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread as long as anybody is inside."""
    global _n_runs, _keeper
    with _lock:
        if _keeper is None:
            _keeper = _Keeper()
        keeper = _keeper
        _n_runs += 1
    try:
        # Where BLAS uses OpenMP every thread has a setting of its own.
        with keeper.limit():
            yield
    finally:
        with _lock:
            _n_runs -= 1
            if _n_runs == 0:
                _keeper = None
                keeper.restore()
