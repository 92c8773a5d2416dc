"""Scores that differ by rounding are equal."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC
from frugalsvm.problem.ties import decimals_of, most_frequent, rounded


def test_sums_in_another_order_are_equal():
    one = np.array([1.0])
    assert 0.1 + 0.2 - 0.3 != 0.3 - 0.2 - 0.1
    assert rounded(0.1 + 0.2 - 0.3, one) == rounded(0.3 - 0.2 - 0.1, one) == 0.0
    assert rounded(1.0 - 4e-10, one) == 1.0
    assert not np.signbit(rounded(-1e-12, one))
    # A threshold with few decimals is what it was.
    assert rounded(0.3, one) == 0.3


@pytest.mark.parametrize(
    ("largest", "decimals"),
    [(0.0, 8), (1e9, 8), (1.0, 8), (2e-3, 8), (2e-5, 10), (2e-9, 14), (1e-305, 300)],
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


def test_the_most_frequent_score():
    assert most_frequent(np.array([1.0, 0.0, 1.0])) == (1.0, 2)
