"""Scores that differ by rounding are equal."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from frugalsvm import FrugalSVC, FrugalSVCCV
from frugalsvm.output.report import cross_validation_of
from frugalsvm.problem.ties import decimals_of, most_frequent, rounded


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
