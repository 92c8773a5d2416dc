"""The few best features of a node to branch on, and the curvature of its relaxation."""

from __future__ import annotations

from ._jit import jit, jit_entry, jit_new
from .linalg import (
    dot,
    fill,
    kth_largest,
    new_indices,
    new_matrix,
    new_vector,
    solve_small,
)
from .machine_blocks import solve_blocks


@jit_entry
def largest(free, values, count):
    """Up to ``count`` free features by decreasing value, ties in their order."""
    size = min(count, free.shape[0])
    chosen = new_indices(size)
    n_chosen = 0
    for j in free:
        at = n_chosen
        while at > 0 and values[j] > values[chosen[at - 1]]:
            at -= 1
        if at == size:
            continue
        n_chosen = min(n_chosen + 1, size)
        for t in range(n_chosen - 1, at, -1):
            chosen[t] = chosen[t - 1]
        chosen[at] = j
    return chosen


@jit_entry
def most_fractional(free, z, count):
    """Up to ``count`` free features whose z are closest to one half, closest first."""
    closeness = new_vector(z.shape[0])
    for j in free:
        closeness[j] = min(z[j], 1.0 - z[j])
    return largest(free, closeness, count)


@jit_entry
def most_gaining(free, z, curvature, count):
    """Up to ``count`` free features by the product of the children's expected gains.

    If no curvature is known, those whose z are closest to one half.
    """
    score = new_vector(z.shape[0])
    n_positive = 0
    for j in free:
        score[j] = curvature[j] ** 2 * z[j] ** 3 * (1.0 - z[j]) ** 2
        n_positive += score[j] > 0.0
    if n_positive == 0:
        return most_fractional(free, z, count)
    return largest(free, score, min(count, n_positive))


# --- The curvature of a relaxation in each z_j, to estimate the gain of branching -----
#
# With z_j fixed at some value and all else optimal, the value of a relaxation is a
# convex function of that value, smallest at the optimal z_j. Its curvature there
# follows from the Newton matrix N of the interior point: a price e_j on z_j moves it by
#
#     dz_j / de_j = (1 - (2 c_j^2 / H_j) (1 - (N^-1)_jj / omega_j) / omega_j) / H_j
#
# (for a feature of several columns with the quadratic form of ``N^-1`` and ``v /
# Omega``, and ``remainder`` of ``newton_system``) and the curvature is half the inverse
# of that. The matrix is factorised anyway, so a candidate takes only one triangular
# solve.

# Number of features whose curvature is computed, those with the largest z.
CANDIDATES = 48


@jit
def _solve_forwards(factor, first, x):
    """Overwrite x, zero before ``first``, by its product with the inverse factor."""
    length = 0.0
    for i in range(first, factor.shape[0]):
        value = x[i] - dot(factor[i, first:i], x[first:i], i - first)
        x[i] = value / factor[i, i]
        length += x[i] * x[i]
    return length


@jit
def _length_by_feature(system, features, v, start, stop, x):
    """The quadratic form of ``N^-1`` with v / Omega, from the factor of N."""
    fill(x, 0.0)
    for f in range(start, stop):
        x[f] = v[f] / features.omega[f]
    if system.blocks.rows.shape[0] == 0:
        return _solve_forwards(system.matrix, start, x)
    solve_blocks(system.blocks, x)
    length = 0.0
    for f in range(start, stop):
        length += x[f] * v[f] / features.omega[f]
    return length


@jit_new
def _length_by_sample(program, system, v, start, stop, x):
    """The quadratic form of v'A with the inverse of the matrix of the samples."""
    m = x.shape[0]
    for i in range(m):
        x[i] = 0.0
        for f in range(start, stop):
            x[i] += v[f] * system.columns[i, f]
    parts = _parts_of_intercepts(system, program.R.shape[0], x)
    return _solve_forwards(system.matrix, 0, x) - parts


@jit_new
def _parts_of_intercepts(system, n_rows, x):
    """The part of the quadratic form that free intercepts take away."""
    border, solved, m = system.border, system.solved, x.shape[0]
    count = border.shape[0] - n_rows
    if count == 0:
        return 0.0
    small, part = new_matrix(count, count), new_vector(count)
    for r in range(count):
        part[r] = dot(x, solved[n_rows + r], m)
        for q in range(count):
            small[r, q] = dot(border[n_rows + r], solved[n_rows + q], m)
    if count == 1:
        return part[0] * part[0] / small[0, 0]
    answer = part.copy()
    solve_small(small, answer)
    return dot(part, answer, count)


@jit_new
def find_curvatures(program, point, v, newton, curvatures):
    """Curvatures for the candidates, zero for the other free features."""
    z, system, features = point.choice.z, newton.system, newton.scaling.features
    starts = program.starts
    least = kth_largest(z, CANDIDATES) if z.shape[0] > CANDIDATES else 0.0
    x = new_vector(system.border.shape[1])
    fill(curvatures, 0.0)
    for j in range(z.shape[0]):
        if z[j] < least:
            continue
        start, stop = starts[j], starts[j + 1]
        bend = 2.0 / features.H[j]
        if not system.by_feature:
            length = _length_by_sample(program, system, v, start, stop, x)
            response = (1.0 - bend * length) / features.H[j]
        else:
            shrink = features.shrink[start]
            length = _length_by_feature(system, features, v, start, stop, x)
            response = features.remainder[j] + bend * shrink * shrink * length
            response /= features.H[j]
        if response > 0.0:
            curvatures[j] = 0.5 / response
