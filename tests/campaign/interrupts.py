"""Interrupts, limits and alarms at random moments: complete results, nothing left.

Signals go to the main thread, so this runs there. Nothing here depends on seconds,
except how soon all threads must have ended afterwards.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from frugalsvm import FrugalSVC, Problem, solve

from .interrupted import draw_task
from .problems import budget_objections, excess
from .reference import Reference, Stated
from .tally import Tally, Unit

NAME = "interrupts"
# Seconds until all threads must have ended.
QUIET = 5.0
# After an earlier interrupt there may be no result yet.
EARLY = 0.05
# A run that continues for this many seconds after an interrupt has missed it.
DEAF = 0.5
# Cases on one problem: they share the best objective.
CASES = 6
METHODS = ("auto", "branch-and-bound", "swap", "heuristic", "exact")
KINDS = (
    "ctrl-c", "ctrl-c fit", "ctrl-c twice", "alarm", "time limit", "node limit",
    "estimators",
)  # fmt: skip
# The part of the cases that are estimators, paths and lists.
PART_OF_ESTIMATORS = 0.6


class Alarm(Exception):
    """Raised by a signal handler, as users' timeouts do."""


class Instance:
    """A problem that takes a while, and the best objective of all runs."""

    def __init__(self, rng):
        m, n = int(rng.integers(40, 250)), int(rng.integers(15, 300))
        self.X = rng.normal(size=(m, n))
        self.y = np.where(self.X[:, 0] + rng.normal(size=m) > 0, 1.0, -1.0)
        self.y[:2] = [-1.0, 1.0]
        self.C = float(rng.choice([0.1, 1.0, 10.0]))
        self.limit = int(rng.integers(2, 9))
        self.problem = Problem(self.X, self.y, C=self.C, max_features=self.limit)
        self.stated = Stated(self.X, self.y, np.full(m, self.C), self.limit)
        self.reference = Reference(self.stated)
        self.best: Fraction | float = float("inf")

    def objections(self, result) -> Iterator[str]:
        """A valid gap: bound <= any objective, objective >= that of the weights."""
        yield from budget_objections(self.stated, result.coef, result.intercept)
        exact = self.reference.objective(result.coef, result.intercept)
        self.best = min(self.best, exact)
        if Fraction(result.lower_bound) > self.best:
            yield f"invalid bound: {excess(Fraction(result.lower_bound), self.best)}"
        if Fraction(result.objective) < exact:
            yield f"objective too small: {excess(exact, Fraction(result.objective))}"


@functools.cache
def warm_up() -> None:
    """Compile everything, since compilation should not be interrupted here."""
    rng = np.random.default_rng(0)
    # Tempering, which has kernels of its own, is for more than 50 features.
    for n_features in (12, 80):
        X = rng.normal(size=(30, n_features))
        y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
        for method in METHODS:
            problem = Problem(X, y, max_features=3)
            solve(problem, method=method, max_nodes=20, n_jobs=2)


def run(unit: Unit) -> Tally:
    """Some cases on one problem, or one of them."""
    warm_up()
    tally = Tally()
    rng = np.random.default_rng([unit.seed, unit.index])
    instance = Instance(rng)
    for part in range(CASES):
        one = Unit(NAME, unit.seed, unit.index, part)
        rng = np.random.default_rng([unit.seed, unit.index, part])
        if unit.part in (None, part):
            for text in run_case(rng, instance, tally):
                tally.violate(one, text)
    return tally


def run_case(rng, instance: Instance, tally: Tally) -> Iterator[str]:
    kind = KINDS[-1]
    if rng.random() > PART_OF_ESTIMATORS:
        kind = str(rng.choice(KINDS[:-1]))
    delay = float(rng.choice([rng.uniform(0, 0.02), rng.uniform(0, 0.8)]))
    options = {
        "method": str(rng.choice(METHODS)),
        "n_jobs": int(rng.choice([1, 2])),
        "random_state": 0,
        "gap_tol": 0.0,
        "time_limit": 20.0,
    }
    if options["method"] in ("auto", "branch-and-bound", "swap"):
        options["method_options"] = {"patience": 10**9}
    task = draw_task(rng, instance) if kind == "estimators" else None
    tally.count(NAME, kind if task is None else task.name, "tried")
    before = set(threading.enumerate())
    started = time.perf_counter()
    if task is not None:
        yield from _interrupted_task(task, rng, delay, tally)
    elif kind in ("time limit", "node limit"):
        yield from _limited(rng, kind, delay, instance, options)
    elif kind == "ctrl-c fit":
        yield from _interrupted_fit(delay, instance, options)
    else:
        yield from _interrupted_solve(kind, delay, instance, options)
    tally.measure("seconds after the signal", time.perf_counter() - started - delay)
    left = still_running(before)
    if left:
        yield f"still running: {kind}: {left} after {QUIET} s ({options['method']})"
        _wait_until(lambda: not still_running(before, 0.0), 120.0)


def _limited(rng, kind, delay, instance, options) -> Iterator[str]:
    limit = {"time_limit": delay}
    if kind == "node limit":
        limit = {"max_nodes": int(rng.integers(1, 200)), "time_limit": 2.0}
        if "method_options" in options:
            options = {**options, "method_options": {"patience": 0}}
    result = solve(instance.problem, **{**options, **limit})
    if result.status == "interrupted":
        yield f"interrupted without a signal: {kind}"
    yield from instance.objections(result)


def _interrupted_solve(kind, delay, instance, options) -> Iterator[str]:
    """``solve`` returns on a first Ctrl-C; it may raise other exceptions."""
    moments = [delay, delay + 0.02] if kind == "ctrl-c twice" else [delay]
    send = signal.SIGALRM if kind == "alarm" else signal.SIGINT
    outcome = call_with_signals(
        lambda: solve(instance.problem, **options), send, moments
    )
    if isinstance(outcome, BaseException):
        expected = Alarm if kind == "alarm" else KeyboardInterrupt
        excused = kind != "ctrl-c" or delay < EARLY
        if not isinstance(outcome, expected) or not excused:
            yield f"exception: {kind}: {_described(outcome)}"
        return
    if kind == "ctrl-c" and missed_interrupt(outcome, delay):
        yield f"status: {kind}: {outcome.status} after {outcome.seconds:.1f} s"
    yield from instance.objections(outcome)


def _interrupted_fit(delay, instance, options) -> Iterator[str]:
    """``fit`` sets its attributes and then raises."""
    begun, had_begun = threading.Event(), []
    model = FrugalSVC(
        instance.limit, C=instance.C, callback=lambda _: begun.set(), **options
    )
    outcome = call_with_signals(
        lambda: model.fit(instance.X, instance.y), signal.SIGINT, [delay],
        lambda: had_begun.append(begun.is_set()),
    )  # fmt: skip
    if outcome is model:
        if model.status_ == "interrupted" or missed_interrupt(model.result_, delay):
            yield f"fit returned: although it was interrupted ({model.status_})"
    elif not isinstance(outcome, KeyboardInterrupt):
        yield f"exception: ctrl-c fit: {_described(outcome)}"
    elif not hasattr(model, "result_"):
        if had_begun[0]:
            yield f"no attributes: ctrl-c fit: interrupted after {delay:.3f} s"
        return
    if hasattr(model, "result_"):
        if not (hasattr(model, "coef_") and hasattr(model, "status_")):
            yield "half the attributes: ctrl-c fit"
        yield from instance.objections(model.result_)


def _interrupted_task(task, rng, delay, tally) -> Iterator[str]:
    """An estimator keeps the best so far; others return it, or nothing."""
    moments = [delay, delay + 0.02] if rng.random() < 0.1 else [delay]
    kept = []
    outcome = call_with_signals(
        task.call, signal.SIGINT, moments, lambda: kept.append(task.must_keep)
    )
    if isinstance(outcome, KeyboardInterrupt):
        tally.count(NAME, task.name, "interrupted")
    # A second Ctrl-C ends at once.
    yield from task.objections(outcome, len(moments) == 1 and kept[0])


def missed_interrupt(result, delay: float) -> bool:
    """Whether a run ended late and not because of the interrupt."""
    late = result.seconds > delay + DEAF
    return late and result.status not in ("interrupted", "optimal")


def call_with_signals(
    function: Callable,
    number: int,
    moments: list[float],
    before_signal: Callable = lambda: None,
):
    """The result or exception of the function, with signals at given moments."""
    sent = threading.Event()

    def send() -> None:
        started = time.perf_counter()
        for moment in moments:
            time.sleep(max(0.0, moment - (time.perf_counter() - started)))
            before_signal()
            os.kill(os.getpid(), number)
        sent.set()

    def raise_alarm(*_):
        raise Alarm

    previous = _handle(signal.default_int_handler, raise_alarm)
    outcome, left = None, previous
    try:
        threading.Thread(target=send, name="signals", daemon=True).start()
        outcome = function()
        left = _handle(_nothing, _nothing)
    except BaseException as error:
        left = _handle(_nothing, _nothing)
        # A signal may arrive after the call, which is not an error.
        outcome = error if outcome is None else outcome
    sent.wait()
    if left[0] not in (signal.default_int_handler, _nothing):
        outcome = AssertionError(f"handler of SIGINT: {left[0]}")
    _handle(*previous)
    return outcome


def _handle(interrupt, alarm) -> tuple:
    """Handlers of SIGINT and SIGALRM; returns those before."""
    return signal.signal(signal.SIGINT, interrupt), signal.signal(signal.SIGALRM, alarm)


def _nothing(*_) -> None:
    """Ignore a late signal."""


def still_running(before: set[threading.Thread], patience: float = QUIET) -> list[str]:
    """Names of threads that were not there before and do not end."""

    def left() -> list[str]:
        new = set(threading.enumerate()) - before
        return sorted(thread.name for thread in new if thread.name != "signals")

    _wait_until(lambda: not left(), patience)
    return left()


def _wait_until(condition: Callable[[], bool], seconds: float) -> None:
    end = time.perf_counter() + seconds
    while not condition() and time.perf_counter() < end:
        time.sleep(0.02)


def _described(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    where = ", ".join(frame.name for frame in frames[-3:])
    return f"{error!r} in {where}"
