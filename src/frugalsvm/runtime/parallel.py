"""What fits through joblib have in common, on whatever backend.

Processes of this machine, threads and clusters are joblib's business. Two things are
not: how many *threads* a fit has where joblib's workers may be other machines, and what
a cluster is to be sent once, and to keep if one of its workers dies.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
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

T = TypeVar("T")

# Backends whose workers are processors of this machine.
LOCAL = (LokyBackend, MultiprocessingBackend, SequentialBackend, ThreadingBackend)


def thread_count(n_jobs: int | None) -> int:
    """Threads in this process for ``n_jobs``, as joblib counts.

    On a cluster joblib counts the processors of all machines, which are not here; then
    None is one thread, so that fits on its workers can be repeated.
    """
    if isinstance(get_active_backend()[0], LOCAL):
        return effective_n_jobs(n_jobs)
    return ThreadingBackend().effective_n_jobs(1 if n_jobs is None else n_jobs)


class Shared(Generic[T]):
    """Something that all jobs are given, as an argument of its own.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: T):
        self.value = value
        self._token = uuid.uuid4().hex

    def __dask_tokenize__(self) -> str:
        # Never that of the same data in an earlier fit, which may be on its way out.
        return self._token


@contextmanager
def sent_once(shared: Shared[Any]) -> Iterator[None]:
    """Let what all jobs are given go to every worker of a dask cluster, once.

    The jobs inside have this very object among their arguments, and what is their own
    in a tuple: joblib hands other large arguments to one worker, and if that one dies
    they are lost. What every worker has, and what is part of a job, is not.
    """
    backend, n_jobs = get_active_backend()
    if type(backend).__name__ != "DaskDistributedBackend" or _is_inside_worker():
        yield
        return
    # The same backend again, with something to scatter: it takes that only when made.
    with parallel_config(
        "dask", n_jobs=n_jobs, client=backend.client, scatter=[shared],
        wait_for_workers_timeout=backend.wait_for_workers_timeout,
        **backend.submit_kwargs,
    ):  # fmt: skip
        yield


def _is_inside_worker() -> bool:
    """Whether this is a job itself; workers cannot reliably scatter."""
    from distributed import get_worker

    try:
        get_worker()
    except ValueError:
        return False
    return True
