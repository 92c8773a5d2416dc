"""Variables whose 0/1 columns are in the file already count as one feature."""

import csv
import json
import re
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import write_csv

TABLE = Path(__file__).parents[2] / "examples" / "tables" / "loans_coded.csv"
FIT = ("-t", "outcome", "--folds", "0", "--effort", "fast")
PURPOSES = [f"purpose_{one}" for one in ("car", "repairs", "training", "tv")]


def rows_of(path=TABLE):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def written(path, rows):
    return write_csv(path, {name: [row[name] for row in rows] for name in rows[0]})


def with_texts(rows):
    """The same table with a column of text for each variable."""
    made = []
    for row in rows:
        plain = {name: row[name] for name in ("months", "amount")}
        for variable in ("purpose", "housing"):
            flags = [name for name in row if name.startswith(f"{variable}_")]
            (high,) = (name for name in flags if row[name] == "1")
            plain[variable] = high.removeprefix(f"{variable}_")
        made.append(plain | {"outcome": row["outcome"]})
    return made


@pytest.fixture
def costs(folder):
    """Writes costs of the columns, and returns the file's name."""

    def write(**given):
        rows = {"months": 2, "amount": 2} | given
        columns = {"name": [*rows], "cost": [*rows.values()]}
        return write_csv(folder / "costs.csv", columns)

    return write


def test_the_model_is_that_of_the_columns_of_text(run_json, folder):
    texts = written(folder / "texts.csv", with_texts(rows_of()))
    for budget in ("1", "3"):
        found = run_json("fit", TABLE, *FIT, "-k", budget)
        expected = run_json("fit", texts, *FIT, "-k", budget)
        assert len(found["selected"]) <= int(budget)
        assert found["selected"] == expected["selected"]
        for name in ("objective", "lower_bound"):
            assert found["proof"][name] == pytest.approx(
                expected["proof"][name], rel=1e-4
            )
    assert found["selected"] == ["months", "amount", "purpose"]
    assert found["data"]["features"] == 4
    assert found["data"]["encoded_columns"] == 9
    assert found["data"]["coded"]["purpose"] == PURPOSES


def test_what_is_said_and_shown(run):
    done = run("fit", TABLE, *FIT, "-k", "2", "--include", "purpose_tv")
    assert (
        "4 columns of 0 and 1 are categories of purpose and count as one feature; "
        "--split-categories counts each" in done.stderr
    )
    assert "4 features, 9 columns with one for each category" in done.stderr
    lines = done.stdout.splitlines()
    place = next(k for k, one in enumerate(lines) if one.startswith("purpose"))
    assert lines[place].strip() == "purpose (4 categories)"
    assert [one.split()[0] for one in lines[place + 1 : place + 5]] == PURPOSES


def test_split_categories_counts_each(run, run_json):
    done = run("fit", TABLE, *FIT, "-k", "3", "--split-categories")
    assert "columns of 0 and 1" not in done.stderr
    assert "9 features, each standardised" in done.stderr
    found = run_json("fit", TABLE, *FIT, "-k", "3", "--split-categories")
    assert len(found["selected"]) == len(found["features"]) == 3
    for one in found["features"]:
        if one["name"] in PURPOSES:
            p = one["mean"]
            assert one["scale"] == pytest.approx(np.sqrt(p * (1 - p)))


@pytest.mark.parametrize("name", ["purpose", "purpose_repairs"])
def test_including_a_column_includes_its_variable(run, run_json, name):
    found = run_json("fit", TABLE, *FIT, "-k", "1", "--include", name)
    assert found["selected"] == ["purpose"]
    assert [one["name"] for one in found["features"]] == PURPOSES
    assert f"including {name}" in found["proof"]["words"]
    both = run_json("fit", TABLE, *FIT, "-k", "1", "--include", name, "--include",
                    "purpose_tv")  # fmt: skip
    assert both["selected"] == ["purpose"]
    done = run("fit", TABLE, *FIT, "--include", "purpos", code=2)
    assert "purpos" in done.stderr


def test_a_variable_is_paid_for_once(run, run_json, costs):
    prices = dict.fromkeys(PURPOSES, 3) | {"housing": 1}
    limit = ("-k", "all", "--max-cost", "5")
    found = run_json("fit", TABLE, *FIT, *limit, "--costs", costs(**prices))
    assert {"months", "purpose"} <= {*found["selected"]}
    for given in (prices | {"purpose_tv": 4}, prices | {"purpose": 4}):
        done = run("fit", TABLE, *FIT, *limit, "--costs", costs(**given), code=1)
        assert "columns of 'purpose' count as one feature" in done.stderr
        assert "purpose_car 3" in done.stderr
    apart = dict.fromkeys([f"housing_{one}" for one in ("free", "own", "rent")], 1)
    split = costs(**dict.fromkeys(PURPOSES, 3), **apart)
    run("fit", TABLE, *FIT, *limit, "--costs", split, "--split-categories")
    del prices["housing"]
    done = run("fit", TABLE, *FIT, *limit, "--costs", costs(**prices), code=1)
    assert "no cost for" in done.stderr
    assert "housing_own" in done.stderr


def test_signs_are_those_of_columns(run, run_json):
    found = run_json("fit", TABLE, *FIT, "-k", "3", "--signs", "purpose_tv=-")
    weights = {one["name"]: one["weight"] for one in found["features"]}
    assert weights.get("purpose_tv", 0.0) <= 0.0
    done = run("fit", TABLE, *FIT, "--signs", "purpose=+", code=2)
    assert "such as --signs 'purpose_car=+'" in done.stderr


def test_all_commands_agree(run, run_json, folder):
    run("fit", TABLE, *FIT, "-k", "3", "--model", "m.json", "--certificate", "c.npz",
        "--report", "r.html")  # fmt: skip
    proved = run("verify", "c.npz", TABLE)
    assert "3 of 4 feature groups of 9 columns" in proved.stdout
    shown = re.findall(r"^(purpose_\w+) .* purpose +selected", proved.stdout, re.M)
    assert shown == PURPOSES
    content = run_json("verify", "c.npz", TABLE)
    assert PURPOSES in content["feature_groups"]
    model = json.loads((folder / "m.json").read_text())
    assert model["groups"] == [{"name": "purpose", "features": PURPOSES}]
    rows = run_json("predict", "m.json", TABLE)["rows"]
    scores = np.array([one["score"] for one in rows])
    python = {}
    exec(run("export", "m.json", "--to", "python").stdout, python)
    numbers = [
        {name: float(one) for name, one in row.items() if name != "outcome"}
        for row in rows_of()
    ]
    np.testing.assert_allclose([python["decision"](one) for one in numbers], scores)
    assert scores == pytest.approx(in_sqlite(run, numbers), abs=1e-9)
    told = run("explain", "m.json", TABLE, "--row", "1").stdout
    line = next(one for one in told.splitlines() if one.startswith("purpose"))
    assert line.split()[1] == with_texts(rows_of())[0]["purpose"]
    card = run("scorecard", "m.json", TABLE).stdout.splitlines()
    place = next(k for k, one in enumerate(card) if one.startswith("purpose"))
    assert [one.split()[-2] for one in card[place : place + 4]] == [
        one.removeprefix("purpose_") for one in PURPOSES
    ]
    page = " ".join((folder / "r.html").read_text().split())
    assert "one feature, with a weight for each of its values" in page
    assert "purpose = training" in page


def in_sqlite(run, rows):
    formula = run("export", "m.json", "--to", "sql").stdout.strip()
    with sqlite3.connect(":memory:") as base:
        names = [*rows[0]]
        base.execute(f"CREATE TABLE t ({', '.join(names)})")
        places = ", ".join("?" * len(names))
        values = [tuple(row.values()) for row in rows]
        base.executemany(f"INSERT INTO t VALUES ({places})", values)
        return [score for (score,) in base.execute(f"SELECT {formula} FROM t")]


def test_weights_in_another_form_give_the_same_scores(run, run_json):
    found = run_json("fit", TABLE, *FIT, "-k", "3")
    weights = {one["name"]: one["weight"] for one in found["features"]}
    lines = run("fit", TABLE, *FIT, "-k", "3", "--levels", "smallest").stdout
    shown = dict(re.findall(r"^  purpose=(\w[\w ]*?)  +([+-]\S+)", lines, re.M))
    least = min(weights[one] for one in PURPOSES)
    assert len(shown) == 5
    assert float(shown["any other value"]) == pytest.approx(-least, rel=1e-3)
    for one in PURPOSES:
        level = float(shown[one.removeprefix("purpose_")])
        assert level == pytest.approx(weights[one] - least, rel=1e-3, abs=1e-9)
    intercept = float(re.search(r"^intercept (\S+)", lines, re.M)[1])
    assert intercept == pytest.approx(found["intercept"] + least, rel=1e-3)


def test_other_data_are_not_what_was_proved(run, folder):
    run("fit", TABLE, *FIT, "-k", "2", "--certificate", "c.npz")
    rows = rows_of()
    for value in ("1", "2"):
        changed = [dict(row) for row in rows]
        low = next(one for one in PURPOSES if changed[0][one] == "0")
        changed[0][low] = value
        done = run("verify", "c.npz", written(folder / "other.csv", changed), code=1)
        assert "the columns of 'purpose' are no categories" in done.stderr


def test_folds_and_paths_count_variables(run_json):
    found = run_json("fit", TABLE, "-t", "outcome", "-k", "2", "--folds", "3",
                     "--effort", "fast")  # fmt: skip
    times = {one["name"]: one["folds_selecting"] for one in found["features"]}
    assert len({times[one] for one in PURPOSES}) == 1
    path = run_json("path", TABLE, "-t", "outcome", "--budgets", "1-9", "--folds", "0")
    assert [one["max_features"] for one in path["path"]] == [1, 2, 3, 4]
    listed = run_json("alternatives", TABLE, "-t", "outcome", "-k", "2")
    names = {name for one in listed["models"] for name in one["features"]}
    assert names <= {"months", "amount", "purpose", "housing"}


# --- finding them --------------------------------------------------------------------


def test_a_name_that_another_column_has_is_no_variable(run, folder):
    rows = [
        {"purpose": k % 7, **row}
        for k, row in enumerate(rows_of())
    ]  # fmt: skip
    table = written(folder / "shared.csv", rows)
    done = run("fit", table, *FIT, "-k", "2")
    words = "that may be categories of 'purpose' count one by one, since another column"
    assert words in done.stderr
    # Months, amount, the number and four columns of the purpose, and housing.
    assert "8 features, 10 columns" in done.stderr


def test_columns_of_a_variable_may_be_apart(run, run_json, folder):
    names = [*rows_of()[0]]
    mixed = sorted(names, key=lambda name: name[::-1])
    rows = [{name: row[name] for name in mixed} for row in rows_of()]
    table = written(folder / "mixed.csv", rows)
    assert mixed.index("purpose_car") + 1 < mixed.index("purpose_repairs")
    run("fit", table, *FIT, "-k", "2", "--certificate", "c.npz", "--model", "m.json")
    assert "is a valid proof" in run("verify", "c.npz", table).stdout
    one = run_json("fit", table, *FIT, "-k", "2")
    assert {*one["selected"]} == {"months", "purpose"}
