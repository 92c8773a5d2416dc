"""The SVM kernel agrees with Clarabel and satisfies duality."""

import numpy as np
import pytest

from frugalsvm.engine.native import NativeEngine
from tests.reference import random_data, signed_rows, svm_value


def solve(X, y, C, intercept=True, **options):
    A = signed_rows(X, y)
    weights = np.broadcast_to(np.asarray(C, dtype=float), y.shape).copy()
    engine = NativeEngine.of(A, y, weights, intercept)
    return engine.solve_svm(np.arange(X.shape[1]), **options)[:5]


def objective(X, y, C, w, b):
    return 0.5 * w @ w + np.sum(C * np.maximum(0, 1 - y * (X @ w + b)))


def assert_solved(X, y, C, tol=1e-8, intercept=True):
    w, b, alpha, primal, dual = solve(X, y, C, tol=tol, intercept=intercept)
    assert primal - dual <= 1.01 * tol * abs(primal)
    np.testing.assert_allclose(primal, objective(X, y, C, w, b), rtol=1e-9)
    assert np.all(alpha >= 0)
    assert np.all(alpha <= np.asarray(C))
    if intercept:
        assert abs(y @ alpha) <= 1e-10 * alpha.sum()
    else:
        assert b == 0.0
    return primal


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize(("m", "p"), [(2, 1), (20, 3), (60, 10), (15, 40)])
def test_agrees_with_clarabel(m, p, separable, intercept):
    rng = np.random.default_rng(m + p)
    X, y = random_data(rng, m, p, separable=separable)
    C = rng.uniform(0.1, 5.0, m)
    value = assert_solved(X, y, C, intercept=intercept)
    np.testing.assert_allclose(value, svm_value(X, y, C, intercept), rtol=1e-6)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("separable", [True, False])
def test_reaches_the_gap_on_any_scale(C, scale, separable):
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 120, 6, separable=separable)
    assert_solved(scale * X, y, C)


@pytest.mark.parametrize("C", [1e-2, 10.0, 1e4])
def test_features_of_very_different_scales_are_solved(C):
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 100, 6)
    assert_solved(X * 10.0 ** np.arange(-6, 6, 2), y, C)


def test_large_means_lose_no_digits():
    rng = np.random.default_rng(2)
    X, y = random_data(rng, 80, 4)
    centred = assert_solved(X, y, 10.0)
    # Exactly representable shifts, so both problems have the same optimum.
    X = np.round(X * 2**20) / 2**20
    shifted = solve(X + 2.0**20, y, 10.0)[3]
    np.testing.assert_allclose(shifted, solve(X, y, 10.0)[3], rtol=1e-7)
    np.testing.assert_allclose(shifted, centred, rtol=1e-4)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e6])
def test_duplicate_and_constant_features_are_solved(C):
    rng = np.random.default_rng(3)
    X, y = random_data(rng, 50, 3)
    X = np.column_stack([X, X[:, 0], np.ones(50), np.zeros(50)])
    assert_solved(X, y, C)


def test_repeated_samples_count_with_their_weight():
    rng = np.random.default_rng(4)
    X, y = random_data(rng, 10, 3)
    once = assert_solved(X, y, 3.0)
    thrice = assert_solved(np.repeat(X, 3, axis=0), np.repeat(y, 3), 1.0)
    np.testing.assert_allclose(thrice, once, rtol=1e-7)


def test_two_samples_have_the_known_solution():
    X = np.array([[1.0], [-1.0]])
    w, b, alpha, primal, _ = solve(X, np.array([1.0, -1.0]), 10.0)
    np.testing.assert_allclose([w[0], b, primal], [1.0, 0.0, 0.5], atol=1e-7)
    np.testing.assert_allclose(alpha, 0.5, rtol=1e-3)


def test_no_features_gives_the_best_constant():
    y = np.array([1.0, 1.0, 1.0, -1.0])
    w, b, _, primal, dual = solve(np.empty((4, 0)), y, 2.0)
    assert w.size == 0
    np.testing.assert_allclose([b, primal, dual], [1.0, 4.0, 4.0], rtol=1e-6)


def test_many_samples_are_solved():
    rng = np.random.default_rng(5)
    X, y = random_data(rng, 100_000, 5)
    y = np.where(X[:, 0] + rng.normal(size=y.size) > 0, 1.0, -1.0)
    assert_solved(X, y, 1.0)


def test_warm_start_reaches_the_same_value():
    rng = np.random.default_rng(6)
    X, y = random_data(rng, 80, 6)
    cold = solve(X, y, 10.0)
    warm = solve(X, y, 10.0, warm_w=np.r_[cold[0][:5], 0.0])
    np.testing.assert_allclose(warm[3], cold[3], rtol=1e-7)
    assert warm[3] - warm[4] <= 1e-8 * warm[3]


def test_cutoff_stops_with_a_valid_dual_value():
    rng = np.random.default_rng(7)
    X, y = random_data(rng, 80, 3)
    value = solve(X, y, 10.0)[3]
    dual = solve(X, y, 10.0, cutoff=0.5 * value)[4]
    assert 0.5 * value < dual <= value
