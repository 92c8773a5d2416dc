"""Features far from zero: the intercept is for the data as given."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC
from frugalsvm.paper.baselines import ElasticNetSVC, L1FrugalSVC
from tests.reference import random_data


@pytest.mark.parametrize(
    "model", [FrugalSVC(2, random_state=0), L1FrugalSVC(2), ElasticNetSVC(0.1)]
)
def test_shifted_data_give_the_same_decisions(model):
    X, y = random_data(np.random.default_rng(0), 40, 4)
    plain = model.fit(X, y).decision_function(X)
    far = X + np.array([0.0, 1e4, -1e5, 0.0])
    shifted = model.fit(far, y).decision_function(far)
    np.testing.assert_allclose(shifted, plain, atol=1e-4)
