"""Bounds are compared with exact rational arithmetic and with enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from frugalsvm import Problem
from frugalsvm.kernels.bounds import (
    bound_and_price,
    knapsack_bound,
    largest_sum_bound,
    repair_dual,
    row_norm_bounds,
    square_bounds,
)
from tests.reference import brute_force, random_data


def exact(values):
    return [Fraction(float(v)) for v in values]


def random_alpha(rng, C):
    """Dual points of many kinds: interior, at bounds, tiny, huge, outside, broken."""
    m = C.shape[0]
    kind = rng.integers(7)
    alpha = rng.uniform(0, 1, m) * C
    if kind == 1:
        alpha = np.where(rng.random(m) < 0.5, C, 0.0)
    elif kind == 2:
        alpha *= 1e-14
    elif kind == 3:
        alpha *= 10.0 ** rng.uniform(-16, 2, m)
    elif kind == 4:
        alpha = rng.normal(size=m) * C * 3
    elif kind == 5:
        alpha[rng.integers(m)] = np.nan
    elif kind == 6:
        alpha = np.zeros(m)
    return alpha


@pytest.mark.parametrize("seed", range(300))
def test_repair_is_exactly_feasible(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 40))
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    C = 10.0 ** rng.uniform(-4, 6, m)
    alpha = random_alpha(rng, C)
    repaired = repair_dual(alpha, y, C, True)
    assert np.all(repaired >= 0)
    assert np.all(repaired <= C)
    signed = [Fraction(float(s)) * a for s, a in zip(y, exact(repaired), strict=True)]
    assert sum(signed) == 0
    assert Fraction(float(repaired.sum())) == sum(exact(repaired))


def test_repair_changes_a_balanced_point_little():
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 50)
    alpha = np.tile(rng.uniform(0.1, 1, 50), 2)
    repaired = repair_dual(alpha, y, np.ones(100), True)
    np.testing.assert_allclose(repaired, alpha, rtol=1e-12)


@pytest.mark.parametrize("seed", range(100))
def test_bound_is_below_its_exact_value(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    A = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    C = rng.uniform(0.1, 10, m)
    alpha = repair_dual(random_alpha(rng, C), y, C, True)
    squares = square_bounds(A @ alpha, row_norm_bounds(A), alpha)
    free = np.arange(n)
    k = int(rng.integers(0, n + 1))
    none = np.empty(0, dtype=np.int64)
    bound, _ = bound_and_price(alpha, squares, none, free, k, np.ones(n), np.inf)
    c = [sum(a * b for a, b in zip(exact(row), exact(alpha), strict=True)) for row in A]
    top = sorted((v * v for v in c), reverse=True)[:k]
    truth = sum(exact(alpha)) - sum(top) / 2
    assert Fraction(bound) <= truth
    # Valid, and not by being useless.
    scale = float(sum(exact(alpha)) + sum(top)) + 1e-12
    assert float(truth) - bound <= 1e-11 * scale


@pytest.mark.parametrize("exponent", [-300, -170, -90, -50, 20, 49])
@pytest.mark.parametrize("tiny_alpha", [False, True])
def test_bounds_hold_at_every_scale(exponent, tiny_alpha):
    """Squares that underflow used to take the error bounds with them."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(2, 12)), int(rng.integers(1, 6))
        scale = 10.0 ** rng.uniform(exponent, exponent + 1, (n, 1))
        A = rng.normal(size=(n, m)) * scale + rng.choice([0.0, 3.0]) * scale
        y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
        C = 10.0 ** rng.uniform(-15, 15, m)
        start = rng.uniform(0, 1, m) * C
        if tiny_alpha:
            # Where alpha would be if it had to pay for c^2.
            start *= 10.0 ** min(0.0, -2.0 * exponent - rng.uniform(10, 25))
        alpha = repair_dual(start, y, C, True)
        squares = square_bounds(A @ alpha, row_norm_bounds(A), alpha)
        for row, square in zip(A, squares, strict=True):
            pairs = zip(exact(row), exact(alpha), strict=True)
            assert Fraction(float(square)) >= sum(a * b for a, b in pairs) ** 2


@pytest.mark.parametrize("scale", [1e20, 1e49])
def test_no_bound_is_below_zero(scale):
    X, y = random_data(np.random.default_rng(0), 30, 4)
    problem = Problem(X * scale, y, max_features=2)
    assert problem.dual_bound(problem.C) == 0.0


@pytest.mark.parametrize("seed", range(60))
def test_knapsack_bound_is_the_linear_program(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    values = rng.uniform(0, 5, n)
    costs = rng.uniform(0.1, 3, n)
    k = int(rng.integers(1, n + 1))
    budget = rng.uniform(0.1, costs.sum())
    lp = linprog(
        -values, A_ub=np.vstack([np.ones(n), costs]), b_ub=[k, budget], bounds=(0, 1)
    )
    bound, mu = knapsack_bound(values, costs, k, budget)
    assert mu >= 0
    assert bound >= -lp.fun * (1 - 1e-9)
    np.testing.assert_allclose(bound, -lp.fun, rtol=1e-7)


def test_largest_sum_counts_ties_once():
    assert largest_sum_bound(np.array([2.0, 2.0, 2.0, 1.0]), 2) >= 4.0
    np.testing.assert_allclose(
        largest_sum_bound(np.array([2.0, 2.0, 2.0, 1.0]), 2), 4.0
    )
    assert largest_sum_bound(np.array([3.0]), 0) == 0.0


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_no_bound_exceeds_the_optimum(integer, intercept):
    """The worst bug there could be, hunted on thousands of problems."""
    for seed in range(600):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        X, y = random_data(rng, m, n, integer=integer, separable=seed % 3 == 0)
        X *= 10.0 ** rng.integers(-3, 4, n)
        costs = rng.uniform(0.5, 2.0, n)
        problem = Problem(
            X,
            y,
            C=float(10.0 ** rng.uniform(-3, 4)),
            sample_weight=rng.uniform(0.2, 2.0, m),
            max_features=int(rng.integers(0, n + 1)),
            feature_costs=costs,
            max_cost=float(rng.uniform(0, costs.sum())) if seed % 2 else None,
            fit_intercept=intercept,
        )
        optimum, _ = brute_force(problem)
        for _ in range(5):
            bound = problem.dual_bound(random_alpha(rng, problem.C))
            assert bound <= optimum * (1 + 1e-12)
