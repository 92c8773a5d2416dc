"""Exchanges of features that have several columns, or weights limited in sign.

A support then has *active* columns. Those whose weight would have the wrong sign are
left out, so that active-set steps need not know of signs: what they find is the SVM on
the active columns, which costs no less than that on the support.
"""

from ._jit import jit, jit_new
from .active_set_point import (
    ROOM_EXTRA,
    ROOM_RATE,
    ActiveSetPoint,
    change_inverse,
    compute_inverse,
    new_workspace,
)
from .arrays import copy_to, fill, new_indices, new_marks, new_matrix, new_vector, part
from .columns import columns_of
from .linalg import dot, product, solve_small
from .near import NearSamples
from .smoothing import ExchangeModel, inverse_of, moving_samples


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
    kept, size = new_indices(columns.shape[0]), 0
    for t in range(columns.shape[0]):
        if data.signs[columns[t]] * w[t] >= 0.0:
            kept[size] = columns[t]
            size += 1
    return part(kept, 0, size)


@jit
def _position(columns, column):
    """Where a column is, or -1."""
    for t in range(columns.shape[0]):
        if columns[t] == column:
            return t
    return -1


@jit_new
def _near_with(data, near, before, after, own_alpha, alpha):
    """The same near samples with other columns."""
    size, p = near.y.shape[0], after.shape[0]
    rows, columns, far_w = new_matrix(p, size), new_matrix(size, p), new_vector(p)
    for f in range(p):
        at, row = _position(before, after[f]), data.A[after[f]]
        for t in range(size):
            rows[f, t] = columns[t, f] = row[near.samples[t]]
        if at >= 0:
            far_w[f] = near.far_w[at]
        else:
            far_w[f] = dot(row, alpha, alpha.shape[0]) - dot(rows[f], own_alpha, size)
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
        point.alpha.copy(), new_marks(size), new_indices(room),
        new_matrix(room + 1, room + 1), new_vector(p), counts, point.numbers.copy(),
    )  # fmt: skip
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
    is_kept = True
    # Those that enter first: without them the matrix may be singular.
    for f in range(p):
        if is_kept and _position(before, after[f]) < 0:
            is_kept = change_inverse(trial, other.rows[f], 1.0, workspace)
    for f in range(before.shape[0]):
        if is_kept and _position(after, before[f]) < 0:
            is_kept = change_inverse(trial, near.rows[f], -1.0, workspace)
    if not is_kept:
        compute_inverse(other, trial, intercept, workspace)
    return other, trial, workspace


@jit_new
def column_model(data, solution, smooth, features, alpha):
    """Estimated costs of exchanges; see ``smoothing.exchange_model``."""
    near, theta = solution.near, smooth.theta
    own, coming = solution.columns, columns_of(data, features)
    order, count, p = smooth.G.shape[0], coming.shape[0], own.shape[0]
    moving = moving_samples(theta)
    size = moving.shape[0]
    scaled, rows = new_matrix(order, size), new_matrix(count, size)
    weighted = new_matrix(count, size)
    for t in range(size):
        slope, sample = theta[moving[t]], near.samples[moving[t]]
        for j in range(order):
            scaled[j, t] = smooth.G[j, moving[t]] * slope
        for k in range(count):
            rows[k, t] = data.A[coming[k], sample]
            weighted[k, t] = rows[k, t] * slope
    c, own_c = new_vector(count), new_vector(p)
    for k in range(count):
        c[k] = dot(data.A[coming[k]], alpha, alpha.shape[0])
        if data.signs.shape[0] > 0 and data.signs[coming[k]] * c[k] < 0.0:
            c[k] = 0.0
    for f in range(p):
        own_c[f] = near.far_w[f] + dot(near.rows[f], smooth.alpha, theta.shape[0])
    inverse, seen = inverse_of(smooth.factor), product(scaled, rows)
    shared = product(inverse, seen.T)
    losses = new_matrix(solution.support.shape[0], features.shape[0])
    first = 0
    for k in range(features.shape[0]):
        last = first + columns_of(data, features[k : k + 1]).shape[0]
        own_block = _own_block(rows, weighted, seen, shared, first, last)
        for j in range(losses.shape[0]):
            leaving = _positions(data, own, solution.support[j : j + 1])
            losses[j, k] = _loss(
                inverse, shared, own_block, leaving, first, own_c, c[first:last]
            )
        first = last
    return ExchangeModel(features, losses)


@jit_new
def _positions(data, columns, feature):
    """Where the columns of a feature are among the active ones."""
    own = columns_of(data, feature)
    positions, size = new_indices(own.shape[0]), 0
    for j in own:
        at = _position(columns, j)
        if at >= 0:
            positions[size] = at
            size += 1
    return part(positions, 0, size)


@jit_new
def _own_block(rows, weighted, seen, shared, first, last):
    """``I + A P A'`` of the columns of one feature."""
    block = new_matrix(last - first, last - first)
    for s in range(first, last):
        for t in range(first, last):
            value = dot(rows[s], weighted[t], rows.shape[1])
            for j in range(seen.shape[0]):
                value -= seen[j, s] * shared[j, t]
            block[s - first, t - first] = value
        block[s - first, s - first] = max(0.0, block[s - first, s - first]) + 1.0
    return block


@jit_new
def _loss(inverse, shared, own_block, leaving, first, own_c, c):
    """The expected increase when one feature leaves and another enters."""
    out, size = leaving.shape[0], leaving.shape[0] + c.shape[0]
    system, right, solved = new_matrix(size, size), new_vector(size), new_vector(size)
    fill(solved, 0.0)
    for s in range(size):
        right[s] = own_c[leaving[s]] if s < out else c[s - out]
        solved[s] = right[s]
        for t in range(s + 1):
            if s < out:
                value = -inverse[leaving[s], leaving[t]]
            elif t < out:
                value = shared[leaving[t], first + s - out]
            else:
                value = own_block[s - out, t - out]
            system[s, t] = system[t, s] = value
    solve_small(system, solved)
    return -0.5 * dot(right, solved, size)
