"""Cells run once, dependencies first; errors, limits and Ctrl-C leave a clean store."""

import os
import signal
import time

import numpy as np
import pytest
from joblib.externals.loky.process_executor import TerminatedWorkerError

from experiments import runner
from experiments.cells import CellOutcome, cell
from experiments.datasets import DatasetSource
from experiments.registry import TASKS
from experiments.runner import WorkerDied, run_cells
from experiments.store import CellStore

CALLS = []


def count(data, *, limit=None, number=0, needs=()):
    CALLS.append(number)
    return {"value": number + sum(target["value"] for target in needs), "capped": False}


def arrays(data):
    return {"pair": (1, 2), "count": np.int64(3), "is": np.bool_(True)}


def fail(data, *, number=0):
    raise ValueError("no such luck")


def sleep(data, *, limit):
    time.sleep(60)
    return {}


def press(data):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
    return {}


@pytest.fixture(autouse=True)
def tasks(monkeypatch):
    CALLS.clear()
    for task in (count, arrays, fail, sleep, press):
        monkeypatch.setitem(TASKS, task.__name__, task)


@pytest.fixture
def store(tmp_path):
    with CellStore(tmp_path / "cells.sqlite") as store:
        yield store


def run(cells, store, jobs=1):
    return run_cells("test", cells, DatasetSource(), store, jobs)


def test_stored_cells_are_not_computed_again(store):
    cells = [cell("count", number=k) for k in range(3)]
    first = run([*cells, *cells], store)
    assert [first[target].values["value"] for target in cells] == [0, 1, 2]
    assert run([*cells, cell("count", number=3)], store).keys() > first.keys()
    assert CALLS == [0, 1, 2, 3]


def test_cells_may_be_computed_again(store):
    run([cell("count", number=1)], store)
    run_cells("test", [cell("count", number=1)], DatasetSource(), store, again=True)
    assert CALLS == [1, 1]


def test_values_are_those_that_a_store_returns(store):
    outcome = run([cell("arrays")], store)[cell("arrays")]
    assert outcome.values == {"pair": [1, 2], "count": 3, "is": True}
    assert outcome.values == run([cell("arrays")], store)[cell("arrays")].values


def test_cells_get_the_values_they_need(store):
    low = cell("count", number=1)
    middle = cell("count", needs=(low,), number=10)
    high = cell("count", needs=(middle, low), number=100)
    assert run([high], store)[high].values["value"] == 112
    assert CALLS == [1, 10, 100]


def test_an_error_is_reported_and_not_stored(store):
    bad, good = cell("fail"), cell("count")
    needy = cell("count", needs=(bad,), number=5)
    outcomes = run([bad, needy, good], store)
    assert outcomes[bad].error == "ValueError: no such luck"
    assert "no such luck" in outcomes[needy].error
    assert outcomes[good].values["value"] == 0
    assert len(store) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
def test_a_task_that_ignores_its_limit_is_stopped_and_marked(store, monkeypatch):
    monkeypatch.setattr(runner, "OVERTIME_SECONDS", 0.2)
    slow = cell("sleep", limit=0.1)
    outcome = run([slow], store)[slow]
    assert outcome.capped
    assert outcome.seconds < 30
    assert len(store) == 1


def test_ctrl_c_keeps_finished_cells(store):
    cells = [cell("count", number=1), cell("press"), cell("count", number=2)]
    with pytest.raises(KeyboardInterrupt):
        run(cells, store)
    assert len(store) == 1
    assert CALLS == [1]


def test_a_killed_process_is_reported(store, monkeypatch):
    def killed(calls):
        function, arguments, _ = next(iter(calls))
        yield function(*arguments)
        raise TerminatedWorkerError("SIGKILL(-9)")

    monkeypatch.setattr(runner, "Parallel", lambda **_: killed)
    with pytest.raises(WorkerDied, match="fewer --jobs"):
        run([cell("count", number=k) for k in range(3)], store, jobs=2)
    assert len(store) == 1


def test_progress_counts_and_estimates(capsys):
    cells = [cell("count", limit=8.0, number=k) for k in range(4)]
    shown = runner.CellProgress("table4", cells, stored=6, jobs=2)
    assert shown.remaining_seconds() == 16.0
    shown.done(cells[0], CellOutcome({"capped": True}, seconds=4.0))
    assert shown.remaining_seconds() == 6.0
    for target in cells[1:]:
        shown.done(target, CellOutcome(seconds=4.0))
    first, *_, last = capsys.readouterr().err.splitlines()
    assert first == ("table4: 6 of 10 cells, 4 left, about 16 s, 6 from the store")
    assert last == "table4: 10 of 10 cells, 0 left, 6 from the store, 1 at their limit"


@pytest.mark.parametrize(
    ("seconds", "text"), [(3, "3 s"), (119, "119 s"), (600, "10 min"), (9e5, "10 d")]
)
def test_durations(seconds, text):
    assert runner.duration(seconds) == text
