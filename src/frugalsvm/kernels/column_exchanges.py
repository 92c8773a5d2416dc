"""Exchanges of features that have several columns, or weights limited in sign.

A support then has *active* columns. Those whose weight would have the wrong sign are
left out, so that active-set steps need not know of signs: they solve the SVM on the
active columns, whose objective is no smaller than that on the support.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .active_set_point import (
    ROOM_EXTRA,
    ROOM_RATE,
    ActiveSetPoint,
    change_inverse,
    compute_inverse,
    new_workspace,
)
from .data import columns_of, n_columns_of
from .linalg import (
    copy_to,
    dot,
    filled,
    kth_largest,
    new_indices,
    new_marks,
    new_matrix,
    new_vector,
    part,
    product,
    solve_small,
    transpose,
)
from .smoothing import ExchangeModel, inverse_of, moving_samples

# --- The samples near the margin of a solution, in contiguous arrays ------------------
#
# All other samples keep alpha = 0 or C until a check of the margins shows otherwise.


class NearSamples(NamedTuple):
    """Data of some samples on a support's columns, and sums over other samples.

    Attributes
    ----------
    samples : integer array (k,)
    rows, columns : arrays (p, k) and (k, p)
        Their signed entries, by active column and by sample.
    y, C : arrays (k,)
    far_w : array (p,)
        Contribution of the other samples to the weights.
    far_sums : array (2,)
        Sums of alpha and of alpha y over the other samples.
    scale : array (1,)
        Mean squared norm of the samples.
    """

    samples: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    y: np.ndarray
    C: np.ndarray
    far_w: np.ndarray
    far_sums: np.ndarray
    scale: np.ndarray


@jit_new
def select_near_samples(data, active, slack, alpha, count):
    """The ``count`` samples of the smallest ``|slack|``, or a few more.

    The slack of a sample is 1 minus its margin. Samples strictly between their bounds
    are included in any case.
    """
    m, p = slack.shape[0], active.shape[0]
    limit = np.inf
    if count < m:
        distance = new_vector(m)
        for i in range(m):
            distance[i] = abs(slack[i])
        limit = kth_largest(distance, m - count + 1)
    samples = new_indices(m)
    size = 0
    far_w, far_sums = filled(p, 0.0), filled(2, 0.0)
    for i in range(m):
        if abs(slack[i]) <= limit or 0.0 < alpha[i] < data.C[i]:
            samples[size] = i
            size += 1
        elif alpha[i] > 0.0:
            far_sums[0] += alpha[i]
            far_sums[1] += alpha[i] * data.y[i]
            for j in range(p):
                far_w[j] += alpha[i] * data.A[active[j], i]
    rows, columns = new_matrix(p, size), new_matrix(size, p)
    y, C = new_vector(size), new_vector(size)
    for t in range(size):
        y[t], C[t] = data.y[samples[t]], data.C[samples[t]]
    scale = filled(1, 0.0)
    for j in range(p):
        row = data.A[active[j]]
        for t in range(size):
            rows[j, t] = columns[t, j] = row[samples[t]]
        scale[0] += dot(rows[j], rows[j], size) / size
    return NearSamples(samples[:size], rows, columns, y, C, far_w, far_sums, scale)


# --- Exchanges of features that have several columns, or weights limited in sign ------


@jit_new
def admitted_columns(data, features, alpha):
    """The columns of features, without those whose sign does not admit the product."""
    columns = columns_of(data, features)
    if data.signs.shape[0] == 0:
        return columns
    size = 0
    for j in columns:
        sign = data.signs[j]
        if sign == 0 or sign * dot(data.A[j], alpha, alpha.shape[0]) >= 0.0:
            columns[size] = j
            size += 1
    return part(columns, 0, size)


@jit_new
def right_columns(data, columns, w):
    """The columns without those whose weight has the wrong sign."""
    if data.signs.shape[0] == 0:
        return columns
    selected, size = new_indices(columns.shape[0]), 0
    for t in range(columns.shape[0]):
        if data.signs[columns[t]] * w[t] >= 0.0:
            selected[size] = columns[t]
            size += 1
    return part(selected, 0, size)


@jit
def _position(columns, column):
    """Where a column is, or -1."""
    for t in range(columns.shape[0]):
        if columns[t] == column:
            return t
    return -1


@jit_new
def _near_with(data, near, before, after, near_alpha, alpha):
    """The near samples with other columns."""
    size, p = near.y.shape[0], after.shape[0]
    rows, columns, far_w = new_matrix(p, size), new_matrix(size, p), new_vector(p)
    for f in range(p):
        at, row = _position(before, after[f]), data.A[after[f]]
        for t in range(size):
            rows[f, t] = columns[t, f] = row[near.samples[t]]
        if at >= 0:
            far_w[f] = near.far_w[at]
        else:
            far_w[f] = dot(row, alpha, alpha.shape[0]) - dot(rows[f], near_alpha, size)
    return NearSamples(
        near.samples, rows, columns, near.y, near.C, far_w, near.far_sums, near.scale
    )


@jit_new
def with_columns(data, intercept, near, point, before, after, alpha):
    """The point and near samples after a change of the active columns."""
    size, p = near.y.shape[0], after.shape[0]
    room = point.free.shape[0]
    room = max(room, ROOM_RATE * p + ROOM_EXTRA)
    other = _near_with(data, near, before, after, point.alpha, alpha)
    counts = new_indices(1)
    counts[0] = point.size[0]
    trial = ActiveSetPoint(
        point.alpha.copy(),
        new_marks(size),
        new_indices(room),
        new_matrix(room + 1, room + 1),
        new_vector(p),
        counts,
        point.numbers.copy(),
    )
    copy_to(point.side, trial.side)
    for t in range(counts[0]):
        trial.free[t] = point.free[t]
    order = counts[0] + 1
    for s in range(order):
        for t in range(order):
            trial.inverse[s, t] = point.inverse[s, t]
    for f in range(p):
        trial.w[f] = other.far_w[f] + dot(other.rows[f], trial.alpha, size)
    workspace = new_workspace(size, room)
    is_updated = True
    # Entering columns first: without them the matrix may be singular.
    for f in range(p):
        if is_updated and _position(before, after[f]) < 0:
            is_updated = change_inverse(trial, other.rows[f], 1.0, workspace)
    for f in range(before.shape[0]):
        if is_updated and _position(after, before[f]) < 0:
            is_updated = change_inverse(trial, near.rows[f], -1.0, workspace)
    if not is_updated:
        compute_inverse(other, trial, intercept, workspace)
    return other, trial, workspace


@jit_new
def column_model(data, solution, smooth, features, alpha):
    """Estimated costs of exchanges; see ``smoothing.exchange_model``."""
    near, theta = solution.near, smooth.theta
    active, entering = solution.columns, columns_of(data, features)
    order, count, p = smooth.G.shape[0], entering.shape[0], active.shape[0]
    moving = moving_samples(theta)
    size = moving.shape[0]
    scaled, rows = new_matrix(order, size), new_matrix(count, size)
    weighted = new_matrix(count, size)
    for j in range(order):
        for t in range(size):
            scaled[j, t] = smooth.G[j, moving[t]] * theta[moving[t]]
    for k in range(count):
        row = data.A[entering[k]]
        for t in range(size):
            rows[k, t] = row[near.samples[moving[t]]]
            weighted[k, t] = rows[k, t] * theta[moving[t]]
    c, active_c = new_vector(count), new_vector(p)
    for k in range(count):
        c[k] = dot(data.A[entering[k]], alpha, alpha.shape[0])
        if data.signs.shape[0] > 0 and data.signs[entering[k]] * c[k] < 0.0:
            c[k] = 0.0
    for f in range(p):
        active_c[f] = near.far_w[f] + dot(near.rows[f], smooth.alpha, theta.shape[0])
    inverse, seen = inverse_of(smooth.factor), product(scaled, rows)
    shared = product(inverse, seen.T)
    positions, ends = _positions(data, active, solution.support)
    losses = new_matrix(features.shape[0], solution.support.shape[0])
    first = 0
    for k in range(features.shape[0]):
        last = first + n_columns_of(data, features[k : k + 1])
        block = _feature_block(rows, weighted, seen, shared, first, last)
        _find_losses(
            block, inverse, shared[:, first:last], c[first:last], active_c, positions,
            ends, losses[k],
        )  # fmt: skip
        first = last
    return ExchangeModel(features, transpose(losses))


@jit_new
def _positions(data, columns, support):
    """Where the columns of each feature are among the active ones, and their ends."""
    positions, ends = new_indices(columns.shape[0]), new_indices(support.shape[0])
    size = 0
    for t in range(support.shape[0]):
        for j in columns_of(data, support[t : t + 1]):
            at = _position(columns, j)
            if at >= 0:
                positions[size] = at
                size += 1
        ends[t] = size
    return positions, ends


@jit_new
def _feature_block(rows, weighted, seen, shared, first, last):
    """``I + A P A'`` of the columns of one feature."""
    block = new_matrix(last - first, last - first)
    for s in range(first, last):
        for t in range(first, s + 1):
            value = dot(rows[s], weighted[t], rows.shape[1])
            for j in range(seen.shape[0]):
                value -= seen[j, s] * shared[j, t]
            block[s - first, t - first] = block[t - first, s - first] = value
        block[s - first, s - first] = max(0.0, block[s - first, s - first]) + 1.0
    return block


@jit_new
def _find_losses(block, inverse, shared, c, active_c, positions, ends, losses):
    """The expected increase when each of some features leaves and another enters.

    With N the block of the entering feature and S its ``A P A'`` with the columns of
    the leaving one, whose block is ``-K^-1``, elimination leaves a system with the
    matrix ``-K^-1 - S N^-1 S'``.
    """
    p, size = active_c.shape[0], c.shape[0]
    right = new_matrix(size, p + 1)
    for s in range(size):
        right[s, p] = c[s]
        for f in range(p):
            right[s, f] = shared[f, s]
    _eliminate(block, right)
    gain = 0.0
    for s in range(size):
        gain += c[s] * right[s, p]
    start = 0
    for j in range(ends.shape[0]):
        width = ends[j] - start
        system, rhs = new_matrix(width, width), new_vector(width)
        for s in range(width):
            f = positions[start + s]
            rhs[s] = active_c[f]
            for e in range(size):
                rhs[s] -= shared[f, e] * right[e, p]
            for t in range(width):
                g = positions[start + t]
                value = -inverse[f, g]
                for e in range(size):
                    value -= shared[f, e] * right[e, g]
                system[s, t] = value
        losses[j] = -0.5 * (gain + _form(system, rhs))
        start = ends[j]


@jit
def _eliminate(matrix, right):
    """Overwrite the right-hand sides by the solutions; the matrix is positive."""
    n, q = right.shape
    for col in range(n):
        for row in range(col + 1, n):
            factor = matrix[row, col] / matrix[col, col]
            for k in range(col + 1, n):
                matrix[row, k] -= factor * matrix[col, k]
            for k in range(q):
                right[row, k] -= factor * right[col, k]
    for row in range(n - 1, -1, -1):
        for col in range(row + 1, n):
            for k in range(q):
                right[row, k] -= matrix[row, col] * right[col, k]
        for k in range(q):
            right[row, k] /= matrix[row, row]


@jit_new
def _form(matrix, x):
    """``x' matrix^-1 x`` of a symmetric matrix."""
    if x.shape[0] == 1:
        return x[0] * x[0] / matrix[0, 0]
    solved = x.copy()
    solve_small(matrix, solved)
    return dot(x, solved, x.shape[0])
