"""Models of scikit-learn pipelines with categories, on the command line."""

import json

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.svm import LinearSVC

from frugalsvm import PortableModel


def saved(folder):
    """A pipeline, its table, and both as files."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "income": np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60)),
            "housing": rng.choice(["own", "rent", "free"], 60),
            "owner": rng.random(60) < 0.5,
        }
    )
    encode = make_column_transformer(
        (
            make_pipeline(SimpleImputer(add_indicator=True), MinMaxScaler()),
            ["income"],
        ),
        (OneHotEncoder(handle_unknown="ignore"), ["housing", "owner"]),
    )
    repaid = np.where(rng.random(60) < 0.5, "yes", "no")
    pipeline = make_pipeline(encode, LinearSVC()).fit(table, repaid)
    PortableModel.from_estimator(pipeline).save(folder / "model.json")
    table.loc[3, "housing"] = "boat"
    table.assign(repaid=repaid).to_csv(folder / "new.csv", index=False)
    return pipeline, table


def test_tables_are_predicted_as_the_pipeline_does(run, tmp_path):
    pipeline, table = saved(tmp_path)
    done = run("predict", tmp_path / "model.json", tmp_path / "new.csv", "--json")
    rows = json.loads(done.stdout)["rows"]
    expected = pipeline.decision_function(table)
    np.testing.assert_allclose([row["score"] for row in rows], expected, atol=1e-7)


def test_a_model_of_a_pipeline_is_explained_scored_and_exported(run, tmp_path):
    saved(tmp_path)
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    assert "housing=own" in run("explain", model, new, "--row", "1").stdout
    assert "points" in run("scorecard", model, new, "--target", "repaid").stdout
    assert "'own'" in run("export", model, "--to", "sql").stdout
    done = run("export", model, "--to", "onnx", "-o", tmp_path / "model.onnx")
    assert "its input columns are income, housing, owner" in done.stdout + done.stderr
