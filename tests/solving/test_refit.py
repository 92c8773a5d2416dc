"""Weights with a C of their own: the SVM on the selected features, proved, too."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC

from frugalsvm import FrugalSVC, FrugalSVCCV, PortableModel, Problem, solve, verify
from frugalsvm.solving.polish import with_refit
from tests.reference import brute_force, random_data


@pytest.fixture
def data():
    return random_data(np.random.default_rng(1), 60, 8)


def libsvm_objective(X, y, support, C, weights=None):
    model = SVC(kernel="linear", C=C, tol=1e-8).fit(X[:, support], y, weights)
    w, b = model.coef_[0], model.intercept_[0]
    losses = np.maximum(0, 1 - y * (X[:, support] @ w + b))
    return 0.5 * w @ w + C * (losses if weights is None else weights * losses).sum()


@pytest.mark.parametrize("refit_C", [0.01, 1.0, 30.0])
def test_the_weights_are_those_of_an_svm_on_the_same_features(data, refit_C):
    X, y = data
    plain = FrugalSVC(3, C=0.05, random_state=0).fit(X, y)
    model = FrugalSVC(3, C=0.05, refit_C=refit_C, random_state=0).fit(X, y)
    support = plain.get_support(indices=True)
    np.testing.assert_array_equal(model.get_support(indices=True), support)
    # The selection is what it was.
    assert model.objective_ == plain.objective_
    assert model.lower_bound_ == plain.lower_bound_
    expected = libsvm_objective(X, y, support, refit_C)
    np.testing.assert_allclose(model.refit_objective_, expected, rtol=1e-6)
    assert model.refit_lower_bound_ <= expected * (1 + 1e-12)
    assert model.refit_lower_bound_ >= expected * (1 - 1e-6)
    problem = Problem(X, y, C=refit_C)
    value = problem.objective(model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(model.refit_objective_, value, rtol=1e-12)


def test_the_same_C_changes_nothing(data):
    X, y = data
    plain = FrugalSVC(3, C=0.5, random_state=0).fit(X, y)
    model = FrugalSVC(3, C=0.5, refit_C=0.5, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(model.refit_objective_, plain.objective_, rtol=1e-8)


def test_without_refit_C_there_is_no_refit(data):
    model = FrugalSVC(3, random_state=0).fit(*data)
    assert model.result_.refit is None
    assert not hasattr(model, "refit_objective_")
    with pytest.raises(ValueError, match="refit_C must be a finite number > 0 or None"):
        FrugalSVC(3, refit_C=0).fit(*data)
    with pytest.raises(NotFittedError):
        FrugalSVC(3, refit_C=1.0).predict(data[0])


def test_included_features_get_weights_and_class_weights_count(data):
    X, y = data
    model = FrugalSVC(
        3, C=0.02, refit_C=2.0, include=[5], class_weight={-1: 1, 1: 1.5},
        random_state=0,
    ).fit(X, y)  # fmt: skip
    support = model.get_support(indices=True)
    assert 5 in support
    assert model.coef_[0, 5] != 0
    weights = np.where(y > 0, 1.5, 1.0)
    expected = libsvm_objective(X, y, support, 2.0, weights)
    np.testing.assert_allclose(model.refit_objective_, expected, rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "branch-and-bound", "relax-and-round"])
def test_certificates_prove_both(data, method, tmp_path):
    X, y = data
    model = FrugalSVC(
        3, C=0.1, refit_C=5.0, method=method, certificate=True, random_state=0
    ).fit(X, y)
    model.result_.save_certificate(tmp_path / "proof.npz")
    proved = verify(tmp_path / "proof.npz", X, y, C=0.1, refit_C=5.0, max_features=3)
    optimum, _ = brute_force(Problem(X, y, C=0.1, max_features=3))
    assert proved.lower_bound <= optimum * (1 + 1e-9)
    assert proved.refit.objective >= model.refit_objective_ * (1 - 1e-9)
    assert proved.refit.lower_bound >= model.refit_lower_bound_ * (1 - 1e-9)
    assert proved.refit.gap < 1e-6


def test_samples_of_weight_zero_and_no_intercept(data):
    X, y = data
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.0], 60)
    weights[:2] = 1.0
    model = FrugalSVC(
        2, C=0.1, refit_C=1.0, fit_intercept=False, certificate=True, random_state=0
    ).fit(X, y, sample_weight=weights)
    assert model.intercept_[0] == 0.0
    proved = verify(
        model.result_.certificate, X, y, C=0.1, refit_C=1.0, sample_weight=weights,
        fit_intercept=False,
    )  # fmt: skip
    assert proved.refit.gap < 1e-6


def test_no_feature_at_all(data):
    X, y = data
    result = solve(Problem(X, y, max_features=0), certificate=True)
    refitted = with_refit(Problem(X, y, max_features=0), result, 3.0)
    assert not refitted.refit.coef.any()
    assert verify(refitted.certificate, X, y, refit_C=3.0).refit.gap < 1e-6


def test_printed_results_say_which_C_the_weights_have(data):
    model = FrugalSVC(3, C=0.05, refit_C=2.0, random_state=0).fit(*data)
    assert "computed with C = 2" in str(model.result_)
    assert "computed with C = 2" in model._repr_html_()


def test_portable_models_know_what_is_proved_about_their_weights(data):
    model = FrugalSVC(3, C=0.05, refit_C=2.0, random_state=0).fit(*data)
    portable = PortableModel.from_estimator(model)
    assert portable == PortableModel.from_json(portable.to_json())
    refit = portable.proof.refit
    assert (refit.C, refit.objective) == (2.0, model.refit_objective_)
    assert portable.proof.objective == model.objective_
    np.testing.assert_allclose(
        portable.decision_function(data[0]), model.decision_function(data[0])
    )


def test_cross_validation_proves_its_refit(data):
    X, y = data
    model = FrugalSVCCV(
        [2, 3], C=[0.05], refit_C=[0.1, 10.0], scale=False, random_state=0
    ).fit(X, y)
    refit = model.result_.refit
    assert model.best_refit_C_ == refit.C
    np.testing.assert_allclose(model.coef_[0], refit.coef)
    support = model.get_support(indices=True)
    expected = libsvm_objective(X, y, support, refit.C)
    np.testing.assert_allclose(model.refit_objective_, expected, rtol=1e-6)
