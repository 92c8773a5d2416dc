"""The curvature of a relaxation in each z_j, to estimate what branching would gain.

With z_j fixed at some value and all else optimal, the value of a relaxation is a
convex function of that value, smallest at the optimal z_j. Its curvature there follows
from the Newton matrix N of the interior point: a price e_j on z_j moves it by

    dz_j / de_j = (1 - (2 c_j^2 / H_j) (1 - (N^-1)_jj / omega_j) / omega_j) / H_j

and the curvature is half the inverse of that. The matrix is factorised anyway, so a
candidate takes only one triangular solve.
"""

from ._jit import jit, jit_new
from .arrays import copy_to, fill, new_vector
from .linalg import dot, kth_largest

# Number of features whose curvature is computed, those with the largest z.
CANDIDATES = 48


@jit
def _solve_forwards(factor, first, x):
    """Overwrite x, zero before ``first``, by its product with the inverse factor."""
    length = 0.0
    for i in range(first, factor.shape[0]):
        rest = x[i] - dot(factor[i, first:i], x[first:i], i - first)
        x[i] = rest / factor[i, i]
        length += x[i] * x[i]
    return length


@jit
def _inverse_by_feature(system, f, x):
    """``(N^-1)_ff`` from the factor of N."""
    fill(x, 0.0)
    x[f] = 1.0
    return _solve_forwards(system.matrix, f, x)


@jit
def _inverse_by_sample(program, system, omega, f, x):
    """``(N^-1)_ff`` from the factor of the matrix of the samples, by Woodbury."""
    row = program.rows.dense[f]
    n_rows, m = program.R.shape[0], row.shape[0]
    copy_to(row, x)
    reach = _solve_forwards(system.matrix, 0, x)
    for r in range(n_rows, system.border.shape[0]):
        # The contribution of the intercept.
        part = dot(row, system.solved[r], m)
        reach -= part * part / dot(program.y, system.solved[r], m)
    return omega - omega * omega * reach


@jit_new
def find_curvatures(program, point, newton, curvatures):
    """Curvatures for the candidates, zero for the other free features."""
    z, c, system = point.choice.z, point.c, newton.system
    H, omega = newton.scaling.features.H, newton.scaling.features.omega
    n_forced = program.n_forced
    least = kth_largest(z, CANDIDATES) if z.shape[0] > CANDIDATES else 0.0
    x = new_vector(system.matrix.shape[0])
    fill(curvatures, 0.0)
    for j in range(z.shape[0]):
        if z[j] < least:
            continue
        f = n_forced + j
        if system.by_feature:
            inverse = _inverse_by_feature(system, f, x)
        else:
            inverse = _inverse_by_sample(program, system, omega[f], f, x)
        bend = 2.0 * c[f] * c[f] / H[j] / omega[f]
        response = (1.0 - bend * (1.0 - inverse / omega[f])) / H[j]
        if response > 0.0:
            curvatures[j] = 0.5 / response
