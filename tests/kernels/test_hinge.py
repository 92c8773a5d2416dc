from itertools import pairwise

import numpy as np
import pytest

from frugalsvm.kernels import smoothing as hinge
from tests.kernels.compiled import compiled

balance, balance_machines, best_intercept, hinge_sum, longest_step = map(
    compiled,
    (hinge.balance, hinge.balance_machines, hinge.best_intercept, hinge.hinge_sum,
     hinge.longest_step),
)  # fmt: skip


def loss(scores, y, C, b):
    return np.sum(C * np.maximum(0, 1 - y * (scores + b)))


@pytest.mark.parametrize("seed", range(200))
def test_best_intercept_is_the_best_breakpoint(seed):
    rng = np.random.default_rng(seed)
    m = rng.integers(2, 12)
    # Few distinct values make ties, weights make steps of different height.
    scores = rng.integers(-2, 3, m) * 0.5
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    C = rng.choice([1.0, 2.0, 0.3], m)
    best = min(loss(scores, y, C, b) for b in y - scores)
    found = loss(scores, y, C, best_intercept(scores, y, C, 0.0))
    np.testing.assert_allclose(found, best, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(50))
def test_best_intercept_accounts_for_a_linear_term(seed):
    rng = np.random.default_rng(seed)
    m = rng.integers(2, 12)
    scores = rng.normal(size=m)
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    C = rng.choice([1.0, 2.0, 0.3], m)
    # Less than the capacity of either class.
    pull = rng.uniform(-1, 1) * min(C[y > 0].sum(), C[y < 0].sum())
    best = min(loss(scores, y, C, b) - pull * b for b in y - scores)
    b = best_intercept(scores, y, C, pull)
    np.testing.assert_allclose(loss(scores, y, C, b) - pull * b, best, rtol=1e-12)


def test_balance_only_lowers_alpha_without_an_offset():
    y = np.array([1.0, 1.0, -1.0])
    alpha = np.array([1.0, 2.0, 1.5])
    balanced = alpha.copy()
    balance(balanced, y, np.ones(3), 0.0)
    assert abs(y @ balanced) < 1e-15
    assert np.all(balanced <= alpha)


def test_the_longest_step_ends_at_the_boundary():
    value, change = np.array([1.0, 2.0, 3.0]), np.array([1.0, -4.0, -2.0])
    assert longest_step(value, change) == 0.5
    assert longest_step(value, np.abs(change)) > 1e200


@pytest.mark.parametrize("seed", range(50))
def test_balance_compensates_for_an_offset(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(8) < 0.5, 1.0, -1.0)
    C = rng.uniform(1, 2, 8)
    alpha = C * rng.random(8)
    # Up to the capacity of the classes, and more than one of them has.
    offset = rng.uniform(-1, 1) * C[y > 0].sum() + rng.uniform(-1, 1) * C[y < 0].sum()
    offset = np.clip(offset, -C[y > 0].sum(), C[y < 0].sum())
    balance(alpha, y, C, offset)
    assert abs(y @ alpha + offset) < 1e-12
    assert np.all((alpha >= 0) & (alpha <= C * (1 + 1e-15)))


def test_hinge_losses_are_weighted():
    assert hinge_sum(np.array([2.0, 0.0, -1.0]), np.array([5.0, 3.0, 0.5])) == 4.0


def test_machines_are_balanced_one_by_one():
    rng = np.random.default_rng(0)
    y, C = np.tile([1.0, -1.0, -1.0], 4), rng.uniform(1, 2, 12)
    alpha, first = rng.uniform(0, 1, 12), np.array([0, 3, 9, 12])
    offsets = np.array([0.3, 0.0, -0.2])
    found, expected = alpha.copy(), alpha.copy()
    balance_machines(found, y, C, offsets, first)
    for k, (a, b) in enumerate(pairwise(first)):
        balance(expected[a:b], y[a:b], C[a:b], offsets[k])
        assert abs(y[a:b] @ found[a:b] + offsets[k]) < 1e-14
    np.testing.assert_array_equal(found, expected)
    unchanged = alpha.copy()
    balance_machines(unchanged, y, C, offsets[:0], first)
    np.testing.assert_array_equal(unchanged, alpha)
