"""Both budgeted classifiers handle costs alike, and warnings point at the caller."""

import numpy as np
import pytest
from sklearn.base import clone

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


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_failing_fit_keeps_the_previous_model(model, data):
    """Errors in labels, constraints or the search itself."""
    X, y = data
    fresh = clone(model)
    model.fit(X, y)
    before, labels = dict(vars(model)), model.predict(X)
    other = X[:, :3], np.where(y, "yes", "no")
    for wrong in (
        {"include": [9]},
        {"max_cost": -1.0},
        {"random_state": "seven"},
        {"class_weight": {"yes": -1.0}},
    ):
        defaults = {name: getattr(model, name) for name in wrong}
        for one in (model, fresh):
            one.set_params(**wrong)
            with pytest.raises(ValueError, match=next(iter(wrong))):
                one.fit(*other)
            one.set_params(**defaults)
        assert not hasattr(fresh, "classes_")
        assert not hasattr(fresh, "n_features_in_")
    with pytest.raises(ValueError, match="only one class"):
        model.fit(other[0], np.full(40, "no"))
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), labels)


def test_a_failing_callback_keeps_the_previous_model(data):
    X, y = data
    model = FrugalSVC(2, effort="fast", random_state=0).fit(X, y)
    labels = model.predict(X)

    def fail(progress):
        raise RuntimeError("full disk")

    model.set_params(callback=fail)
    with pytest.raises(RuntimeError, match="full disk"):
        model.fit(X[:, :3], np.where(y, "yes", "no"))
    np.testing.assert_array_equal(model.predict(X), labels)
