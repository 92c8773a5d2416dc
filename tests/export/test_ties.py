"""Scores that differ by rounding alone mean the same class, wherever a model goes."""

import sqlite3

import numpy as np
import pytest

from frugalsvm import PortableModel
from frugalsvm.export import Feature

NAMES = ("a", "b", "c")


def model_of(weights, threshold=None):
    features = [
        Feature(name, j, 0.0, 1.0, one)
        for j, (name, one) in enumerate(zip(NAMES, weights, strict=False))
    ]
    return PortableModel(
        tuple(features), 0.0, ("no", "yes"), len(features), threshold=threshold
    )


# Each sum is equal to the threshold in decimals, and larger in doubles.
CASES = [
    (model_of([0.1, 0.2, -0.3]), "no"),
    (model_of([0.1, 0.2], threshold=0.3), "no"),
    (model_of([0.1, 0.2], threshold=0.3 - 1e-12), "no"),
    (model_of([0.1, 0.2], threshold=0.3 - 1e-6), "yes"),
    (model_of([1e-8, 2e-8, -3e-8]), "no"),
    (model_of([1e-8, 2e-8, -2e-8]), "yes"),
]


@pytest.mark.parametrize(("model", "label"), CASES)
def test_the_label_is_that_of_equal_scores(model, label):
    row = dict.fromkeys(NAMES[: len(model.features)], 1.0)
    assert model.predict(row) == label
    space = {}
    exec(model.to_python(), space)
    assert space["predict"](row) == label
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (a REAL, b REAL, c REAL)")
    database.execute("INSERT INTO t VALUES (1, 1, 1)")
    ((found, score),) = database.execute(
        f"SELECT {model.to_sql('label')}, {model.to_sql()} FROM t"
    )
    assert found == label
    assert score == model.decision_function(row) == space["decision"](row)
    if model.threshold is None:
        assert model.to_pipeline().predict(np.ones((1, len(row)))) == label


@pytest.mark.parametrize(("model", "label"), CASES)
def test_the_runtime_gives_the_same(model, label):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    found = session.run(None, {"X": np.ones((1, len(model.features)))})
    assert found[0].tolist() == [label]


def test_sql_server_wants_a_number_of_decimals():
    model = model_of([0.1, 0.2])
    assert ", 0) / 10000000.0E0)" in model.to_sql(dialect="sqlserver")
    assert ", 0)" not in model.to_sql()
