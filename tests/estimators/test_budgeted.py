"""Both classifiers with a budget say the same of costs, and point at who called."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC, FrugalSVCCV

MODELS = [
    FrugalSVC(2, effort="fast", random_state=0),
    FrugalSVCCV([1, 2], [1.0], cv=2, effort="fast", random_state=0),
]


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).normal(size=(40, 4))
    return X, X[:, 0] + 0.1 * X[:, 1] > 0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_costs_that_limit_nothing_are_reported_where_fit_is_called(model, data):
    model.set_params(feature_costs=np.ones(4))
    with pytest.warns(UserWarning, match="set max_cost") as caught:
        model.fit(*data)
    model.set_params(feature_costs=None)
    assert {one.filename for one in caught} == {__file__}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_included_features_are_in_the_support(model, data):
    X, y = data
    model.set_params(include=[3]).fit(np.c_[X[:, :3], np.zeros(40)], y)
    model.set_params(include=())
    assert 3 in model.get_support(indices=True)
    assert model.coef_[0, 3] == 0.0
