"""Rare categories are one category, and unseen ones belong to it."""

import csv
import io
import sqlite3

import numpy as np
import pytest

from frugalsvm.tables import Preparation, make_plan
from tests.cli.conftest import columns, write_csv
from tests.tables.tables import made

FAST = ("--effort", "fast", "--folds", "0")
CITIES = ["Rome", "Oslo", "Bern", "Riga", "Lima", "Nuuk"]
N = 200


def table():
    rng = np.random.default_rng(3)
    city = rng.choice(CITIES[:2], N).astype(object)
    city[::20] = rng.permutation(np.repeat(CITIES[2:], [3, 3, 2, 2]))
    rare = np.isin(city, CITIES[2:])
    sick = (city == "Oslo") ^ (rng.random(N) < 0.1) | rare
    city[7] = ""
    return columns(N) | {"city": city, "state": np.where(sick, "sick", "well")}


@pytest.fixture
def data(folder):
    return write_csv(folder / "data.csv", table())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--signs", "city=Bern=+"], "merged with others into (other); --min-level 1"),
        (["--signs", "city=Bonn=+"], "'city' has no category 'Bonn'"),
        (["--signs", "city=+"], "give it for each that needs one"),
        (["--include", "state"], "'state' is the target"),
        (["--exclude", "state"], "'state' is the target"),
        (["--exclude", "age", "--include", "age"], "excluded by --exclude"),
        (["--encoding", "utf-99"], "unknown encoding 'utf-99'"),
        (["--sheet", "x"], "not an Excel file"),
    ],
)
def test_requests_that_a_table_cannot_meet_are_wrong_usage(data, run, options, words):
    assert words in run("fit", data, "-t", "state", *FAST, *options, code=2).stderr


def test_the_rule(data, run, run_json):
    fit = ("fit", data, "-t", "state", "-k", "1", *FAST)
    found = run_json(*fit)
    assert found["data"]["categorical"]["city"] == [
        "Oslo", "Rome", "(other)", "(missing)",
    ]  # fmt: skip
    said = run(*fit).stderr
    assert (
        "(other) in city: 4 categories in fewer than 5 rows each ('Bern', 'Lima', "
        "'Nuuk', 'Riga'); --min-level 1 keeps them"
    ) in said
    found = run_json(*fit, "--min-level", "1")
    assert found["data"]["categorical"]["city"] == [*sorted(CITIES), "(missing)"]


def test_a_single_rare_category_stays(data):
    cells = ["a"] * 6 + ["b"] * 6 + ["c"]
    read = made(x=cells, n=[1.5] * 6 + [2.5] * 7, y=[0, 1] * 6 + [0])
    plan = make_plan(read, "y")
    (column, _) = Preparation.fit(read, plan, (0, 1), min_level=5).columns
    assert column.levels == ("a", "b", "c")
    (column, _) = Preparation.fit(read, plan, (0, 1), min_level=7).columns
    # Even if it is all there is.
    assert column.levels == ("(other)",)


def test_unseen_ones_and_exports(data, run, folder):
    run(
        "fit", data, "-t", "state", "-k", "2", "--include", "city", "--include",
        "smoker", "--model", "m.json", "--certificate", "p.npz", *FAST,
    )  # fmt: skip
    run("verify", "p.npz", data)
    cells = [*CITIES, "Cork", "(other)", "(missing)", "", "NA", " Oslo "]
    rows = {"city": cells, "smoker": ["yes", "no"] * 6}
    done = run("predict", "m.json", write_csv(folder / "new.csv", rows))
    assert "unknown to the model" not in done.stderr
    expected = [float(r["score"]) for r in csv.DictReader(io.StringIO(done.stdout))]
    # Of the smokers: Lima, unseen.
    assert expected[4] == expected[6] != expected[0]
    space: dict = {}
    exec(run("export", "m.json", "--to", "python").stdout, space)
    pairs = list(zip(cells, rows["smoker"], strict=True))
    found = [space["decision"]({"city": c, "smoker": s}) for c, s in pairs]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    base = sqlite3.connect(":memory:")
    base.execute("create table t (city text, smoker text)")
    base.executemany("insert into t values (?, ?)", pairs)
    query = run("export", "m.json", "--to", "sql").stdout
    found = [one for (one,) in base.execute(f"select {query} from t")]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_codes_with_gaps_are_compared_as_numbers_in_a_data_base(run, folder):
    """The part for gaps, too, has to cast a column of numbers."""
    rng = np.random.default_rng(0)
    code = rng.choice(["1", "2", "3", ""], N)
    state = np.where((code == "3") ^ (rng.random(N) < 0.1), "sick", "well")
    path = write_csv(folder / "data.csv", {"code": code, "state": state})
    run("fit", path, "-t", "state", "--categorical", "code", "--model", "m.json", *FAST)
    query = run("export", "m.json", "--to", "sql").stdout
    assert query.count("CAST") == query.count("RTRIM(CAST") > 4
    base = sqlite3.connect(":memory:")
    base.execute("create table t (code real)")
    base.executemany("insert into t values (?)", [(1,), (2.0,), (3,), (None,)])
    found = [one for (one,) in base.execute(f"select {query} from t")]
    rows = write_csv(folder / "new.csv", {"code": ["1", "2.0", "3", ""], "z": [0] * 4})
    done = run("predict", "m.json", rows)
    expected = [float(r["score"]) for r in csv.DictReader(io.StringIO(done.stdout))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_other_forms_of_weights_have_no_further_value(data, run):
    fit = ("fit", data, "-t", "state", "-k", "1", "--include", "city", *FAST)
    shown = run(*fit, "--levels", "smallest").stdout
    assert "city (4 categories)" in shown
    assert "any other value" not in shown
