"""Thresholds: given, or learned from what errors cost."""

import csv
import io
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from frugalsvm import PortableModel
from tests.cli.conftest import columns, write_csv

FIT = ("-t", "state", "-k", "2", "--effort", "fast", "--positive", "sick")


def predictions(run, *options):
    text = run("predict", "m.json", "data.csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    return [r["prediction"] for r in rows], np.array([float(r["score"]) for r in rows])


@pytest.mark.parametrize(
    "options",
    [["--threshold=0.7"], ["--calibrate", "--threshold=0.8"], ["--calibrate"]],
)
def test_a_threshold_is_used_everywhere(run, run_json, data, folder, options):
    found = run_json("fit", data, *FIT, *options, "--model", "m.json")
    limit = found["threshold"]["score"] if found["threshold"] else 0.0
    model = PortableModel.load("m.json")
    assert model.threshold == limit
    labels, scores = predictions(run)
    assert labels == ["sick" if one > limit else "well" for one in scores]
    assert 0 < (scores > limit).sum() < scores.size
    if "--threshold=0.8" in options:
        chance = model.calibration.probability(np.array([limit]))
        assert chance == pytest.approx(0.8)
    else:
        assert limit == (0.7 if "--threshold=0.7" in options else 0.0)
    card = run_json("scorecard", "m.json", data, "--bins", "20")
    assert card["evaluation"]["changed"] < 8
    space: dict = {}
    exec(run("export", "m.json", "--to", "python").stdout, space)
    table = columns()
    rows = [
        {name: table[name][k] for name in ("age", "dose", "noise", "smoker", "colour")}
        for k in range(80)
    ]
    assert [space["predict"](row) for row in rows] == labels
    base = sqlite3.connect(":memory:")
    base.execute("create table t (age real, dose real, noise real, smoker, colour)")
    base.executemany(
        "insert into t values (?, ?, ?, ?, ?)",
        [
            [str(v) if isinstance(v, str) else float(v) for v in r.values()]
            for r in rows
        ],
    )
    query = run("export", "m.json", "--to", "sql", "--what", "label").stdout
    assert [one for (one,) in base.execute(f"select {query} from t")] == labels
    runtime = pytest.importorskip("onnxruntime")
    run("export", "m.json", "--to", "onnx", "-o", "m.onnx")
    values = {"smoker=yes": table["smoker"] == "yes"} | table
    X = np.column_stack([np.asarray(values[name], float) for name in model.names])
    session = runtime.InferenceSession("m.onnx")
    assert session.run(["label"], {"X": X})[0].tolist() == labels
    assert PortableModel.from_json(model.to_json()) == model
    with pytest.raises(ValueError, match="predicts by a score above"):
        model.to_pipeline()
    replace(model, threshold=None).to_pipeline()


def test_costs_of_errors_move_the_threshold(run, run_json, data):
    limits, errors, usual = [], [], run_json("fit", data, *FIT)
    for costs in ("fp=1,fn=20", "fn=1,fp=1", "fp=20, fn=1"):
        found = run_json("fit", data, *FIT, "--error-costs", costs)
        limits.append(found["threshold"]["score"])
        errors.append(found["threshold"]["errors_per_100"])
    assert limits == sorted(limits)
    assert limits[0] < 0 < limits[2]
    assert errors[0]["fn"] <= errors[2]["fn"]
    assert errors[0]["fp"] >= errors[2]["fp"]
    assert found["cross_validation"]["AUC"] == usual["cross_validation"]["AUC"]
    counted = np.array(found["cross_validation"]["confusion"]) / 80 * 100
    assert counted[1][0] == pytest.approx(errors[2]["fn"])
    assert counted[0][1] == pytest.approx(errors[2]["fp"])
    done = run("fit", data, *FIT, "--error-costs", "fp=1,fn=20", "--report", "out.html")
    page = Path("out.html").read_text(encoding="utf-8")
    assert "is predicted to be “sick”" in page
    assert "a score above -" in done.stdout
    head = done.stdout[: done.stdout.index("weight per unit")]
    assert "If a missed 'sick' row costs 20 and a false alarm 1, the errors" in head
    assert "threshold of zero" in head
    content = run_json("fit", data, *FIT, "--error-costs", "fp=1,fn=20")["threshold"]
    assert content["error_costs"] == {"fp": 1.0, "fn": 20.0}
    errors = content["errors_per_100"]
    assert content["cost_per_100"] == pytest.approx(errors["fp"] + 20 * errors["fn"])


def test_a_threshold_beyond_all_scores_makes_a_constant_model(run, data):
    done = run("fit", data, *FIT, "--threshold", "1000", "--folds", "0", code=3)
    assert "constant model" in done.stdout.lower()
    assert "give another --threshold, or leave it out" in done.stdout
    assert "--C" not in done.stdout


def test_costs_that_make_a_constant_model_are_named(run, run_json, folder):
    rng = np.random.default_rng(0)
    sick = np.arange(200) % 20 == 0
    table = {"a": (rng.normal(size=200) + 0.8 * sick).round(4)}
    table |= {"state": np.where(sick, "sick", "well")}
    data = write_csv(folder / "rare.csv", table)
    costs = ("--error-costs", "fp=50,fn=1")
    found = run_json("fit", data, *FIT, *costs, "--model", "m.json", code=3)
    words = found["constant"]["words"]
    assert found["constant"]["class"] == "well"
    assert "--error-costs fp=50,fn=1, calling every row 'well' is the" in words
    assert "leave --error-costs out" in words
    assert "larger C" not in words
    # The card does as the model does, and says so first.
    done = run("scorecard", "m.json", data, code=3)
    first = next(line for line in done.stdout.split("\n") if line.strip())
    assert first.startswith("Constant card, of no use: it predicts well for all 200")
    assert "So does the model." in done.stdout
    assert "any total: well" in done.stdout
    done = run("scorecard", "m.json", data, "--json", code=3)
    assert "Constant card" in done.stderr


def test_without_a_threshold_there_is_none(run_json, data):
    found = run_json("fit", data, *FIT, "--model", "m.json")
    assert found["threshold"] is None
    assert PortableModel.load("m.json").threshold is None


def test_scores_that_say_nothing_have_no_threshold_by_costs(run, folder):
    table = columns()
    only = {"noise": table["noise"], "state": np.sort(table["state"])}
    rng = np.random.default_rng(0)
    done = None
    for _ in range(5):
        only["noise"] = rng.permutation(table["noise"])
        path = write_csv(folder / "noise.csv", only)
        done = run("fit", path, *FIT, "--error-costs", "fp=1,fn=1", "--allow-constant")
        if "no threshold" in done.stderr:
            return
    raise AssertionError("the scores of noise are never useless")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--threshold", "1", "--error-costs", "fp=1,fn=1"), "not both"),
        (("--threshold", "nan"), "--threshold must be a number"),
        (("--threshold", "2", "--calibrate"), "between 0 and 1"),
        (("--error-costs", "fp=1"), "two positive numbers"),
        (("--error-costs", "fp=1,fn=-1"), "two positive numbers"),
        (("--error-costs", "fp=1,fn=2,tp=3"), "two positive numbers"),
        (("--error-costs", "fp=1,fn=5", "--folds", "0"), "remove --folds 0"),
        (("--error-costs", "fp=1,fn=1.1e12"), "fn may be at most 1e+12 times fp"),
        (("--error-costs", "fp=1e300,fn=1e-300"), "fp may be at most 1e+12 times fn"),
    ],
)
def test_wrong_options(run, data, options, words):
    assert words in run("fit", data, *FIT, *options, code=2).stderr


def test_pipelines_predict_as_the_model_or_not_at_all(run, data):
    run("fit", data, *FIT, "--threshold", "0", "--model", "m.json")
    assert PortableModel.load("m.json").to_pipeline() is not None
    run("fit", data, *FIT, "--calibrate", "--model", "m.json")
    with pytest.raises(ValueError, match="only by a probability above one half"):
        PortableModel.load("m.json").to_pipeline()
