"""Features and costs by name, and prediction from a few columns."""

import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from frugalsvm import FrugalSVC
from frugalsvm.estimators.feature_names import FeatureNames

NAMES = np.array(["age", "dose", "weight", "height"], dtype=object)
COLUMNS = FeatureNames(NAMES, 4)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=NAMES)
    return X, np.where(X["age"] - X["height"] + 0.1 * rng.normal(size=60) > 0, "a", "b")


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        (None, []),
        ((), []),
        ([2, "age"], [2, 0]),
        (np.array(["dose"]), [1]),
        ([False, True, False, True], [1, 3]),
        (np.array([True, False, False, False]), [0]),
    ],
)
def test_indices_names_and_masks(features, expected):
    np.testing.assert_array_equal(COLUMNS.indices("include", features), expected)


def test_a_mask_with_names_is_aligned_by_name():
    mask = pd.Series({"height": True, "dose": False, "weight": False, "age": False})
    np.testing.assert_array_equal(COLUMNS.indices("include", mask), [3])
    np.testing.assert_array_equal(COLUMNS.indices("include", mask.to_numpy()), [0])
    with pytest.raises(ValueError, match="exclude has no entry for 'age'"):
        COLUMNS.indices("exclude", mask.drop("age"))
    with pytest.raises(ValueError, match="has names, but X has no column names"):
        FeatureNames(None, 4).indices("include", mask)


def test_a_name_of_several_columns_is_ambiguous():
    columns = FeatureNames(np.array(["age", "dose", "age"], dtype=object), 3)
    np.testing.assert_array_equal(columns.indices("include", ["dose"]), [1])
    with pytest.raises(ValueError, match="several columns"):
        columns.indices("include", ["age"])


@pytest.mark.parametrize(
    ("features", "words"),
    [
        (["wieght"], "unknown feature 'wieght'; did you mean 'weight', 'height'?"),
        (["zzz"], "the columns are 'age', 'dose', 'weight', 'height'"),
        ([4], "feature 4, but X has 4 features"),
        ([-1], "feature -1"),
        ([1.5], "got 1.5"),
        ([True, False], "mask of shape"),
    ],
)
def test_invalid_features(features, words):
    with pytest.raises(ValueError, match="include") as error:
        COLUMNS.indices("include", features)
    assert words in str(error.value)


def test_names_need_columns():
    with pytest.raises(ValueError, match=r'set_output\(transform="pandas"\)'):
        FeatureNames(None, 4).indices("include", ["age"])
    with pytest.raises(ValueError, match="X has no column names"):
        FeatureNames(None, 1).costs({"age": 1.0})


def test_costs_are_aligned_by_name():
    series = pd.Series({"weight": 3.0, "age": 1.0, "height": 4.0, "dose": 2.0})
    for costs in (series, series.sort_values(ascending=False), series.to_dict()):
        np.testing.assert_array_equal(COLUMNS.costs(costs), [1.0, 2.0, 3.0, 4.0])
    # Without names, values are in order.
    counted = pd.Series([4.0, 3.0, 2.0, 1.0])
    frame = pd.DataFrame({"cost": counted.to_numpy()}, index=NAMES)
    assert COLUMNS.costs(frame) is frame
    np.testing.assert_array_equal(COLUMNS.costs(counted), counted)
    assert COLUMNS.costs([1, 2, 3, 4]) == [1, 2, 3, 4]
    assert COLUMNS.costs(None) is None


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({"age": 1.0, "dose": 2.0, "weight": 3.0}, "no entry for 'height'"),
        (dict.fromkeys(NAMES, 1.0) | {"hieght": 1.0}, "did you mean 'height'"),
        (pd.Series([1.0, 2.0], index=["age", "age"]), "two entries with the same name"),
    ],
)
def test_invalid_costs(costs, words):
    with pytest.raises(ValueError, match=words):
        COLUMNS.costs(costs)


def test_a_sorted_series_of_costs_keeps_the_budget(table):
    X, y = table
    costs = pd.Series({"age": 5.0, "dose": 1.0, "weight": 1.0, "height": 5.0})
    for order in (costs, costs.sort_values(), costs.sort_index(ascending=False)):
        model = FrugalSVC(feature_costs=order, max_cost=6.0, random_state=0).fit(X, y)
        chosen = model.get_feature_names_out()
        assert costs[chosen].sum() <= 6.0


def test_costs_without_a_budget_are_pointed_out(table):
    with pytest.warns(UserWarning, match="set max_cost"):
        FrugalSVC(feature_costs=np.ones(4), random_state=0).fit(*table)


def test_an_included_column_of_zeros_is_selected(table):
    X, y = table
    X = X.assign(dose=0.0)
    model = FrugalSVC(max_features=2, include=["dose"], random_state=0).fit(X, y)
    assert model.get_support()[1]
    assert model.coef_[0, 1] == 0.0
    assert model.get_support().sum() == 2


def test_prediction_needs_only_the_columns_with_a_weight(table):
    X, y = table
    model = FrugalSVC(max_features=2, random_state=0).fit(X, y)
    chosen = list(model.get_feature_names_out())
    assert len(chosen) == 2
    expected = model.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X[chosen]), expected)
    np.testing.assert_allclose(model.decision_function(X[chosen[::-1]]), expected)
    np.testing.assert_array_equal(model.predict(X[chosen]), model.predict(X))
    sparse = X[chosen].astype(pd.SparseDtype("float64", 0.0))
    np.testing.assert_allclose(model.decision_function(sparse), expected)
    with pytest.raises(ValueError, match="missing"):
        model.predict(X[chosen[:1]])
    with pytest.raises(ValueError, match="unseen at fit time"):
        model.predict(X[chosen].assign(height_cm=1.0))
    with pytest.raises(ValueError, match="NaN"):
        model.predict(X[chosen].assign(**{chosen[0]: np.nan}))


def test_columns_that_are_not_distinct_names_are_left_to_scikit_learn(table):
    X, y = table
    model = FrugalSVC(max_features=2, random_state=0).fit(X, y)
    used = np.flatnonzero(model.coef_[0])
    some = X[list(NAMES[used])]
    assert model._lacks_only_unused_columns(some, used)
    assert not model._lacks_only_unused_columns(pd.concat([some, some], axis=1), used)
    # Some tables have no names here, but the columns themselves.
    odd = SimpleNamespace(columns=[[1.0], [2.0]])
    assert not model._lacks_only_unused_columns(odd, used)
    model.feature_names_in_ = np.array(["age", "height", "age", "height"], dtype=object)
    assert not model._lacks_only_unused_columns(some, used)


def test_a_number_is_no_list_of_features(table):
    with pytest.raises(ValueError, match="include must be a list or an array"):
        FrugalSVC(include=np.array(3)).fit(*table)


def test_a_loaded_model_predicts_without_a_compiler(table, tmp_path):
    X, y = table
    model = FrugalSVC(max_features=2, certificate=True, random_state=0).fit(X, y)
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps((model, X)))
    code = (
        "import pickle, sys\n"
        f"model, X = pickle.load(open({str(path)!r}, 'rb'))\n"
        "model.predict(X); print(model.result_); model.get_support()\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
