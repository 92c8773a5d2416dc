"""Where a walk is: a support, its SVM, and how to come to the next one."""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, filled, new_vector
from .linalg import dot
from .near import Near, near_part
from .pivots import (
    EXCEEDED,
    FAILED,
    SOLVED,
    PivotGoal,
    dual_value,
    imbalance,
    pivot,
)
from .vertex import (
    Vertex,
    change_inverse,
    copy_vertex,
    factorise,
    new_scratch,
    new_vertex,
    settle,
    start_cold,
)

# Relative gap of the SVMs.
TOL = 1e-5
# Rounds of an SVM in which samples that seemed far may come near.
MAX_ROUNDS = 4


class SupportState(NamedTuple):
    """A support and its solution.

    Attributes
    ----------
    support : integer array (p,)
    near : Near
    vertex : Vertex
    alpha : array (m,)
        The dual point, for all samples.
    """

    support: np.ndarray
    near: Near
    vertex: Vertex
    alpha: np.ndarray


@jit_new
def _slacks(data, support, w, b):
    """1 less the margin, for all samples."""
    m = data.y.shape[0]
    slack = new_vector(m)
    for i in range(m):
        slack[i] = 1.0 - b * data.y[i]
    for j in range(support.shape[0]):
        row = data.A[support[j]]
        for i in range(m):
            slack[i] -= w[j] * row[i]
    return slack


@jit_new
def spread(near, own, alpha):
    """Dual variables of the near samples among those of all."""
    whole = alpha.copy()
    for t in range(own.shape[0]):
        whole[near.samples[t]] = own[t]
    return whole


@jit_new
def _placed(data, support, slack, alpha, n_near):
    """A place around the samples of the smallest slacks."""
    near = near_part(data, support, slack, alpha, n_near)
    size, p = near.samples.shape[0], support.shape[0]
    vertex = new_vertex(size, p)
    for t in range(size):
        vertex.alpha[t] = alpha[near.samples[t]]
    settle(near, vertex, data.intercept, new_scratch(size, p))
    return SupportState(support, near, vertex, alpha)


@jit
def _objective(data, w, slack):
    value = 0.5 * dot(w, w, w.shape[0])
    for i in range(slack.shape[0]):
        value += data.C[i] * max(0.0, slack[i])
    return value


@jit
def _is_closed(data, place, objective):
    """Whether the dual point is one, and proves the objective, nearly."""
    near, vertex = place.near, place.vertex
    dual = dual_value(near, vertex)
    mass = dual + 0.5 * dot(vertex.w, vertex.w, vertex.w.shape[0])
    is_balanced = not data.intercept or abs(imbalance(near, vertex)) <= TOL * mass
    return is_balanced and abs(objective - dual) <= TOL * objective


@jit_new
def _look_at_all(data, place, goal, n_near):
    """From the solution for the near samples to that for all, if there is one.

    Returns what pivots return, how many there were, and the place.
    """
    pivots = 0
    for _ in range(MAX_ROUNDS):
        near, vertex = place.near, place.vertex
        w, b = vertex.w, vertex.numbers[0]
        slack = _slacks(data, place.support, w, b)
        alpha = spread(near, vertex.alpha, place.alpha)
        objective = _objective(data, w, slack)
        place = _placed(data, place.support, slack, alpha, n_near)
        place.vertex.numbers[0], place.vertex.numbers[1] = b, objective
        if _is_closed(data, place, objective):
            return SOLVED if objective <= goal.cutoff else EXCEEDED, pivots, place
        scratch = new_scratch(place.near.samples.shape[0], w.shape[0])
        status, count = pivot(
            place.near, place.vertex, data.intercept, goal, data.stop, scratch
        )
        pivots += count
        if status != SOLVED:
            return status, pivots, place
    return FAILED, pivots, place


@jit_new
def first_place(data, support, alpha, n_near, max_pivots):
    """The solution on the first support; whether there is one, and its pivots.

    It begins at a dual point, or at none if that is zero.
    """
    m, p = data.y.shape[0], support.shape[0]
    none = filled(m, 0.0)
    near = near_part(data, support, none, none, m)
    vertex, scratch = new_vertex(m, p), new_scratch(m, p)
    if dot(alpha, alpha, m) > 0.0:
        copy_to(alpha, vertex.alpha)
        settle(near, vertex, data.intercept, scratch)
    else:
        start_cold(near, vertex, data.intercept, scratch)
    goal = PivotGoal(TOL, np.inf, max_pivots)
    status, count = pivot(near, vertex, data.intercept, goal, data.stop, scratch)
    place = SupportState(support.copy(), near, vertex, none)
    if status != SOLVED:
        return status, count, place
    status, more, place = _look_at_all(data, place, goal, n_near)
    return status, count + more, place


@jit
def _write_row(near, position, row):
    """Another feature at a position."""
    for t in range(row.shape[0]):
        near.rows[position, t] = near.columns[t, position] = row[t]


@jit_new
def exchanged(data, place, position, feature, goal, n_near):
    """The place after an exchange, if it is within the cutoff.

    Returns what pivots return, how many there were, and the place.
    """
    near, vertex = place.near, place.vertex
    size, p = near.samples.shape[0], vertex.w.shape[0]
    trial, scratch = new_vertex(size, p), new_scratch(size, p)
    before, after = near.rows[position].copy(), new_vector(size)
    for t in range(size):
        after[t] = data.A[feature, near.samples[t]]
    far_before = near.far_w[position]
    copy_vertex(vertex, trial)
    trial.w[position] = dot(data.A[feature], place.alpha, place.alpha.shape[0])
    near.far_w[position] = trial.w[position] - dot(after, vertex.alpha, size)
    _write_row(near, position, after)
    # First the one that comes: without it the matrix may be singular.
    is_kept = change_inverse(trial, after, 1.0, scratch)
    is_kept = is_kept and change_inverse(trial, before, -1.0, scratch)
    if not is_kept:
        factorise(near, trial, data.intercept, scratch)
    status, pivots = pivot(near, trial, data.intercept, goal, data.stop, scratch)
    if status == SOLVED:
        support = place.support.copy()
        support[position] = feature
        other = SupportState(support, near, trial, place.alpha)
        status, more, other = _look_at_all(data, other, goal, n_near)
        if status == SOLVED:
            return status, pivots + more, other
        pivots += more
    _write_row(near, position, before)
    near.far_w[position] = far_before
    return status, pivots, place
