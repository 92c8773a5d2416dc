"""Pipelines with encoders and imputers: the same scores wherever a model goes."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVC, InvalidModel, PortableModel, encoded_groups
from tests.export import postgres
from tests.export.encoded import (
    by_json,
    by_onnx,
    by_postgres,
    by_python,
    by_sqlite,
    expected,
    fitted,
    new_rows,
    used_only,
    with_gaps,
)

# Each part takes a second or two: scikit-learn predicts row by row where one fails.
SEEDS = range(6)


def same(found, scores):
    assert [one is None for one in found] == [one is None for one in scores]
    known = [[x for x in one if x is not None] for one in (found, scores)]
    np.testing.assert_allclose(*known, rtol=1e-9, atol=1e-7)


# Of two, three and more classes.
CLASSES = [(0, 1), ("it's", "日本", '"'), (-3, 0, 7, 12)]


def case(seed):
    """A model, its pipeline, and two tables: that of the fit, and new rows."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline, table, kinds = fitted(rng, CLASSES[seed % len(CLASSES)])
    model = PortableModel.from_estimator(pipeline)
    new = used_only(model, new_rows(rng, table, kinds), table)
    return model, pipeline, kinds, (table, new)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("seed", SEEDS)
def test_scores_are_those_of_the_pipeline(seed):
    model, pipeline, kinds, tables = case(seed)
    for table in tables:
        scores = expected(pipeline, table)
        same(by_json(model, table), scores)
        same(by_python(model, table), scores)
        same(by_sqlite(model, table, kinds), scores)
    first = tables[0]
    again = PortableModel.from_estimator(model.to_pipeline())
    same(by_json(again, first), by_json(model, first))
    columns = list(model.to_pipeline().feature_names_in_)
    same(model.to_pipeline().decision_function(first[columns]), by_json(model, first))


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_graph_gives_the_same_scores(seed):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    model, pipeline, _, tables = case(seed)
    for table in tables:
        same(by_onnx(model, table), expected(pipeline, with_gaps(model, table)))


@pytest.fixture(scope="module")
def ask():
    if not postgres.is_there():
        pytest.skip("there is no PostgreSQL")
    with postgres.server() as ask:
        yield ask


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("seed", SEEDS)
def test_postgres_gives_the_same_scores(ask, seed):
    model, pipeline, kinds, tables = case(seed)
    for table in tables:
        same(by_postgres(ask, model, table, kinds), expected(pipeline, table))


# --- one thing each ------------------------------------------------------------------

HOUSING = ["own", "rent", "free", "own", "rent", "own"] * 5


def _kind(values):
    """What keeps values as they are."""
    return None if isinstance(values[0], np.datetime64) else object


def housing(encoder, values=HOUSING, classifier=None):
    """A model of one column of categories."""
    table = pd.DataFrame({"housing": pd.Series(values, dtype=_kind(values))})
    target = np.arange(len(values)) * 7 % 5 > 2
    encode = make_column_transformer((encoder, ["housing"]), sparse_threshold=0)
    pipeline = make_pipeline(encode, classifier or LinearSVC()).fit(table, target)
    return PortableModel.from_estimator(pipeline), pipeline, table


def test_features_are_named_like_those_of_the_command_line():
    values = [*HOUSING, "boat", "tent", np.nan, np.nan]
    model, *_ = housing(OneHotEncoder(min_frequency=2), values)
    assert model.names == [
        f"housing={one}" for one in ("free", "own", "rent", "(missing)", "(other)")
    ]
    assert housing(OrdinalEncoder())[0].names == ["housing code"]


@pytest.mark.parametrize("other", ["Own", "own ", " own", "", "NA", "1.0", 1])
def test_categories_are_compared_exactly(other):
    model, *_ = housing(OneHotEncoder(handle_unknown="ignore"), [*HOUSING, "1", "nan"])
    space = {}
    exec(model.to_python(), space)
    row = {"housing": other}
    assert space["decision"](row) == space["decision"]({"housing": "strange"})
    np.testing.assert_array_equal(
        model.decision_function(row), space["decision"]({"housing": "strange"})
    )
    assert space["decision"]({"housing": "1"}) != space["decision"](row)


def test_an_unknown_category_or_gap_is_an_error_that_names_its_place():
    model, *_ = housing(OneHotEncoder())
    with pytest.raises(ValueError, match="'housing' of row 2 has 'boat', which the mo"):
        model.predict({"housing": ["own", "boat"]})
    for gap in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="'housing' of row 1 has no value"):
            model.predict(pd.DataFrame({"housing": [gap]}, dtype=object))
    with pytest.raises(ValueError, match="X has no column 'housing'"):
        model.predict({"house": ["own"]})
    with pytest.raises(ValueError, match=r"with 1 columns.*shape \(2, 3\)"):
        model.predict(np.full((2, 3), "own"))


def test_tables_may_be_arrays_frames_and_dicts():
    model, pipeline, table = housing(OneHotEncoder())
    scores = pipeline.decision_function(table)
    frame = table.assign(more=1)[["more", "housing"]]
    for one in (table, frame, table.to_numpy(), table.to_dict("list"),
                table.astype("category"), table.astype("string")):  # fmt: skip
        np.testing.assert_allclose(model.decision_function(one), scores, atol=1e-7)
    features = {name: model.select(table)[:, j] for j, name in enumerate(model.names)}
    np.testing.assert_allclose(model.decision_function(features), scores, atol=1e-7)


def test_none_is_a_gap_like_nan():
    model, pipeline, table = housing(OneHotEncoder(), [*HOUSING, None, None])
    assert "housing=(missing)" in model.names
    scores = pipeline.decision_function(table)
    np.testing.assert_allclose(model.decision_function(table), scores, atol=1e-7)
    np.testing.assert_allclose(
        model.decision_function({"housing": [np.nan]}), scores[-1:]
    )


@pytest.mark.parametrize(
    ("encoder", "gaps"),
    [
        (OrdinalEncoder(), [None] * 2),
        (OrdinalEncoder(encoded_missing_value=-2), [None] * 2),
        (OrdinalEncoder(encoded_missing_value=-2, min_frequency=3), [None] * 2),
        (OrdinalEncoder(encoded_missing_value=-2, max_categories=3), [None] * 8),
        (OrdinalEncoder(encoded_missing_value=-2), [np.nan] * 2),
        (OrdinalEncoder(encoded_missing_value=-2, max_categories=3), [np.nan] * 8),
        # None is the most frequent value, and so what gaps are filled with.
        (
            make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder()),
            [None] * 40,
        ),
    ],
)
def test_none_is_a_category_of_an_ordinal_encoder(encoder, gaps):
    """Its ``encoded_missing_value`` is for NaN."""
    values = ["tent", *HOUSING, *gaps]
    model, pipeline, table = housing(encoder, values)
    scores = pipeline.decision_function(table)
    np.testing.assert_allclose(model.decision_function(table), scores, atol=1e-7)


def test_groups_and_calibration_are_kept():
    values = np.array(HOUSING, dtype=object)
    table = pd.DataFrame({"income": np.arange(30.0) % 7, "housing": values})
    target = (values == "own") ^ (np.arange(30) % 9 == 0)
    encode = ColumnTransformer(
        [("c", OneHotEncoder(), ["housing"]), ("n", StandardScaler(), ["income"])]
    )
    groups = encoded_groups(encode.fit(table))
    pipeline = make_pipeline(encode, FrugalSVC(1, feature_groups=groups))
    calibrated = CalibratedClassifierCV(pipeline, ensemble=False, cv=3)
    model = PortableModel.from_estimator(calibrated.fit(table, target))
    (group,) = model.groups
    assert group.name == "housing"
    assert list(group.features) == ["housing=free", "housing=own", "housing=rent"]
    np.testing.assert_allclose(
        model.predict_proba(table), calibrated.predict_proba(table)
    )
    again = PortableModel.from_estimator(model.to_pipeline())
    np.testing.assert_allclose(again.predict_proba(table), model.predict_proba(table))


def test_a_pipeline_of_numbers_without_imputation_is_what_it_was():
    table = pd.DataFrame({"a": np.arange(9.0), "b": np.arange(9.0) ** 2 % 5})
    encode = make_column_transformer((StandardScaler(), ["b"]), ("passthrough", ["a"]))
    pipeline = make_pipeline(encode, LinearSVC()).fit(table, np.arange(9) % 2)
    model = PortableModel.from_estimator(pipeline)
    assert model.names == ["a", "b"]
    assert model.metadata == {}
    np.testing.assert_allclose(
        model.decision_function(table), pipeline.decision_function(table), atol=1e-7
    )


@pytest.mark.parametrize(
    ("encoder", "values", "words"),
    [
        (KNNImputer(), [1.0, 2.0] * 15, "KNNImputer cannot be .* fit a pipeline witho"),
        (PolynomialFeatures(), [1.0, 2.0] * 15, "PolynomialFeatures cannot be express"),
        (KBinsDiscretizer(2, quantile_method="linear") if hasattr(
            KBinsDiscretizer(), "quantile_method") else KBinsDiscretizer(2),
         [1.0, 2.0] * 15, "KBinsDiscretizer cannot be expressed"),
        (make_pipeline(SimpleImputer(missing_values="own", strategy="most_frequent"),
                       OneHotEncoder()), HOUSING, "SimpleImputer replaces 'own'.*NaN"),
        (OneHotEncoder(), [*HOUSING, None, np.nan], "two kinds of gaps in 'housing'"),
        (make_pipeline(StandardScaler(), OneHotEncoder()), [1.0, 2.0] * 15,
         "'housing' is scaled before it is encoded"),
        (OneHotEncoder(), [b"own", b"rent"] * 15, "truth values, got b'own' of type"),
        (OneHotEncoder(), list(np.array(["2020", "2021"] * 15, "datetime64[ns]")),
         "truth values, got .* of type datetime64"),
    ],
)  # fmt: skip
def test_what_a_model_cannot_hold_is_refused(encoder, values, words):
    with pytest.raises(ValueError, match=words):
        housing(encoder, values)


@pytest.mark.parametrize(
    "change",
    [
        {"type": "date"}, {"levels": ["a", "a", "b"]}, {"levels": ["a"]},
        {"levels": [1, 2, 3]}, {"lookups": 3}, {"lookups": [{}]},
        {"lookups": [{"codes": {"7": 1}, "known": 0, "unknown": 0, "gap": 0}]},
        {"lookups": [{"codes": [], "known": 0, "unknown": 0, "gap": 0}]},
        {"lookups": [{"codes": {}, "known": "1", "unknown": 0, "gap": 0}]},
    ],
)  # fmt: skip
def test_forged_lookups_are_rejected(change):
    model, *_ = housing(OneHotEncoder())
    content = json.loads(model.to_json())
    preparation = json.loads(content["metadata"]["preparation"])
    preparation["columns"][0].update(change)
    content["metadata"]["preparation"] = json.dumps(preparation)
    forged = PortableModel.from_json(json.dumps(content))
    with pytest.raises(InvalidModel, match="preparation"):
        forged.predict({"housing": ["own"]})


def test_levels_are_listed_once_in_sql():
    model, *_ = housing(OneHotEncoder())
    # As categories of the three features, and once as all that are known.
    assert len(re.findall("'own'", model.to_sql())) == 2
