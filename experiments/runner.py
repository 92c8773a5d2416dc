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
    """Outcomes of cells and of those they need, from the store or newly computed.

    Ctrl-C is raised; cells that ended before are in the store.

    Parameters
    ----------
    title : str
        Shown with the progress.
    cells : iterable of Cell
        Duplicates count once.
    source : DatasetSource
    store : CellStore
    jobs : int, default=1
        Processes.
    quiet : bool, default=False
        Whether to hide progress.
    again : bool, default=False
        Whether to compute cells that are in the store, too.
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
    while missing:
        # First those that need none of the others.
        others = set(missing)
        wave = [cell for cell in missing if others.isdisjoint(cell.needs)]
        missing = [cell for cell in missing if not others.isdisjoint(cell.needs)]
        for cell, outcome in _computed(wave, outcomes, source, jobs):
            outcomes[cell] = outcome
            if not outcome.error:
                store.put(cell.spec(source.fingerprint), outcome)
            progress.done(cell, outcome)
    return outcomes


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
        self._waiting = dict.fromkeys(cells)
        self._stored, self._jobs = stored, jobs
        self._total = stored + len(cells)
        self._capped = self._failed = 0
        # Seconds of the finished cells of each task.
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._title, self._quiet, self._last = title, quiet, -INTERVAL
        self._show()

    def done(self, cell: Cell, outcome: CellOutcome) -> None:
        """Record a finished cell."""
        del self._waiting[cell]
        self._seconds[cell.task].append(outcome.seconds)
        self._capped += outcome.capped
        self._failed += bool(outcome.error)
        self._show()

    def remaining_seconds(self) -> float:
        """The estimate."""
        means = {task: sum(s) / len(s) for task, s in self._seconds.items()}
        total = sum(means.get(c.task, c.limit or GUESS) for c in self._waiting)
        return total / self._jobs

    def _show(self) -> None:
        now = time.monotonic()
        if not self._quiet and (now - self._last >= INTERVAL or not self._waiting):
            n_waiting = len(self._waiting)
            done = self._total - n_waiting
            parts = [f"{done} of {self._total} cells", f"{n_waiting} left"]
            if n_waiting:
                parts.append(f"about {duration(self.remaining_seconds())}")
            for count, text in (
                (self._stored, "from the store"),
                (self._capped, "at their limit"),
                (self._failed, "failed"),
            ):
                if count:
                    parts.append(f"{count} {text}")
            self._last = now
            print(f"{self._title}: {', '.join(parts)}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """A duration in readable form."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
