"""skl2onnx converts pipelines with our classifiers, where it is installed."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from frugalsvm import FrugalSVC, FrugalSVCCV, register_onnx_converter


def table(n_rows=80):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "income": rng.normal(size=n_rows) * 1e3,
            "age": rng.normal(size=n_rows),
            "housing": rng.choice(["own", "rent", "it's free"], n_rows).astype(object),
        }
    )
    score = X["income"] / 1e3 + 2 * (X["housing"] == "own") + rng.normal(size=n_rows)
    return X, (score > 0.5).to_numpy()


def labels(kind, positive):
    pairs = {
        str: ["bad", "good é"],
        int: [-1, 1],
        bool: [False, True],
        float: [2.0, 5.0],
    }
    return np.array(pairs[kind])[positive.astype(int)]


def fitted(kind, classifier):
    X, positive = table()
    encode = make_column_transformer(
        (StandardScaler(), ["income", "age"]),
        (OneHotEncoder(handle_unknown="ignore"), ["housing"]),
    )
    return make_pipeline(encode, classifier).fit(X, labels(kind, positive)), X


@pytest.mark.parametrize("kind", [str, int, bool, float])
@pytest.mark.parametrize("cv", [False, True])
def test_a_pipeline_predicts_the_same_in_the_runtime(kind, cv):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    if kind is float and cv:
        pytest.skip("one kind of classifier is enough")
    classifier = (
        FrugalSVCCV([1, 2], random_state=0) if cv else FrugalSVC(3, random_state=0)
    )
    pipeline, X = fitted(kind, classifier)
    register_onnx_converter()
    kinds = [(n, DoubleTensorType([None, 1])) for n in ("income", "age")]
    proto = skl2onnx.convert_sklearn(
        pipeline,
        initial_types=[*kinds, ("housing", StringTensorType([None, 1]))],
        options={id(pipeline): {"zipmap": False}},
    )
    session = runtime.InferenceSession(proto.SerializeToString())
    X.loc[0, "housing"] = "unknown"
    given = {name: X[[name]].to_numpy() for name in X}
    found, scores = session.run(None, given)
    assert found.tolist() == pipeline.predict(X).tolist()
    expected = pipeline.decision_function(X)
    np.testing.assert_allclose(
        scores, np.column_stack([-expected, expected]), atol=1e-5
    )


def test_without_skl2onnx_an_error_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    with pytest.raises(ImportError, match=r"pip install frugalsvm\[onnx\]"):
        register_onnx_converter()
