"""skl2onnx converts pipelines with our classifiers, where it is installed."""

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


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("classes", [("bad", "good é", "it's"), (-1, 0, 4, 7)])
def test_a_pipeline_of_several_classes_predicts_the_same(classes):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = table()
    X = X[["income", "age"]].to_numpy(copy=True)
    y = np.array(classes)[np.arange(len(X)) * 7 % 11 % len(classes)]
    X[:, 1] += 3.0 * (y == classes[0]) - 2.0 * (y == classes[1])
    pipeline = make_pipeline(StandardScaler(), FrugalSVC(2, random_state=0)).fit(X, y)
    register_onnx_converter()
    proto = skl2onnx.to_onnx(pipeline, X[:1], options={id(pipeline): {"zipmap": False}})
    session = runtime.InferenceSession(proto.SerializeToString())
    found, scores = session.run(None, {"X": X})
    assert found.tolist() == pipeline.predict(X).tolist()
    assert len(set(found.tolist())) > 1
    np.testing.assert_allclose(scores, pipeline.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_scores_that_differ_by_rounding_are_equal(kind):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]])
    model = FrugalSVC(3).fit(np.repeat(X, 4, axis=0), np.repeat([1, 0], 4))
    model.coef_, model.intercept_ = np.array([[0.1, 0.2, -0.3]]), np.zeros(1)
    register_onnx_converter()
    proto = skl2onnx.to_onnx(model, X.astype(kind), options={"zipmap": False})
    session = runtime.InferenceSession(proto.SerializeToString())
    assert session.run(None, {"X": X.astype(kind)})[0].tolist() == [0, 0]
    assert model.predict(X).tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_equal_scores_the_first_class_is_predicted(n_classes):
    skl2onnx = pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = np.array([[1.0], [-1.0], [0.0]])
    model = FrugalSVC(1).fit(np.repeat(X, 4, axis=0), np.arange(12) % n_classes)
    model.coef_[:] = 1.0
    model.intercept_[:] = 0.0
    register_onnx_converter()
    proto = skl2onnx.to_onnx(model, X, options={"zipmap": False})
    session = runtime.InferenceSession(proto.SerializeToString())
    found = session.run(None, {"X": X})[0].tolist()
    assert found == model.predict(X).tolist() == [int(n_classes == 2), 0, 0]


def test_without_skl2onnx_an_error_says_so(uninstall):
    uninstall("skl2onnx")
    with pytest.raises(ImportError, match=r"pip install frugalsvm\[onnx\]"):
        register_onnx_converter()
