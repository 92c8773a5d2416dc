"""Sigmoids, compared with scikit-learn's."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from frugalsvm.export import Sigmoid
from frugalsvm.export.calibration import expit, fit_sigmoid, from_calibrator


@pytest.mark.parametrize("case", ["overlap", "separable", "far"])
def test_sigmoids_are_those_of_scikit_learn(case):
    random = np.random.default_rng(0)
    scores = random.normal(size=200)
    positive = scores + (case == "overlap") * random.normal(size=200) > 0.3
    scores = 1e4 + 5 * scores if case == "far" else scores
    own = fit_sigmoid(scores, positive)
    # A model whose score is its only feature.
    identity = LogisticRegression().fit(scores[:, None], positive)
    identity.coef_, identity.intercept_ = np.ones((1, 1)), np.zeros(1)
    peer = CalibratedClassifierCV(FrozenEstimator(identity)).fit(
        scores[:, None], positive
    )
    expected = peer.predict_proba(scores[:, None])[:, 1]
    np.testing.assert_allclose(own.probability(scores), expected, atol=1e-3)


def test_a_constant_score_has_the_frequency():
    positive = np.arange(10) < 3
    found = fit_sigmoid(np.full(10, 7.0), positive)
    p = found.probability(np.array([7.0]))[0]
    targets = (3 * (4 / 5) + 7 * (1 / 9)) / 10
    assert p == pytest.approx(targets)


def test_expit_at_the_ends():
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(
            expit(np.array([-1e9, 0.0, 1e9])), [0.0, 0.5, 1.0]
        )


def test_unknown_calibrators_are_rejected():
    with pytest.raises(ValueError, match="calibration int is not supported"):
        from_calibrator(3)
    assert from_calibrator(Sigmoid(1.0, 2.0)) == Sigmoid(1.0, 2.0)
