"""Runs of cells: those that are not in the store, through joblib, each stored."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from .cells import Cell, CellOutcome, as_json, with_needs
from .datasets import DatasetSource
from .registry import TASKS
from .store import CellStore

# Tasks respect their limits themselves. Others are terminated after this multiple of
# the limit plus this many seconds.
OVERTIME_FACTOR, OVERTIME_SECONDS = 2.0, 30.0
# Seconds between two lines of progress.
INTERVAL = 5.0
# Assumed seconds of a cell without a limit until one has ended.
GUESS = 1.0


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
    again: bool = False,
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
    again : bool, default=False
        Whether to compute cells that are in the store, too.

    Returns
    -------
    dict of Cell to Outcome
    """
    outcomes: dict[Cell, CellOutcome] = {}
    missing = []
    for cell in with_needs(cells):
        stored = None if again else store.get(cell.spec(source.fingerprint))
        if stored is None:
            missing.append(cell)
        else:
            outcomes[cell] = stored
    if not missing:
        return outcomes
    progress = CellProgress(title, missing, len(outcomes), jobs, quiet)
    for wave in _waves(missing):
        for cell, outcome in _computed(wave, outcomes, source, jobs):
            outcomes[cell] = outcome
            if not outcome.error:
                store.put(cell.spec(source.fingerprint), outcome)
            progress.done(cell, outcome)
    return outcomes


def _waves(cells: list[Cell]) -> Iterator[list[Cell]]:
    """Cells in groups, each of which depends only on earlier groups."""
    waiting = dict.fromkeys(cells)
    while waiting:
        ready = [
            cell for cell in waiting if not any(need in waiting for need in cell.needs)
        ]
        yield ready
        for cell in ready:
            del waiting[cell]


def _computed(
    cells: list[Cell],
    outcomes: Mapping[Cell, CellOutcome],
    source: DatasetSource,
    jobs: int,
) -> Iterator[tuple[Cell, CellOutcome]]:
    inputs = [[outcomes[need] for need in cell.needs] for cell in cells]
    if jobs == 1:
        for cell, needs in zip(cells, inputs, strict=True):
            yield compute(cell, needs, source)
        return
    # One cell at a time, returned when it ends, without waiting for others.
    parallel = Parallel(
        n_jobs=jobs, batch_size=1, return_as="generator_unordered", pre_dispatch=jobs
    )
    try:
        yield from parallel(
            delayed(compute)(cell, needs, source)
            for cell, needs in zip(cells, inputs, strict=True)
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
    wall, cpu = time.perf_counter(), time.process_time()

    def outcome(values: dict[str, Any], error: str = "") -> tuple[Cell, CellOutcome]:
        spent = time.perf_counter() - wall, time.process_time() - cpu
        return cell, CellOutcome(values, *spent, error)

    failed = [need.error for need in needs if need.error]
    if failed:
        return outcome({}, f"needs a cell that failed: {failed[0]}")
    arguments = dict(cell.params)
    if cell.limit is not None:
        arguments["limit"] = cell.limit
    if needs:
        arguments["needs"] = [need.values for need in needs]
    try:
        data = source.load(cell.data) if cell.data else None
        with threadpool_limits(1), warnings.catch_warnings(), _overtime(cell.limit):
            # Fits that end early at their limit are expected in capped cells.
            warnings.simplefilter("ignore")
            values = TASKS[cell.task](data, **arguments)
            # As they come out of a store.
            return outcome(json.loads(as_json(values)))
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


# --- progress -------------------------------------------------------------------------


class CellProgress:
    """Counts cells, and estimates how long the rest will take.

    A cell is expected to take the average time of its task, or its limit before any
    cell of the task has ended.
    """

    def __init__(
        self, title: str, cells: list[Cell], stored: int, jobs: int, quiet: bool = False
    ):
        self._waiting = len(cells)
        # Remaining cells of each task, and their total limit in seconds.
        self._cells: dict[str, int] = defaultdict(int)
        self._limits: dict[str, float] = defaultdict(float)
        for cell in cells:
            self._count(cell, 1)
        self._stored, self._jobs = stored, jobs
        self._total = stored + len(cells)
        self._capped = self._failed = 0
        # Number and total time of finished cells of each task.
        self._seen: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        self._title, self._quiet, self._last = title, quiet, -INTERVAL
        self._show()

    def done(self, cell: Cell, outcome: CellOutcome) -> None:
        """Record a finished cell."""
        self._waiting -= 1
        self._count(cell, -1)
        ended, seconds = self._seen[cell.task]
        self._seen[cell.task] = (ended + 1, seconds + outcome.seconds)
        self._capped += outcome.capped
        self._failed += bool(outcome.error)
        self._show()

    def _count(self, cell: Cell, sign: int) -> None:
        self._cells[cell.task] += sign
        self._limits[cell.task] += sign * (cell.limit or GUESS)

    def seconds_left(self) -> float:
        """The estimate."""
        total = 0.0
        for task, count in self._cells.items():
            ended, seconds = self._seen[task]
            total += count * seconds / ended if ended else self._limits[task]
        return total / self._jobs

    def _show(self) -> None:
        done = self._total - self._waiting
        parts = [f"{done} of {self._total} cells", f"{self._waiting} left"]
        if self._waiting:
            parts.append(f"about {duration(self.seconds_left())}")
        for count, word in (
            (self._stored, "from the store"),
            (self._capped, "at their limit"),
            (self._failed, "failed"),
        ):
            if count:
                parts.append(f"{count} {word}")
        now = time.monotonic()
        if not self._quiet and (now - self._last >= INTERVAL or not self._waiting):
            self._last = now
            print(f"{self._title}: {', '.join(parts)}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A duration in readable form."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
