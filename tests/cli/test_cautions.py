"""What is said before a result: warnings, and what was not looked at."""

import numpy as np
import pytest

from frugalsvm.cli import reporting
from frugalsvm.report import inspection
from tests.cli.conftest import columns, write_csv

FAST = ("--effort", "fast", "--folds", "0")


@pytest.fixture
def leaky(folder):
    """A table with a column that is the outcome in another form."""
    table = columns(400)
    late = table["state"] == "sick"
    table["delay"] = late + 0.5 * np.random.default_rng(1).random(400)
    table["code"] = np.where(late, "A1", "B1")
    table["code"][::2] = np.where(late, "A2", "B2")[::2]
    return write_csv(folder / "leaky.csv", table)


@pytest.fixture
def short(monkeypatch):
    """Tables are large that have more than 100 rows."""
    monkeypatch.setattr(inspection, "MOST_ROWS", 100)
    monkeypatch.setattr(reporting, "MOST_CELLS", 1000)


def test_large_tables_are_looked_at_and_what_is_left_out_is_named(
    leaky, run, run_json, folder, short
):
    fit = ("fit", leaky, "-t", "state", "-k", "2", "--report", "r.html", *FAST)
    done = run(*fit)
    assert "looked for in 100 rows that were drawn" in done.stderr
    assert "delay, code alone separate the classes almost perfectly" in done.stderr
    assert "not seen was not checked" in done.stdout
    page = (folder / "r.html").read_text()
    assert "Columns were compared in 100 rows, drawn from 400." in page
    assert "No problems found" not in page
    assert "The report has no budget path and no alternatives" in page
    assert "not seen was not checked" in page
    (words,) = run_json(*fit)["left_out"]
    assert "are more than 1,000; see frugalsvm path" in words
    assert words in done.stderr


def test_that_all_rows_were_looked_at_is_no_news(data, run, folder):
    done = run("fit", data, "-t", "state", "-k", "2", "--report", "r.html", *FAST)
    assert "drawn" not in done.stderr
    page = (folder / "r.html").read_text()
    assert "No problems found" in page
    assert "drawn from" not in page


@pytest.mark.parametrize("command", [("path", "--budgets", "2"), ("alternatives",)])
def test_all_searches_warn_of_the_table(leaky, run, run_json, command):
    options = ("-t", "state", "--time-limit", "2")
    if command[0] == "path":
        options += ("--folds", "0")
    name, *more = command
    assert "warning: delay, code alone" in run(name, leaky, *options, *more).stderr
    assert "delay, code" in run_json(name, leaky, *options, *more)["warnings"][0]


def test_many_categories_for_few_rows_are_warned_of(run, run_json, folder):
    table = columns(300)
    rng = np.random.default_rng(0)
    table["town"] = rng.choice([f"t{k}" for k in range(25)], 300)
    path = write_csv(folder / "towns.csv", table)
    fit = ("fit", path, "-t", "state", "-k", "3", "--include", "town", *FAST)
    (words,) = run_json(*fit)["warnings"]
    assert "25 of them for the categories of 'town'" in words
    assert "--min-level" in words
    assert "--split-categories" in words
    merged = run_json(*fit, "--min-level", "14")
    assert merged["warnings"] == []
    assert 2 < len(merged["data"]["categorical"]["town"]) < 15
    split = ("fit", path, "-t", "state", "-k", "3", "--split-categories", *FAST)
    assert run_json(*split)["warnings"] == []


def test_features_that_would_bring_nothing(run, run_json, folder):
    sign = np.where(np.arange(40) < 20, 1, -1)
    table = {"a": 0.5 * sign, "b": np.tile([0.5, -0.5], 20), "y": sign}
    path = write_csv(folder / "two.csv", table)
    fit = ("fit", path, "-t", "y", *FAST, "--report", "r.html")
    words = "One of the two allowed is used: more features would not fit these data"
    assert run_json(*fit, "-k", "2")["selected"] == ["a"]
    done = run(*fit, "-k", "2")
    assert words in done.stdout
    page = (folder / "r.html").read_text()
    assert words in page
    assert "may use up to 2 features and uses one." in page
    done = run(*fit, "-k", "1")
    assert "allowed" not in done.stdout
    assert "with at most 1 feature and C" in done.stdout


def test_the_larger_class_may_be_the_positive_one(folder, run):
    table = columns(200)
    table["state"] = np.where(np.arange(200) < 20, "bad", "good")
    path = write_csv(folder / "rare.csv", table)
    done = run("fit", path, "-t", "state", "-k", "2", "--effort", "fast")
    assert "--positive bad if they should be about 'bad'" in done.stderr
    # What is caught is of the class that sensitivity is about.
    assert "are 'good': the model catches" in done.stdout
    done = run("fit", path, "-t", "state", "--positive", "bad", *FAST)
    assert "--positive" not in done.stderr
