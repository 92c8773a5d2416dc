import numpy as np
import pytest

from frugalsvm.kernels import linalg
from frugalsvm.kernels.data import NEVER
from tests.kernels.compiled import compiled

filled, join, new_marks, part = map(
    compiled, (linalg.filled, linalg.join, linalg.new_marks, linalg.part)
)
draw = compiled(linalg.draw)
cholesky, cholesky_solve, combine, correlate, kth_largest, solve_small, top_sum = map(
    compiled,
    (linalg.cholesky, linalg.cholesky_solve, linalg.combine, linalg.correlate,
     linalg.kth_largest, linalg.solve_small, linalg.top_sum),
)  # fmt: skip
weighted_gram = compiled(linalg.weighted_gram)


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_kth_largest_agrees_with_sorting(n):
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
    cholesky(factor, NEVER)
    cholesky_solve(factor, rhs)
    np.testing.assert_allclose(rhs, x, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("order", [3, 48, 49, 100])
def test_products_agree_with_numpy(order):
    rng = np.random.default_rng(order)
    rows, weights = rng.normal(size=(order, 20)), rng.uniform(size=20)
    gram, margins, c = np.zeros((order, order)), np.empty(20), np.empty(order)
    weighted_gram(rows, weights, gram, NEVER)
    np.testing.assert_allclose(gram, np.tril(rows * weights @ rows.T), atol=1e-12)
    correlate(rows, weights, c)
    np.testing.assert_allclose(c, rows @ weights)
    combine(c, rows, margins)
    np.testing.assert_allclose(margins, c @ rows)


@pytest.mark.parametrize("order", [1, 7, 48, 49, 110])
@pytest.mark.parametrize("m", [linalg.LONG + 1, linalg.LONG + linalg.CHUNK])
def test_long_rows_are_multiplied_in_chunks(order, m):
    rng = np.random.default_rng(order)
    rows, weights = rng.normal(size=(order, m)), rng.uniform(size=m)
    gram = np.full((order, order), np.nan)
    weighted_gram(rows, weights, gram, NEVER)
    wanted = (rows * weights) @ rows.T
    below = np.tril_indices(order)
    np.testing.assert_allclose(gram[below], wanted[below], atol=1e-9)


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_small_systems_are_solved_with_pivoting(order):
    rng = np.random.default_rng(order)
    matrix = rng.normal(size=(order, order))
    if order > 1:
        matrix[0, 0] = 0.0
    x = rng.normal(size=order)
    rhs = matrix @ x
    solve_small(matrix, rhs)
    np.testing.assert_allclose(rhs, x, atol=1e-10)


def test_arrays_are_created_and_copied():
    np.testing.assert_array_equal(filled(3, 2.5), [2.5, 2.5, 2.5])
    np.testing.assert_array_equal(new_marks(4), np.zeros(4, dtype=np.int8))
    numbers = np.arange(10)
    copied = part(numbers, 3, 4)
    copied[0] = 99
    np.testing.assert_array_equal(numbers, np.arange(10))
    np.testing.assert_array_equal(copied, [99, 4, 5, 6])
    np.testing.assert_array_equal(join(numbers[:2], numbers[7:]), [0, 1, 7, 8, 9])


# --- random numbers ------------------------------------------------------------------


def drawn(seed, count=20_000):
    state = np.array([seed], dtype=np.uint64)
    return np.array([draw(state) for _ in range(count)])


def test_draws_are_uniform():
    values = drawn(987_654_321_987)
    assert values.min() >= 0.0
    assert values.max() < 1.0
    counts = np.histogram(values, 20, (0.0, 1.0))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 50
    assert abs(np.corrcoef(values[1:], values[:-1])[0, 1]) < 0.03


def test_draws_depend_only_on_the_seed():
    np.testing.assert_array_equal(drawn(5, 10), drawn(5, 10))
    assert not np.array_equal(drawn(5, 10), drawn(6, 10))
