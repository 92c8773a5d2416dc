"""Sections of a file: weights with a C of their own, and scaled data."""

import numpy as np
import pytest

from frugalsvm import InvalidCertificate, Problem, solve, verify
from tests.checker.forging import sealed
from tests.reference import random_data

C, REFIT_C = 0.1, 3.0


def refitted(problem, result, refit_C=REFIT_C, **changes):
    """The certificate of a result with a refit, some of whose claims may be changed."""
    other = problem.with_C(refit_C)
    support = np.union1d(result.selected, problem.include).astype(np.int64)
    svm = other.engine.solve_svm(support, tol=1e-10)
    coef = np.zeros(problem.n_features)
    coef[support] = svm.w
    region = other.root_region()._replace(forced=support, free=support[:0], k=0)
    proved = other.engine.bound(region, svm.alpha)
    intercept = other.unshifted_intercept(coef, svm.b)
    arguments = {
        "weights": other.weights, "coef": svm.w, "intercept": intercept,
        "objective": other.objective(coef, intercept), "lower_bound": proved.bound,
        "alpha": proved.alpha,
    }  # fmt: skip
    return result.certificate.with_refit(**(arguments | changes))


@pytest.fixture(params=[True, False], ids=["intercept", "no intercept"])
def fitted(request):
    X, y = random_data(np.random.default_rng(3), 40, 6)
    weights = np.random.default_rng(4).choice([0.0, 0.5, 2.0], 40)
    weights[:2] = 1.0
    problem = Problem(
        X, y, C=C, sample_weight=weights, max_features=3, include=[2],
        fit_intercept=request.param,
    )  # fmt: skip
    result = solve(problem, method="branch-and-bound", certificate=True)
    return X, y, weights, problem, result


def test_both_problems_are_proved(fitted):
    X, y, weights, problem, result = fitted
    proved = verify(
        refitted(problem, result), X, y, C=C, refit_C=REFIT_C, sample_weight=weights
    )
    assert proved.gap <= 1e-4
    assert proved.lower_bound == verify(result.certificate, X, y).lower_bound
    refit = proved.refit
    support = np.union1d(result.selected, problem.include).astype(np.int64)
    # The SVM on these features alone, by the tree of another problem.
    alone = solve(
        Problem(X[:, support], y, C=REFIT_C, sample_weight=weights,
                fit_intercept=problem.fit_intercept), gap_tol=0.0,
    )  # fmt: skip
    assert refit.lower_bound <= alone.objective * (1 + 1e-12)
    assert refit.objective >= alone.lower_bound * (1 - 1e-12)
    assert 0 <= refit.gap <= 1e-8
    np.testing.assert_array_equal(refit.weights, REFIT_C * weights)
    assert f"on these {result.selected.size} features" in str(proved)
    assert "C times sample weights 1.5 to 6" in str(proved)


def test_without_a_refit_there_is_none(fitted):
    X, y, _, _, result = fitted
    assert verify(result.certificate, X, y).refit is None
    with pytest.raises(InvalidCertificate, match="nothing about a refit"):
        verify(result.certificate, X, y, refit_C=1.0)


def test_another_refit_C_is_noticed(fitted):
    X, y, weights, problem, result = fitted
    proof = refitted(problem, result)
    with pytest.raises(InvalidCertificate, match="refit_C or sample_weight is"):
        verify(proof, X, y, C=C, refit_C=1.0, sample_weight=weights)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: {"refit_objective": a["refit_objective"] * 0.999}, "claimed, but"),
        (lambda a: {"refit_lower_bound": a["refit_lower_bound"] * 1.001}, "only"),
        (lambda a: {"refit_lower_bound": np.array(np.nan)}, "only"),
        (lambda a: {"refit_objective": np.array(np.inf)}, "claimed, but"),
        (lambda a: {"refit_coef": a["refit_coef"] * 1.01}, "claimed, but"),
        (lambda a: {"refit_coef": a["refit_coef"][1:]}, "another length"),
        (lambda a: {"refit_coef": np.full(7, 0.1)}, "too long"),
        (lambda a: {"refit_coef": a["refit_coef"] * np.nan}, "not finite"),
        (lambda a: {"refit_alpha": a["refit_alpha"] * 0.5}, "only"),
        (lambda a: {"refit_alpha": -a["refit_alpha"]}, "negative"),
        (lambda a: {"refit_alpha": a["refit_alpha"] * np.nan}, "negative"),
        (lambda a: {"refit_alpha": a["refit_alpha"][1:]}, "inconsistent"),
        (lambda a: {"refit_sample": a["refit_sample"][::-1].copy()}, "refit_sample"),
        (lambda a: {"refit_sample": a["refit_sample"] + 40}, "refit_sample"),
        (lambda a: {"refit_sample": a["refit_sample"] - 40}, "refit_sample"),
        (lambda a: {"refit_weights": a["refit_weights"][1:]}, "wrong length"),
        (lambda a: {"refit_weights": a["refit_weights"] * 2}, "claimed, but"),
        (lambda a: {"refit_weights": a["refit_weights"] + 1.0}, "bad refit_weights"),
        (lambda a: {"refit_weights": -a["refit_weights"]}, "bad refit_weights"),
        (lambda a: {"refit_weights": a["refit_weights"] * 1e40}, "bad refit_weights"),
        (lambda a: {"format": np.array(2)}, "unknown format"),
    ],
)
def test_forged_refits_are_rejected(fitted, change, words):
    X, y, _, problem, result = fitted
    arrays = dict(refitted(problem, result).arrays)
    with pytest.raises(InvalidCertificate, match=words):
        verify(sealed(arrays, **change(arrays)), X, y)


@pytest.mark.parametrize("name", ["refit_coef", "refit_alpha", "refit_intercept"])
def test_a_section_is_whole(fitted, name):
    X, y, _, problem, result = fitted
    arrays = dict(refitted(problem, result).arrays)
    del arrays[name]
    with pytest.raises(InvalidCertificate, match=f"{name} missing"):
        verify(sealed(arrays), X, y)


def test_random_forgeries_prove_nothing_false():
    """Whatever weights and dual points say, bounds hold for the SVM they are about."""
    rng = np.random.default_rng(0)
    n_accepted = 0
    for seed in range(60):
        X, y = random_data(np.random.default_rng(seed), 12, 4)
        problem = Problem(X, y, C=1.0, max_features=2)
        result = solve(problem, method="relax-and-round", certificate=True)
        arrays = dict(refitted(problem, result).arrays)
        alpha = rng.uniform(0, 5, 12) * rng.choice([1e-3, 1.0, 1e3])
        forged = sealed(
            arrays, refit_sample=np.arange(12), refit_alpha=alpha,
            refit_lower_bound=np.array(-1e300),
        )  # fmt: skip
        proved = verify(forged, X, y).refit
        optimum = float(arrays["refit_objective"])
        assert proved.lower_bound <= optimum
        n_accepted += proved.lower_bound > 0
    assert n_accepted > 10
