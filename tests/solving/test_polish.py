"""Polished weights: the samples on the margin are exactly there."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC, Problem, solve, verify
from frugalsvm.estimators.models import svm_on
from frugalsvm.problem.solution import rounded
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.solving.polish import NOTHING, RISE, PrimalPoint, polished
from tests.classes import class_problem

KINDS = ("plain", "weights", "no intercept", "signs", "groups", "standardised")


def categories(seed, n=80, k=5):
    """Columns of zeros, ones and twos, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, k)).astype(float)
    y = np.where(X @ rng.normal(size=k) + 0.5 * rng.normal(size=n) > 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def categorical_problem(kind, seed):
    X, y = categories(seed)
    arguments = {}
    if kind == "weights":
        arguments["sample_weight"] = np.where(y > 0, 3.0, 1.0)
    elif kind == "no intercept":
        arguments["fit_intercept"] = False
    elif kind == "signs":
        arguments["signs"] = np.array([1, 1, -1, 0, 1])
    elif kind == "groups":
        arguments["feature_groups"] = np.array([0, 0, 1, 1, 2])
    elif kind == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Problem(X, y, **arguments)


def rough(problem, tol=1e-9):
    """The SVM on all features, as a solver leaves it."""
    solution = Evaluator(problem).solve(np.arange(problem.n_features), tol=tol)
    return PrimalPoint.of(problem, solution)


@pytest.mark.parametrize("tol", [1e-7, 1e-9])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_margins_are_exact_and_nothing_gets_worse(kind, seed, tol):
    problem = categorical_problem(kind, seed)
    before = rough(problem, tol)
    after = polished(problem, before)
    far = np.abs(1.0 - problem.margins(after.coef, after.intercept))
    assert (far < 1e-5).sum() > 0
    assert far[far < 1e-5].max() < 1e-12
    assert after.objective == problem.objective(after.coef, after.intercept)
    assert after.objective <= before.objective * (1 + RISE)
    assert (after.coef * before.coef >= 0).all()
    assert not after.coef[before.coef == 0].any()
    sizes = np.abs(after.coef)
    assert (sizes[sizes > 0] > NOTHING * sizes.max() / 10).all()
    # Once more changes nothing.
    again = polished(problem, after)
    np.testing.assert_allclose(again.coef, after.coef, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_numbers_come_out_from_everywhere_nearby(seed):
    problem = categorical_problem("plain", seed)
    best = polished(problem, rough(problem))
    rng = np.random.default_rng(seed)
    for _ in range(10):
        coef = best.coef * (1.0 + 1e-11 * rng.normal(size=best.coef.size))
        near = PrimalPoint(coef, best.intercept + 1e-11 * rng.normal(), 0.0)
        near = near._replace(objective=problem.objective(coef, near.intercept))
        found = polished(problem, near)
        np.testing.assert_allclose(found.coef, best.coef, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(found.intercept, best.intercept, atol=1e-13)


def test_weights_of_a_single_category_are_whole_numbers():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.repeat([-1.0, 1.0], 20)
    result = solve(Problem(X, y, C=1.0), random_state=0)
    assert result.coef.tolist() == [2.0]
    assert result.intercept == -1.0
    # Weights of noise are zero, and so is the intercept between equal classes.
    both = np.column_stack([2.0 * X[:, 0] - 1.0, np.tile([-1.0, 1.0], 20)])
    model = svm_on(Problem(both, y), np.arange(2))
    assert model.coef.tolist() == [1.0, 0.0]
    assert model.intercept == 0.0


def test_nothing_is_too_small_to_be_polished():
    X, y = categories(0)
    nothing = np.zeros(X.shape[1])
    for fit_intercept in (True, False):
        problem = Problem(X, y, fit_intercept=fit_intercept)
        value = problem.objective(nothing, 0.0)
        found = polished(problem, PrimalPoint(nothing, 0.0, value))
        assert not found.coef.any()
        assert found.objective <= value
    # Columns that are zero wherever the weights of others decide.
    X[:, 1:] *= X[:, :1] > 1
    problem = Problem(X, y, fit_intercept=False)
    before = rough(problem)
    assert polished(problem, before).objective <= before.objective * (1 + RISE)


@pytest.mark.parametrize("scale", [1e-40, 1e-10, 1e10, 1e40])
def test_extreme_sizes_are_polished(scale):
    X, y = categories(0)
    problem = Problem(scale * X, y, C=float(np.clip(scale**-2.0, 1e-30, 1e30)))
    before = rough(problem)
    after = polished(problem, before)
    assert after.objective <= before.objective * (1 + RISE)


@pytest.mark.parametrize("repeat", [1, 3])
def test_an_intercept_that_is_free_is_in_the_middle(repeat):
    # Both samples are below the margin for -1 <= b <= 0.9, and the loss is the same.
    X, y = np.array([[0.0], [1.0]]), np.array([-1.0, 1.0])
    weight = np.full(2, float(repeat))
    for problem in (
        Problem(X, y, C=0.1 / repeat, sample_weight=weight),
        Problem(np.repeat(X, repeat, axis=0), np.repeat(y, repeat), C=0.1 / repeat),
    ):
        result = solve(problem, random_state=0)
        assert result.coef[0] == pytest.approx(0.1, rel=1e-12)
        assert result.intercept == pytest.approx(-0.05, rel=1e-12)


def test_included_features_stay():
    X, y = categories(0)
    X[:, 1] = np.tile([1.0, 1.0, 0.0, 0.0], 20)
    twice = np.vstack([X, X])
    # Each row has a twin with the other value, so that its best weight is zero.
    twice[80:, 1] = 1.0 - twice[:80, 1]
    problem = Problem(twice, np.tile(y, 2), include=[1], max_features=3)
    result = solve(problem, random_state=0)
    assert abs(result.coef[1]) < 1e-6
    model = FrugalSVC(3, include=[1], random_state=0).fit(twice, np.tile(y, 2))
    assert 1 in model.get_support(indices=True)


def test_a_limit_is_kept():
    problem = categorical_problem("plain", 0)
    exact = polished(problem, rough(problem))
    worse = exact._replace(objective=exact.objective * (1 - 1e-6))
    assert polished(problem, worse) is worse
    before = rough(problem)
    assert polished(problem, before, limit=0.5 * before.objective) is before


@pytest.mark.parametrize("kind", ["plain", "groups", "four", "no intercept"])
def test_machines_are_polished_one_by_one(kind):
    problem = class_problem(kind, 4)
    before = rough(problem)
    after = polished(problem, before)
    assert after.objective <= before.objective * (1 + RISE)
    far = np.abs(1.0 - problem.margins(after.coef, after.intercept))
    assert far[far < 1e-5].max(initial=0.0) < 1e-12
    assert np.shape(after.intercept) == (problem.n_machines,)


@pytest.mark.parametrize("kind", KINDS)
def test_the_certificate_is_about_polished_weights(kind, tmp_path):
    X, y = categories(1)
    whole = categorical_problem(kind, 1)
    problem = whole.with_budget(2)
    result = solve(problem, certificate=True, random_state=0)
    far = np.abs(1.0 - problem.margins(result.coef, result.intercept))
    assert far[far < 1e-5].max() < 1e-12
    result.save_certificate(tmp_path / "proof.npz")
    if kind == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    report = verify(tmp_path / "proof.npz", X, y)
    assert report.objective == pytest.approx(result.objective, rel=1e-12)
    assert report.lower_bound <= result.objective
    assert report.lower_bound >= result.lower_bound * (1 - 1e-12)


def test_refits_are_polished():
    X, y = categories(2)
    model = FrugalSVC(3, C=0.1, refit_C=10.0, random_state=0).fit(X, y)
    margins = y * (X @ model.coef_[0] + model.intercept_[0])
    far = np.abs(1.0 - margins)
    assert (far < 1e-5).any()
    assert far[far < 1e-5].max() < 1e-12


def test_very_many_samples_are_polished():
    from frugalsvm.solving.options import PartSizes, SolveOptions
    from frugalsvm.solving.solver import run_or_raise

    X, y = categories(3, n=4000)
    options = SolveOptions(effort="fast", part_sizes=PartSizes(1000, 2000))
    result = run_or_raise(Problem(X, y, max_features=3), options)
    assert result.method == "parts"
    far = np.abs(1.0 - y * (X @ result.coef + result.intercept))
    assert far[far < 1e-6].max() < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_noise_of_a_billionth_changes_no_class(seed):
    X, y = categories(seed, n=60)
    model = FrugalSVC(2, random_state=0).fit(X, y)
    expected, scores = model.predict(X), model.decision_function(X)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        noise = 1e-9 * rng.uniform(-1, 1, X.shape)
        again = FrugalSVC(2, random_state=0).fit(X + noise, y)
        np.testing.assert_array_equal(again.predict(X + noise), expected)
        np.testing.assert_array_equal(model.predict(X + noise), expected)
        np.testing.assert_allclose(again.decision_function(X), scores, atol=3e-7)


def test_a_score_of_zero_is_no_score_of_rounding():
    # With these columns the score of many rows is 0, and the class must not depend on
    # the order of summation.
    X, y = categories(0, n=200, k=6)
    model = FrugalSVC(4, random_state=0).fit(X, y)
    exact = X @ model.coef_[0] + model.intercept_[0]
    other = model.intercept_[0] + (X * model.coef_[0])[:, ::-1].sum(axis=1)
    for scores in (exact, other):
        scores = rounded(scores, model.coef_)
        np.testing.assert_array_equal(scores, model.decision_function(X))
