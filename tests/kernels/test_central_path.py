"""Loops come to an end whatever numbers they are given."""

import numpy as np
import pytest

from frugalsvm.kernels import central_path, hinge, linalg
from tests.kernels.compiled import compiled

central_shares, best_intercept, kth_largest = map(
    compiled, (central_path.central_shares, hinge.best_intercept, linalg.kth_largest)
)


@pytest.mark.parametrize("value", [1.0, 1e200, np.inf, np.nan])
def test_shares_are_centred_in_a_bounded_number_of_steps(value):
    R, h = np.ones((1, 3)), np.array([2.0])
    shares, lam = np.full((3, 3), 0.5), np.ones(1)
    product = central_shares(np.array([value, 1.0, 2.0]), 0, R, h, 0.1, shares, lam)
    if value == 1.0:
        assert product > 0
        assert shares[0].sum() < 2.0


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_selection_ends_on_odd_numbers(wrong):
    values = np.array([1.0, wrong, 3.0, wrong, 2.0, 5.0])
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    best_intercept(values, y, np.ones(6))
    for k in range(1, 7):
        kth_largest(values, k)
