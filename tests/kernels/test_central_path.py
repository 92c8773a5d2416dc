"""Starts are central, and loops terminate for all values."""

import numpy as np
import pytest

from frugalsvm.kernels import central_path, linalg
from frugalsvm.kernels import data as admitted_kernels
from frugalsvm.kernels import smoothing as hinge
from frugalsvm.kernels.central_path import ChoiceVariables
from tests.kernels.compiled import compiled
from tests.kernels.programs import program_of

centre_choice, mean_product, start, zero_point, best_intercept, kth_largest = map(
    compiled,
    (central_path.centre_choice, central_path.mean_product, central_path.start,
     central_path.zero_point, hinge.best_intercept, linalg.kth_largest),
)  # fmt: skip
new_admitted = compiled(admitted_kernels.new_admitted)


def choice_of(z, n_rows):
    return ChoiceVariables(z, z.copy(), z.copy(), np.ones(n_rows), np.empty(n_rows))


@pytest.mark.parametrize("value", [1.0, 1e200, np.inf, np.nan])
def test_centring_z_terminates_for_any_value(value):
    R, h = np.ones((1, 3)), np.array([2.0])
    choice = choice_of(np.full(3, 0.5), 1)
    product = centre_choice(R, h, np.array([value, 1.0, 2.0]), 0.1, choice, np.empty(3))
    if value == 1.0:
        assert product > 0
        assert choice.z.sum() < 2.0


@pytest.mark.parametrize("n_rows", [1, 2])
def test_centred_z_has_equal_complementarity_products(n_rows):
    rng = np.random.default_rng(n_rows)
    R = np.vstack([np.ones(8), rng.uniform(1, 2, 8)])[:n_rows]
    h = np.array([3.0, 4.0])[:n_rows]
    c = rng.normal(size=10)
    choice = choice_of(np.full(8, 0.5), n_rows)
    product = centre_choice(R, h, c[2:] ** 2, 1e-3, choice, np.empty(8))
    np.testing.assert_allclose(choice.g * choice.z, product)
    np.testing.assert_allclose(choice.s * (1 - choice.z), product)
    assert np.all(R @ choice.z < h)
    # The condition in z holds as well: only the slacks are not central.
    residual = choice.s + R.T @ choice.lam - c[2:] ** 2 - choice.g
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)


@pytest.mark.parametrize("warm", [True, False])
def test_a_start_violates_only_the_condition_on_c(warm):
    program = program_of(n_forced=4, n_rows=0)
    m = program.y.size
    weight = program.C / program.C.mean()
    w = np.arange(4.0) if warm else np.empty(0)
    point = zero_point(program)
    admitted = new_admitted(program, point.c)
    start(program, w, 0.3, weight, point, admitted, np.empty(5), np.empty(m))
    alpha, lower, upper = point.samples
    np.testing.assert_allclose(alpha * lower, 0.3 * weight)
    np.testing.assert_allclose((program.C - alpha) * upper, 0.3 * weight)
    margins = np.append(point.c, point.b) @ program.rows.dense
    np.testing.assert_allclose(margins - lower + upper, 1.0, atol=1e-12)
    if warm:
        np.testing.assert_array_equal(point.c, w)
    mean = mean_product(point, program.C - alpha, 0.0, point, 0.0)
    assert mean == pytest.approx(0.3 * weight.sum() / m)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_selection_terminates_on_nan_and_infinity(wrong):
    values = np.array([1.0, wrong, 3.0, wrong, 2.0, 5.0])
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0])
    best_intercept(values, y, np.ones(6), 0.0)
    for k in range(1, 7):
        kth_largest(values, k)
