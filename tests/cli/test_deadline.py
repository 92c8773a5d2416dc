"""The time limit of a whole command, with a clock that tests move."""

import json
from pathlib import Path

import pytest

from frugalsvm.cli import reporting
from frugalsvm.cli.choosing import fit_all
from frugalsvm.cli.session import Deadline
from frugalsvm.cli.study import Conditions, Search, load_data
from frugalsvm.cli.validation import cross_validate


class Clock:
    """Stands still unless it is moved."""

    now = 100.0

    def __call__(self):
        return self.now


def test_parts_of_a_deadline_are_parts_of_what_is_left():
    clock = Clock()
    deadline = Deadline.after(10.0, clock)
    assert deadline.part(0.5) == 5.0
    part = deadline.within(0.5)
    clock.now += 4.0
    assert (deadline.seconds_left, part.seconds_left) == (6.0, 1.0)
    clock.now += 3.0
    assert part.is_over
    assert not deadline.is_over
    clock.now += 9.0
    assert deadline.seconds_left == 0.0
    assert deadline.remark == ""
    deadline.omit("the soup", "see the menu")
    assert deadline.remark == "--time-limit ended before: the soup (see the menu)"


def test_without_a_limit_nothing_is_over():
    deadline = Deadline.after(None)
    assert deadline.seconds_left is None
    assert deadline.part(0.5) is None
    assert not deadline.is_over
    assert deadline.within(0.5).end is None


@pytest.mark.parametrize(("n_begun", "n_done"), [(1, None), (2, 2), (3, 3)])
def test_folds_that_have_not_begun_in_time_are_left_out(data, n_begun, n_done):
    table, clock = load_data(data, "state"), Clock()
    deadline = Deadline.after(1000.0, clock)

    def on_fold(k, n):
        if k > n_begun:
            clock.now += 1000.0

    found = cross_validate(
        table, Conditions(2, 1.0), Search("fast"), 3, on_fold=on_fold,
        deadline=deadline,
    )  # fmt: skip
    if n_done is None:
        assert found is None
        return
    assert (found.n_folds, found.n_planned) == (n_done, 3)
    assert set(found.folds[found.held_out]) == set(range(n_done))
    assert found.held_out.all() == (n_done == 3)
    found.calibration(table.target.positive)


def test_a_command_without_time_writes_the_model_and_names_the_rest(run_json, data):
    found = run_json(
        "fit", data, "-t", "state", "-k", "2", "--time-limit", "0.001", "--report",
        "out.html", "--model", "model.json", "--calibrate",
    )  # fmt: skip
    whats = [one.partition(" (")[0] for one in found["left_out"]]
    assert whats == [
        "the cross-validation", "the budget path of the report",
        "the alternatives of the report",
    ]  # fmt: skip
    assert found["cross_validation"] is None
    assert 0.0 <= found["proof"]["lower_bound"] <= found["proof"]["objective"]
    assert len(json.loads(Path("model.json").read_text())["features"]) <= 2
    page = Path("out.html").read_text(encoding="utf-8")
    assert "--time-limit</span> ended before: the cross-validation" in page
    assert run_json("fit", data, "-t", "state", "-k", "2")["left_out"] == []


def test_a_path_without_time_has_objectives_and_bounds(run_json, data):
    found = run_json(
        "path", data, "-t", "state", "--budgets", "1-3", "--time-limit", "0"
    )
    assert found["left_out"] == [
        "5 of 5 folds of the cross-validation (a larger --time-limit has room for them)"
    ]
    assert [one["max_features"] for one in found["path"]] == [1, 2, 3]
    for one in found["path"]:
        assert one["lower_bound"] <= one["objective"]
        assert one["accuracy"] is None


def test_a_report_searches_a_subsample_and_is_about_all_rows(data, monkeypatch):
    table = load_data(data, "state")
    fit = fit_all(
        table, Conditions(2, 1.0), Search("fast"), folds=3, on_phase=lambda words: None
    )
    whole = reporting.extras(table, fit, Search("fast"), lambda words: None)["path"]
    monkeypatch.setattr(reporting, "MOST_SAMPLES", 40)
    drawn = reporting.extras(table, fit, Search("fast"), lambda words: None)["path"]
    assert drawn.chosen == whole.chosen == 2
    # Bounds are proved on all rows, and no objective is below them.
    assert (drawn.objectives >= drawn.lower_bounds).all()
    assert (drawn.objectives >= whole.lower_bounds).all()
    assert drawn.objectives[1] == pytest.approx(fit.result.objective)
