"""Models of more than two classes, made in Python, on the command line."""

import csv
import io
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC, PortableModel
from frugalsvm.export import Feature

CLASSES = ["it's", "prediction", "日本"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model and rows, the pipeline and its table."""
    folder = tmp_path_factory.mktemp("classes")
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["age", "dose", "x", "row"])
    y = np.array(CLASSES)[np.digitize(X["age"] + X["dose"] / 2, [-0.5, 0.5])]
    pipeline = make_pipeline(StandardScaler(), FrugalSVC(2, random_state=0)).fit(X, y)
    PortableModel.from_estimator(pipeline).save(folder / "model.json")
    X.to_csv(folder / "rows.csv", index=False)
    X.assign(state=y).to_csv(folder / "data.csv", index=False)
    return folder, pipeline, X


def test_predictions_have_a_score_for_each_class(run, run_json, made):
    folder, pipeline, X = made
    text = run("predict", folder / "model.json", folder / "rows.csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    scores = [f"score_{one}" for one in CLASSES]
    assert list(rows[0]) == ["row", "prediction", *scores]
    assert [one["prediction"] for one in rows] == pipeline.predict(X).tolist()
    found = np.array([[float(one[name]) for name in scores] for one in rows])
    np.testing.assert_allclose(found, pipeline.decision_function(X), atol=1e-9)
    again = run_json("predict", folder / "model.json", folder / "rows.csv")["rows"]
    assert [again[3][name] for name in scores] == found[3].tolist()


def test_contributions_of_each_class_add_up(run, run_json, made):
    folder, pipeline, X = made
    given = (folder / "model.json", folder / "rows.csv")
    content = run_json("explain", *given, "--row", "5")
    (row,) = content["rows"]
    expected = pipeline.decision_function(X)[4]
    for one, score in zip(CLASSES, expected, strict=True):
        total = sum(row[f"contributions_{one}"].values()) + content[f"intercept_{one}"]
        np.testing.assert_allclose([total, row[f"score_{one}"]], score, atol=1e-9)
    text = run("explain", *given, "-o", "-").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    used = [name for name in rows[0] if name.startswith(("age_", "dose_", "x_"))]
    assert len(used) == 6
    first = [float(v) for k, v in rows[4].items() if k.endswith("_it's")]
    np.testing.assert_allclose(first[0], sum(first[1:]), atol=1e-9)


def test_the_predicted_class_comes_first_in_an_explanation(run, made):
    folder, pipeline, X = made
    done = run("explain", folder / "model.json", folder / "rows.csv", "--row", "5")
    scores = pipeline.decision_function(X)[4]
    order = [CLASSES[k] for k in np.argsort(-scores)]
    title, heads, *lines = done.stdout.splitlines()
    assert title.startswith(f"row 5: {order[0]}, score {scores.max():+.4f}")
    assert heads.split() == ["feature", "value", *order]
    (last,) = [one for one in lines if one.startswith("score")]
    assert last.split()[1:] == [f"{one:+.4f}" for one in sorted(scores, reverse=True)]


def test_names_of_contributions_are_different(run, folder):
    features = (
        Feature("a", 0, 0.0, 1.0, (1.0, 2.0, 3.0)),
        Feature("a_b", 1, 0.0, 1.0, (10.0, 20.0, 30.0)),
    )
    model = PortableModel(features, (0.0, 0.0, 0.0), ("b_c", "c", "d"), 2)
    model.save("model.json")
    pd.DataFrame({"a": [1.0], "a_b": [1.0]}).to_csv("rows.csv", index=False)
    header, row = run(
        "explain", "model.json", "rows.csv", "-o", "-"
    ).stdout.splitlines()
    names, values = header.split(",")[-6:], row.split(",")[-6:]
    assert names == ["a_b_c", "a_c", "a_d", "a_b_b_c", "a_b_c (2)", "a_b_d"]
    assert [float(one) for one in values] == [1, 2, 3, 10, 20, 30]


def test_exports(run, made):
    folder, pipeline, X = made
    model = folder / "model.json"
    sql = [run("export", model, "--to", "sql", *more).stdout for more in ([], WHAT)]
    connection = sqlite3.connect(":memory:")
    X.to_sql("t", connection, index=False)
    found = connection.execute(f"SELECT {', '.join(sql)} FROM t ORDER BY rowid")
    rows = found.fetchall()
    assert [one[-1] for one in rows] == pipeline.predict(X).tolist()
    np.testing.assert_allclose(
        [one[:3] for one in rows], pipeline.decision_function(X), atol=1e-9
    )
    space = {}
    exec(run("export", model, "--to", "python").stdout, space)
    labels = [space["predict"](row) for row in X.to_dict("records")]
    assert labels == pipeline.predict(X).tolist()


WHAT = ["--what", "label"]


def test_what_is_for_two_classes_is_refused(run, made):
    folder, *_ = made
    model = folder / "model.json"
    done = run("scorecard", model, folder / "data.csv", "-t", "state", code=2)
    assert "has 3 classes, and a scorecard tells two apart; fit" in done.stderr
    done = run("export", model, "--to", "sql", "--what", "probability", code=2)
    assert "has 3 classes, and a score for each instead of probabilities" in done.stderr


def test_a_fit_says_what_to_do(run, made):
    folder, *_ = made
    done = run("fit", folder / "data.csv", "-t", "state", code=1)
    assert "--positive '日本' fits that class against all others" in done.stderr
    assert "in Python, FrugalSVC fits all classes on the same features" in done.stderr


def test_one_of_several_numbers_against_all_others(run, made, folder):
    _, pipeline, X = made
    y = pd.Categorical(pipeline.predict(X), CLASSES).codes
    X.assign(state=y).to_csv("data.csv", index=False)
    given = ("data.csv", "-t", "state", "--positive", "2", "-k", "2", "--folds", "0")
    run("fit", *given, "--effort", "fast", "--model", "model.json")
    text = run("predict", "model.json", "data.csv").stdout
    found = [one["prediction"] for one in csv.DictReader(io.StringIO(text))]
    assert set(found) == {"2", "not 2"}
    assert "points or more: 2" in run("scorecard", "model.json", "data.csv").stdout


def test_models_without_features(run, folder):
    PortableModel((), (0.0, 1.0, 1.0), (5, 6, 7), 1).save("model.json")
    (folder / "rows.csv").write_text("x\n1\n2\n")
    content = json.loads(run("predict", "model.json", "rows.csv", "--json").stdout)
    assert [one["prediction"] for one in content["rows"]] == [6, 6]
    assert content["rows"][0]["score_7"] == 1.0
