"""A dual point, for pivots: which variables are free, and the inverse of their matrix.

The matrix has the products of the free samples' entries on the support, bordered by
their classes. Its inverse is changed by a row and a column when a variable is freed or
held, and by a term of rank one when a feature comes or goes.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, fill, new_indices, new_marks, new_matrix, new_vector
from .linalg import dot

# Least curvature of a direction, as a part of that of a single variable. Where there is
# none, the step is long, and a bound ends it.
LEAST_CURVATURE = 1e-10
# Below this, a change of the matrix makes it singular.
SINGULAR = 1e-9
# Free variables that there is room for: for each weight, and some more.
ROOM_RATE, ROOM_EXTRA = 2, 40

# Samples that there is room to list.
MOST_LISTED = 20


class Vertex(NamedTuple):
    """A dual point and what belongs to it.

    Attributes
    ----------
    alpha : array (k,)
        For the samples that are near.
    side : array (k,)
        0 for free variables, -1 and 1 for those held at 0 and at C.
    free : integer array
        The free ones, in no order.
    inverse : matrix
        Of their matrix, bordered by the intercept, which is first.
    w : array (p,)
    size : array (1,)
        How many are free.
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


class VertexWorkspace(NamedTuple):
    """Room to work in.

    Attributes
    ----------
    slack : array (k,)
        Of the near samples.
    right, direction, border, product : arrays
        Of the size of the free samples and the intercept, which is first.
    listed : integer array
        Samples that were far on the wrong side when all were looked at.
    n_listed : integer array (1,)
    limit : array (1,)
        How far they must be to be freed.
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
def new_vertex(n_samples, n_features):
    """Room for a dual point."""
    room = ROOM_RATE * n_features + ROOM_EXTRA
    size, inverse = new_indices(1), new_matrix(room + 1, room + 1)
    size[0], inverse[0, 0] = 0, 0.0
    return Vertex(
        new_vector(n_samples), new_marks(n_samples), new_indices(room), inverse,
        new_vector(n_features), size, new_vector(2),
    )  # fmt: skip


@jit_new
def new_scratch(n_samples, n_features):
    """Room to work in."""
    room = ROOM_RATE * n_features + ROOM_EXTRA + 1
    return VertexWorkspace(
        new_vector(n_samples), new_vector(room), new_vector(room), new_vector(room),
        new_vector(room), new_indices(MOST_LISTED), new_indices(1), new_vector(1),
    )  # fmt: skip


@jit
def copy_vertex(source, target):
    """Copy a dual point but for its numbers."""
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
def enter(near, vertex, intercept, sample, scratch):
    """One more free variable: a row and a column more in the inverse."""
    inverse, order = vertex.inverse, vertex.size[0] + 1
    border, product = scratch.border, scratch.product
    own = near.columns[sample]
    p = own.shape[0]
    own_square = dot(own, own, p)
    # Samples may be zero on the support.
    least = LEAST_CURVATURE * max(own_square, near.scale[0])
    least += np.finfo(np.float64).tiny
    vertex.free[order - 1] = sample
    vertex.side[sample] = 0
    vertex.size[0] = order
    if order == 1 and intercept:
        # It is in balance with nothing and cannot move.
        inverse[0, 0], inverse[1, 1] = -own_square - least, 0.0
        inverse[0, 1] = inverse[1, 0] = near.y[sample]
        return
    if order == 1:
        inverse[0, 0] = 0.0
    border[0] = near.y[sample] if intercept else 0.0
    for t in range(order - 1):
        border[t + 1] = dot(near.columns[vertex.free[t]], own, p)
    times(inverse, order, border, product)
    curvature = max(least, own_square + least - dot(border, product, order))
    for s in range(order):
        factor = product[s] / curvature
        for t in range(order):
            inverse[s, t] += factor * product[t]
        inverse[s, order] = inverse[order, s] = -factor
    inverse[order, order] = 1.0 / curvature


@jit
def leave(vertex, place, side, bound):
    """A free variable is held at a bound: its row and column leave the inverse."""
    inverse, order = vertex.inverse, vertex.size[0] + 1
    sample = vertex.free[place]
    vertex.alpha[sample] = bound
    vertex.side[sample] = side
    at, last = place + 1, order - 1
    vertex.free[place] = vertex.free[last - 1]
    vertex.size[0] = last - 1
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
    # The last one takes its place.
    for t in range(order):
        inverse[at, t] = inverse[last, t]
    for s in range(order):
        inverse[s, at] = inverse[s, last]
    inverse[at, at] = inverse[last, last]


@jit
def factorise(near, vertex, intercept, scratch):
    """The inverse from scratch."""
    size = vertex.size[0]
    vertex.size[0] = 0
    for t in range(size):
        enter(near, vertex, intercept, vertex.free[t], scratch)


@jit
def change_inverse(vertex, row, sign, scratch):
    """A feature joins (1) or leaves (-1) the matrix; whether that is possible."""
    inverse, order = vertex.inverse, vertex.size[0] + 1
    border, product = scratch.border, scratch.product
    border[0] = 0.0
    for t in range(order - 1):
        border[t + 1] = row[vertex.free[t]]
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
def settle(near, vertex, intercept, scratch):
    """Weights, sides, free variables and inverse of a given dual point."""
    for j in range(vertex.w.shape[0]):
        vertex.w[j] = near.far_w[j] + dot(near.rows[j], vertex.alpha, near.y.shape[0])
    size = 0
    for i in range(near.C.shape[0]):
        vertex.side[i] = 0
        if vertex.alpha[i] <= 0.0:
            vertex.side[i] = -1
        elif vertex.alpha[i] >= near.C[i]:
            vertex.side[i] = 1
        elif size < vertex.free.shape[0]:
            vertex.free[size] = i
            size += 1
    vertex.size[0] = size
    factorise(near, vertex, intercept, scratch)


@jit
def start_cold(near, vertex, intercept, scratch):
    """All variables at zero; one sample of each class is free."""
    fill(vertex.alpha, 0.0)
    fill(vertex.w, 0.0)
    vertex.size[0] = 0
    first, second = 0, 0
    for i in range(near.y.shape[0]):
        vertex.side[i] = -1
        if near.y[i] > 0:
            first = i
        else:
            second = i
    enter(near, vertex, intercept, first, scratch)
    enter(near, vertex, intercept, second, scratch)
