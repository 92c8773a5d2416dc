"""Run the cells that are not in the store, through joblib, and store each result."""

from __future__ import annotations

import signal
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .cells import Cell, CellOutcome, with_needs
from .progress import StudyProgress
from .sources import DatasetSource
from .store import CellStore
from .tasks import TASKS

# Tasks respect their limits themselves. Others are terminated after this multiple of
# the limit plus this many seconds.
OVERTIME_FACTOR, OVERTIME_SECONDS = 2.0, 30.0


class OutOfTime(BaseException):
    """A task exceeded its limit; not an Exception, since solvers catch those."""


class WorkerDied(RuntimeError):
    """A process of --jobs has died."""


def run_cells(
    title: str,
    cells: Iterable[Cell],
    source: DatasetSource,
    store: CellStore,
    jobs: int = 1,
    quiet: bool = False,
) -> dict[Cell, CellOutcome]:
    """Outcomes of cells, from the store or newly computed.

    Ctrl-C is raised; cells that ended before are in the store.

    Parameters
    ----------
    title : str
        Shown with the progress.
    cells : iterable of Cell
        Duplicates count once; dependencies are run, too.
    source : Source
    store : Store
    jobs : int, default=1
        Processes.
    quiet : bool, default=False
        Whether to hide progress.

    Returns
    -------
    dict of Cell to Outcome
    """
    wanted = with_needs(cells)
    outcomes: dict[Cell, CellOutcome] = {}
    missing = []
    for cell in wanted:
        kept = store.get(cell.spec(source.fingerprint))
        if kept is None:
            missing.append(cell)
        else:
            outcomes[cell] = kept
    if not missing:
        return outcomes
    progress = StudyProgress(title, missing, len(outcomes), jobs, quiet)
    try:
        for wave in _waves(missing):
            for cell, outcome in _computed(wave, outcomes, source, jobs):
                outcomes[cell] = outcome
                if not outcome.error:
                    store.put(cell.spec(source.fingerprint), outcome)
                progress.done(cell, outcome)
    finally:
        progress.close()
    return outcomes


def _waves(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Cells in groups, each of which depends only on earlier groups."""
    left = dict.fromkeys(cells)
    while left:
        ready = [cell for cell in left if not any(need in left for need in cell.needs)]
        yield ready
        for cell in ready:
            del left[cell]


def _computed(
    cells: list[Cell],
    known: Mapping[Cell, CellOutcome],
    source: DatasetSource,
    jobs: int,
) -> Iterator[tuple[Cell, CellOutcome]]:
    given = [[known[need] for need in cell.needs] for cell in cells]
    if jobs == 1:
        for cell, needs in zip(cells, given, strict=True):
            yield compute(cell, needs, source)
        return
    # One cell at a time, returned when it ends, without waiting for others.
    parallel = Parallel(
        n_jobs=jobs, batch_size=1, return_as="generator_unordered", pre_dispatch=jobs
    )
    try:
        yield from parallel(
            delayed(compute)(cell, needs, source)
            for cell, needs in zip(cells, given, strict=True)
        )
    except BrokenExecutor as error:
        raise WorkerDied(
            "A process that computed cells was killed, possibly for lack of memory; "
            "try fewer --jobs."
        ) from error


def compute(
    cell: Cell, needs: list[CellOutcome], source: DatasetSource
) -> tuple[Cell, CellOutcome]:
    """Run a task in this process, on one thread; errors become outcomes."""
    started, used = time.perf_counter(), time.process_time()

    def outcome(values: dict[str, Any], error: str = "") -> tuple[Cell, CellOutcome]:
        seconds, cpu = time.perf_counter() - started, time.process_time() - used
        return cell, CellOutcome(values, seconds, cpu, error)

    failed = [need.error for need in needs if need.error]
    if failed:
        return outcome({}, f"needs a cell that failed: {failed[0]}")
    arguments = dict(cell.params)
    if needs:
        arguments["given"] = [need.values for need in needs]
    try:
        data = source.load(cell.data) if cell.data else None
        with threadpool_limits(1), warnings.catch_warnings(), _overtime(cell.limit):
            # Fits that end early at their limit are expected in capped cells.
            warnings.simplefilter("ignore")
            return outcome(TASKS[cell.task](data, limit=cell.limit, **arguments))
    except OutOfTime:
        return outcome({"capped": True})
    except Exception as error:
        return outcome({}, f"{type(error).__name__}: {error}")


@contextmanager
def _overtime(limit: float | None) -> Iterator[None]:
    """Terminate a task that exceeds its limit, if the system has alarms."""
    can = hasattr(signal, "setitimer") and (
        threading.current_thread() is threading.main_thread()
    )
    if limit is None or not can:
        yield
        return

    def ring(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, OVERTIME_FACTOR * limit + OVERTIME_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
