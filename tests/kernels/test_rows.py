"""Rows kept as entries give the same results as dense rows."""

import numpy as np
import pytest
from numba import njit

from frugalsvm.kernels import rows as kernels
from frugalsvm.kernels.data import NEVER, Data
from tests.kernels.compiled import compiled
from tests.kernels.programs import whole_rows

stack = compiled(kernels.stack)
combine_rows, correlate_rows = kernels.combine_rows, kernels.correlate_rows
gram_of_rows = kernels.gram_of_rows


@njit
def combine(weights, rows, out):
    combine_rows(weights, rows, out)


@njit
def correlate(rows, values, out):
    correlate_rows(rows, values, out)


@njit
def gram(rows, weights, out, stop):
    gram_of_rows(rows, weights, out, stop)


def sparse_data(intercept, m=3000, n=30, density=0.05):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(m) < 0.3, 1.0, -1.0)
    A = np.where(rng.random((n, m)) < density, rng.normal(1.0, 1.0, (n, m)), 0.0) * y
    return Data(A, np.ones(n), y, np.ones(m), intercept, np.ones(n), NEVER)


def stacked(data, features, samples):
    return stack(data, features, samples, data.y[samples])


def expected_rows(data, features, samples):
    """Centred rows, and the labels below them."""
    A, y = data.A[features], data.y
    if not data.intercept:
        return A[:, samples]
    centred = A - (A @ y / y.size)[:, None] * y
    return np.vstack([centred, y])[:, samples]


@pytest.mark.parametrize("intercept", [True, False])
def test_entries_and_dense_rows_give_the_same_results(intercept):
    data = sparse_data(intercept)
    rng = np.random.default_rng(1)
    features, samples = rng.permutation(30)[:25], np.flatnonzero(rng.random(3000) < 0.9)
    rows = stacked(data, features, samples)
    assert rows.dense.size == 0
    assert rows.values.size
    expected = expected_rows(data, features, samples)
    q, m = expected.shape
    for size in {q, 25}:
        out, weights = np.empty(m), rng.normal(size=size)
        combine(weights, rows, out)
        np.testing.assert_allclose(out, weights @ expected[:size], atol=1e-12)
        out, values = np.empty(size), rng.normal(size=m)
        correlate(rows, values, out)
        np.testing.assert_allclose(out, expected[:size] @ values, atol=1e-10)
    weights, out = rng.uniform(size=m), np.empty((q, q))
    gram(rows, weights, out, NEVER)
    whole = (expected * weights) @ expected.T
    np.testing.assert_allclose(np.tril(out), np.tril(whole), atol=1e-10)


@pytest.mark.parametrize(("density", "is_sparse"), [(0.08, True), (0.12, False)])
def test_rows_are_kept_as_entries_only_if_sparse(density, is_sparse):
    rows = stacked(sparse_data(True, density=density), np.arange(30), np.arange(3000))
    assert (rows.dense.size == 0) == is_sparse


def test_small_programs_have_dense_rows():
    data = sparse_data(True)
    assert stacked(data, np.arange(30), np.arange(1000)).dense.shape == (31, 1000)


def test_programs_with_more_features_than_samples_have_dense_rows():
    """The matrix of the samples needs dense rows."""
    data = sparse_data(True, m=300, n=400, density=0.02)
    assert kernels.LARGE <= 300 * 400
    rows = stacked(data, np.arange(400), np.arange(300))
    assert rows.dense.shape == (401, 300)


def test_samples_with_very_many_entries_make_rows_dense():
    """The work for the Gram matrix is proportional to the pairs of entries."""
    data = sparse_data(True, density=0.05)
    data.A[:, :120] = np.random.default_rng(0).normal(size=(30, 120))
    assert np.count_nonzero(data.A) < kernels.SPARSE_FRACTION * data.A.size
    assert stacked(data, np.arange(30), np.arange(3000)).dense.size


def test_the_gram_matrix_ends_if_the_flag_is_set():
    rows = stacked(sparse_data(True), np.arange(30), np.arange(3000))
    whole, part = np.empty((31, 31)), np.empty((31, 31))
    gram(rows, np.ones(3000), whole, NEVER)
    gram(rows, np.ones(3000), part, np.ones(1, dtype=np.uint8))
    assert np.all(np.diagonal(part)[:30] < 0.2 * np.diagonal(whole)[:30])


def test_large_means_make_rows_dense():
    """One feature is nearly constant: centring its entries would lose digits."""
    data = sparse_data(True)
    data.A[3] = 1e6 * data.y + 1e-3 * np.random.default_rng(0).normal(size=3000)
    rows = stacked(data, np.arange(30), np.arange(3000))
    np.testing.assert_allclose(
        rows.dense, expected_rows(data, np.arange(30), np.arange(3000)), atol=1e-9
    )


def test_features_without_entries_have_zero_products():
    data = sparse_data(True)
    samples = np.flatnonzero(data.A[7] == 0)
    rows = stacked(data, np.arange(30), samples)
    assert rows.dense.size == 0
    out, values = np.empty(31), np.random.default_rng(0).normal(size=samples.size)
    correlate(rows, values, out)
    expected = expected_rows(data, np.arange(30), samples)
    np.testing.assert_allclose(out, expected @ values, atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("with_all", [True, False])
def test_rows_of_machines_are_blocks(intercept, with_all):
    """Each machine has columns and samples of its own; one may have few or none."""
    rng = np.random.default_rng(2)
    m, n, n_machines = 12, 4, 3
    y = np.where(rng.random(n_machines * m) < 0.5, 1.0, -1.0)
    A = rng.normal(size=(n_machines * n, m)) + 2.0
    ones = np.ones(n_machines * n)
    data = Data(
        A, ones, y, np.ones(y.size), intercept, np.ones(n), NEVER,
        n_machines=n_machines,
    )  # fmt: skip
    features = rng.permutation(n_machines * n)[:9]
    samples = np.arange(y.size)
    if not with_all:
        samples = samples[(rng.random(y.size) < 0.6) & (samples // m != 1)]
    whole = np.zeros((n_machines * n, y.size))
    labels = np.zeros((n_machines, y.size))
    for k in range(n_machines):
        here = slice(k * m, (k + 1) * m)
        block, labels[k, here] = A[k * n : (k + 1) * n], y[here]
        means = block @ y[here] / m if intercept else np.zeros(n)
        whole[k * n : (k + 1) * n, here] = block - means[:, None] * y[here]
    expected = np.vstack([whole[features], labels[: n_machines * intercept]])
    expected = expected[:, samples]
    rows = stacked(data, features, samples)
    np.testing.assert_allclose(whole_rows(rows), expected, atol=1e-14)
    q, p = len(expected), features.size
    for size in {q, p}:
        weights, out = rng.normal(size=size), np.empty(samples.size)
        combine(weights, rows, out)
        np.testing.assert_allclose(out, weights @ expected[:size], atol=1e-13)
        values, out = rng.normal(size=samples.size), np.empty(size)
        correlate(rows, values, out)
        np.testing.assert_allclose(out, expected[:size] @ values, atol=1e-12)
