"""Bounds agree with exact rational arithmetic and with enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from frugalsvm import Problem
from frugalsvm.checker import arithmetic
from frugalsvm.kernels import bounds
from frugalsvm.kernels.bounds import (
    TINY,
    bound_and_price,
    dual_bound,
    repair_dual,
    repair_machines,
    row_norm_bounds,
    square_bounds,
    varying_rows,
)
from frugalsvm.kernels.data import NO_COLUMNS, NO_SIGNS
from tests.kernels.compiled import compiled
from tests.reference import brute_force, random_alpha, random_data

PLAIN = NO_COLUMNS, NO_COLUMNS, NO_SIGNS

affordable, knapsack_bound, largest_sum_bound, length_bound, reduced_values = map(
    compiled,
    (bounds.affordable, bounds.knapsack_bound, bounds.largest_sum_bound,
     bounds.length_bound, bounds.reduced_values),
)  # fmt: skip
U, EXACT_TINY = Fraction(1, 2**53), Fraction(TINY)
NONE = np.empty(0, dtype=np.int64)


def exact(values):
    return [Fraction(float(v)) for v in values]


@pytest.mark.parametrize("seed", range(300))
def test_repaired_points_are_exactly_feasible(seed):
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


def test_repair_hardly_changes_a_balanced_point():
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 50)
    alpha = np.tile(rng.uniform(0.1, 1, 50), 2)
    repaired = repair_dual(alpha, y, np.ones(100), True)
    np.testing.assert_allclose(repaired, alpha, rtol=1e-12)


@pytest.mark.parametrize("seed", range(100))
def test_bounds_are_at_most_the_exact_value(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    A = rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    C = rng.uniform(0.1, 10, m)
    alpha = repair_dual(random_alpha(rng, C), y, C, True)
    squares = square_bounds(A @ alpha, row_norm_bounds(A), alpha, *PLAIN)
    free = np.arange(n)
    k = int(rng.integers(0, n + 1))
    none = np.empty(0, dtype=np.int64)
    bound, _ = bound_and_price(alpha, squares, none, free, k, np.ones(n), np.inf)
    c = [sum(a * b for a, b in zip(exact(row), exact(alpha), strict=True)) for row in A]
    top = sorted((v * v for v in c), reverse=True)[:k]
    truth = sum(exact(alpha)) - sum(top) / 2
    assert Fraction(bound) <= truth
    # Valid, but also tight.
    scale = float(sum(exact(alpha)) + sum(top)) + 1e-12
    assert float(truth) - bound <= 1e-11 * scale


@pytest.mark.parametrize("exponent", [-300, -170, -90, -50, 20, 49])
@pytest.mark.parametrize("tiny_alpha", [False, True])
def test_square_bounds_hold_at_every_scale(exponent, tiny_alpha):
    """Also if squares underflow, which once made error bounds too small."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(2, 12)), int(rng.integers(1, 6))
        scale = 10.0 ** rng.uniform(exponent, exponent + 1, (n, 1))
        A = rng.normal(size=(n, m)) * scale + rng.choice([0.0, 3.0]) * scale
        y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
        C = 10.0 ** rng.uniform(-15, 15, m)
        start = rng.uniform(0, 1, m) * C
        if tiny_alpha:
            # The scale at which alpha balances c^2.
            start *= 10.0 ** min(0.0, -2.0 * exponent - rng.uniform(10, 25))
        alpha = repair_dual(start, y, C, True)
        squares = square_bounds(A @ alpha, row_norm_bounds(A), alpha, *PLAIN)
        for row, square in zip(A, squares, strict=True):
            pairs = zip(exact(row), exact(alpha), strict=True)
            assert Fraction(float(square)) >= sum(a * b for a, b in pairs) ** 2


@pytest.mark.parametrize("scale", [1e20, 1e49])
def test_bounds_are_never_negative(scale):
    X, y = random_data(np.random.default_rng(0), 30, 4)
    problem = Problem(X * scale, y, max_features=2)
    assert problem.dual_bound(problem.C) == 0.0


@pytest.mark.parametrize("seed", range(60))
def test_knapsack_bound_equals_the_linear_program(seed):
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
    """The most important property, tested on thousands of problems."""
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


# --- each inequality is valid and tight up to a few roundings ------------------------


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.parametrize("intercept", [True, False])
def test_the_checker_repairs_points_in_the_same_way(seed, intercept):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 40))
    y = np.where(rng.random(m) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    C = 10.0 ** rng.uniform(-4, 6, m)
    alpha = random_alpha(rng, C) * rng.choice([1.0, 1e-290])
    repaired = repair_dual(alpha, y, C, intercept)
    start = np.where(alpha > 0, alpha, 0.0)
    expected = arithmetic.repair(start, y, C, intercept)
    np.testing.assert_array_equal(repaired, expected)


@pytest.mark.parametrize(("m", "bits"), [(1, 51), (3, 50), (4, 49), (15, 48)])
def test_sums_are_exact_on_the_grid(m, bits):
    full = np.full(m, 1.0 - 2.0**-53)
    repaired = repair_dual(full, np.ones(m), np.ones(m), False)
    np.testing.assert_array_equal(repaired, 1.0 - 2.0**-bits)


def test_the_grid_has_a_smallest_step():
    alpha = np.array([2.0**-999, 3 * 2.0**-1001])
    repaired = repair_dual(alpha, np.ones(2), np.ones(2), False)
    np.testing.assert_array_equal(repaired, [2.0**-999, 2.0**-1000])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_larger_class_is_scaled_down(sign):
    y = sign * np.array([1.0, 1.0, -1.0])
    for alpha, expected in (
        ([3.0, 1.0, 2.0], [1.5, 0.5, 2.0]),
        ([1.0, 0.25, 0.5], [0.4, 0.1, 0.5]),
        ([3.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
        ([3.0, 1.0, 4.0], [3.0, 1.0, 4.0]),
        ([np.nan, 1.0, -1.0], [0.0, 0.0, 0.0]),
        ([20.0, 1.0, 2.0], [9.0 - 7.2, 1.0 - 0.8, 2.0]),
    ):
        repaired = repair_dual(np.array(alpha), y, np.full(3, 9.0), True)
        np.testing.assert_allclose(repaired, expected, rtol=1e-13)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_an_excess_of_one_step_is_removed(sign):
    alpha = np.array([0.5, 0.5 + 2.0**-50])
    repaired = repair_dual(alpha, sign * np.array([1.0, -1.0]), np.ones(2), True)
    np.testing.assert_array_equal(repaired, [0.5, 0.5])


def test_the_rest_of_an_excess_is_taken_from_the_first_samples():
    """A third of a step on a grid of 2^-50 is rounded to zero."""
    step = 2.0**-50
    alpha = np.array([0.5 + step, 0.5, 0.25, 1.25 - 2 * step])
    y = np.array([1.0, 1.0, 1.0, -1.0])
    repaired = repair_dual(alpha, y, np.full(4, 2.0), True)
    # The grid is 2^-48 here: the largest entry is in [1, 2), and there are four.
    np.testing.assert_array_equal(
        repaired, [0.5 - 4 * step, 0.5, 0.25, 1.25 - 4 * step]
    )


def near(rng, m):
    """Vectors whose squares round in all directions."""
    if rng.random() < 0.5:
        return rng.normal(size=m)
    return 1.0 + 2.0**-52 * rng.integers(0, 9, m)


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1.0, 1e200])
def test_length_bounds_are_valid_and_tight(scale):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 12))
        rows = np.vstack([near(rng, m), -near(rng, m)]) * scale
        norms = row_norm_bounds(rows)
        for row, norm in zip(rows, norms, strict=True):
            assert length_bound(row) == norm
            truth = sum(v * v for v in exact(row))
            assert Fraction(norm) ** 2 >= truth
            most = 1 + (2 * m + 20) * U
            assert max(0, Fraction(norm) - 2 * EXACT_TINY) ** 2 <= truth * most**2
    assert length_bound(np.zeros(3)) == length_bound(np.empty(0)) == 0.0


@pytest.mark.parametrize("scale", [1e-160, 1.0, 1e49])
def test_square_bounds_are_valid_and_tight(scale):
    for seed in range(90):
        rng = np.random.default_rng(seed)
        m = int(rng.integers(1, 9))
        A, alpha = rng.normal(size=(3, m)), rng.uniform(0, 1, m)
        if seed % 3 == 0:
            # Nothing cancels: only the error bound is left.
            A, alpha = np.vstack([near(rng, m), -np.ones((2, m))]), np.full(m, 1 / 3)
        elif seed % 3 == 1 and m > 1:
            A[:, 0] = -(A[:, 1:] @ alpha[1:]) / alpha[0]
        A *= scale
        norms = row_norm_bounds(A)
        squares = square_bounds(A @ alpha, norms, alpha, *PLAIN)
        length = Fraction(length_bound(alpha))
        for row, norm, square in zip(A, exact(norms), exact(squares), strict=True):
            pairs = list(zip(exact(row), exact(alpha), strict=True))
            c = abs(sum(a * b for a, b in pairs))
            assert square >= (c + U * sum(abs(a) * b for a, b in pairs)) ** 2
            most = c * (1 + 27 * U) + (m + 10) * U * norm * length + 2 * EXACT_TINY
            assert square <= most**2 + 3 * EXACT_TINY
        # The checker confirms every bound that is claimed here.
        accurate = arithmetic.square_bounds(A, norms, alpha, True)
        assert np.all(accurate <= squares)


@pytest.mark.parametrize("m", [1, 15, 100, 1000, 10_000])
def test_square_bounds_cover_any_order_of_summation(m):
    """Entries that were rounded, and sums that lose a rounding at every term."""
    row, alpha = np.full((1, m), 1 / 3), np.full(m, 1 / 7)
    size = m * Fraction(1 / 3) * Fraction(1 / 7)
    # Terms of one sign, or terms that seem to cancel.
    for c in (size, (m + 1) * U * size):
        worst = np.array([float(c - (m + 1) * U * size)])
        (square,) = square_bounds(worst, row_norm_bounds(row), alpha, *PLAIN)
        most = c + (2 * m + 12) * U * size + 32 * U * c
        assert c**2 <= Fraction(square) <= most**2


def test_squares_that_underflow_are_not_zero():
    alpha = np.full(4, 1e-120)
    for size in (1e-200, 1e-100):
        A = np.full((1, 4), size)
        (square,) = square_bounds(A @ alpha, row_norm_bounds(A), alpha, *PLAIN)
        assert TINY <= square <= 3 * TINY


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_varying_rows_are_found_for_any_labels(sign):
    y = sign * np.array([1.0, -1.0, -1.0])
    X = np.array([[1, 1, 1], [1, -1, 1], [0, 0, 0], [1, 1, 2], [1, 2, 1], [2, 1, 1]])
    for scale in (1.0, 0.3):
        varies = varying_rows(X * y * scale, y)
        np.testing.assert_array_equal(varies, [False, True, False, True, True, True])
    assert not varying_rows(np.ones((1, 1)), np.ones(1)).any()


def test_largest_sum_bounds_are_valid_and_tight():
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(0, 9))
        values = rng.uniform(0, 1, n) * 10.0 ** rng.uniform(-9, 9, n)
        if seed % 3 == 0:
            values = rng.choice([0.0, 0.1, 0.3, 0.7], n)
        for k in range(-1, n + 3):
            truth = sum(sorted(exact(values), reverse=True)[: max(k, 0)])
            value = Fraction(largest_sum_bound(values, k))
            # Each sum is rounded up, even of zeros.
            most = truth * (1 + 4 * (n + 2) * U) + (n + 2) * Fraction(5e-324)
            assert truth <= value <= most


def test_reduced_values_are_rounded_up():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.uniform(0, 1, 9)
        costs = rng.choice([0.1, 0.3, 0.7, 1e9], 9)
        mu = float(rng.choice([0.0, 0.1, 1 / 3, 1e-9]))
        if seed % 2:
            # Only the rounding of the product is left.
            values = mu * costs
        reduced = reduced_values(values, costs, mu)
        for v, c, r in zip(exact(values), exact(costs), exact(reduced), strict=True):
            truth = max(0, v - Fraction(mu) * c)
            slack = 7 * U * Fraction(mu) * c + 4 * U * v + Fraction(5e-324)
            assert truth <= r <= truth + slack


def penalty_at(values, costs, k, budget, mu):
    reduced = sorted((max(0, v - mu * c) for v, c in zip(values, costs, strict=True)))
    return budget * mu + sum(reduced[::-1][:k])


def best_penalty(values, costs, k, budget):
    """The minimum of a convex piecewise linear function is at one of its kinks."""
    pairs = list(zip(values, costs, strict=True))
    kinks = {Fraction(0)} | {v / c for v, c in pairs}
    kinks |= {(v - w) / (c - d) for v, c in pairs for w, d in pairs if c != d}
    return min(penalty_at(values, costs, k, budget, mu) for mu in kinks if mu >= 0)


def random_knapsack(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    values = rng.uniform(0, 5, n) if seed % 3 else rng.choice([0.1, 0.3, 0.7], n)
    costs = rng.uniform(0.1, 3, n) if seed % 2 else rng.choice([0.1, 0.3, 0.7], n)
    k, budget = int(rng.integers(0, n + 2)), float(rng.uniform(0, costs.sum()))
    return values, costs, k, budget


def test_knapsack_bounds_match_their_price():
    priced = 0
    for seed in range(300):
        values, costs, k, budget = random_knapsack(seed)
        bound, mu = knapsack_bound(values, costs, k, budget)
        arguments = exact(values), exact(costs), k, Fraction(budget)
        truth = penalty_at(*arguments, Fraction(mu))
        size = sum(arguments[0])
        assert truth <= Fraction(bound) <= truth + 12 * U * size
        best = best_penalty(*arguments)
        assert best <= Fraction(bound) <= best + Fraction(1, 10**13) * size
        priced += mu > 0
    assert priced > 50


def test_the_price_is_zero_if_the_budget_does_not_bind():
    values, costs = np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    for k, budget, best in (
        (2, np.inf, 5.0), (2, 4.0, 5.0), (3, 6.0, 6.0), (0, 1.0, 0.0), (1, 1.0, 3.0),
        (3, 9.0, 6.0), (1, 50.0, 3.0),
    ):  # fmt: skip
        bound, mu = knapsack_bound(values, costs, k, budget)
        assert best <= bound <= best * (1 + 1e-14)
        assert mu == 0.0
    bound, mu = knapsack_bound(np.zeros(3), costs, 2, 0.5)
    assert (bound <= 1e-300, mu) == (True, 0.0)
    assert knapsack_bound(NONE * 1.0, NONE * 1.0, 2, 0.5) == (0.0, 0.0)


def test_affordable_keeps_features_within_the_budget():
    squares, costs = np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 6.0, 7.0, 8.0])
    for free, budget, values, prices in (
        ([0, 2, 3], 7.0, [1.0, 3.0], [5.0, 7.0]),
        ([3, 1], np.inf, [4.0, 2.0], [8.0, 6.0]),
        ([2, 0], 5.5, [1.0], [5.0]),
        ([1, 2], 5.5, [], []),
    ):
        result = affordable(squares, np.array(free), costs, budget)
        np.testing.assert_array_equal(result[0], values)
        np.testing.assert_array_equal(result[1], prices)


def test_node_bounds_match_their_price():
    negative = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        squares, costs = rng.uniform(0, 2, n), rng.choice([0.1, 0.3, 0.7], n)
        roles = rng.choice(["free", "free", "forced", "out"], n)
        forced = np.flatnonzero(roles == "forced")
        free = np.flatnonzero(roles == "free")
        alpha = rng.integers(0, 2**40, 5) * 2.0**-40
        k, budget = int(rng.integers(0, n + 1)), float(rng.choice([0.0, 0.5, 1.0, 9.0]))
        if seed % 5 == 0:
            budget = np.inf
        bound, mu = bound_and_price(alpha, squares, forced, free, k, costs, budget)
        able = free[costs[free] <= budget]
        left = Fraction(0) if budget == np.inf else Fraction(budget)
        arguments = exact(squares[able]), exact(costs[able]), k, left
        penalty = sum(exact(squares[forced])) + penalty_at(*arguments, Fraction(mu))
        total = sum(exact(alpha))
        truth = total - penalty / 2
        slack = 32 * U * (total + penalty)
        assert truth - 3 * slack <= Fraction(bound) <= truth - slack / 2
        negative += bound < 0
    assert 0 < negative < 200


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**60])
def test_node_bounds_do_not_depend_on_the_unit(unit):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values, costs, k, budget = random_knapsack(seed)
        alpha, features = rng.integers(0, 2**40, 5) * 2.0**-40, np.arange(costs.size)
        node = features[:1], features[1:], k, costs, budget
        plain = bound_and_price(alpha, values, *node)
        scaled = bound_and_price(alpha * unit, values * unit, *node)
        assert scaled == (plain[0] * unit, plain[1] * unit)


@pytest.mark.parametrize("intercept", [True, False])
def test_dual_bound_combines_its_parts(intercept):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(2, 9)), int(rng.integers(1, 6))
        y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
        A, C = rng.normal(size=(n, m)), rng.uniform(0.1, 1, m)
        norms, costs = row_norm_bounds(A), rng.uniform(0.1, 1, n)
        forced, free = np.arange(n)[:1], np.arange(n)[1:]
        node = forced, free, 2, 1.0
        start = random_alpha(rng, C)
        bound, alpha, squares, mu = dual_bound(
            A, norms, *PLAIN, y, C, intercept, costs, *node, 1, start
        )
        np.testing.assert_array_equal(alpha, repair_dual(start, y, C, intercept))
        # Products may be summed in another order.
        again = square_bounds(A @ alpha, norms, alpha, *PLAIN)
        np.testing.assert_allclose(squares, again, rtol=1e-12, atol=1e-25)
        expected = bound_and_price(alpha, squares, *node[:3], costs, 1.0)
        assert (bound, mu) == (max(0.0, expected[0]), expected[1])


# --- several machines -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("intercept", [True, False])
def test_points_of_machines_are_repaired_one_by_one_on_one_grid(seed, intercept):
    rng = np.random.default_rng(seed)
    n_machines, m = int(rng.integers(2, 5)), int(rng.integers(1, 20))
    y = np.where(rng.random((n_machines, m)) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    C = 10.0 ** rng.uniform(-4, 6, m)
    alpha = random_alpha(rng, np.tile(C, n_machines))
    repaired = repair_machines(
        alpha, y.ravel(), np.tile(C, n_machines), intercept, n_machines
    )
    parts = repaired.reshape(n_machines, m)
    assert ((parts >= 0) & (parts <= C)).all()
    for own, labels in zip(parts, y, strict=True):
        signed = [Fraction(s) * a for s, a in zip(labels, exact(own), strict=True)]
        assert sum(signed) == 0 or not intercept
    assert Fraction(float(repaired.sum())) == sum(exact(repaired))
    start = np.where(alpha > 0, alpha, 0.0).reshape(n_machines, m)
    np.testing.assert_array_equal(parts, arithmetic.repair(start, y, C, intercept))


@pytest.mark.parametrize("intercept", [True, False])
def test_the_dual_bound_of_machines_combines_their_products(intercept):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_machines, m, n = int(rng.integers(2, 5)), 8, int(rng.integers(2, 6))
        y = np.tile([1.0, -1.0], n_machines * m // 2)
        A, C = rng.normal(size=(n_machines * n, m)), rng.uniform(0.1, 1, y.size)
        columns = np.arange(n_machines * n).reshape(n_machines, n).T.ravel()
        starts = n_machines * np.arange(n + 1)
        norms, costs = row_norm_bounds(A), rng.uniform(0.1, 1, n)
        node = np.arange(n)[:1], np.arange(n)[1:], 2, 1.0
        start = random_alpha(rng, C)
        bound, alpha, squares, _ = dual_bound(
            A, norms, starts, columns, NO_SIGNS, y, C, intercept, costs, *node,
            n_machines, start,
        )  # fmt: skip
        repaired = repair_machines(start, y, C, intercept, n_machines)
        np.testing.assert_array_equal(alpha, repaired)
        parts = zip(A.reshape(n_machines, n, m), alpha.reshape(n_machines, m),
                    strict=True)  # fmt: skip
        products = np.array([own @ point for own, point in parts])
        expected = (products**2).sum(axis=0)
        np.testing.assert_allclose(squares, expected, rtol=1e-9, atol=1e-25)
        assert (squares >= expected * (1 - 1e-15)).all()
        own, _ = bound_and_price(alpha, squares, *node[:3], costs, 1.0)
        assert bound == max(0.0, own)
