"""The Newton step solves the linearised conditions of the interior point."""

import numpy as np
import pytest
from numba import njit

from frugalsvm.kernels import newton, newton_system
from frugalsvm.kernels.central_path import (
    ChoiceVariables,
    Point,
    SampleVariables,
    zero_point,
)
from frugalsvm.kernels.data import NEVER, admit, new_admitted
from frugalsvm.kernels.newton import Newton
from tests.kernels.programs import program_of, whole_rows

new_newton, new_system = newton.new_newton, newton_system.new_system
scale, factorise = newton_system.scale, newton_system.factorise
find_residuals, newton_step = newton.find_residuals, newton.newton_step


# Features of one column, of several, with signs, with both, and several machines.
KINDS = [
    {}, {"sizes": (3, 1, 2, 1, 4)}, {"signed": True},
    {"sizes": (1, 2, 3, 2, 1), "signed": True},
    {"sizes": (2, 2, 4, 2, 2), "n_machines": 2},
    {"sizes": (3, 6, 3, 3, 3), "n_machines": 3, "n_forced": 3},
]  # fmt: skip


@njit
def step_from(
    program, point, barrier, margins, by_feature, weight, tau, kappa, refine, stop
):
    """The plain Newton step towards the central path at tau."""
    admitted = new_admitted(program, point.c)
    admitted.barrier[0] = barrier
    admit(program.signs, point.c, admitted)
    made = new_newton(program)
    system = new_system(program, by_feature)
    own = Newton(made.residuals, made.scaling, system, made.rhs)
    step = zero_point(program)
    find_residuals(program, point, admitted, margins, own.residuals)
    scale(program, point, admitted, True, own.scaling)
    factorise(program, point.choice, admitted.v, own.scaling, own.system, stop)
    newton_step(program, point, admitted, own, weight, tau, kappa, 0.0, refine, step)
    return step


def contributions(program, c, barrier):
    """v and q of all columns, as the documentation of ``admitted`` defines them."""
    if program.signs.size == 0:
        return c, c**2
    own, t = program.signs * c, barrier
    v = (own + np.sqrt(own**2 + 4 * t)) / 2
    q = 2 * (own * v - v**2 / 2 + t * np.log(v)) + 2 * t - t * np.log(t)
    is_free = program.signs == 0
    return np.where(is_free, c, program.signs * v), np.where(is_free, c**2, q)


def random_point(program, seed=0):
    rng = np.random.default_rng(seed)
    m, (n_rows, free) = program.y.size, program.R.shape
    positive = [rng.uniform(0.5, 1.5, size) for size in (m, m, free, free, n_rows)]
    samples = SampleVariables(rng.uniform(0.2, 0.8, m) * program.C, *positive[:2])
    z = rng.uniform(0.1, 0.3, free)
    slack = program.h - program.R @ z
    choice = ChoiceVariables(z, positive[2], positive[3], positive[4], slack)
    b = 0.3 + 0.1 * np.arange(program.rows.first.size - 1)
    return Point(samples, choice, rng.normal(size=program.n_columns), b)


def margins_of(program, point, barrier):
    z = np.repeat(point.choice.z, np.diff(program.starts))
    w = np.append(np.ones(program.n_forced), z)
    w = w * contributions(program, point.c, barrier)[0]
    if program.rows.dense.shape[0] > w.size:
        w = np.append(w, point.b)
    return w @ whole_rows(program.rows)


def conditions(program, point, barrier, weight, tau, kappa):
    """All conditions of the central path, as a vector that is zero on it."""
    (alpha, lower, upper), (z, s, g, lam, _) = point.samples, point.choice
    c = np.append(point.c, np.zeros(program.offset.size - program.n_columns))
    q = contributions(program, point.c, barrier)[1]
    q = np.add.reduceat(np.append(q, 0.0), program.starts)[: z.size]
    return np.concatenate(
        [
            c - whole_rows(program.rows) @ alpha - program.offset,
            margins_of(program, point, barrier) - 1 - lower + upper,
            s + program.R.T @ lam - q - g,
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


@pytest.mark.parametrize("n_rows", [0, 1, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("by_feature", [True, False])
@pytest.mark.parametrize("columns", KINDS)
def test_a_step_leaves_only_second_order_residuals(
    n_rows, intercept, by_feature, columns
):
    program = program_of(n_rows=n_rows, intercept=intercept, **columns)
    point = random_point(program)
    weight, tau, kappa, barrier = np.ones(program.y.size), 0.1, 0.7, 0.2
    step = step_from(
        program, point, barrier, margins_of(program, point, barrier), by_feature,
        weight, tau, kappa, False, NEVER,
    )  # fmt: skip

    def violation(length):
        # The barrier of signs moves with the others.
        own = barrier + length * (tau - barrier)
        return conditions(program, moved(point, step, length), own, weight, tau, kappa)

    before = violation(0.0)
    for length in (1e-2, 1e-3):
        # First order: the violation shrinks in proportion to the step.
        error = np.abs(violation(length) - (1 - length) * before).max()
        assert error < 300 * length**2 * (1 + np.abs(before).max())
    # The linear terms vanish.
    after = violation(1.0)[: program.rows.dense.shape[0]]
    np.testing.assert_allclose(after, 0.0, atol=1e-9)


@pytest.mark.parametrize("n_rows", [0, 1, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("columns", KINDS)
def test_both_eliminations_give_the_same_step(n_rows, intercept, columns):
    program = program_of(n_rows=n_rows, intercept=intercept, seed=1, **columns)
    point = random_point(program, seed=1)
    weight = np.linspace(0.5, 1.5, program.y.size)
    margins = margins_of(program, point, 0.2)
    one, other, refined = (
        step_from(
            program, point, 0.2, margins, by_feature, weight, 0.1, 0.7, refine, NEVER
        )
        for by_feature, refine in ((True, False), (False, False), (True, True))
    )
    for another in (other, refined):
        pairs = zip(
            [*one.samples, *one.choice, one.c, one.b],
            [*another.samples, *another.choice, another.c, another.b],
            strict=True,
        )
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def test_the_smaller_matrix_is_factorised():
    is_by_feature = njit(lambda program: newton_system.is_by_feature(program))
    assert is_by_feature(program_of(free=100, m=30))
    assert not is_by_feature(program_of(free=300, m=30))
    assert is_by_feature(program_of(free=300, m=400))
