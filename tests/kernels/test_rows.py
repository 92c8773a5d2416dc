"""Margins of features whose means are far larger than their spread."""

import numpy as np

from frugalsvm.kernels import rows
from tests.kernels.compiled import compiled

margins_of = compiled(rows.margins_of)


def test_large_means_cost_no_digits():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    spread = rng.integers(-3, 4, (2, 30)).astype(float)
    spread -= np.array([[spread[0].sum() / 30], [spread[1].sum() / 30]])
    means = np.array([2.0**40, -(2.0**41)])
    A = (np.round(spread * 4) / 4 + means[:, None]) * y
    means = (A * y).mean(axis=1)
    weights = np.array([0.1, -0.7, 0.25])
    margins = np.empty(30)
    margins_of(A, np.arange(2), weights, means, y, margins)
    expected = weights[:2] @ (A * y - means[:, None]) * y + 0.25 * y
    np.testing.assert_allclose(margins, expected, rtol=1e-12, atol=1e-12)
    assert np.abs(margins).max() < 10
