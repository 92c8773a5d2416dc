"""Programs on some features and samples match the data."""

import numpy as np
import pytest

from frugalsvm.kernels import program
from frugalsvm.kernels.data import NEVER, Data
from tests.kernels.compiled import compiled
from tests.kernels.programs import whole_rows

dual_point, margins_of, restrict = map(
    compiled, (program.dual_point, program.margins_of, program.restrict)
)


def data_of(A, y, C, intercept=True):
    n = A.shape[0]
    return Data(A, np.ones(n), y, C, intercept, np.ones(n), NEVER)


def random_data(intercept=True, m=30, n=6):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    return data_of(rng.normal(size=(n, m)) * y, y, rng.uniform(1, 2, m), intercept)


def test_large_means_lose_no_digits():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    spread = rng.integers(-3, 4, (2, 30)).astype(float)
    spread -= np.array([[spread[0].sum() / 30], [spread[1].sum() / 30]])
    means = np.array([2.0**40, -(2.0**41)])
    A = (np.round(spread * 4) / 4 + means[:, None]) * y
    means = (A * y).mean(axis=1)
    w = np.array([0.1, -0.7, 0.25])
    margins = margins_of(data_of(A, y, np.ones(30)), np.arange(2), w, means)
    expected = w[:2] @ (A * y - means[:, None]) * y + 0.25 * y
    np.testing.assert_allclose(margins, expected, rtol=1e-12, atol=1e-12)
    assert np.abs(margins).max() < 10


@pytest.mark.parametrize("intercept", [True, False])
def test_frozen_samples_contribute_to_the_offset(intercept):
    data = random_data(intercept)
    side = np.zeros(30, dtype=np.int8)
    side[:4], side[20:] = 1, -1
    features = np.array([4, 0, 2])
    part = restrict(data, features[:1], features[1:], side, np.ones((1, 2)), np.ones(1))
    own = part.program
    np.testing.assert_array_equal(part.samples, np.arange(4, 20))
    assert (own.n_forced, own.n_columns) == (1, 3)
    np.testing.assert_array_equal(own.starts, [1, 2, 3])
    alpha = np.random.default_rng(1).uniform(size=16)
    whole = dual_point(part, alpha)
    np.testing.assert_array_equal(whole[:4], data.C[:4])
    np.testing.assert_array_equal(whole[4:20], alpha)
    np.testing.assert_array_equal(whole[20:], 0.0)
    assert own.mass == pytest.approx(data.C[:4].sum())
    expected = data.A[features] @ whole
    if intercept:
        # The means are those of unsigned features, so they multiply the balance.
        expected -= part.means * (data.y @ whole)
        expected = np.append(expected, data.y @ whole)
    np.testing.assert_allclose(
        own.rows.dense @ alpha + own.offset, expected, atol=1e-12
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_samples_become_active_if_they_cannot_be_balanced(intercept):
    data = random_data(intercept)
    # All samples of one class at C, and only two left of the other.
    side = np.where(data.y > 0, 1, -1).astype(np.int8)
    side[[1, 3]] = 0
    nothing = np.empty(0, dtype=np.int64)
    part = restrict(data, np.arange(2), nothing, side, np.empty((0, 0)), np.empty(0))
    assert part.samples.size == (30 if intercept else 2)
    assert np.all(side == 0) == intercept


def machines_data(intercept=True, m=10, n=3, n_machines=3):
    """Each sample is positive in one of the machines."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(m) % n_machines == np.arange(n_machines)[:, None], 1.0, -1.0)
    A = np.concatenate([rng.normal(size=(n, m)) * own for own in y])
    return Data(
        A, np.ones(len(A)), y.ravel(), np.tile(rng.uniform(1, 2, m), n_machines),
        intercept, np.ones(n), NEVER, n_machines * np.arange(n + 1),
        np.arange(n_machines * n).reshape(n_machines, n).T.ravel(),
        n_machines=n_machines,
    )  # fmt: skip


@pytest.mark.parametrize("intercept", [True, False])
def test_frozen_samples_of_machines_contribute_to_their_own_rows(intercept):
    data = machines_data(intercept)
    side = np.zeros(30, dtype=np.int8)
    side[[0, 7, 12, 13, 28]], side[[4, 11, 25]] = 1, -1
    # All samples of one label at C, which only all others could balance.
    part = restrict(
        data, np.array([1]), np.array([2, 0]), side, np.ones((1, 2)), np.ones(1)
    )
    own = part.program
    np.testing.assert_array_equal(own.starts, [3, 6, 9])
    columns = np.array([1, 4, 7, 2, 5, 8, 0, 3, 6])
    alpha = np.random.default_rng(1).uniform(size=part.samples.size)
    whole = dual_point(part, alpha).reshape(3, 10)
    np.testing.assert_array_equal(whole[side.reshape(3, 10) < 0], 0.0)
    frozen = side > 0
    np.testing.assert_array_equal(whole.ravel()[frozen], data.C[frozen])
    y, products = data.y.reshape(3, 10), np.empty(9)
    for t, f in enumerate(columns):
        products[t] = data.A[f] @ whole[f // 3]
        if intercept:
            products[t] -= part.means[t] * (y[f // 3] @ whole[f // 3])
    if intercept:
        products = np.append(products, (y * whole).sum(axis=1))
    found = whole_rows(own.rows) @ alpha + own.offset
    np.testing.assert_allclose(found, products, atol=1e-12)
    # Margins are those of each machine's own weights.
    w = np.random.default_rng(2).normal(size=products.size)
    margins = margins_of(data, columns, w, part.means).reshape(3, 10)
    for k in range(3):
        mine = columns // 3 == k
        rows = data.A[columns[mine]] - np.outer(part.means[mine], y[k])
        expected = w[:9][mine] @ rows + (w[9 + k] * y[k] if intercept else 0.0)
        np.testing.assert_allclose(margins[k], expected, atol=1e-12)


def test_only_the_machine_that_cannot_be_balanced_becomes_active():
    data = machines_data()
    side = np.zeros(30, dtype=np.int8)
    # In the second machine all are frozen but one, in the others only a few.
    side[:2], side[10:19], side[25] = -1, 1, -1
    nothing = np.empty(0, dtype=np.int64)
    part = restrict(data, np.arange(2), nothing, side, np.empty((0, 0)), np.empty(0))
    expected = [*range(2, 10), *range(10, 20), *range(20, 25), *range(26, 30)]
    np.testing.assert_array_equal(part.samples, expected)
    assert not side[10:20].any()
    np.testing.assert_array_equal(side[:2], -1)
