"""Compilation happens before the clock of a run starts."""

import importlib
import os
import subprocess
import sys
import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest

from frugalsvm import Problem, solve
from frugalsvm.run import compilation
from frugalsvm.run.compilation import N_FUNCTIONS, estimated_seconds
from frugalsvm.solving import solver
from tests.reference import random_data


@pytest.fixture
def fresh(monkeypatch):
    """As in a process that has warmed up nothing and has started no other."""
    state = {"_ready": set(), "_has_announced": False, "_second_process": None}
    for name, value in state.items():
        monkeypatch.setattr(compilation, name, value)


@pytest.fixture
def problem(fresh):
    X, y = random_data(np.random.default_rng(0), 20, 5)
    return Problem(X, y, max_features=2)


@pytest.fixture
def rehearse(monkeypatch):
    """A function that replaces the rehearsal of a method."""
    return lambda function: monkeypatch.setattr(solver, "rehearse", function)


def test_a_method_is_warmed_up_once(problem, rehearse):
    warmed_up = []
    rehearse(lambda *args: warmed_up.append(args[0]))
    for method in ("swap", "auto", "swap"):
        solve(problem, method=method)
    assert warmed_up == ["swap", "auto"]


def test_compiling_is_not_the_users_time(problem, rehearse):
    rehearse(lambda *_: time.sleep(1.5))
    result = solve(problem, time_limit=1.0)
    assert result.status == "optimal"
    assert result.seconds < 1.0


def test_long_compilation_is_announced_once(problem, rehearse, monkeypatch, caplog):
    monkeypatch.setattr(compilation, "LOADING", 0.1)
    rehearse(lambda *_: time.sleep(0.5))
    solve(problem)
    solve(problem)
    said = [text for text in caplog.messages if "compiling" in text]
    assert len(said) == 1


def test_the_estimate_is_what_the_first_functions_suggest():
    # The first functions are short.
    assert estimated_seconds(3.0, N_FUNCTIONS) == 10
    assert estimated_seconds(3.0, N_FUNCTIONS // 4) == 25
    # Other processes may compile everything.
    assert estimated_seconds(3.0, 0) == 300


WARM_UP = """
import os, time
from pathlib import Path

def write(stop):
    Path(__file__).with_name("written").write_text("")

def sleep(stop):
    Path(__file__).with_name("pid").write_text(str(os.getpid()))
    time.sleep(60)
"""


@pytest.fixture
def warm_ups(tmp_path, fresh, monkeypatch):
    """A module that a second process can import."""
    (tmp_path / "warm_ups.py").write_text(WARM_UP)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    return importlib.import_module("warm_ups")


def test_a_second_process_compiles_beside_if_a_core_is_idle(
    warm_ups, tmp_path, monkeypatch
):
    idle = iter([False, True])
    monkeypatch.setattr(compilation, "_has_idle_core", lambda: next(idle))
    compilation.compile_beside(warm_ups.write)
    assert compilation._second_process is None
    compilation.compile_beside(warm_ups.write)
    first = compilation._second_process
    assert first.wait(60) == 0
    assert (tmp_path / "written").exists()
    compilation.compile_beside(warm_ups.write)
    assert compilation._second_process is first


@pytest.mark.skipif(os.name == "nt", reason="processes are looked up differently there")
def test_the_second_process_ends_with_the_first(warm_ups, tmp_path):
    code = (
        "import time, warm_ups\n"
        "from pathlib import Path\n"
        "from frugalsvm.run import compilation\n"
        "compilation._has_idle_core = lambda: True\n"
        "compilation.compile_beside(warm_ups.sleep)\n"
        f"while not Path({str(tmp_path / 'pid')!r}).exists(): time.sleep(0.05)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("it is still running")


def test_ctrl_c_while_compiling_is_raised_at_once(problem, rehearse):
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

    rehearse(warm_up)

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
