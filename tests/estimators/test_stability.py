"""Stability selection: halves, counts and statistics."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest, SelectorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from frugalsvm import FrugalSVC, StabilitySelection, stability_selection
from frugalsvm.estimators.stability import _complementary
from tests.markup import EVIL, parsed


@pytest.fixture(scope="module")
def data():
    """Two features that matter and eight that do not."""
    random = np.random.default_rng(0)
    X = random.normal(size=(101, 10))
    y = np.where(X[:, 3] - X[:, 7] + 0.3 * random.normal(size=101) > 0, "yes", "no")
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(10)]), y


class Witness(SelectorMixin, BaseEstimator):
    """Records its samples and its seed as if they were features."""

    def __init__(self, random_state=None, other=None):
        self.random_state = random_state
        self.other = other

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.mask_ = np.asarray(X).any(axis=0)
        self.mask_[-1] = self.random_state is not None and self.random_state % 2
        return self

    def _get_support_mask(self):
        return self.mask_


def test_relevant_features_are_stable(data):
    model = make_pipeline(StandardScaler(), FrugalSVC(3, method="swap"))
    found = stability_selection(model, *data, n_pairs=4, random_state=0)
    assert found.masks.shape == (8, 10)
    assert (found.masks.sum(axis=1) == 3).all()
    assert sorted(found.stable(1.0)) == ["f3", "f7"]
    assert found.n_pairs == 4
    frame = found.to_frame()
    assert set(frame.index[:2]) == {"f3", "f7"}
    assert frame["frequency"].iloc[0] == 1.0
    assert "f3" in str(found)
    assert len(repr(found)) < 120


def test_seeds_decide_and_jobs_do_not(data):
    model = make_pipeline(StandardScaler(), SelectKBest(k=4), LinearSVC())
    runs = [
        stability_selection(model, *data, n_pairs=3, random_state=seed, n_jobs=jobs)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    ]
    np.testing.assert_array_equal(runs[0].masks, runs[1].masks)
    assert (runs[0].masks != runs[2].masks).any()


def test_halves_are_complementary_and_stratified():
    # Each sample has its own column, so a mask shows the samples of the half.
    y = np.r_[np.zeros(20), np.ones(10)]
    X = np.c_[np.eye(30), np.zeros(30)]
    found = stability_selection(Witness(), X, y, n_pairs=6, random_state=3)
    first, second = found.masks[0::2, :-1], found.masks[1::2, :-1]
    np.testing.assert_array_equal(first, ~second)
    assert (first[:, :20].sum(axis=1) == 10).all()
    assert len({row.tobytes() for row in first}) > 1
    # Estimators get their own seeds; a seed that is set stays.
    assert set(found.masks[:, -1]) == {False, True}
    fixed = stability_selection(Witness(random_state=2), X, y, n_pairs=6)
    assert not fixed.masks[:, -1].any()


def test_one_sample_of_an_odd_class_is_omitted():
    labels = np.array([0] * 5 + [1] * 4)
    first, second = _complementary(labels, np.random.RandomState(0))
    assert first.size == second.size == 4
    assert np.intersect1d(first, second).size == 0


def test_sparse_data(data):
    X, y = data
    found = stability_selection(
        LinearSVC(), sparse.csr_matrix(X.to_numpy()), y, n_pairs=1, random_state=0
    )
    assert found.frequencies.tolist() == [1.0] * 10
    assert np.isnan(found.stability)


def test_measures_computed_by_hand():
    masks = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 1, 0, 0]], bool)
    found = StabilitySelection(masks, list("abcd"))
    np.testing.assert_allclose(found.frequencies, [1, 0.75, 0.25, 0])
    np.testing.assert_allclose(found.simultaneous_frequencies, [1, 0.5, 0, 0])
    # Unbiased variances 0, 1/4, 1/4, 0 over four features; one half is selected.
    assert found.stability == pytest.approx(1 - (0.5 / 4) / 0.25)
    assert found.stable(0.7) == ["a", "b"]
    assert found.expected_low(0.75) == pytest.approx(2**2 / (4 * 0.5))
    same = StabilitySelection(masks[[0, 0]], list("abcd"))
    assert same.stability == 1.0


def test_names_are_text_in_notebooks():
    found = StabilitySelection(np.ones((2, 1), bool), [EVIL])
    page = parsed(found._repr_html_())
    assert "script" not in page.tags
    assert EVIL in page.text


def test_bad_arguments(data):
    X, y = data
    with pytest.raises(ValueError, match="n_pairs must be an integer >= 1, got 0"):
        stability_selection(LinearSVC(), X, y, n_pairs=0)
    with pytest.raises(ValueError, match="class 'rare' has one sample"):
        stability_selection(LinearSVC(), X, ["rare", *["usual"] * 100])
    found = StabilitySelection(np.ones((2, 1), bool), ["a"])
    with pytest.raises(ValueError, match=r"above 0\.5 and at most 1.* got 0\.5"):
        found.expected_low(0.5)
    for wrong in (60, "a", None, True, [0.6], float("nan")):
        with pytest.raises(ValueError, match="must be a number above 0 and at most 1"):
            found.stable(wrong)
        with pytest.raises(ValueError, match=re.escape(f"got {wrong!r}.")):
            found.expected_low(wrong)


def mixed():
    """A table in which the colour matters, and one number of two."""
    random = np.random.default_rng(1)
    colour = random.choice(["red", "green", "blue"], 120)
    X = pd.DataFrame({"a": random.normal(size=120), "colour": colour})
    X["b"] = random.normal(size=120)
    y = np.where((colour == "red") + X["b"] + 0.1 * random.normal(size=120) > 0.5, 1, 0)
    return X, y


def test_an_encoded_column_counts_once():
    encoder = make_column_transformer(
        (OneHotEncoder(), ["colour"]), ("passthrough", ["a", "b"])
    )
    model = make_pipeline(encoder, FrugalSVC(3, method="swap"))
    found = stability_selection(model, *mixed(), n_pairs=2, random_state=0)
    assert found.feature_names == ["a", "colour", "b"]
    assert found.masks.shape == (4, 3)
    assert found.stable(1.0) == ["colour", "b"]


def test_groups_are_counted_for_any_estimator(data):
    X, y = data
    groups = {"odd": ["f1", "f3", "f5"], "rest": ["f0", "f2"]}
    model = SelectKBest(k=2)
    found = stability_selection(
        model, X, y, n_pairs=2, feature_groups=groups, random_state=0
    )
    assert found.feature_names == ["rest", "odd", "f4", "f6", "f7", "f8", "f9"]
    assert sorted(found.stable(1.0)) == ["f7", "odd"]
    single = stability_selection(model, X, y, n_pairs=2, random_state=0)
    assert single.masks.sum() == found.masks.sum()


def test_signs_need_an_estimator_that_takes_them(data):
    with pytest.raises(ValueError, match=r"signs needs an estimator .* LinearSVC does"):
        stability_selection(LinearSVC(), *data, signs={"f3": "+"})


def test_groups_and_signs_are_those_of_the_model(data):
    X, y = data
    groups = {"odd": ["f1", "f3", "f5"], "rest": ["f0", "f2"]}
    options = {"n_pairs": 2, "random_state": 0}
    model = make_pipeline(StandardScaler(), FrugalSVC(2, method="swap"))
    model.set_output(transform="pandas")
    given = stability_selection(model, X, y, feature_groups=groups, **options)
    assert given.feature_names == ["rest", "odd", "f4", "f6", "f7", "f8", "f9"]
    assert sorted(given.stable(1.0)) == ["f7", "odd"]
    own = model.set_params(frugalsvc__feature_groups=groups)
    found = stability_selection(own, X, y, **options)
    assert found.feature_names == given.feature_names
    np.testing.assert_array_equal(found.masks, given.masks)
    # With the wrong sign, a feature that matters is of no use.
    signed = stability_selection(own, X, y, signs={"f7": "+"}, **options)
    assert "f7" not in signed.stable(0.1)
