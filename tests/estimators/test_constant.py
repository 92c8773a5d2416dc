"""Estimators warn of models that predict one class."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse

import frugalsvm
from frugalsvm import ConstantModelWarning, FrugalSVC, FrugalSVCCV
from tests.reference import rare


@pytest.fixture
def data():
    X, signs = rare()
    return X, np.where(signs > 0, "sick", "well")


def test_the_warning_is_public():
    assert "ConstantModelWarning" in frugalsvm.__all__
    assert issubclass(ConstantModelWarning, UserWarning)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_array])
def test_a_constant_model_is_warned_of_and_shown_as_one(data, form):
    X, y = data
    with pytest.warns(ConstantModelWarning) as caught:
        model = FrugalSVC(5, random_state=0).fit(form(X), y)
    (one,) = caught
    assert one.filename == __file__
    words = str(one.message)
    assert "predicts 'well' for all 400 training samples" in words
    assert "though 20 are 'sick'" in words
    assert "class_weight='balanced', which counts each 'sick' 10 times" in words
    assert "C=10 instead of 1" in words
    assert "--class-weight balanced" in words
    assert set(model.predict(X)) == {"well"}
    page = model._repr_html_().split("frugalsvm-report")[1]
    assert page.index(
        "constant model, of no use: it predicts &#x27;well&#x27;"
    ) < page.index("intercept")
    assert model.summary().attrs["warning"] == words


def test_balanced_weights_help(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantModelWarning)
        balanced = FrugalSVC(5, class_weight="balanced", random_state=0).fit(X, y)
    assert set(balanced.predict(X)) == {"sick", "well"}
    assert "warning" not in balanced.summary().attrs
    assert "constant" not in balanced._repr_html_().split("frugalsvm-report")[1]
    assert pickle.loads(pickle.dumps(balanced)).summary().equals(balanced.summary())


def test_samples_of_weight_zero_do_not_count(data):
    X, y = data
    # The others are predicted alike, whatever the model says of those without weight.
    weights = np.r_[np.ones(20), np.ones(20), np.zeros(360)]
    model = FrugalSVC(5, C=1e-4, random_state=0)
    with pytest.warns(ConstantModelWarning, match="all 40 training samples"):
        model.fit(X, y, sample_weight=weights * np.r_[np.ones(20), np.full(380, 2.0)])


def test_the_weights_that_predict_are_judged(data):
    """Not those of the C that selected the features."""
    X, signs = data[0], np.where(np.arange(400) % 2 == 0, 1, -1)
    X = X.copy()
    X[:, 0] += 2.0 * signs
    y = np.where(np.arange(400) % 8 == 0, 1, -1)
    grid = {"max_features": [2], "C": [10.0], "cv": 2, "effort": "fast"}
    X[:, 1] += 2.0 * (y > 0)
    with pytest.warns(ConstantModelWarning):
        weak = FrugalSVCCV(**grid, refit_C=[1e-9], random_state=0).fit(X, y)
    assert np.unique(weak.predict(X)).size == 1
    # The weights of the selection predict both classes, those of the refit do not.
    assert weak.result_.constant == -1
    assert not weak.coef_.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConstantModelWarning)
        FrugalSVCCV(**grid, random_state=0).fit(X, y)
