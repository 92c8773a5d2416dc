"""The blocks of several machines solve the same system as one dense matrix."""

import numpy as np
import pytest
from numba import njit

from frugalsvm.kernels import machine_blocks, newton_system
from frugalsvm.kernels.data import NEVER, admit, new_admitted
from tests.kernels.programs import program_of, whole_rows
from tests.kernels.test_newton import random_point

new_scaling, scale = newton_system.new_scaling, newton_system.scale
new_blocks, factor_blocks, solve_blocks = (
    machine_blocks.new_blocks, machine_blocks.factor_blocks, machine_blocks.solve_blocks
)  # fmt: skip
SHAPES = [
    {"n_machines": 2, "sizes": (2, 2, 2, 2, 2)},
    {"n_machines": 3, "sizes": (3, 6, 3, 3, 3), "n_forced": 3},
    {"n_machines": 4, "n_rows": 0, "n_forced": 8},
    {"n_machines": 3, "sizes": (3,) * 5, "n_forced": 0},
]


@njit
def solved(program, point, rhs, stop):
    """Scalings at a point, admitted products, and the solution of a system there."""
    admitted, scaling = new_admitted(program, point.c), new_scaling(program)
    admit(program.signs, point.c, admitted)
    scale(program, point, admitted, True, scaling)
    blocks = new_blocks(program)
    factor_blocks(
        program, admitted.v, scaling.samples.theta, scaling.features, blocks, stop
    )
    solve_blocks(blocks, rhs)
    return scaling, admitted.v, rhs


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_solve_the_system_of_all_machines(shape, intercept):
    program = program_of(intercept=intercept, **shape)
    rng = np.random.default_rng(3)
    rhs = rng.normal(size=program.offset.size)
    scaling, v, found = solved(program, random_point(program), rhs.copy(), NEVER)
    rows, features = whole_rows(program.rows), scaling.features
    # Omega = omega + bend v v' on the columns of a feature, by its definition.
    omega = np.diag(features.omega)
    for j, (a, b) in enumerate(zip(program.starts, program.starts[1:], strict=False)):
        omega[a:b, a:b] += features.bend[j] * np.outer(v[a:b], v[a:b])
    matrix = (rows * scaling.samples.theta) @ rows.T
    p = program.n_columns
    matrix[:p, :p] += np.linalg.inv(omega)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, rhs), rtol=1e-8)
