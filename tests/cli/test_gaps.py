"""Missing values: what a fit makes of them, and what a model does with new ones."""

import csv
import io
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from frugalsvm import PortableModel
from tests.cli.conftest import columns, write_csv

N = 400
FAST = ("--effort", "fast", "--folds", "0")


def speaking(n=N):
    """A table in which it matters most that income, and the job, are missing."""
    rng = np.random.default_rng(1)
    table = columns(n)
    gap = rng.random(n) < 0.25
    late = gap ^ (rng.random(n) < 0.05)
    income = rng.normal(40, 9, n).round(1).astype(object)
    job = rng.choice(["office", "shop"], n).astype(object)
    income[gap], job[rng.random(n) < 0.1] = "", ""
    dose = table["dose"].astype(object)
    dose[7] = ""
    return {
        "income": income, "job": job, "dose": dose, "age": table["age"],
        "late": np.where(late, "late", "paid"),
    }  # fmt: skip


@pytest.fixture
def holes(folder):
    return write_csv(folder / "holes.csv", speaking())


def test_gaps_that_speak_are_learned_from_and_announced(run, run_json, holes):
    found = run_json("fit", holes, "-t", "late", "-k", "1", "--effort", "fast")
    assert found["selected"] == ["income"]
    assert [one["indicator"] for one in found["features"]] == [False, True]
    assert found["cross_validation"]["AUC"]["mean"] > 0.85
    other = run_json(
        "fit", holes, "-t", "late", "-k", "1", "--missing", "median", "--effort", "fast"
    )
    assert other["cross_validation"]["AUC"]["mean"] < 0.7
    table = speaking()
    n_income, n_job = ((table[name] == "").sum() for name in ("income", "job"))
    done = run("fit", holes, "-t", "late", "-k", "1", *FAST)
    assert (
        "missing values as the median, with an indicator in the same feature: "
        f"income ({n_income})"
    ) in done.stderr
    assert f"missing values as a category of their own: job ({n_job})" in done.stderr
    # Less than one per cent.
    assert "missing values as the median: dose (1)" in done.stderr
    assert "  income missing" in done.stdout


def test_the_sign_of_a_number_leaves_its_indicator_free(run_json, holes):
    for sign in "+-":
        found = run_json(
            "fit", holes, "-t", "late", "-k", "1", "--include", "income", "--positive",
            "late", "--signs", f"income={sign}", *FAST,
        )  # fmt: skip
        weights = {one["name"]: one["weight"] for one in found["features"]}
        assert float(f"{sign}1") * weights["income"] >= 0
        assert weights["income missing"] > 0


def test_each_category_counts_but_an_indicator_never_does(run_json, holes):
    found = run_json(
        "fit", holes, "-t", "late", "-k", "1", "--split-categories", "--include",
        "income", *FAST,
    )  # fmt: skip
    assert [one["name"] for one in found["features"]] == ["income", "income missing"]


def test_choosing_and_reports_take_indicators(run, holes):
    run(
        "fit", holes, "-t", "late", "-k", "auto", "--effort", "fast", "--folds", "3",
        "--report", "out.html", "--calibrate", "--certificate", "proof.npz",
    )  # fmt: skip
    page = Path("out.html").read_text(encoding="utf-8")
    assert "income missing" in page
    assert "one feature: a number, and a weight for being missing" in page
    assert "a weight for each of its values" not in page
    assert "a missing value points to “" in page
    assert " if it is missing" in page
    shown = run("verify", "proof.npz", holes).stdout
    assert "missing values were imputed by: income: " in shown
    assert "job: (missing)" in shown


@pytest.fixture
def model(run, holes):
    run(
        "fit", holes, "-t", "late", "-k", "3", "--include", "income", "--include",
        "job", "--include", "age", "--model", "model.json", *FAST,
    )  # fmt: skip
    return "model.json"


ROWS = list(
    itertools.product([math.nan, 30.5, 1e150], ["", "office", "?", "new"], [30, 70])
)


def test_exports_say_the_same_of_gaps(run, model, folder):
    given = {"income": [], "job": [], "age": []}
    for row in ROWS:
        for name, cell in zip(given, row, strict=True):
            given[name].append("" if cell != cell else cell)
    path = write_csv(folder / "rows.csv", given)
    rows = csv.DictReader(io.StringIO(run("predict", model, path).stdout))
    expected = [float(one["score"]) for one in rows]
    space: dict = {}
    exec(run("export", model, "--to", "python").stdout, space)
    found = [space["decision"](dict(zip(given, row, strict=True))) for row in ROWS]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    known = PortableModel.load(model)
    jobs = ["(missing)", "office", "shop"]
    values = {
        "income": [row[0] for row in ROWS],
        "age": [row[2] for row in ROWS],
        **{
            f"job={one}": [
                math.nan if row[1] in ("", "?") else float(row[1] == one)
                for row in ROWS
            ]
            for one in jobs
        },
    }
    np.testing.assert_allclose(known.decision_function(values), expected, rtol=1e-12)
    runtime = pytest.importorskip("onnxruntime")
    run("export", model, "--to", "onnx", "-o", "model.onnx")
    values["income missing"] = [math.nan] * len(ROWS)
    X = np.column_stack([values[name] for name in known.names])
    (score,) = runtime.InferenceSession("model.onnx").run(["score"], {"X": X})
    np.testing.assert_allclose(score, expected, rtol=1e-12)


def test_new_gaps_are_counted_and_listed(run, run_json, model, folder):
    table = speaking()
    table["age"] = table["age"].astype(object)
    table["age"][[2, 9]] = ""
    path = write_csv(folder / "new.csv", table)
    done = run("predict", model, path)
    middle = np.median(speaking()["age"])
    assert (
        "'age' has no value in 2 rows (rows 3, 10), but had one in all rows of the "
        f"fit; the median is taken, {middle:g}"
    ) in done.stderr
    assert "'income'" not in done.stderr
    assert run_json("predict", model, path)["filled"] == {"age": [3, 10]}
    assert "warning" not in run("predict", model, "holes.csv", "--strict").stderr
    done = run("predict", model, path, "--strict", code=1)
    assert "row 3 of new.csv has no value in column 'age'" in done.stderr
    table = speaking() | {"job": ["office", "pilot"] * (N // 2)}
    path = write_csv(folder / "new.csv", table)
    done = run("predict", model, path, "--strict", code=1)
    assert "row 2 of new.csv has a value in column 'job'" in done.stderr
    assert "'pilot'" in done.stderr


@pytest.mark.parametrize("command", ["path", "alternatives", "explain", "scorecard"])
def test_other_commands_take_indicators(run_json, run, model, holes, command):
    if command in ("explain", "scorecard"):
        shown = run(command, model, holes).stdout
    else:
        shown = run(command, holes, "-t", "late", "--include", "income").stdout
    assert "income" in shown


def test_gaps_may_be_refused(run, holes):
    done = run("fit", holes, "-t", "late", "--missing", "refuse", code=1)
    assert "missing values in 3 columns of holes.csv: income (" in done.stderr
    done = run("fit", holes, "-t", "late", "--missing", "mean", code=2)
    assert "--missing must be indicator, median or refuse" in done.stderr


def test_rows_without_a_label_are_refused_or_dropped(run, run_json, folder):
    table = columns()
    table["state"][[3, 50]] = ""
    path = write_csv(folder / "some.csv", table)
    kept = np.flatnonzero(table["state"] != "")
    rest = {name: np.asarray(one)[kept] for name, one in table.items()}
    whole = write_csv(folder / "rest.csv", rest)
    done = run("fit", path, "-t", "state", code=1)
    assert "is missing in 2 rows of some.csv; --unlabelled drop leaves" in done.stderr
    options = ("-t", "state", "-k", "2", "--certificate", "proof.npz", *FAST)
    found = run_json("fit", path, "--unlabelled", "drop", *options)
    assert found["data"]["remarks"] == ["2 rows without a target left out"]
    assert found["features"] == run_json("fit", whole, *options)["features"]
    run("fit", path, "--unlabelled", "drop", *options)
    run("verify", "proof.npz", path)
    run("fit", path, "--unlabelled", "drop", *options[:4], *FAST, "--model", "m.json")
    done = run("scorecard", "m.json", path)
    assert "some.csv: 2 rows without a target left out" in done.stderr
    for command in ("path", "alternatives"):
        done = run(command, path, "-t", "state", "--unlabelled", "keep", code=2)
        assert "--unlabelled must be refuse or drop" in done.stderr
