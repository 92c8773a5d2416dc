"""Helpers for fits that run through joblib, on any backend.

joblib manages processes, threads and clusters. Two things are left to do here: to set
the number of *threads* of a fit if joblib's workers may be other machines, and to send
shared data to a cluster only once, so that they survive the loss of a worker.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)
from threadpoolctl import ThreadpoolController

T = TypeVar("T")


def thread_count(n_jobs: int | None) -> int:
    """Number of threads in this process for ``n_jobs``, as in joblib.

    On a cluster joblib counts the processors of all machines. None then means one
    thread, so that fits on its workers are reproducible.
    """
    # Backends whose workers are on this machine.
    local = (LokyBackend, MultiprocessingBackend, SequentialBackend, ThreadingBackend)
    if isinstance(get_active_backend()[0], local):
        return effective_n_jobs(n_jobs)
    return ThreadingBackend().effective_n_jobs(1 if n_jobs is None else n_jobs)


class Shared(Generic[T]):
    """An object shared by all jobs, passed as a separate argument.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: T):
        self.value = value
        self._token = uuid.uuid4().hex

    def __dask_tokenize__(self) -> str:
        # Never the key of the same data in an earlier fit, which may be being released.
        return self._token


@contextmanager
def sent_once(shared: Shared[Any]) -> Iterator[None]:
    """Send shared data to every worker of a dask cluster, once.

    The jobs inside take this very object as an argument, and their own data in a
    tuple. joblib sends other large arguments to a single worker, and they are lost if
    it dies. Data on every worker, or inside a job, are not.
    """
    backend, n_jobs = get_active_backend()
    if type(backend).__name__ != "DaskDistributedBackend" or _is_inside_worker():
        yield
        return
    # A new instance of the same backend: data to scatter are set on creation only.
    with parallel_config(
        "dask",
        n_jobs=n_jobs,
        client=backend.client,
        scatter=[shared],
        wait_for_workers_timeout=backend.wait_for_workers_timeout,
        **backend.submit_kwargs,
    ):
        yield


def _is_inside_worker() -> bool:
    """Whether this code runs inside a job; workers cannot reliably scatter."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True


# --- One BLAS thread during runs: threads work on independent nodes instead -----------
#
# The setting is global to the process, and runs may overlap: the first one to start
# changes it and the last one to end restores it, however they end. A run enters the
# context in its worker thread, where no signal can arrive between changing and
# restoring it; abandoned work restores the setting when it notices the stop.
#
# In threadpoolctl a setting belongs to the thread that made it: while that thread
# lives, others cannot change or restore it. The first and the last run may be in
# different threads, so a dedicated thread does it for all of them.

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
