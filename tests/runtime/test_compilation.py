"""Compilation happens before the clock of a run starts."""

import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest

from frugalsvm import Problem, solve
from frugalsvm.driver import solving as driver
from frugalsvm.runtime import compilation
from tests.reference import random_data


@pytest.fixture
def problem(monkeypatch):
    """A problem, in a process that has warmed_up nothing yet."""
    monkeypatch.setattr(compilation, "_ready", set())
    X, y = random_data(np.random.default_rng(0), 20, 5)
    return Problem(X, y, max_features=2)


def test_a_method_is_warmed_up_once(problem, monkeypatch):
    warmed_up = []
    monkeypatch.setattr(driver, "_warm_up", lambda *args: warmed_up.append(args[0]))
    for method in ("swap", "auto", "swap"):
        solve(problem, method=method)
    assert warmed_up == ["swap", "auto"]


def test_compiling_is_not_the_users_time(problem, monkeypatch):
    monkeypatch.setattr(driver, "_warm_up", lambda *_: time.sleep(1.5))
    result = solve(problem, time_limit=1.0)
    assert result.status == "optimal"
    assert result.seconds < 1.0


def test_long_compilation_is_announced_once(problem, monkeypatch, caplog):
    monkeypatch.setattr(compilation, "LOADING", 0.1)
    monkeypatch.setattr(driver, "_warm_up", lambda *_: time.sleep(0.5))
    solve(problem)
    solve(problem)
    said = [text for text in caplog.messages if "compiling" in text]
    assert len(said) == 1


def test_ctrl_c_while_compiling_is_raised_at_once(problem, monkeypatch):
    ended = threading.Event()
    begun = threading.Event()

    def warm_up(method, monitor):
        begun.set()
        try:
            while True:
                monitor.should_stop()
                time.sleep(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(driver, "_warm_up", warm_up)

    def press():
        begun.wait()
        interrupt_main()

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        solve(problem)
    thread.join()
    assert ended.wait(10)
    # Not compiled yet: the next run begins again.
    assert compilation._ready == set()


def test_a_warm_up_ignores_the_users_patience(problem):
    result = solve(
        problem, method="swap", method_options={"patience": 10**9}, time_limit=0.2
    )
    assert compilation._ready == {"swap"}
    assert result.seconds < 30


def test_the_warm_up_is_a_run_with_a_tree():
    result = solve(compilation.tiny_problem(), method="branch-and-bound")
    assert result.counters["nodes"] > 1
