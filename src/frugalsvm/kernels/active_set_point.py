"""A dual point for active-set steps: free variables, and the inverse of their matrix.

The matrix is the Gram matrix of the free samples on the support, bordered by their
labels. Its inverse gains or loses a row and a column when a variable is freed or fixed,
and changes by a term of rank one when a feature enters or leaves.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .linalg import copy_to, dot, fill, new_indices, new_marks, new_matrix, new_vector

# Smallest curvature of a direction, as a fraction of that of a single variable. Without
# curvature the step is long, and a bound ends it.
LEAST_CURVATURE = 1e-10
# Below this, a change of the matrix makes it singular.
SINGULAR = 1e-9
# Most free variables: this many for each weight, and some more.
ROOM_RATE, ROOM_EXTRA = 2, 40

# Most samples that are listed.
MOST_LISTED = 20


class ActiveSetPoint(NamedTuple):
    """A dual point, its weights and its free variables.

    Attributes
    ----------
    alpha : array (k,)
        Dual variables of the near samples.
    side : array (k,)
        0 for free variables, -1 and 1 for those fixed at 0 and at C.
    free : integer array
        The free variables, in no particular order.
    inverse : matrix
        Inverse of their matrix; the border comes first.
    w : array (p,)
    size : array (1,)
        Number of free variables.
    numbers : array (2,)
        Intercept and objective.
    """

    alpha: np.ndarray
    side: np.ndarray
    free: np.ndarray
    inverse: np.ndarray
    w: np.ndarray
    size: np.ndarray
    numbers: np.ndarray


class StepWorkspace(NamedTuple):
    """Preallocated arrays for active-set steps.

    Attributes
    ----------
    slack : array (k,)
        1 minus the margin of the near samples.
    right, direction, border, product : arrays
        One entry for the intercept, then one for each free sample.
    listed : integer array
        Samples with a large violation when all were last checked.
    n_listed : integer array (1,)
    limit : array (1,)
        The violation above which they are freed.
    """

    slack: np.ndarray
    right: np.ndarray
    direction: np.ndarray
    border: np.ndarray
    product: np.ndarray
    listed: np.ndarray
    n_listed: np.ndarray
    limit: np.ndarray


@jit_new
def new_point(n_samples, n_features):
    """A dual point whose arrays are not set."""
    room = ROOM_RATE * n_features + ROOM_EXTRA
    size, inverse = new_indices(1), new_matrix(room + 1, room + 1)
    size[0], inverse[0, 0] = 0, 0.0
    return ActiveSetPoint(
        new_vector(n_samples),
        new_marks(n_samples),
        new_indices(room),
        inverse,
        new_vector(n_features),
        size,
        new_vector(2),
    )


@jit_new
def new_workspace(n_samples, n_features):
    """A workspace whose arrays are not set."""
    room = ROOM_RATE * n_features + ROOM_EXTRA + 1
    return StepWorkspace(
        new_vector(n_samples), new_vector(room), new_vector(room), new_vector(room),
        new_vector(room), new_indices(MOST_LISTED), new_indices(1), new_vector(1),
    )  # fmt: skip


@jit
def copy_point(source, target):
    """Copy a dual point except its ``numbers``."""
    size = source.size[0]
    copy_to(source.alpha, target.alpha)
    copy_to(source.side, target.side)
    copy_to(source.w, target.w)
    target.size[0] = size
    for t in range(size):
        target.free[t] = source.free[t]
    for s in range(size + 1):
        for t in range(size + 1):
            target.inverse[s, t] = source.inverse[s, t]


@jit
def times(inverse, order, vector, out):
    """``out = inverse @ vector``."""
    for s in range(order):
        out[s] = dot(inverse[s], vector, order)


@jit
def free_sample(near, point, intercept, sample, workspace):
    """Free a variable: the inverse gains a row and a column."""
    inverse, order = point.inverse, point.size[0] + 1
    border, product = workspace.border, workspace.product
    column = near.columns[sample]
    p = column.shape[0]
    square = dot(column, column, p)
    # Samples may be zero on the support.
    least = LEAST_CURVATURE * max(square, near.scale[0])
    least += np.finfo(np.float64).tiny
    point.free[order - 1] = sample
    point.side[sample] = 0
    point.size[0] = order
    if order == 1 and intercept:
        # A single variable cannot move, since nothing would balance it.
        inverse[0, 0], inverse[1, 1] = -square - least, 0.0
        inverse[0, 1] = inverse[1, 0] = near.y[sample]
        return
    if order == 1:
        inverse[0, 0] = 0.0
    border[0] = near.y[sample] if intercept else 0.0
    for t in range(order - 1):
        border[t + 1] = dot(near.columns[point.free[t]], column, p)
    times(inverse, order, border, product)
    curvature = max(least, square + least - dot(border, product, order))
    for s in range(order):
        factor = product[s] / curvature
        for t in range(order):
            inverse[s, t] += factor * product[t]
        inverse[s, order] = inverse[order, s] = -factor
    inverse[order, order] = 1.0 / curvature


@jit
def fix_sample(point, position, side, bound):
    """Fix a free variable at a bound: the inverse loses its row and column."""
    inverse, order = point.inverse, point.size[0] + 1
    sample = point.free[position]
    point.alpha[sample] = bound
    point.side[sample] = side
    at, last = position + 1, order - 1
    point.free[position] = point.free[last - 1]
    point.size[0] = last - 1
    if last == 1:
        inverse[0, 0] = 0.0
        return
    pivot = inverse[at, at]
    for s in range(order):
        if s != at:
            factor = inverse[s, at] / pivot
            for t in range(order):
                if t != at:
                    inverse[s, t] -= factor * inverse[at, t]
    # The last one moves to its position.
    for t in range(order):
        inverse[at, t] = inverse[last, t]
    for s in range(order):
        inverse[s, at] = inverse[s, last]
    inverse[at, at] = inverse[last, last]


@jit
def compute_inverse(near, point, intercept, workspace):
    """Recompute the inverse."""
    size = point.size[0]
    point.size[0] = 0
    for t in range(size):
        free_sample(near, point, intercept, point.free[t], workspace)


@jit
def change_inverse(point, row, sign, workspace):
    """Add a feature to the matrix (1) or remove it (-1); whether that is possible."""
    inverse, order = point.inverse, point.size[0] + 1
    border, product = workspace.border, workspace.product
    border[0] = 0.0
    for t in range(order - 1):
        border[t + 1] = row[point.free[t]]
    times(inverse, order, border, product)
    scale = 1.0 + sign * dot(border, product, order)
    if abs(scale) < SINGULAR:
        return False
    for s in range(order):
        factor = sign * product[s] / scale
        for t in range(order):
            inverse[s, t] -= factor * product[t]
    return True


@jit
def complete_point(near, point, intercept, workspace):
    """Compute weights, sides, free variables and inverse from the dual variables."""
    for j in range(point.w.shape[0]):
        point.w[j] = near.far_w[j] + dot(near.rows[j], point.alpha, near.y.shape[0])
    size = 0
    for i in range(near.C.shape[0]):
        point.side[i] = 0
        if point.alpha[i] <= 0.0:
            point.side[i] = -1
        elif point.alpha[i] >= near.C[i]:
            point.side[i] = 1
        elif size < point.free.shape[0]:
            point.free[size] = i
            size += 1
    point.size[0] = size
    compute_inverse(near, point, intercept, workspace)


@jit
def start_cold(near, point, intercept, workspace):
    """All variables at zero; one sample of each class is free."""
    fill(point.alpha, 0.0)
    fill(point.w, 0.0)
    point.size[0] = 0
    first, second = 0, 0
    for i in range(near.y.shape[0]):
        point.side[i] = -1
        if near.y[i] > 0:
            first = i
        else:
            second = i
    free_sample(near, point, intercept, first, workspace)
    free_sample(near, point, intercept, second, workspace)
