"""The Newton step solves the linearised conditions of the interior point."""

import numpy as np
import pytest
from numba import njit

from frugalsvm.kernels import newton
from frugalsvm.kernels.central_path import Choice, Point, Samples, zero_point
from frugalsvm.kernels.data import NEVER
from tests.kernels.programs import program_of

find_residuals, newton_step, factorise, scale = (
    newton.find_residuals, newton.newton_step, newton.factorise, newton.scale,
)  # fmt: skip
new_residuals, new_scaling, new_system, new_right_hand_side = (
    newton.new_residuals, newton.new_scaling, newton.new_system,
    newton.new_right_hand_side,
)  # fmt: skip


@njit
def step_from(program, point, margins, by_feature, weight, tau, kappa, refine, stop):
    """The plain Newton step towards the central path at tau."""
    residuals = new_residuals(program)
    scaling = new_scaling(program)
    system = new_system(program, by_feature)
    rhs = new_right_hand_side(program)
    step = zero_point(program)
    find_residuals(program, point, margins, residuals)
    scale(program, point, True, scaling)
    factorise(program, point.choice, scaling, system, stop)
    newton_step(
        program, point, residuals, scaling, system, rhs, weight, tau, kappa, 0.0,
        refine, step,
    )  # fmt: skip
    return step


def random_point(program, seed=0):
    rng = np.random.default_rng(seed)
    m, (n_rows, free) = program.y.size, program.R.shape
    positive = [rng.uniform(0.5, 1.5, size) for size in (m, m, free, free, n_rows)]
    samples = Samples(rng.uniform(0.2, 0.8, m) * program.C, *positive[:2])
    z = rng.uniform(0.1, 0.3, free)
    slack = program.h - program.R @ z
    choice = Choice(z, positive[2], positive[3], positive[4], slack)
    return Point(samples, choice, rng.normal(size=program.n_features), np.array([0.3]))


def z_of(program, point):
    return np.append(np.ones(program.n_forced), point.choice.z)


def margins_of(program, point):
    w = z_of(program, point) * point.c
    if program.rows.shape[0] > w.size:
        w = np.append(w, point.b)
    return w @ program.rows


def conditions(program, point, weight, tau, kappa):
    """All conditions of the central path, as a vector that is zero on it."""
    (alpha, lower, upper), (z, s, g, lam, _) = point.samples, point.choice
    c = np.append(point.c, 0.0)[: program.rows.shape[0]]
    return np.concatenate(
        [
            c - program.rows @ alpha - program.offset,
            margins_of(program, point) - 1 - lower + upper,
            s + program.R.T @ lam - point.c[program.n_forced :] ** 2 - g,
            alpha * lower - tau * weight,
            (program.C - alpha) * upper - tau * weight,
            z * g - kappa * tau,
            (1 - z) * s - kappa * tau,
            lam * (program.h - program.R @ z) - kappa * tau,
        ]
    )


def moved(point, step, length):
    samples, choice = (
        type(a)(*(x + length * d for x, d in zip(a, b, strict=True)))
        for a, b in zip(point[:2], step[:2], strict=True)
    )
    return Point(samples, choice, point.c + length * step.c, point.b + length * step.b)


CASES = [
    {"n_rows": n_rows, "intercept": intercept, "by_feature": by_feature}
    for n_rows in (0, 1, 2)
    for intercept in (True, False)
    for by_feature in (True, False)
]


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: "-".join(map(str, case.values()))
)
def test_a_step_leaves_only_second_order_terms(case):
    by_feature = case["by_feature"]
    program = program_of(n_rows=case["n_rows"], intercept=case["intercept"])
    point = random_point(program)
    weight, tau, kappa = np.ones(program.y.size), 0.1, 0.7
    step = step_from(
        program, point, margins_of(program, point), by_feature, weight, tau, kappa,
        False, NEVER,
    )  # fmt: skip
    before = conditions(program, point, weight, tau, kappa)
    for length in (1e-2, 1e-3):
        after = conditions(program, moved(point, step, length), weight, tau, kappa)
        # First order: the violation shrinks in proportion to the step.
        error = np.abs(after - (1 - length) * before).max()
        assert error < 300 * length**2 * (1 + np.abs(before).max())
    linear = program.rows.shape[0]
    np.testing.assert_allclose(
        conditions(program, moved(point, step, 1.0), weight, tau, kappa)[:linear],
        0.0, atol=1e-9,
    )  # fmt: skip


@pytest.mark.parametrize("n_rows", [0, 1, 2])
@pytest.mark.parametrize("intercept", [True, False])
def test_by_feature_and_by_sample_are_the_same_step(n_rows, intercept):
    program = program_of(n_rows=n_rows, intercept=intercept, seed=1)
    point = random_point(program, seed=1)
    weight = np.linspace(0.5, 1.5, program.y.size)
    arguments = (weight, 0.1, 0.7)
    margins = margins_of(program, point)
    one, other, refined = (
        step_from(program, point, margins, by_feature, *arguments, refine, NEVER)
        for by_feature, refine in ((True, False), (False, False), (True, True))
    )
    for another in (other, refined):
        for a, b in zip([*one[0], *one[1]], [*another[0], *another[1]], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(one.c, another.c, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(one.b, another.b, rtol=1e-7, atol=1e-9)
