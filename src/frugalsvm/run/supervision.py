"""Time limits and Ctrl-C for work that may be inside compiled code.

Python delivers signals to the main thread, and only between bytecode instructions. So
if signal handlers are installed, the main thread hands the work to a separate thread
and waits: it receives signals, can request the work to stop, and does not return before
the work has ended. Otherwise the work stays in the calling thread, and a helper thread
watches the clock if necessary.

What follows a run, such as another run that begins where it ended, or saving its
result, is done within a :class:`Hold`: Ctrl-C between two runs does not lose the first.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, Self, TypeVar

T = TypeVar("T")

# Seconds between two checks of the clock.
SLICE = 0.05


class Watched(Protocol):
    """An object that is notified of time and Ctrl-C."""

    @property
    def needs_watching(self) -> bool:
        """Whether ``watch`` needs to be called."""

    def watch(self) -> None:
        """Called every few milliseconds to check the clock."""

    def interrupt(self) -> None:
        """Stop soon, and keep the results so far."""

    def abandon(self) -> None:
        """Stop at once: the result is no longer needed."""


class _Job(Generic[T]):
    """Work in a thread, and its result."""

    def __init__(self, work: Callable[[], T]):
        self._work = work
        self.result: T | None = None
        self.error: BaseException | None = None
        self.is_done = False
        # Held until the work is done. A plain lock, since an exception from a signal
        # handler can leave an Event or a Condition in an inconsistent state.
        self._working = threading.Lock()
        self._working.acquire()
        self.thread = threading.Thread(target=self._run, name="frugalsvm", daemon=True)

    def _run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:  # passed to the caller's thread
            self.error = error
        finally:
            self.is_done = True
            self._working.release()

    def wait(self, seconds: float) -> bool:
        """Wait for the work; return whether it has ended."""
        if not self.is_done and self._working.acquire(timeout=seconds):
            self._working.release()
        return self.is_done


class Interrupts:
    """Number of times Ctrl-C was pressed."""

    def __init__(
        self, watched: Watched | None, patient: bool, hold: Hold | None = None
    ):
        self.count = 0
        self.hold = hold
        self._watched = watched
        self._patient = patient or hold is not None

    def handle(self, *_: Any) -> None:
        """Request the best result so far; raise at the second, or if not patient."""
        self.count += 1
        if self.hold is not None:
            self.hold.count += 1
        if self._watched is not None:
            self._watched.interrupt()
        if self.count > 1 or not self._patient:
            raise KeyboardInterrupt

    def resume_count(self) -> None:
        """Take over the interrupts that the hold has counted."""
        if self.hold is not None and self.hold.count > 0:
            self.count = self.hold.count
            if self._watched is not None:
                self._watched.interrupt()


class Hold(Interrupts):
    """Ctrl-C while there are results that must not be lost.

    A context manager. From ``begin`` until ``end`` or its exit, the first Ctrl-C is
    only counted, and runs inside end early; the second raises. It has no effect outside
    of its context or of the main thread, or if the user has a handler.
    """

    def __init__(self) -> None:
        super().__init__(None, patient=True)
        self._is_entered = False

    def __enter__(self) -> Self:
        self._is_entered = True
        return self

    def __exit__(self, *_: object) -> None:
        self._is_entered = False
        self.end()

    def begin(self, was_interrupted: bool = False) -> None:
        """Begin to count; ``was_interrupted`` if Ctrl-C was pressed before."""
        self.count = max(self.count, int(was_interrupted))
        is_main = threading.current_thread() is threading.main_thread()
        is_heard = self._is_entered and is_main
        if is_heard and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self.handle)

    def end(self) -> None:
        """Let Ctrl-C raise again."""
        if signal.getsignal(signal.SIGINT) == self.handle:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def supervise(
    work: Callable[[], T], watched: Watched, *, patient: bool = True
) -> tuple[T, bool]:
    """Do the work; return its result and whether Ctrl-C was pressed meanwhile.

    The first Ctrl-C requests the results so far (or raises, if not ``patient`` and not
    within a :class:`Hold`); the second raises. Any exception from a signal handler ends
    the work and propagates.
    """
    # Only the main thread runs signal handlers.
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and any(callable(signal.getsignal(n)) for n in range(1, signal.NSIG)):
        return _supervise_thread(work, watched, patient)
    with _watched_clock(watched):
        return work(), False


@contextmanager
def _watched_clock(watched: Watched) -> Iterator[None]:
    """Context in which a thread watches the clock."""
    if not watched.needs_watching:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(SLICE):
            watched.watch()

    clock = threading.Thread(target=watch, name="frugalsvm clock", daemon=True)
    _start(clock)
    try:
        yield
    finally:
        done.set()
        clock.join()


def _supervise_thread(
    work: Callable[[], T], watched: Watched, patient: bool
) -> tuple[T, bool]:
    """Do the work in a separate thread, and wait for it."""
    job = _Job(work)
    owner = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    hold = owner if isinstance(owner, Hold) else None
    interrupts = Interrupts(watched, patient, hold)
    try:
        try:
            with _counted_interrupts(interrupts):
                _start(job.thread)
                _wait(job, watched, interrupts)
                # Here, where Ctrl-C is only counted: Python ignores exceptions in the
                # callback at the end of a thread object.
                del job.thread
        finally:
            _end(job, watched, patient)
    finally:
        # Again: another signal may have arrived inside the clause above.
        _end(job, watched, patient)
    if job.error is not None:
        raise job.error
    return job.result, interrupts.count > 0  # type: ignore[return-value]


@contextmanager
def _counted_interrupts(interrupts: Interrupts) -> Iterator[None]:
    """Count Ctrl-C instead of raising anywhere, unless the user has a handler."""
    previous = signal.getsignal(signal.SIGINT)
    if previous is not signal.default_int_handler and interrupts.hold is None:
        yield
        return
    try:
        try:
            signal.signal(signal.SIGINT, interrupts.handle)
            interrupts.resume_count()
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
    finally:
        # Again: a pending signal is delivered before a handler is changed.
        signal.signal(signal.SIGINT, previous)


def _start(thread: threading.Thread) -> None:
    """Start a thread; exceptions from signal handlers propagate."""
    try:
        with _blocked_signals():
            thread.start()
    except KeyError as error:
        # A signal was delivered to another thread, so its handler ran here, and
        # Thread.start missed the entry that the new thread had already removed.
        raise (error.__context__ or error) from None


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Block signals: an exception inside ``Thread.start`` would confuse threading.

    The new thread inherits this, so signals go to the main thread.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        try:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
    finally:
        # Again: an earlier signal may be delivered inside the clause above.
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _wait(job: _Job[Any], watched: Watched, interrupts: Interrupts) -> None:
    while True:
        try:
            # Waiting in slices keeps the wait interruptible on every platform.
            while not job.wait(SLICE):
                watched.watch()
            return
        except KeyboardInterrupt:
            # From the user's handler; ours counts before it raises.
            if interrupts.count > 0:
                raise
            interrupts.handle()


def _end(job: _Job[Any], watched: Watched, patient: bool) -> None:
    """Make sure that the work ends, if it has not."""
    if job.is_done:
        return
    # Work that has not begun yet will notice, too.
    watched.abandon()
    if patient and job.thread.ident is not None:
        # Longer than compiled code needs to notice its flag.
        until = time.monotonic() + 10.0
        while not job.wait(SLICE) and time.monotonic() < until:
            pass
