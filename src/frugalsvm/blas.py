"""One BLAS thread while runs are under way: threads are spent on independent nodes.

The setting is the process's, and runs may overlap: the first to come changes it, the
last to go restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits

_lock = threading.Lock()
_n_runs = 0
_limits: threadpool_limits | None = None


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread as long as anybody is inside."""
    global _n_runs, _limits
    with _lock:
        if _n_runs == 0:
            _limits = threadpool_limits(1, "blas")
        _n_runs += 1
    try:
        yield
    finally:
        with _lock:
            _n_runs -= 1
            if _n_runs == 0 and _limits is not None:
                _limits.restore_original_limits()
