"""Every experiment end to end on miniature data, through the command line."""

import csv
import gzip
import json
import signal
import sqlite3
import subprocess
import sys
import time
from itertools import cycle

import pytest

from experiments.command import run
from experiments.experiment import Settings, most_seconds
from experiments.registry import EXPERIMENTS, GROUPS, QUICK_SECONDS, STUDY_TASKS, TASKS
from experiments.store import ROOT
from experiments.study import reach
from experiments.study.reach import Shape

SETS = ["cleveland", "arrhythmia"]
STUDIES = {name: EXPERIMENTS[name] for name in GROUPS["paper"]}
# A small one only: forward selection takes its time.
SMALL_SETS = ["cleveland"]


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """One store for all, because studies share cells."""
    return tmp_path_factory.mktemp("out")


def command(folder, out, *more):
    return [
        *more,
        "--quick",
        "--data",
        str(folder),
        "--out",
        str(out),
        "--limit",
        "1",
    ]


@pytest.fixture
def small_designs(monkeypatch):
    shapes = (Shape("logistic", 40, 20, 4, 0.5), Shape("hinge", 40, 30, 4, 0.3))
    monkeypatch.setattr(reach, "QUICK_SHAPES", shapes)


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.usefixtures("small_designs")
def test_an_experiment_on_miniature_data(name, folder, out, capsys):
    sets = SMALL_SETS if name in ("peers", "stability") else SETS
    assert run(command(folder, out, name, "--sets", *sets)) == 0
    shown = capsys.readouterr()
    assert STUDIES[name].title in shown.out
    assert "failed" not in shown.out
    with (out / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert (out / "index.html").read_text().count("<table>") >= 1
    # Again: everything is in the store.
    assert run(command(folder, out, name, "--sets", *sets)) == 0
    again = capsys.readouterr()
    assert again.out == shown.out
    assert "left" not in again.err


def broken(data, **_):
    raise RuntimeError("out of order")


def empty_handed(data, **_):
    return {"capped": True}


@pytest.fixture
def all_tasks(monkeypatch):
    """A function that replaces all tasks of the study by one."""

    def replace(task):
        for name in STUDY_TASKS:
            monkeypatch.setitem(TASKS, name, task)

    return replace


# Every report, each with one of the two.
WITHOUT_VALUES = list(zip(STUDIES, cycle([broken, empty_handed]), strict=False))


@pytest.mark.parametrize(("name", "task"), WITHOUT_VALUES)
def test_cells_without_values_are_shown(
    name, task, folder, tmp_path, all_tasks, capsys
):
    all_tasks(task)
    code = run(command(folder, tmp_path, name, "--sets", *SETS))
    text = capsys.readouterr().out
    assert code == (1 if task is broken else 0)
    assert "nan" not in text
    assert "None" not in text
    if task is broken:
        assert "out of order" in text
        assert "-*" not in text
        assert "; 0 ended at their limit" in text
    else:
        assert "; 0 ended at their limit" not in text


@pytest.mark.parametrize("name", [name for name in STUDIES if STUDIES[name].columns])
def test_every_row_with_capped_cells_is_marked(name, folder, tmp_path, all_tasks):
    all_tasks(empty_handed)
    run(command(folder, tmp_path, name, "--sets", *SETS))
    for path in tmp_path.glob(f"{name}*.csv"):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        # Ranks, and the last row of stability, are made of rows that are marked.
        marks = {row["capped"] for row in rows if next(iter(row.values())) != "mean"}
        assert "" not in marks or path.stem == "peers-ranks"


@pytest.mark.parametrize("study", STUDIES.values(), ids=list(STUDIES))
def test_the_full_grid_is_larger(study):
    quick, full = (study.plan(Settings(quick)) for quick in (True, False))
    assert 0 < len(quick) <= len(full)
    assert most_seconds(quick) <= most_seconds(full)
    for target in full:
        assert target.limit in (None, 20.0, 60.0)


def test_the_list(capsys):
    assert run(["list"]) == 0
    text = capsys.readouterr().out
    for name in EXPERIMENTS:
        assert f"\n{name} " in f"\n{text}"
    assert "cells, at most" in text
    assert "quick took us 4 min" in text
    assert "took us 18 min on two cores" in text
    assert set(QUICK_SECONDS) == set(STUDIES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Proofs"], "no experiment 'Proofs'; did you mean proof"),
        (["xyzzy"], "no experiment 'xyzzy'; there are table1, table2"),
        (["table4", "--limit", "0"], "positive"),
        (["table4", "--limit", "soon"], "positive"),
        (["table4", "--limit", "hks=5"], "no column 'hks'; did you mean H-KS"),
        (["table4", "--sets", "iris"], "no data set 'iris'"),
        (["table4", "--sets", "Madelon"], "did you mean madelon?"),
        (["table4", "--data", "nowhere/at/all"], "no such folder"),
        (["table4", "--jobs", "0"], "--jobs"),
        (["exact", "--with", "second=1"], "no option 'second'; did you mean seconds?"),
        (["seeds", "--with", "seeds=few"], "not a value of int"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        run(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_missing_data_files(tmp_path, empty_cache, capsys):
    arguments = ["table1", "--sets", "german", "--data", str(tmp_path)]
    assert run([*arguments, "--out", str(tmp_path)]) == 1
    assert "german.csv.gz" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["start", "middle", "words"])
def test_data_that_are_damaged(part, folder, tmp_path, capsys):
    whole = (folder / "wbc.csv.gz").read_bytes()
    text = gzip.compress(b"x0,target\nhello,1\n")
    contents = {"start": b"no gzip", "middle": whole[:200], "words": text}
    (tmp_path / "wbc.csv.gz").write_bytes(contents[part])
    assert run(command(tmp_path, tmp_path, "table1", "--sets", "wbc")) == 1
    assert "wbc cannot be read" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(folder, tmp_path, capsys):
    (tmp_path / "file").touch()
    arguments = command(folder, tmp_path / "file", "table1", "--sets", "wbc")
    assert run([*arguments, "--store", str(tmp_path / "cells.sqlite")]) == 1
    assert "cannot be read or written" in capsys.readouterr().err


def test_experiments_without_the_data_sets_are_skipped(folder, tmp_path, capsys):
    arguments = command(folder, tmp_path, "table1", "table2", "--sets", "wbc")
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert "table2 has none of these data sets" in shown.err
    assert "Table 2" not in shown.out
    assert not (tmp_path / "table2.csv").exists()
    assert run(command(folder, tmp_path, "table2", "--sets", "wbc")) == 1


def test_a_run_as_json_and_a_quiet_one(folder, tmp_path, capsys):
    arguments = command(folder, tmp_path, "table1", "--sets", "wbc")
    assert run([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert run([*arguments, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["failed"] == 0
    [table] = content["experiments"]["table1"]["tables"]
    with (tmp_path / "table1.csv").open(newline="") as file:
        assert table["rows"] == list(csv.DictReader(file))
    assert run(["list", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(EXPERIMENTS)


def test_a_store_that_cannot_be_opened(folder, tmp_path, capsys):
    assert run([*command(folder, tmp_path, "table1"), "--store", str(tmp_path)]) == 1
    assert "give another --store" in capsys.readouterr().err


def test_limits_by_column():
    cells = STUDIES["table4"].plan(
        Settings(sets=("madelon",), limits={"H-KS": 600.0, "": 7.0})
    )
    limits = {
        (dict(c.params)["method"], dict(c.params).get("strategy")): c.limit
        for c in cells
    }
    assert limits["heuristic", None] == 600.0
    assert limits["heuristic", "local-search"] == limits["auto", None] == 7.0


def rows_of(path):
    """Keys with the time and place of their rows in SQLite."""
    if not path.exists():
        return {}
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            return dict(connection.execute("SELECT key, outcome FROM cells"))
    except sqlite3.OperationalError:
        # Not there yet, or being written.
        return {}


def started(arguments, store):
    """A run in a separate process, with at least one cell in its store."""
    start = [sys.executable, "-m", "experiments", *arguments]
    process = subprocess.Popen(
        start,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 120
    while not rows_of(store) and time.monotonic() < until:
        time.sleep(0.005)
    return process


def test_a_killed_run_resumes(folder, tmp_path):
    arguments = command(folder, tmp_path, "table4", "--sets", "arrhythmia")
    store = tmp_path / "cells.sqlite"
    process = started(arguments, store)
    process.kill()
    process.communicate()
    assert process.returncode != 0
    before = rows_of(store)
    assert 0 < len(before) < 12
    start = [sys.executable, "-m", "experiments", *arguments]
    done = subprocess.run(start, cwd=ROOT, capture_output=True, text=True, check=True)
    after = rows_of(store)
    assert len(after) == 12
    # Outcomes have measured times, so that equal ones were not computed again.
    assert {key: after[key] for key in before} == before
    assert f"{len(before)} from the store" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_ctrl_c_leaves_a_clean_store(folder, tmp_path):
    """With two processes; tests/experiments/test_runner.py does without."""
    arguments = command(folder, tmp_path, "table4", "--sets", "arrhythmia")
    store = tmp_path / "cells.sqlite"
    process = started([*arguments, "--jobs", "2"], store)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "to resume from there" in errors
    assert "Traceback" not in errors
    with sqlite3.connect(store) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert not list(tmp_path.glob("*-journal"))
    assert all("objective" in outcome for outcome in rows_of(store).values())
