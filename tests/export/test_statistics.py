"""Statistics of training rows: what they say, and what they must not."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from frugalsvm import InvalidModel, PortableModel
from frugalsvm.export import Feature, Group
from frugalsvm.export.statistics import LEAST, Distribution
from tests.export.models import data, fitted

RNG = np.random.default_rng(0)
VALUES = {
    "normal": RNG.normal(size=500),
    "far from zero": 1e9 + RNG.normal(size=500),
    "whole": RNG.integers(20, 66, 500).astype(float),
    "mostly the smallest": np.append(np.zeros(90), np.arange(10.0)),
    "mostly the largest": np.append(np.zeros(90), -np.arange(10.0)),
    "constant": np.full(30, 12.345678),
    "rare": np.append(np.zeros(497), np.ones(3)),
    "0 and 1": np.append(np.zeros(400), np.ones(100)),
    "equal within rounding": 1 + 1e-12 * RNG.normal(size=50),
    "one outlier": np.append(RNG.lognormal(8, 1, 300), 1e9),
    "huge": 1e100 * RNG.uniform(-1, 1, 50),
    "tiny": 5e-324 * np.arange(40),
    "huge and tiny": np.append(np.full(10, -1e100), 1e-300 * np.arange(50)),
    "few": np.arange(10.0),
    "close": np.repeat([0, 1e-6, 1], 10),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_bins_have_rows_enough_and_ends_have_too(values):
    found = Distribution.of(RNG.permutation(values))
    found.check("it", values.size)
    assert min(found.counts) >= LEAST
    assert len(found.counts) <= 10
    counts = np.bincount(found.bins(values), minlength=len(found.counts))
    assert found.counts == tuple(counts)
    # Up to rounding.
    off = 0.01 * (found.high - found.low) + 1e-9 * abs(found.high)
    assert (values <= found.low + off).sum() >= LEAST
    assert (values >= found.high - off).sum() >= LEAST
    for k, centre in enumerate(found.centres):
        inside = values[found.bins(values) == k]
        middle = np.median(np.clip(inside, found.low, found.high))
        assert abs(middle - centre) <= off
    assert Distribution.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_values_far_from_the_others_are_rounded_for_themselves():
    amounts = np.round(1e5 * RNG.random(20), 3)
    found = Distribution.of(np.append(5 + 1e-6 * RNG.random(180), amounts))
    numbers = [*found.edges, *found.centres, found.low, found.high]
    assert all(float(f"{x:.4g}") == x for x in numbers if x > 6)


@pytest.mark.parametrize(
    ("field", "number"),
    [("centres", 1e6), ("centres", -1e6), ("edges", 1e308), ("counts", 1)],
)
def test_numbers_that_do_not_fit_each_other_are_refused(field, number):
    fields = Distribution.of(VALUES["normal"]).to_dict()
    fields[field][-1] = number
    if field == "counts":
        fields[field][0] += 500 - sum(fields[field])
    with pytest.raises(InvalidModel, match=r"must (have|count)"):
        Distribution.from_dict(fields).check("it", 500)


def test_bins_are_deciles_in_round_numbers():
    found = Distribution.of(VALUES["normal"])
    assert len(found.edges) == 9
    assert all(45 <= count <= 55 for count in found.counts)
    assert all(round(one, 2) == one for one in (*found.edges, *found.centres))
    assert Distribution.of(VALUES["mostly the smallest"]).counts == (91, 9)
    assert Distribution.of(VALUES["0 and 1"]).edges == (1.0,)


def test_no_value_of_one_row_is_kept():
    """Not the outlier, nor anything that it alone would change."""
    values = VALUES["one outlier"]
    other = np.where(values == 1e9, 123456.789, values)
    assert Distribution.of(values) == Distribution.of(other)
    # A bin of five: its median is a value of one row, but rounded.
    exact = RNG.uniform(size=100) * 1e6
    found = Distribution.of(exact)
    numbers = [*found.edges, *found.centres, found.low, found.high]
    assert not set(numbers) & set(exact.tolist())
    rare = Distribution.of(VALUES["rare"])
    assert (rare.counts, rare.low, rare.high) == ((500,), 0.0, 0.0)


def test_statistics_of_a_model():
    X, y = data()
    model = PortableModel.from_estimator(fitted(3), X, y)
    found = model.statistics
    assert found.n_rows == 120
    assert found.classes == ((y == "it's").sum(), (y == "none").sum())
    assert found.missing == (0, 0, 0)
    scores = model.decision_function(X)
    place = found.scores[0].bins(scores)
    for k, n in enumerate(found.positive[0]):
        assert n == ((place == k) & (y == "none")).sum()
    for one, name in zip(found.features, model.names, strict=True):
        np.testing.assert_array_equal(np.bincount(one.bins(X[name])), one.counts)
    again = PortableModel.from_json(model.to_json())
    assert again == model
    assert again.statistics == found
    assert PortableModel.from_estimator(fitted(3)).with_statistics(X, y) == model
    assert PortableModel.from_estimator(fitted(3)).statistics is None


def test_rows_are_of_the_table_that_a_pipeline_takes():
    """Gaps of numbers and of categories, and imputed numbers outside the bins."""
    table = pd.DataFrame(
        {"income": RNG.normal(30, 9, 200).round(1), "home": ["own", "rent"] * 100}
    )
    table.loc[:39, "income"] = np.nan
    table.loc[:19, "home"] = None
    y = np.arange(200) // 2 % 2
    encode = make_column_transformer(
        (SimpleImputer(add_indicator=True), ["income"]),
        (OneHotEncoder(handle_unknown="ignore"), ["home"]),
    )
    pipeline = make_pipeline(encode, LinearSVC()).fit(table, y)
    model = PortableModel.from_estimator(pipeline, table, y)
    known = dict(zip(model.names, model.statistics.features, strict=True))
    missing = dict(zip(model.names, model.statistics.missing, strict=True))
    assert sum(known["income"].counts) == 160
    assert missing["income"] == missing["income missing"] == 40
    assert missing["home=own"] == 20
    assert known["income missing"].counts == (160, 40)
    assert known["home=own"].counts == (110, 90)


def test_names_and_places_have_gaps_alike():
    feature = Feature("x", 0, 0.0, 1.0, 1.0)
    columns = [{"name": "x", "kind": "number", "fill": 1.0, "indicator": True}]
    content = {"columns": columns, "features": ["x", "x missing"]}
    model = PortableModel(
        (feature, Feature("x missing", 1, 0.0, 1.0, 1.0)), 0.0, (0, 1), 2,
        metadata={"preparation": json.dumps(content)},
    )  # fmt: skip
    x = np.where(np.arange(40) < 10, np.nan, np.arange(40.0))
    found = model.with_statistics(pd.DataFrame({"x": x}), np.arange(40) % 2).statistics
    assert found.missing == (10, 10)
    assert found.features[1].counts == (30, 10)


def test_models_of_more_classes_have_statistics_of_each_score():
    X, y = RNG.normal(size=(150, 2)), np.arange(150) % 3
    pipeline = LinearSVC().fit(X + y[:, None], y)
    model = PortableModel.from_estimator(pipeline, X, y)
    found = model.statistics
    assert found.classes == (50, 50, 50)
    assert [sum(rows) for rows in found.positive] == [50, 50, 50]
    assert found.changed is None
    assert PortableModel.from_json(model.to_json()) == model


def test_a_model_without_features_has_statistics_of_its_score():
    model = PortableModel((), 0.5, ("no", "yes"), 1)
    y = ["no", "yes"] * 10
    found = model.with_statistics(np.zeros((20, 1)), y).statistics
    assert found.scores[0].counts == (20,)
    assert found.positive == ((10,),)


def test_bad_rows():
    X, y = data()
    model = PortableModel.from_estimator(fitted(3))
    with pytest.raises(ValueError, match="at least 10 rows, so that none can be told"):
        model.with_statistics(X[:9], y[:9])
    with pytest.raises(ValueError, match="y has label 'what'"):
        model.with_statistics(X, ["what", *y[1:]])
    with pytest.raises(ValueError, match="one label for each of the 120 samples"):
        PortableModel.from_estimator(fitted(3), X)


@pytest.fixture(scope="module")
def content():
    X, y = data()
    model = PortableModel.from_estimator(fitted(3), X, y)
    return model.to_json()


GONE = object()


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["rows"], GONE, "statistics has no 'rows'"),
        (["rows"], 121, "about 121 rows, but count others"),
        (["rows"], 0, "rows must be >= 1"),
        (["rows"], 10**400, "rows must be <= 9007199254740992"),
        (["classes"], [120], "the classes and the scores of the model, one each"),
        (["classes", 0], -1, r"classes\[0\] must be >= 0"),
        (["features"], [], "must be about the features"),
        (["features", 0, "missing"], 121, "but count others"),
        (["features", 0, "edges", 0], 1e9, r"features\[0\] must have increasing edges"),
        (["features", 0, "edges"], [], "with a count and a centre for each bin"),
        (["features", 0, "edges", 0], 10**400, "a number beyond 1e308"),
        (["features", 0, "edges"], [0.5] * 10, "a list of at most 9"),
        (["features", 0, "counts", 0], 1, r"features\[0\] must count 120 rows"),
        (["features", 0, "counts", 0], 1.5, r"counts\[0\] must be integer"),
        (["features", 0, "counts", 0], 0, r"counts\[0\] must be >= 1"),
        (["features", 0, "counts"], [], "a list of at least 1"),
        (["features", 0, "centres", 0], 1e9, r"features\[0\] must have increasing"),
        (["features", 0, "low"], 1e9, "a range that ends before it begins"),
        (["features", 0, "rows"], [1], "has unknown field 'rows'"),
        (["variables"], ["what"], "must be different groups of the model"),
        (["scores"], [], "the scores of the model"),
        (["scores", 0, "positive"], [1], "count the rows of a class in each bin"),
        (["scores", 0, "positive", 0], 999, "count the rows of a class in each bin"),
        (["changed"], 121, "but count others"),
        (["changed"], GONE, "statistics has no 'changed'"),
    ],
)  # fmt: skip
def test_damaged_statistics_are_refused(content, path, value, words):
    changed = json.loads(content)
    *inner, last = ["statistics", *path]
    part = changed
    for key in inner:
        part = part[key]
    if value is GONE:
        del part[last]
    else:
        part[last] = value
    with pytest.raises(InvalidModel, match=words) as failure:
        PortableModel.from_json(json.dumps(changed))
    assert len(str(failure.value)) < 300


def test_only_groups_of_exclusive_values_are_variables():
    a = np.arange(60) % 3
    X = pd.DataFrame({"a": a == 0, "b": a == 1, "c": a > 0, "d": a < 2}) * 1.0
    features = tuple(Feature(name, j, 0.0, 1.0, 1.0) for j, name in enumerate(X))
    groups = (Group("first", ("a", "b")), Group("second", ("c", "d")))
    model = PortableModel(features, 0.0, (0, 1), 4, groups=groups)
    found = model.with_statistics(X, np.arange(60) % 2)
    assert found.statistics.variables == ("first",)
    assert PortableModel.from_json(found.to_json()) == found
