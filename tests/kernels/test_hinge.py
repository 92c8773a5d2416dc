import numpy as np
import pytest

from frugalsvm.kernels import hinge, linalg
from tests.kernels.compiled import compiled

balance, best_intercept = map(compiled, (hinge.balance, hinge.best_intercept))
cholesky, cholesky_solve, kth_largest, top_sum = map(
    compiled,
    (linalg.cholesky, linalg.cholesky_solve, linalg.kth_largest, linalg.top_sum),
)


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
    found = loss(scores, y, C, best_intercept(scores, y, C))
    np.testing.assert_allclose(found, best, rtol=1e-12, atol=1e-12)


def test_balance_only_lowers():
    y = np.array([1.0, 1.0, -1.0])
    alpha = np.array([1.0, 2.0, 1.5])
    balanced = alpha.copy()
    balance(balanced, y, 0.0)
    assert abs(y @ balanced) < 1e-15
    assert np.all(balanced <= alpha)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_selection_agrees_with_sorting(n):
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), rng.integers(0, 3, n).astype(float)):
        ordered = np.sort(values)[::-1]
        for k in range(1, n + 1):
            assert kth_largest(values, k) == ordered[k - 1]
            np.testing.assert_allclose(top_sum(values, k), ordered[:k].sum())


@pytest.mark.parametrize("order", [1, 5, 47, 48, 49, 130])
def test_cholesky_solves(order):
    rng = np.random.default_rng(order)
    B = rng.normal(size=(order, order + 3))
    matrix = B @ B.T
    x = rng.normal(size=order)
    rhs = matrix @ x
    factor = matrix.copy()
    cholesky(factor, np.zeros(1, dtype=np.uint8))
    cholesky_solve(factor, rhs)
    np.testing.assert_allclose(rhs, x, rtol=1e-6, atol=1e-8)
