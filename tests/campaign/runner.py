"""Runs sections of a campaign: here, or in worker processes under a watchdog."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from itertools import count
from multiprocessing.connection import Connection, wait

from .tally import Tally, Unit

# Section -> fraction of the time.
SECTIONS = {
    "problems": 0.4,
    "forgeries": 0.25,
    "tables": 0.1,
    "models": 0.1,
    "interrupts": 0.1,
    "commands": 0.05,
}
# Maximum seconds of a unit: the first ones compile.
PATIENCE, FIRST_PATIENCE = 180.0, 600.0
# How often a process may be replaced.
RESTARTS = 30
# Bytes of address space of a worker: a certificate must not ask for more.
MEMORY = 6 * 2**30
# Seconds between two lines of progress.
INTERVAL = 30.0


def run_unit(unit: Unit) -> Tally:
    return import_module(f"{__package__}.{unit.section}").run(unit)


def run_here(section: str, seed: int, units: int) -> Tally:
    """A number of units in this process."""
    tally = Tally()
    for index in range(units):
        tally.add(run_unit(Unit(section, seed, index)))
    return tally


def _work(pipe: Connection, section: str, seed: int, first: int, step: int) -> None:
    """Main loop of a worker: unit after unit, until the parent stops it."""
    _limit_memory()
    for index in count(first, step):
        unit = Unit(section, seed, index)
        try:
            pipe.send(unit)
            pipe.send(_run_safely(unit))
        except BrokenPipeError:
            return


def _run_safely(unit: Unit) -> Tally:
    try:
        return run_unit(unit)
    except Exception:
        tally = Tally()
        tally.violate(unit, f"campaign failed: {traceback.format_exc(limit=-3)}")
        return tally


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # not on every platform
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most > MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, most))


class Worker:
    """A process, its current unit, and when it began."""

    def __init__(self, section: str, seed: int, first: int, step: int):
        self.arguments = (section, seed, first, step)
        self.restarts = 0
        self._start(first, FIRST_PATIENCE)

    def _start(self, first: int, patience: float) -> None:
        section, seed, _, step = self.arguments
        # Children start from scratch: forked threads and compilers do not mix.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe(duplex=False)
        # Not as a daemon: joblib grants daemons no second thread.
        self.process = context.Process(
            target=_work, args=(other, section, seed, first, step)
        )
        self.process.start()
        other.close()
        self.unit = Unit(section, seed, first)
        self.since, self.patience = time.monotonic(), patience

    def collect(self) -> Tally | None:
        """The tally of a finished unit."""
        try:
            message = self.pipe.recv()
        except EOFError:
            return self.restart("crash: the process died")
        self.since = time.monotonic()
        if isinstance(message, Unit):
            self.unit = message
            return None
        self.patience = PATIENCE
        return message

    def restart(self, reason: str) -> Tally:
        """End the process and continue after its current unit."""
        self.stop()
        self.restarts += 1
        if self.restarts > RESTARTS:
            raise RuntimeError(f"workers keep failing: {self.unit} {reason}")
        tally = Tally()
        tally.violate(self.unit, reason)
        self._start(self.unit.index + self.arguments[3], FIRST_PATIENCE)
        return tally

    @property
    def hangs(self) -> bool:
        return time.monotonic() - self.since > self.patience

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_workers(
    section: str, seed: int, seconds: float, jobs: int, report: Callable[[str], None],
    units: float = math.inf,
) -> Tally:  # fmt: skip
    """A section for some seconds or a number of units, in separate processes."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    tally, done = Tally(), 0
    workers = [Worker(section, seed, k, jobs) for k in range(jobs)]
    started = shown = time.monotonic()
    try:
        while time.monotonic() - started < seconds and done < units:
            ready = wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in workers:
                if worker.pipe in ready and (part := worker.collect()) is not None:
                    tally.add(part)
                    done += 1
                elif worker.hangs:
                    tally.add(worker.restart(f"hang: more than {worker.patience:g} s"))
            if time.monotonic() - shown > INTERVAL:
                shown = time.monotonic()
                report(_progress(section, shown - started, tally))
    finally:
        for worker in workers:
            worker.stop()
    return tally


def _progress(section: str, seconds: float, tally: Tally) -> str:
    tried, counted = tally.total(section, "tried"), tally.total(section, "counted")
    return (
        f"{seconds:7.0f}s  {section}: {tried:,} tried, {counted:,} counted, "
        f"{len(tally.violations)} violations"
    )
