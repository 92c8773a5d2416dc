"""Scores that differ by rounding are equal."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from frugalsvm import FrugalSVC, FrugalSVCCV, PortableModel
from frugalsvm.problem.solution import decimals_of, most_frequent, rounded
from frugalsvm.report import cross_validation_of


def test_sums_in_another_order_are_equal():
    one = np.array([1.0])
    assert 0.1 + 0.2 - 0.3 != 0.3 - 0.2 - 0.1
    assert rounded(0.1 + 0.2 - 0.3, one) == rounded(0.3 - 0.2 - 0.1, one) == 0.0
    assert rounded(1.0 - 4e-10, one) == 1.0
    assert not np.signbit(rounded(-1e-12, one))
    # The largest numbers have no decimals.
    assert rounded(np.array([1e305, np.inf]), one).tolist() == [1e305, np.inf]
    # A threshold with few decimals is what it was.
    assert rounded(0.3, one) == 0.3


@pytest.mark.parametrize(
    ("largest", "decimals"),
    [(0.0, 7), (1e9, 7), (1.0, 7), (2e-3, 7), (2e-5, 9), (2e-9, 13), (1e-305, 300)],
)
def test_small_weights_have_more_decimals(largest, decimals):
    assert decimals_of(np.array([0.0, -largest])) == decimals


def test_large_intercepts_leave_fewer_decimals():
    weights = np.array([1.0, -2.0])
    assert decimals_of(weights, 0.5) == decimals_of(weights, [0.0, 3.0]) == 7
    assert decimals_of(weights, -3e9) == 4
    assert decimals_of(1e-12 * weights, 2.0) == 13
    assert decimals_of(weights, 1e20) == 0


def test_single_precision_ties_as_double_does():
    rng = np.random.default_rng(5)
    X = rng.integers(-1, 2, (200, 8)).astype(np.float32)
    y = X @ rng.integers(-1, 2, 8) + 0.5 * rng.normal(size=200) > 0
    model = make_pipeline(StandardScaler(), FrugalSVC(4, random_state=0, effort="fast"))
    labels = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(labels, model.predict(X.astype(float)))
    portable = PortableModel.from_estimator(model)
    np.testing.assert_array_equal(labels, portable.predict(X))


def test_a_common_offset_does_not_decide():
    rng = np.random.default_rng(4)
    X = rng.integers(-1, 2, (150, 6)) + 1e9
    y = X @ rng.integers(-1, 2, 6) + 0.5 * rng.normal(size=150)
    model = FrugalSVC(3, random_state=0, effort="fast").fit(X, y > np.median(y))
    portable = PortableModel.from_estimator(model)
    np.testing.assert_array_equal(model.predict(X), portable.predict(X))


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_weights_of_any_size_predict(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 0] > 0.1, 1, -1)
    plain = FrugalSVC(1, random_state=0).fit(X, y)
    scaled = FrugalSVC(1, C=scale**-2, random_state=0).fit(scale * X, y)
    np.testing.assert_array_equal(scaled.predict(scale * X), plain.predict(X))


def test_the_first_of_equal_classes_is_predicted():
    # Two machines that use no feature, and differ in the last digit.
    model = FrugalSVC(1)
    model.classes_ = np.array(["a", "b", "c", "d"])
    model.coef_ = np.array([[1.0], [0.0], [0.0], [0.0]])
    model.intercept_ = np.array([-3.0, -1.0 - 1e-13, -1.0, -1.0 + 1e-13])
    model.n_features_in_ = 1
    assert model.predict(np.array([[0.0], [5.0]])).tolist() == ["b", "a"]


def test_an_auc_counts_equal_scores_one_half():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 4)).astype(float)
    y = np.where(X @ [1.0, 0.4, 0.3, 0.0] + rng.normal(size=200) > 1.7, 1, -1)
    model = FrugalSVC(3, random_state=0).fit(X, y)
    scores = model.decision_function(X)
    area = roc_auc_score(y, scores)
    assert area == roc_auc_score(y, np.round(scores, 6))
    folds = np.arange(200) % 2
    expected = cross_validation_of(y > 0, scores, folds)
    noise = 1e-12 * rng.normal(size=200)
    found = cross_validation_of(y > 0, scores + noise, folds)
    assert found.score("AUC") == expected.score("AUC")
    np.testing.assert_array_equal(found.confusion, expected.confusion)
    # So does a choice by AUC, whose scorers see rounded scores.
    chosen = FrugalSVCCV([1, 2], scoring="roc_auc", cv=2, random_state=0).fit(X, y)
    again = FrugalSVCCV([1, 2], scoring="roc_auc", cv=2, random_state=0)
    again.fit(X + 1e-13 * rng.uniform(-1, 1, X.shape), y)
    np.testing.assert_allclose(
        again.cv_results_["mean_test_score"], chosen.cv_results_["mean_test_score"]
    )


def test_the_most_frequent_score():
    assert most_frequent(np.array([1.0, 0.0, 1.0])) == (1.0, 2)
