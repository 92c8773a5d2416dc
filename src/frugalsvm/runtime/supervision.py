"""Let work be told about time and Ctrl-C, also while it is inside compiled code.

Python delivers signals to the main thread, and only between two steps of the
interpreter. So, if there are handlers of signals, the main thread gives the work to a
thread of its own and waits: it hears signals, can tell the work to stop, and does not
leave before the work has ended. Everywhere else the work stays in the thread that
calls, and a small thread looks at the clock if there is a reason to.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")

# Seconds between two looks at the clock.
SLICE = 0.05
# Seconds that stopped work may take to end before the caller leaves without it: more
# than compiled code ever needs to notice its flag.
FAREWELL = 10.0


class Watched(Protocol):
    """What is told about time and Ctrl-C."""

    @property
    def needs_watching(self) -> bool:
        """Whether ``watch`` ever has something to do."""

    def watch(self) -> None:
        """Called every few milliseconds: look at the clock."""

    def interrupt(self) -> None:
        """Stop soon, and keep what there is."""

    def abandon(self) -> None:
        """Stop at once: nobody is interested in the outcome any more."""


class _Job(Generic[T]):
    """Work in a thread, and what came of it."""

    def __init__(self, work: Callable[[], T]):
        self._work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.is_done = False
        # Held until the work is done. A lock, for an exception from a signal handler
        # can leave an Event or a Condition in a state of its own.
        self._working = threading.Lock()
        self._working.acquire()
        self.thread = threading.Thread(target=self._run, name="frugalsvm", daemon=True)

    def _run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:  # handed to the caller's thread
            self.error = error
        finally:
            self.is_done = True
            self._working.release()

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the work; whether it has come."""
        if not self.is_done and self._working.acquire(timeout=seconds):
            self._working.release()
        return self.is_done


class Interrupts:
    """How often Ctrl-C was pressed."""

    def __init__(self, watched: Watched, patient: bool):
        self.count = 0
        self._watched = watched
        self._patient = patient

    def strike(self, *_: Any) -> None:
        """Ask for the best so far; if asked again, or not patient, raise."""
        self.count += 1
        self._watched.interrupt()
        if self.count > 1 or not self._patient:
            raise KeyboardInterrupt


def supervise(
    work: Callable[[], T], watched: Watched, *, patient: bool = True
) -> tuple[T, bool]:
    """Do the work; its result, and whether Ctrl-C was pressed meanwhile.

    The first Ctrl-C asks the work for what it has (raises, if not ``patient``), the
    second is raised. Any exception from a signal handler ends the work and goes on.
    """
    if _hears_signals():
        return _supervise_thread(work, watched, patient)
    with _watched_clock(watched):
        return work(), False


def _hears_signals() -> bool:
    """Whether this thread is the one that runs handlers, and there are any."""
    return threading.current_thread() is threading.main_thread() and any(
        callable(signal.getsignal(number)) for number in range(1, signal.NSIG)
    )


@contextmanager
def _watched_clock(watched: Watched) -> Iterator[None]:
    """Let a thread look at the clock as long as the caller is inside."""
    if not watched.needs_watching:
        yield
        return
    done = threading.Event()

    def look() -> None:
        while not done.wait(SLICE):
            watched.watch()

    clock = threading.Thread(target=look, name="frugalsvm clock", daemon=True)
    _start(clock)
    try:
        yield
    finally:
        done.set()
        clock.join()


def _supervise_thread(
    work: Callable[[], T], watched: Watched, patient: bool
) -> tuple[T, bool]:
    """Do the work in a thread of its own, and wait for it."""
    job = _Job(work)
    interrupts = Interrupts(watched, patient)
    try:
        try:
            with _handled(interrupts):
                _start(job.thread)
                _wait(job, watched, interrupts)
        finally:
            _end(job, watched, patient)
    finally:
        # Once more: the next signal may have struck inside the clause above.
        _end(job, watched, patient)
    if job.error is not None:
        raise job.error
    return job.result, interrupts.count > 0  # type: ignore[return-value]


@contextmanager
def _handled(interrupts: Interrupts) -> Iterator[None]:
    """Count Ctrl-C instead of raising wherever it strikes, unless the user does."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        try:
            signal.signal(signal.SIGINT, interrupts.strike)
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    finally:
        # Once more: a signal that was pending strikes before a handler is changed.
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _start(thread: threading.Thread) -> None:
    """Start a thread; what a signal handler raises meanwhile comes through."""
    try:
        with _held_signals():
            thread.start()
    except KeyError as error:
        # A signal was delivered to some other thread, so that its handler struck here,
        # and Thread.start missed the entry that the new thread had removed already.
        raise (error.__context__ or error) from None


@contextmanager
def _held_signals() -> Iterator[None]:
    """Let signals wait: an exception inside ``Thread.start`` would confuse threading.

    The new thread inherits this: signals are for the main thread.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    everything = signal.valid_signals()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, everything)
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    finally:
        # Once more: what was tripped before may strike inside the clause above.
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(job: _Job[Any], watched: Watched, interrupts: Interrupts) -> None:
    while True:
        try:
            # Waiting in slices keeps the wait interruptible on every platform.
            while not job.wait(SLICE):
                watched.watch()
            return
        except KeyboardInterrupt:
            # From a handler of the user's; ours counts before it raises.
            if interrupts.count > 0:
                raise
            interrupts.strike()


def _end(job: _Job[Any], watched: Watched, patient: bool) -> None:
    """See to it that the work ends; nothing to do if it has."""
    if job.is_done:
        return
    # Even work that has not begun yet will notice.
    watched.abandon()
    if patient and job.thread.ident is not None:
        until = time.monotonic() + FAREWELL
        while not job.wait(SLICE) and time.monotonic() < until:
            pass
