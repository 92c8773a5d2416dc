"""The choice of the feature limit and C: its time limit, and Ctrl-C."""

import json
from pathlib import Path

import numpy as np
import pytest

from frugalsvm.cli import choosing, validation
from frugalsvm.cli import choosing as fitting
from frugalsvm.cli import fit as fit_run
from frugalsvm.cli.study import Conditions, Search, load_data
from frugalsvm.estimators import final_fit
from frugalsvm.estimators.grid_search import GridSearch

FAST = ("-t", "state", "--effort", "fast", "--folds", "3")


def stop_after(n_steps, how, monkeypatch):
    """Do something to the search of a choice after some steps."""
    begun, begin = [], GridSearch.begin

    def step(self, *arguments, **options):
        begun.append(arguments)
        if len(begun) == n_steps + 1:
            how(self)
        return begin(self, *arguments, **options)

    monkeypatch.setattr(GridSearch, "begin", step)


def press_ctrl_c(search):
    search.stop.interrupt()


def time_is_up(search):
    search.stop.limit(0.0)


@pytest.fixture
def runs(monkeypatch):
    """Options of the runs after a choice, on all rows and in the folds."""
    found = {"all": [], "folds": []}
    for name, module, run in (
        ("all", fitting, "run_interruptible"), ("folds", validation, "run_or_raise"),
    ):  # fmt: skip
        inner = getattr(module, run)

        def watched(problem, options, *hold, inner=inner, seen=found[name]):
            seen.append(options)
            return inner(problem, options, *hold)

        monkeypatch.setattr(module, run, watched)
    return found


def test_a_time_limit_takes_the_best_of_what_all_folds_have(run, run_json, data):
    options = (*FAST, "-k", "auto", "--time-limit", "0")
    done = run("fit", data, *options, "--report", "r.html", "--model", "m.json")
    words = "--time-limit ended the choice: 1 of 4 feature limits were compared"
    assert words in done.stderr
    assert "--time-limit ended before: the cross-validation" in done.stderr
    assert "alternatives of the report (see frugalsvm alternatives)" in done.stderr
    assert "at most 1 feature and C = 1 (feature limit chosen by" in done.stdout
    assert "The search stopped at the time limit" in done.stdout
    page = Path("r.html").read_text()
    assert "C set by the user; --effort fast leaves out: feature limits 4;" in page
    assert f"has them; {words} in all folds (1)" in page
    assert "nan" not in page.split("Show the numbers")[-1].split("</table>")[0]
    assert len(json.loads(Path("m.json").read_text())["features"]) == 1
    found = run_json("fit", data, *options)
    assert found["max_features"] == 1
    choice = found["choice"]
    assert (choice["compared"], choice["candidates"], choice["shortened"]) == (1, 4, 0)
    assert choice["ended_by_time_limit"]
    assert found["cross_validation"] is None
    assert len(found["left_out"]) == 1
    assert found["proof"]["lower_bound"] <= found["proof"]["objective"]


def test_what_is_compared_before_the_limit_counts(run_json, data, monkeypatch):
    stop_after(7, time_is_up, monkeypatch)
    options = ("fit", data, *FAST[:4], "--folds", "3", "-k", "auto")
    found = run_json(*options, "--time-limit", "1000")
    # Seven steps are two feature limits in three folds, and one more step.
    assert found["choice"]["compared"] == 2
    assert found["max_features"] in (1, 2)
    # The choices in the folds of the cross-validation had time.
    assert found["cross_validation"]["choices_ended_by_time_limit"] == 0


def test_one_limit_is_for_choice_and_search(run_json, data, runs):
    run_json("fit", data, *FAST, "-k", "auto", "--C", "auto", "--time-limit", "900")
    folds = [options.time_limit for options in runs["folds"]]
    (final,) = [options.time_limit for options in runs["all"]]
    assert len(folds) == 3
    assert all(0.0 < limit <= 900.0 for limit in folds)
    assert 0.0 < final < 900.0


def test_without_a_limit_there_is_none(run_json, data, runs):
    found = run_json("fit", data, *FAST, "-k", "auto")
    limits = [one.time_limit for part in ("all", "folds") for one in runs[part]]
    assert limits == [None] * 4
    assert found["choice"]["compared"] == found["choice"]["candidates"] == 4
    assert not found["choice"]["ended_by_time_limit"]
    assert run_json("fit", data, *FAST)["choice"] is None


def test_the_search_goes_on_from_what_the_choice_found(data, runs):
    table = load_data(data, "state")
    found = fitting.fit_all(
        table, Conditions("auto"), Search("fast", 0.0), folds=3,
        on_phase=lambda words: None,
    )  # fmt: skip
    (options,) = runs["all"]
    np.testing.assert_array_equal(options.initial_support, found.choice.support)
    assert found.choice.support.size == 1


@pytest.fixture
def one_fold_at_a_time(monkeypatch):
    """A function; from its call on, folds are too large to be in memory together."""
    return lambda: monkeypatch.setattr(choosing, "MOST_BYTES", 0)


def test_large_tables_are_compared_fold_by_fold(run_json, data, one_fold_at_a_time):
    options = ("fit", data, *FAST[:4], "--folds", "3", "-k", "auto")
    whole = run_json(*options)
    one_fold_at_a_time()
    parts = run_json(*options)
    for one in (whole, parts):
        one.pop("seconds")
    assert parts == whole
    found = run_json(*options, "--time-limit", "0")
    assert found["choice"]["compared"] == 1
    assert found["choice"]["ended_by_time_limit"]


def test_ctrl_c_takes_the_best_so_far_and_ends(run, data, folder, monkeypatch):
    stop_after(7, press_ctrl_c, monkeypatch)
    done = run("fit", data, *FAST, "-k", "auto", "--model", "m.json", code=130)
    words = "Ctrl-C ended the choice: 2 of 4 feature limits were compared"
    assert words in done.stderr
    assert "interrupted: this is the best model found so far" in done.stderr
    assert "The search was interrupted" in done.stdout
    assert "cross-validated" not in done.stdout.split("Proved")[0]
    assert 1 <= len(json.loads((folder / "m.json").read_text())["features"]) <= 2


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (final_fit, "svm_on"),
        (Conditions, "refitted"),
        (fit_run.Run, "_assess"),
        (fit_run.Run, "_save"),
    ],
)
def test_ctrl_c_between_two_runs_does_not_lose_the_choice(
    run, data, folder, ctrl_c_at, module, name
):
    ctrl_c_at(module, name)
    run("fit", data, *FAST, "-k", "auto", "--model", "m.json", code=130)
    assert json.loads((folder / "m.json").read_text())["features"]


def test_ctrl_c_before_anything_is_compared(run, data, monkeypatch):
    stop_after(2, press_ctrl_c, monkeypatch)
    done = run("fit", data, *FAST, "-k", "auto", code=130)
    assert "interrupted before a result was found" in done.stderr


def test_ctrl_c_in_the_choice_of_a_fold_ends_the_cross_validation(
    run, data, monkeypatch
):
    # Three folds of four feature limits are the choice on all rows.
    stop_after(12 + 7, press_ctrl_c, monkeypatch)
    monkeypatch.setattr(choosing.FinalFit, "run", without_a_path(choosing.FinalFit.run))
    done = run("fit", data, *FAST, "-k", "auto", code=130)
    assert "found so far, without cross-validation" in done.stderr
    assert "ended the choice" not in done.stderr
    assert "Proved" in done.stdout


@pytest.mark.parametrize("is_large", [False, True])
def test_progress_begins_before_the_first_fold_ends(
    run, data, one_fold_at_a_time, is_large
):
    if is_large:
        one_fold_at_a_time()
    done = run("fit", data, *FAST, "-k", "auto", "--C", "auto")
    lines = done.stderr.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("choosing"))
    plan, left_out, first = lines[at + 1 : at + 4]
    assert plan == "  comparing feature limits 1, 2, 3, 5, each with 5 C, in 3 folds"
    assert left_out == (
        "  --effort fast leaves out: feature limits 4; 4 of 9 C; most of the search "
        "with each limit; --effort normal has them"
    )
    assert "step 1 of 12 (feature limit 1, fold 1), about" in first


def test_a_fast_choice_does_less(data):
    table = load_data(data, "state")
    work = {}
    for effort in ("fast", "normal"):
        found = choosing.choose(table, Conditions("auto", "auto"), Search(effort), 3)
        folds = found.comparison.folds
        work[effort] = sum(fold.n_solves + fold.scores.size for fold in folds)
        assert bool(choosing.omission_text(found.work, found.request)) == (
            effort == "fast"
        )
    assert work["fast"] < 0.8 * work["normal"]
    inner = [validation.inner_folds(Search(e), 5, 100) for e in ("fast", "normal")]
    assert inner == [3, 5]


def test_large_tables_say_how_many_rows_are_used(run, data, monkeypatch):
    monkeypatch.setattr(choosing, "MOST_SAMPLES", 30)
    done = run("fit", data, *FAST, "-k", "auto")
    assert "in 3 folds, trained on 30 of about 54 rows each" in done.stderr


def without_a_path(run):
    """The fit of all rows without other feature limits, which would be steps, too."""

    def only_chosen(self, *arguments):
        object.__setattr__(self, "only_chosen", True)
        return run(self, *arguments)._replace(was_interrupted=False)

    return only_chosen
