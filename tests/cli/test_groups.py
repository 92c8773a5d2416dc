"""Columns of categories as one feature, and signs of weights, on the command line."""

import json

import numpy as np
import pytest

from frugalsvm import PortableModel
from tests.cli.conftest import write_csv

# The level of all values without a weight of their own.
OTHER = "any other value"


@pytest.fixture
def table(folder):
    """Housing and income matter."""
    rng = np.random.default_rng(0)
    n = 120
    columns = {
        "income": rng.normal(3, 1, n).round(3),
        "age": rng.integers(20, 70, n),
        "housing": rng.choice(["own", "rent", "free"], n),
        "sex": rng.choice(["f", "m"], n),
        "debt": rng.normal(size=n).round(3),
    }
    score = 2.0 * (columns["housing"] == "own") + columns["income"] - 4
    score += 0.5 * (columns["sex"] == "m") - 0.3 * columns["debt"]
    columns["good"] = np.where(score + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    return write_csv(folder / "table.csv", {k: list(v) for k, v in columns.items()})


FIT = ("-t", "good", "--folds", "0", "--effort", "fast")


def test_a_column_of_categories_is_one_feature(run, run_json, table):
    found = run_json("fit", table, *FIT, "-k", "2")
    assert sorted(found["selected"]) == ["housing", "income"]
    names = {one["name"] for one in found["features"]}
    assert names == {"income", "housing=own", "housing=rent", "housing=free"}
    assert found["data"]["features"] == 5
    assert found["data"]["encoded_columns"] == 7
    shown = run("fit", table, *FIT, "-k", "2").stdout
    assert "housing (3 categories)" in shown
    assert "  housing=own" in shown


def test_one_unit_of_the_budget_includes_it(run_json, table):
    found = run_json("fit", table, *FIT, "-k", "1", "--include", "housing")
    assert found["selected"] == ["housing"]
    assert len(found["features"]) == 3


def test_categories_may_be_split(run_json, table):
    found = run_json("fit", table, *FIT, "-k", "2", "--split-categories")
    assert len(found["selected"]) == len(found["features"]) == 2
    assert set(found["selected"]) == {"housing=own", "income"}
    assert found["data"]["features"] == 7


def test_costs_are_paid_once(run_json, table, folder):
    prices = write_csv(
        folder / "costs.csv",
        {"name": ["income", "age", "housing", "sex", "debt"], "cost": [5, 1, 2, 1, 1]},
    )
    found = run_json(
        "fit", table, *FIT, "-k", "all", "--costs", prices, "--max-cost", "3"
    )
    assert "housing" in found["selected"]
    assert "income" not in found["selected"]


def test_signs(run, run_json, table):
    free = run_json("fit", table, *FIT, "-k", "all")
    weights = {one["name"]: one["weight"] for one in free["features"]}
    assert weights["debt"] < 0 < weights["income"]
    found = run_json(
        "fit", table, *FIT, "-k", "all", "--signs", "debt=+,income=+",
        "--signs", "sex=m=-",
    )  # fmt: skip
    assert found["signs"] == {"debt": "+", "income": "+", "sex=m": "-"}
    weights = {one["name"]: one["weight"] for one in found["features"]}
    assert weights.get("debt", 0.0) >= 0
    assert weights.get("sex=m", 0.0) <= 0
    assert weights["income"] > 0
    assert found["proof"]["lower_bound"] > free["proof"]["lower_bound"]
    words = found["proof"]["words"]
    assert "signs debt +, income +, sex=m -" in words


@pytest.mark.parametrize(
    ("signs", "words"),
    [
        ("housing=+", "such as --signs 'housing=free=+'"),
        ("sex=-", "such as --signs 'sex=m=-'"),
        ("sex=f=+", "'sex=m' instead, the opposite one"),
        ("good=+", "'good' is the target"),
    ],
)
def test_signs_that_no_single_weight_has(run, table, signs, words):
    assert words in run("fit", table, *FIT, "--signs", signs, code=2).stderr


def test_folds_and_choices_count_columns(run_json, table):
    found = run_json(
        "fit", table, "-t", "good", "-k", "auto", "--C", "0.1", "--folds", "3",
        "--effort", "fast", "--signs", "income=+,housing=own=+",
    )  # fmt: skip
    assert found["max_features"] <= 5
    for one in found["features"]:
        if one["column"] == "housing":
            assert one["folds_selecting"] == 3


def test_proofs_know_groups_and_signs(run, table, folder):
    run("fit", table, *FIT, "-k", "2", "--signs", "age=-", "--certificate", "c.npz",
        "--model", "m.json")  # fmt: skip
    done = run("verify", "c.npz", table)
    assert "2 of 5 feature groups of 7 columns" in done.stdout
    assert "weight of column 1 not positive" in done.stdout
    model = PortableModel.load(folder / "m.json")
    assert [one.name for one in model.groups] == ["housing"]
    assert model.groups[0].features == ("housing=free", "housing=own", "housing=rent")
    assert model.signs == {}


def test_paths_and_alternatives_name_columns(run_json, table):
    found = run_json("path", table, "-t", "good", "--budgets", "1-9", "--folds", "3")
    assert [one["max_features"] for one in found["path"]] == [1, 2, 3, 4, 5]
    assert sorted(found["path"][1]["features"]) == ["housing", "income"]
    listed = run_json(
        "alternatives", table, "-t", "good", "-k", "2", "--tolerance", "30%",
        "--signs", "income=+",
    )  # fmt: skip
    assert sorted(listed["models"][0]["features"]) == ["housing", "income"]
    names = {name for one in listed["models"] for name in one["features"]}
    assert names <= {"income", "age", "housing", "sex", "debt"}


@pytest.mark.parametrize("zero", ["smallest", "mean"])
def test_weights_of_categories_in_another_form(run, table, folder, zero):
    plain = run("fit", table, *FIT, "-k", "3", "--model", "plain.json",
                "--report", "plain.html").stdout  # fmt: skip
    shown = run("fit", table, *FIT, "-k", "3", "--levels", zero, "--model", "m.json",
                "--report", "r.html").stdout  # fmt: skip
    weights, intercept = read(shown)
    first, first_intercept = read(plain)
    levels = {name: one for name, one in weights.items() if name.startswith("housing=")}
    assert levels.keys() == {
        "housing=own", "housing=rent", "housing=free", f"housing={OTHER}",
    }  # fmt: skip
    shift = {}
    for name in ("housing", "sex"):
        shift[name] = -weights.get(f"{name}={OTHER}", 0.0)
    for name, weight in levels.items():
        before = first.get(name, 0.0)
        assert weight == pytest.approx(before - shift["housing"], abs=1e-3)
    assert intercept == pytest.approx(first_intercept + sum(shift.values()), abs=1e-3)
    if zero == "smallest":
        known = [one for name, one in levels.items() if not name.endswith(OTHER)]
        assert min(known) == 0.0
    # The model and its proof are the same.
    one, other = (
        json.loads((folder / f).read_text()) for f in ("plain.json", "m.json")
    )
    assert one["features"] == other["features"]
    assert one["intercept"] == other["intercept"]
    page = (folder / "r.html").read_text()
    assert OTHER in page
    assert "one feature, with a weight for each of its values" in page


def read(shown):
    """Weights per unit and the intercept that a fit prints."""
    weights = {}
    lines = shown.splitlines()
    for line in lines[: next(k for k, s in enumerate(lines) if "intercept" in s)]:
        name, _, rest = line.strip().partition("  ")
        word = rest.split()[0] if rest.split() else ""
        if word[:1] in "+-" and word:
            weights[name] = float(word)
    intercept = next(one for one in lines if one.startswith("intercept"))
    return weights, float(intercept.split()[1])


def test_explanations_and_scorecards_have_one_block_for_a_column(run, table, folder):
    run("fit", table, *FIT, "-k", "2", "--model", "m.json")
    done = run("explain", "m.json", table, "--row", "1").stdout
    line = next(one for one in done.splitlines() if one.startswith("housing"))
    assert line.split()[1] in ("own", "rent", "free")
    assert "housing=" not in done
    model = PortableModel.load(folder / "m.json")
    parts = [float(one.split()[2]) for one in done.splitlines()[2:4]]
    score = float(done.splitlines()[0].split()[-1])
    assert sum(parts) + model.intercept == pytest.approx(score, abs=3e-4)
    odd = write_csv(folder / "odd.csv", {"income": [3.0], "housing": ["boat"]})
    assert "any other value" in run("explain", "m.json", odd).stdout
    card = run("scorecard", "m.json", table).stdout
    place = next(k for k, s in enumerate(card.splitlines()) if s.startswith("housing"))
    levels = [one.split()[-2:] for one in card.splitlines()[place : place + 4]]
    assert [one[0] for one in levels] == ["free", "own", "rent", "value"]
    assert min(int(one[1]) for one in levels[:3]) == 0


def test_reports_show_groups_and_signs(run, table, folder):
    run("fit", table, *FIT, "-k", "2", "--signs", "income=+", "--report", "r.html",
        "--levels", "smallest")  # fmt: skip
    page = " ".join((folder / "r.html").read_text().split())
    assert "from 2 of 5 features" in page
    assert "at most two features (signs of weights: income +)" in page
    assert "one feature, with a weight for each of its values" in page
    assert "categories are shown with the smallest of a column at zero" in page
    run("fit", table, *FIT, "-k", "2", "--report", "plain.html", "--split-categories")
    page = (folder / "plain.html").read_text()
    assert "Each value of a column of categories counts as a feature." in page
    assert "signs of weights" not in page


def test_of_many_categories_those_with_the_largest_weights_are_shown(run, folder):
    rng = np.random.default_rng(0)
    place = rng.integers(0, 30, 600)
    table = {
        "place": np.array([f"place {k}" for k in place]),
        "state": np.where(rng.random(600) < np.where(place < 9, 0.9, 0.2), "a", "b"),
    }
    path = write_csv(folder / "places.csv", table)
    shown = run("fit", path, "-t", "state", "--folds", "0").stdout
    assert shown.count("place (30 categories)") == 1
    assert shown.count("place=place ") == 15
    assert "and 15 with smaller weights" in shown
