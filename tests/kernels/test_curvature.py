"""Both ways to compute curvatures agree with solving for each feature."""

import numpy as np
import pytest
from numba import njit

from frugalsvm.kernels import newton, newton_system
from frugalsvm.kernels.branching import CANDIDATES, find_curvatures
from frugalsvm.kernels.central_path import centre_choice, start, zero_point
from frugalsvm.kernels.data import NEVER, new_admitted
from tests.kernels.programs import program_of, whole_rows

Newton, new_newton, new_system = (
    newton.Newton, newton.new_newton, newton_system.new_system
)  # fmt: skip
scale, factorise = newton_system.scale, newton_system.factorise


@njit
def curvatures_at(program, by_feature, stop):
    """A point of the central path, and the curvatures there."""
    q, m = program.offset.shape[0], program.y.shape[0]
    free = program.R.shape[1]
    point = zero_point(program)
    weight, cold = np.ones(m), np.empty(0)
    admitted = new_admitted(program, point.c)
    start(program, cold, 0.1, weight, point, admitted, np.empty(q), np.empty(m))
    worths = np.empty(free)
    for j in range(free):
        worths[j] = np.sum(point.c[program.starts[j] : program.starts[j + 1]] ** 2)
    centre_choice(program.R, program.h, worths, 1e-3, point.choice, np.empty(free))
    made = new_newton(program)
    system = new_system(program, by_feature)
    own = Newton(made.residuals, made.scaling, system, made.rhs)
    scale(program, point, admitted, True, own.scaling)
    factorise(program, point.choice, admitted.v, own.scaling, system, stop)
    found = np.empty(free)
    find_curvatures(program, point, admitted.v, own, found)
    return found, point, own.scaling


def by_hand(program, point, scaling):
    """Half the inverse of dz_j / de_j, by the equations of the Newton step."""
    p, n_forced = program.n_columns, program.n_forced
    rows, labels = np.split(whole_rows(program.rows), [p])
    c, z = point.c, point.choice.z
    theta, H = scaling.samples.theta, scaling.features.H
    # Without intercepts there are no rows of labels.
    weighted = labels * theta
    inner = np.linalg.inv(weighted @ labels.T)
    middle = np.diag(theta) - weighted.T @ inner @ weighted
    gram = rows @ middle @ rows.T
    found = []
    for j in range(z.size):
        # Unknowns dc and dz: dc = -gram (z dc + c dz), H dz = 2 c dc + e.
        sizes = np.diff(program.starts)
        weights = np.append(np.ones(n_forced), np.repeat(z, sizes))
        spread = np.zeros((p, z.size))
        owners = np.repeat(np.arange(z.size), sizes)
        spread[np.arange(n_forced, p), owners] = c[n_forced:]
        top = np.hstack([np.eye(p) + gram * weights, gram @ spread])
        bottom = np.hstack([-2.0 * spread.T, np.diag(H)])
        rhs = np.zeros(p + z.size)
        rhs[p + j] = 1.0
        found.append(0.5 / np.linalg.solve(np.vstack([top, bottom]), rhs)[p + j])
    return np.array(found)


@pytest.mark.parametrize("n_rows", [1, 2])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("by_feature", [True, False])
@pytest.mark.parametrize(
    ("sizes", "n_machines"),
    [(None, 1), ((2, 1, 3, 1, 2), 1), ((2, 2, 4, 2, 2), 2), ((3, 3, 3, 6, 3), 3)],
)
def test_curvatures_agree_with_solving_for_each_feature(
    n_rows, intercept, by_feature, sizes, n_machines
):
    # As many columns for each machine.
    program = program_of(
        n_forced=max(2, n_machines), n_rows=n_rows, intercept=intercept, m=25,
        sizes=sizes, n_machines=n_machines,
    )  # fmt: skip
    found, point, scaling = curvatures_at(program, by_feature, NEVER)
    np.testing.assert_allclose(found, by_hand(program, point, scaling), rtol=1e-6)


def test_only_features_with_large_z_have_a_curvature():
    program = program_of(n_rows=1, intercept=True, m=30, free=CANDIDATES + 20)
    found, point, _ = curvatures_at(program, True, NEVER)
    assert np.count_nonzero(found) == CANDIDATES
    assert point.choice.z[found > 0].min() >= point.choice.z[found == 0].max()
