"""FrugalSVC follows scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from frugalsvm import FrugalSVC


def expected_failures(estimator):
    """Before 1.7 the check draws the two classes of its two data sets differently."""
    name = "check_sample_weight_equivalence_on_dense_data"
    is_old = sklearn.__version__.startswith("1.6.")
    return {name: "mended in scikit-learn 1.7"} if is_old else {}


@parametrize_with_checks(
    [
        FrugalSVC(random_state=0),
        FrugalSVC(max_features=2, method="relax-and-round"),
        FrugalSVC(class_weight="balanced", max_features=None),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def frame():
    data = load_breast_cancer(as_frame=True)
    return data.data, np.where(data.target == 0, "malignant", "benign")


@pytest.fixture(scope="module")
def fitted(frame):
    X, y = frame
    scaler = StandardScaler().set_output(transform="pandas")
    return FrugalSVC(5, C=10.0, random_state=0).fit(scaler.fit_transform(X), y)


def test_wdbc_has_the_proved_optimum(fitted):
    np.testing.assert_allclose(fitted.objective_, 370.40438, rtol=1e-6)
    assert 370.36 < fitted.lower_bound_ <= fitted.objective_
    np.testing.assert_allclose(
        fitted.gap_, 1 - fitted.lower_bound_ / fitted.objective_, rtol=1e-9
    )
    assert fitted.status_ == "optimal"


def test_selects_and_transforms_with_names(fitted, frame):
    X, _ = frame
    assert fitted.get_support().sum() == 5
    names = fitted.get_feature_names_out()
    np.testing.assert_array_equal(names, X.columns[fitted.get_support()])
    assert fitted.transform(X.to_numpy()[:3]).shape == (3, 5)
    table = clone(fitted).set_output(transform="pandas").fit(X / X.std(), frame[1])
    assert isinstance(table.transform(X), pd.DataFrame)


def test_decision_function_is_linear_and_predicts(fitted, frame):
    X = StandardScaler().fit_transform(frame[0])
    scores = X @ fitted.coef_[0] + fitted.intercept_[0]
    np.testing.assert_allclose(fitted.decision_function(X), scores, atol=1e-7)
    expected = fitted.classes_[(scores > 0).astype(int)]
    np.testing.assert_array_equal(fitted.predict(X), expected)
    assert fitted.score(X, frame[1]) > 0.96


def test_survives_pickling(fitted, frame):
    X = StandardScaler().fit_transform(frame[0])
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    assert copy.result_.objective == fitted.result_.objective


def test_grid_search_over_a_pipeline(frame):
    X, y = frame
    pipeline = make_pipeline(
        StandardScaler(), FrugalSVC(random_state=0, method="relax-and-round")
    )
    grid = {"frugalsvc__max_features": [1, 3], "frugalsvc__C": [0.1, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_features_by_name(frame):
    X, y = frame
    scaled = X / X.std()
    model = FrugalSVC(
        3,
        include=["mean texture"],
        exclude=["worst radius", "worst area"],
        initial_support=["worst perimeter"],
        random_state=0,
        method_options={"patience": 10},
    ).fit(scaled, y)
    chosen = set(model.get_feature_names_out())
    assert "mean texture" in chosen
    assert not chosen & {"worst radius", "worst area"}
    assert len(chosen) <= 3


def test_costs_limit_the_selection(frame):
    X, y = frame
    costs = np.linspace(1, 3, 30)
    model = FrugalSVC(
        None,
        feature_costs=costs,
        max_cost=5.0,
        random_state=0,
        method_options={"patience": 10},
    ).fit(X / X.std(), y)
    assert costs[model.get_support()].sum() <= 5.0 + 1e-8
    both = clone(model).set_params(max_features=2).fit(X / X.std(), y)
    assert both.get_support().sum() <= 2


def test_class_weight_is_a_factor_of_the_sample_weight():
    X, y = make_classification(120, 8, random_state=0, weights=[0.8])
    options = {"max_features": 3, "random_state": 0, "method_options": {"patience": 20}}
    weighted = FrugalSVC(class_weight={0: 1.0, 1: 4.0}, **options).fit(X, y)
    by_sample = FrugalSVC(**options).fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
    np.testing.assert_allclose(weighted.objective_, by_sample.objective_, rtol=1e-7)
    balanced = FrugalSVC(class_weight="balanced", **options).fit(X, y)
    factors = {c: 120 / (2 * np.sum(y == c)) for c in (0, 1)}
    explicit = FrugalSVC(class_weight=factors, **options).fit(X, y)
    np.testing.assert_allclose(balanced.objective_, explicit.objective_, rtol=1e-7)


def test_integer_weights_are_repetitions_and_order_does_not_matter():
    X, y = make_classification(60, 8, random_state=1)
    counts = np.random.default_rng(0).integers(0, 4, 60)
    order = np.random.default_rng(1).permutation(60)
    options = {"max_features": 3, "random_state": 0, "gap_tol": 1e-7}
    weighted = FrugalSVC(**options).fit(X[order], y[order], counts[order])
    repeated = FrugalSVC(**options).fit(X.repeat(counts, axis=0), y.repeat(counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-6)


X4 = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 0.2], [3.0, 0.1]])
Y4 = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("parameters", "y", "error", "words"),
    [
        ({}, [0, 0, 0, 0], ValueError, "one class"),
        ({"signs": [1, 0]}, [0, 1, 2, 1], ValueError, r"signs are for two classes.* 3"),
        ({"max_features": -1}, Y4, ValueError, r"max_features.*-1"),
        ({"max_features": 1.5}, Y4, ValueError, r"max_features.*1\.5"),
        ({"C": -2.0}, Y4, ValueError, r"C.*-2\.0"),
        ({"method": "exactly"}, Y4, ValueError, r"method.*exactly"),
        ({"include": ["height"]}, Y4, ValueError, "unknown feature 'height'"),
        ({"exclude": [7]}, Y4, ValueError, "exclude has feature 7"),
        ({"include": [0], "exclude": [0]}, Y4, ValueError, "overlap"),
        ({"include": [0, 1], "max_features": 1}, Y4, ValueError, "include"),
        ({"feature_costs": [1.0, 0.0], "max_cost": 1}, Y4, ValueError, "got 0"),
        ({"method_options": {"x": 1}}, Y4, ValueError, "does not take"),
        ({"class_weight": {0: -1.0, 1: 1.0}}, Y4, ValueError, "class_weight"),
        ({"time_limit": -1}, Y4, ValueError, "time_limit"),
        ({"max_features": True}, Y4, ValueError, "max_features must be an integer"),
        ({"gap_tol": np.nan}, Y4, ValueError, r"gap_tol must be a number >= 0.*nan"),
        ({"max_nodes": 0}, Y4, ValueError, "max_nodes must be an integer >= 1"),
        ({"include": "dose"}, Y4, ValueError, "include must be a list"),
        ({"class_weight": "even"}, Y4, ValueError, "class_weight must be a dict"),
        ({"fit_intercept": "no"}, Y4, ValueError, "fit_intercept must be True or"),
        ({"method_options": [1]}, Y4, ValueError, "method_options must be a dict"),
        ({"n_jobs": 1.5}, Y4, ValueError, r"n_jobs must be an integer.*1\.5"),
        ({"n_jobs": 0}, Y4, ValueError, "n_jobs must be an integer but not 0.*got 0"),
        ({"random_state": "x"}, Y4, ValueError, "random_state must be an integer"),
        ({"verbose": -1}, Y4, ValueError, "verbose must be an integer >= 0"),
        ({"callback": 3}, Y4, ValueError, "callback must be a function or None"),
    ],
)
def test_bad_input_is_explained(parameters, y, error, words):
    with pytest.raises(error, match=words):
        FrugalSVC(**parameters).fit(X4, np.array(y))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.array([[np.nan, 1.0]] * 4), "NaN"),
        (np.array([[np.inf, 1.0]] * 4), "infinity"),
        (np.array([["a", "b"]] * 4), "could not convert string"),
        (X4[:3], "inconsistent numbers of samples"),
    ],
)
def test_bad_data_are_explained(X, words):
    with pytest.raises(ValueError, match=words):
        FrugalSVC().fit(X, Y4)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, 1, 1], "inconsistent"),
        ([[1]] * 4, "shape"),
        ([1, 1, 1, np.nan], "NaN"),
        ([0, 0, 0, 0], "all are zero"),
    ],
)
def test_bad_weights_are_explained(weights, words):
    with pytest.raises(ValueError, match=words):
        FrugalSVC().fit(X4, Y4, sample_weight=weights)


def test_negative_weights_are_rejected():
    with pytest.raises(ValueError, match=r"sample_weight.*-1"):
        FrugalSVC().fit(X4, Y4, sample_weight=[1, 1, -1, 1])


def test_masked_arrays_are_rejected():
    masked = np.ma.masked_greater(X4, 1.0)
    with pytest.raises(ValueError, match="X is a masked array"):
        FrugalSVC(1).fit(masked, Y4)
    with pytest.raises(ValueError, match="y is a masked array"):
        FrugalSVC(1).fit(X4, np.ma.array(Y4, mask=[True, False, False, False]))


def test_unknown_names_list_what_there_is():
    frame = pd.DataFrame(X4, columns=["age", "dose"])
    with pytest.raises(ValueError, match=r"unknown feature 'weight'.*'age', 'dose'"):
        FrugalSVC(include=["weight"]).fit(frame, Y4)
