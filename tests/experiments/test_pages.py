"""Figures of the pages: they are what the results of the benchmarks say."""

import dataclasses
import json
import re

import numpy as np
import pytest

from experiments import command, pages, store
from experiments.cells import cell
from experiments.experiment import benchmark
from experiments.pages import FIGURES, QUOTED, PageFigure
from experiments.registry import EXPERIMENTS, TASKS

RESULTS = store.Results(
    "0123456789",
    "2026-01-31",
    "2 cores",
    {"python": "3.12.0", "peer": "1.0"},
    {"seconds": 20.0},
    [{"set": "a", "seconds": 1.5}, {"set": "b", "seconds": 0.25}],
)


def times(results):
    rows = [[row["set"], f"``{row['seconds']:.2f}``"] for row in results.rows]
    return [["", "time"], *rows]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results of one benchmark, and a figure of them."""
    functions = {
        "times": times,
        "longest": lambda found: f"At most {found.rows[0]['seconds']} s.",
    }
    for name, function in functions.items():
        monkeypatch.setitem(FIGURES, name, PageFigure(("timing",), function))
    assert store.write("timing", RESULTS, tmp_path)
    return tmp_path


# --- the pages as they are ------------------------------------------------------------


def marked(page):
    """Names of the figures of a page."""
    return re.findall(r"(?:<!-- figures: |^\.\. figures: )(\S+)", page, re.MULTILINE)


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.stem)
def test_pages_have_the_figures_of_the_results(page):
    text = page.read_text("utf-8")
    assert pages.rewritten(text, page.suffix) == text, "run make readme-figures"
    assert text.count("end figures") == len(marked(text))
    assert set(marked(text)) <= set(FIGURES)


def test_results_state_where_they_are_from():
    files = sorted(store.FOLDER.glob("*.json"))
    assert files
    for file in files:
        assert file.stem in QUOTED
        results = store.read(file.stem)
        assert re.fullmatch(r"[0-9a-f]{7,40}( and changes)?", results.commit)
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", results.date)
        assert "cores" in results.machine
        assert results.rows


# --- rewriting ------------------------------------------------------------------------


def test_a_table_in_markdown(folder):
    page = "before\n<!-- figures: times -->\nold\n<!-- end figures -->\nafter\n"
    assert pages.rewritten(page, ".md", folder) == (
        "before\n<!-- figures: times -->\n\n|  | time |\n| --- | --- |\n"
        "| a | `1.50` |\n| b | `0.25` |\n\n<!-- end figures -->\nafter\n"
    )


def test_a_table_in_restructured_text(folder):
    page = "before\n\n.. figures: times\n.. end figures\n\nafter\n"
    text = pages.rewritten(page, ".rst", folder)
    assert text == (
        "before\n\n.. figures: times\n\n= ========\n\\ time\n= ========\n"
        "a ``1.50``\nb ``0.25``\n= ========\n\n"
        "(Measured on 2026-01-31 at commit 0123456789, 2 cores.)\n\n"
        ".. end figures\n\nafter\n"
    )
    assert pages.rewritten(text, ".rst", folder) == text


def test_a_figure_within_a_line_of_markdown(folder):
    page = "a <!-- figures: longest -->0<!-- end figures --> b\n"
    text = pages.rewritten(page, ".md", folder)
    assert text == page.replace("0", "At most 1.5 s.")


def test_several_figures_in_one_page(folder):
    pattern = "<!-- figures: {} -->\n<!-- end figures -->\n"
    text = pages.rewritten(
        pattern.format("longest") + pattern.format("times"), ".md", folder
    )
    assert marked(text) == ["longest", "times"]
    assert "At most 1.5 s." in text
    assert "| a | `1.50` |" in text


def test_a_figure_that_nobody_knows(folder):
    page = "<!-- figures: unknown -->\n<!-- end figures -->\n"
    with pytest.raises(KeyError, match="unknown"):
        pages.rewritten(page, ".md", folder)


# --- results --------------------------------------------------------------------------


def test_results_are_read_as_they_were_written(folder):
    assert store.read("timing", folder) == RESULTS


def test_numbers_become_plain(tmp_path):
    row = {"a": np.float64(1 / 3), "b": np.int64(2), "c": [np.inf, True], "d": None}
    store.write("x", dataclasses.replace(RESULTS, rows=[row]), tmp_path)
    text = (tmp_path / "x.json").read_text("utf-8")
    expected = {"a": 0.33333333, "b": 2, "c": [None, True], "d": None}
    assert json.loads(text)["rows"] == [expected]


def test_a_run_without_a_peer_keeps_the_file(folder):
    before = (folder / "timing.json").read_bytes()
    poorer = dataclasses.replace(RESULTS, versions={"python": "3.13.0"}, rows=[])
    assert store.write("timing", poorer, folder) is None
    assert (folder / "timing.json").read_bytes() == before
    richer = RESULTS.versions | {"another": "2.0"}
    assert store.write("timing", dataclasses.replace(RESULTS, versions=richer), folder)


def test_this_run():
    results = store.of_this_run([{"a": 1}], {}, "nothing else", "abc1234")
    assert results.machine.endswith(", nothing else")
    assert "numpy" in results.versions
    assert results.commit == "abc1234"
    assert results.rows == [{"a": 1}]


@pytest.fixture
def exact(monkeypatch):
    """A function that replaces the benchmark ``exact`` by one of a single task."""

    def replace(plan, wait, options=None):
        made = benchmark("exact", "", "", plan, [wait], options=options or {})
        monkeypatch.setitem(EXPERIMENTS, "exact", made)
        monkeypatch.setitem(TASKS, "wait", wait)

    return replace


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ([], 60.0),
        (["--limit", "20"], 20.0),
        (["--with", "seconds=30"], 30.0),
        (["--quick"], None),
        (["--sets", "arrhythmia"], None),
        (["--no-write"], None),
    ],
)
def test_only_complete_runs_are_written(
    tmp_path, exact, monkeypatch, arguments, seconds
):
    def wait(data, *, number, seconds):
        return {"time": seconds}

    def plan(settings, *, seconds):
        return [cell("wait", number=k, seconds=seconds) for k in range(2)]

    exact(plan, wait, {"seconds": 60.0})
    folder = tmp_path / "results"
    write = store.write
    monkeypatch.setattr(
        command, "write", lambda name, results, to=folder: write(name, results, to)
    )
    out = tmp_path / "out"
    assert command.run(["exact", "--quiet", "--out", str(out), *arguments]) == 0
    results = store.read("exact", out)
    assert results.rows == [
        {"number": k, "time": results.settings["seconds"]} for k in (0, 1)
    ]
    assert (folder / "exact.json").exists() == (seconds is not None)
    if seconds:
        assert results.settings == {"seconds": seconds}
        assert store.read("exact", folder).rows == results.rows


def test_a_benchmark_that_fails_leaves_no_rows(tmp_path, exact, capsys):
    def wait(data):
        raise RuntimeError("out of order")

    exact(lambda settings: [cell("wait")], wait)
    assert command.run(["exact", "--out", str(tmp_path)]) == 1
    assert "out of order" in capsys.readouterr().out
    assert not (tmp_path / "exact.json").exists()


# --- age ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("commit", "since", "remark"),
    [
        ("abc1234", "", ""),
        ("abc1234", "1\n2", "before 2 changes of kernels, search or tree"),
        ("abc1234", None, "not known here"),
        ("abc1234 and changes", "", "not committed"),
    ],
)
def test_old_results_are_named(monkeypatch, commit, since, remark):
    def git(*arguments):
        assert arguments[2] == "abc1234..HEAD"
        assert "src/frugalsvm/kernels" in arguments
        return since

    monkeypatch.setattr(pages, "git", git)
    age = pages.age(dataclasses.replace(RESULTS, commit=commit))
    assert age.endswith(remark)
    assert bool(age) == bool(remark)


def test_code_that_was_changed_is_not_that_of_the_commit(monkeypatch):
    outputs = {"log": "abc1234", "status": " M src/frugalsvm/cli/app.py"}
    monkeypatch.setattr(store, "git", lambda command, *more: outputs[command])
    assert store.commit() == "abc1234 and changes"
    outputs["status"] = ""
    assert store.commit() == "abc1234"
