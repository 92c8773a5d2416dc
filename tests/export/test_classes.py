"""Models of more than two classes: the same scores and labels wherever they go."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from frugalsvm import FrugalSVC, FrugalSVCCV, InvalidModel, PortableModel
from frugalsvm.export import Feature, Sigmoid, model_schema
from tests.export import postgres
from tests.export.models import NAMES

# Labels that break what does not quote, and some that look like numbers or nothing.
LABELS = [
    ("it's", 'say "hi"', "日本"),
    ("", "no class", "no class 0", "NULL"),
    ("a b", "1", "back\\slash", "{0} %s", "line\nbreak"),
    (-3, 0, 7),
    (2.0, 5.0, 7.0, 8.0),
]


def data(classes, seed=0, n_samples=150):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, len(NAMES)))
    scores = X @ random.normal(size=(len(NAMES), len(classes)))
    places = scores.argmax(axis=1)
    places[: len(classes)] = np.arange(len(classes))
    table = pd.DataFrame(X * [1, 10, 1e3, 1e-3, 5, 2] + [0, 3, 1e4, 0, -7, 1])
    return table.set_axis(NAMES, axis=1), np.array(classes)[places]


def fitted(classes, classifier=None):
    """A pipeline and its table."""
    X, y = data(classes)
    classifier = classifier or FrugalSVC(3, random_state=0)
    return make_pipeline(StandardScaler(), classifier).fit(X, y), X


def tied(classes):
    """A model whose scores are whole numbers: many are equal, without any rounding."""
    random = np.random.default_rng(len(classes))
    weights = random.integers(-1, 2, (3, len(classes))).astype(float)
    # Two classes are always equal, others only somewhere.
    weights[:, -1] = weights[:, 0]
    features = [
        Feature(name, j, 0.0, 1.0, tuple(own.tolist()))
        for j, (name, own) in enumerate(zip(NAMES[:2], weights[:2], strict=True))
    ]
    return PortableModel(tuple(features), tuple(weights[2].tolist()), classes, 2)


def nearly_tied(classes):
    """A model with scores that are equal, but for rounding."""
    signs = np.where(np.arange(len(classes)) % 2, 1.0, -1.0)
    features = [
        Feature(NAMES[j], j, 0.1 * j, 0.3, tuple((weight * signs).tolist()))
        for j, weight in enumerate([0.1, 0.2])
    ]
    intercepts = -1.0 + 1e-13 * np.arange(len(classes))
    return PortableModel(tuple(features), tuple(intercepts.tolist()), classes, 2)


def grid():
    a, b = np.meshgrid(np.arange(-3.0, 4.0), np.arange(-3.0, 4.0))
    return pd.DataFrame({NAMES[0]: a.ravel(), NAMES[1]: b.ravel()})


def with_gaps(table):
    """The table, with rows that have no score at its end."""
    lost = table.iloc[[0, 0, 0]].copy()
    lost.iloc[0, 0], lost.iloc[1, 1], lost.iloc[2, 0] = np.nan, np.inf, 1e101
    return pd.concat([table, lost], ignore_index=True)


# --- each way out: scores and labels of rows, None for none --------------------------


def by_python(model, table):
    space = {}
    exec(model.to_python(), space)
    rows = table.to_dict("records")
    return [space["decision"](one) for one in rows], [
        space["predict"](one) for one in rows
    ]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def rows_of(found, n_scores):
    """Scores and labels of rows that have both."""
    scores = [None if None in one[:n_scores] else list(one[:n_scores]) for one in found]
    for one in found:
        assert (None in one[:n_scores]) == (one[-1] is None)
    return scores, [one[-1] for one in found]


def by_sqlite(model, table):
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f"{quoted(name)} REAL" for name in table)
    connection.execute(f"CREATE TABLE t ({columns})")
    marks = ", ".join("?" * table.shape[1])
    connection.executemany(f"INSERT INTO t VALUES ({marks})", table.to_numpy().tolist())
    found = connection.execute(
        f"SELECT {model.to_sql()}, {model.to_sql('label')} FROM t ORDER BY rowid"
    )
    names = [one[0] for one in found.description[: model.n_scores]]
    assert names == [f"score_{one}" for one in model.classes]
    return rows_of(found.fetchall(), model.n_scores)


def by_postgres(ask, model, table):
    columns = ", ".join(f"{quoted(name)} DOUBLE PRECISION" for name in table)
    rows = ", ".join(
        f"({k}, " + ", ".join(f"'{value!r}'" for value in row) + ")"
        for k, row in enumerate(table.to_numpy().tolist())
    )
    columns_of_each = f'{model.to_sql()}, {model.to_sql("label")} AS "the label"'
    # As JSON, since labels may have line breaks, or be NULL as text.
    found = ask(
        f"CREATE TEMPORARY TABLE t (place INTEGER, {columns});"
        f"INSERT INTO t VALUES {rows};"
        "SELECT row_to_json(r) FROM "
        f"(SELECT {columns_of_each} FROM t ORDER BY place) AS r;"
    )
    known = [list(json.loads(one).values()) for one in found]
    return rows_of(known, model.n_scores)


def by_onnx(model, table):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.to_onnx().SerializeToString())
    labels, scores = session.run(None, {"X": table[model.names].to_numpy()})
    lost = np.isnan(scores)
    assert (lost.any(axis=1) == lost.all(axis=1)).all()
    none = labels[lost[:, 0]].tolist()
    assert all(one not in model.classes for one in none)
    pairs = zip(scores.tolist(), labels.tolist(), lost[:, 0], strict=True)
    known = [(None, None) if is_lost else (s, one) for s, one, is_lost in pairs]
    return [one[0] for one in known], [one[1] for one in known]


def by_pipeline(model, table):
    pipeline = model.to_pipeline()
    table = table[model.names]
    return pipeline.decision_function(table).tolist(), pipeline.predict(table).tolist()


def by_json(model, table):
    again = PortableModel.from_json(model.to_json())
    assert again == model
    return again.decision_function(table).tolist(), again.predict(table).tolist()


@pytest.fixture(scope="module")
def ask():
    if not postgres.is_there():
        pytest.skip("there is no PostgreSQL")
    with postgres.server() as ask:
        yield ask


def same(found, scores, labels):
    n = len(scores)
    np.testing.assert_allclose(found[0][:n], scores, rtol=1e-9, atol=1e-7)
    assert found[1][:n] == labels
    assert [type(one) for one in found[1][:n]] == [type(one) for one in labels]
    assert found[0][n:] == [None] * 3 * (len(found[0]) > n)


@pytest.mark.parametrize("classes", LABELS)
def test_scores_and_labels_are_those_of_the_pipeline(classes):
    pipeline, X = fitted(classes)
    model = PortableModel.from_estimator(pipeline)
    assert len(set(pipeline.predict(X).tolist())) > 1
    expected = pipeline.decision_function(X).tolist(), pipeline.predict(X).tolist()
    assert model.classes == tuple(pipeline.classes_.tolist())
    for found in (by_json(model, X), by_pipeline(model, X)):
        same(found, *expected)
    for ways in (by_python, by_sqlite):
        same(ways(model, with_gaps(X[model.names])), *expected)


@pytest.mark.parametrize("classes", LABELS)
def test_the_runtime_gives_the_same(classes):
    pytest.importorskip("onnx")
    model = PortableModel.from_estimator(fitted(classes)[0])
    X, _ = data(classes)
    found = by_onnx(model, with_gaps(X[model.names]))
    if isinstance(classes[0], float):
        found = found[0], [None if one is None else float(one) for one in found[1]]
    same(found, *by_json(model, X))


@pytest.mark.parametrize("classes", LABELS)
def test_postgres_gives_the_same(ask, classes):
    pipeline, X = fitted(classes)
    model = PortableModel.from_estimator(pipeline)
    found = by_postgres(ask, model, with_gaps(X[model.names]))
    same((found[0], cast(found[1], classes)), *by_json(model, X))


def cast(labels, classes):
    """JSON does not tell whole numbers from others."""
    kind = type(classes[0])
    return [None if one is None else kind(one) for one in labels]


@pytest.mark.parametrize("make", [tied, nearly_tied])
@pytest.mark.parametrize("classes", LABELS)
def test_of_equal_scores_the_first_class_is_predicted(ask, classes, make):
    model, table = make(classes), grid()
    scores = model.decision_function(table)
    best = scores == scores.max(axis=1, keepdims=True)
    assert (best.sum(axis=1) > 1).sum() > 5
    labels = [classes[k] for k in best.argmax(axis=1)]
    ways = [by_json, by_pipeline, by_python, by_sqlite]
    for way in ways:
        assert way(model, table)[0] == scores.tolist()
        assert way(model, table)[1] == labels
    assert cast(by_postgres(ask, model, table)[1], classes) == labels
    assert by_onnx(model, table)[1] == labels


# --- the file ------------------------------------------------------------------------


def test_the_file_has_a_number_for_each_class():
    pipeline, _ = fitted(LABELS[0])
    content = json.loads(PortableModel.from_estimator(pipeline).to_json())
    assert content["intercept"] == pipeline[-1].intercept_.tolist()
    weights = np.array([one["weight"] for one in content["features"]])
    used = pipeline[-1].get_support()
    np.testing.assert_array_equal(weights.T, pipeline[-1].coef_[:, used])
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(model_schema())
    validator.validate(content)
    for field in ("version", "classes"):
        assert not validator.is_valid(content | {field: []})
    assert not validator.is_valid(content | {"intercept": 0.5})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"classes": ["a", "b"]}, r"features\[0\]\.weight must be number"),
        ({"classes": ["a", "b", "a"]}, "different labels of the same type"),
        ({"classes": ["a", "b", "c", "d"]}, "4 numbers, as there are 4 classes"),
        ({"intercept": 1.0}, "intercept must be array"),
        ({"intercept": [1.0, 2.0]}, "intercept must be a list of at least 3"),
        ({"intercept": [1.0, None, 2.0]}, r"intercept\[1\] must be number"),
        ({"intercept": [1.0] * 4}, "intercept must be a tuple of 3 numbers"),
        ({"intercept": [0.0, 0.0, 10**400]}, "finite number"),
        ({"threshold": 0.5}, "are for models of two classes, but this one has 3"),
        ({"calibration": {"method": "sigmoid", "a": -1, "b": 0}}, "of two classes"),
    ],
)
def test_files_that_do_not_fit_are_rejected(change, words):
    content = json.loads(tied((1, 2, 3)).to_json())
    with pytest.raises(InvalidModel, match=words):
        PortableModel.from_json(json.dumps(content | change))


def test_parts_that_do_not_fit_are_rejected():
    three = Feature("x", 0, 0.0, 1.0, (1.0, 0.0, -1.0))
    with pytest.raises(InvalidModel, match="weight of 'x' must be a number"):
        PortableModel((three,), 0.0, (0, 1), 1)
    with pytest.raises(InvalidModel, match="weight of 'x' must be a tuple of 3"):
        PortableModel((Feature("x", 0, 0.0, 1.0, 1.0),), (0.0,) * 3, (0, 1, 2), 1)
    with pytest.raises(InvalidModel, match="signs"):
        PortableModel((three,), (0.0,) * 3, (0, 1, 2), 1, signs={"x": "+"})
    with pytest.raises(InvalidModel, match="calibration"):
        PortableModel((three,), (0.0,) * 3, (0, 1, 2), 1, Sigmoid(-1.0, 0.0))
    with pytest.raises(InvalidModel, match="two or more different labels"):
        PortableModel((three,), (0.0,), (0,), 1)


# --- estimators ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "classifier",
    [
        FrugalSVCCV([1, 3], cv=3, random_state=0),
        LinearSVC(),
        LinearSVC(fit_intercept=False),
        LogisticRegression(),
        RidgeClassifier(),
        LinearDiscriminantAnalysis(),
    ],
)
def test_other_classifiers_with_the_largest_score(classifier):
    pipeline, X = fitted(("a", "b", "c", "d"), classifier)
    model = PortableModel.from_estimator(pipeline)
    same(by_json(model, X), pipeline.decision_function(X), pipeline.predict(X).tolist())


def test_classifiers_that_predict_otherwise_are_refused():
    with pytest.raises(ValueError, match="SVC with 3 classes does not predict the one"):
        PortableModel.from_estimator(fitted((0, 1, 2), SVC(kernel="linear"))[0])
    X, y = data((0, 1, 2))
    several = RidgeClassifier().fit(X, np.eye(3, dtype=int)[y])
    with pytest.raises(ValueError, match="RidgeClassifier with 3 classes does not"):
        PortableModel.from_estimator(several)
    assert (
        PortableModel.from_estimator(SVC(kernel="linear").fit(X, y > 0)).n_scores == 1
    )


def test_features_of_a_group_stay_together():
    X, y = data((0, 1, 2))
    labels = [0, 0, 1, 1, 2, 2]
    model = PortableModel.from_estimator(FrugalSVC(1, feature_groups=labels).fit(X, y))
    (group,) = model.groups
    assert group.features == tuple(model.names)
    assert len(model.features) == 2
    assert f"{group.name}:" in str(model)


def test_what_is_for_two_classes_is_refused_with_what_to_do():
    pipeline, X = fitted(("a", "b", "c"))
    model = PortableModel.from_estimator(pipeline)
    refused = [
        lambda: model.predict_proba(X),
        lambda: model.to_sql("probability"),
        lambda: model.to_scorecard(X, pipeline.predict(X)),
    ]
    for one in refused:
        with pytest.raises(ValueError, match=r"two classes, and this one has 3; .* or"):
            one()
    with pytest.raises(ValueError, match="'score' or 'label', got 'lable'"):
        model.to_sql("lable")


def test_calibrated_estimators_work_and_are_not_portable():
    X, y = data(("a", "b", "c"))
    for ensemble in (False, True):
        pipeline = make_pipeline(StandardScaler(), FrugalSVC(3, random_state=0))
        calibrated = CalibratedClassifierCV(pipeline, ensemble=ensemble, cv=3).fit(X, y)
        chances = calibrated.predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert calibrated.score(X, y) > 0.6
        with pytest.raises(ValueError, match=r"without its calibration|ensemble=False"):
            PortableModel.from_estimator(calibrated)


# --- rows without a score, and words -------------------------------------------------


def test_one_score_that_overflows_leaves_the_row_without_a_label():
    features = (Feature("x", 0, 0.0, 1e-300, (1.0, 0.0, 1e10)),)
    model = PortableModel(features, (0.0, 5.0, 0.0), (0, 1, 2), 1)
    table = pd.DataFrame({"x": [1e-301, 2.0]})
    with pytest.raises(ValueError, match="the score of row 2 overflows"):
        model.predict(table)
    assert by_python(model, table)[1] == [2, None]
    pytest.importorskip("onnx")
    assert by_onnx(model, table)[1] == [2, None]


def test_models_without_features():
    model = PortableModel((), (0.0, 1.0, 1.0), ("a", "b", "c"), 2)
    assert model.predict(np.zeros((2, 2))).tolist() == ["b", "b"]
    assert by_python(model, pd.DataFrame({"x": [1.0]}))[1] == ["b"]
    assert by_sqlite(model, pd.DataFrame({"x": [1.0]}))[1] == ["b"]
    assert "0 of 2 features" in str(model)


def test_words_and_tables_have_the_weights_of_each_class():
    pipeline, _ = fitted(("<b>a</b>", "b", "c"))
    model = PortableModel.from_estimator(pipeline)
    frame = model.to_frame()
    j = model.names.index(frame.index[0])
    assert frame["weight_b"].iloc[0] == model.features[j].weight[1]
    np.testing.assert_allclose(
        frame["weight_per_unit_c"], frame["weight_c"] / frame["scale"]
    )
    assert frame.attrs["intercept"] == list(model.intercept)
    assert repr(model).startswith("PortableModel(3 of 6 features, '<b>a</b>', 'b' or")
    assert "weight_b" in str(model)
    page = model._repr_html_()
    assert "&lt;b&gt;a" in page
    assert "<b>a" not in page
    assert f"{model.coef[2, j]:+.4g}" in page
    many = PortableModel((), (0.0,) * 9, tuple(range(9)), 1)
    assert repr(many) == "PortableModel(0 of 1 features, 9 classes)"
