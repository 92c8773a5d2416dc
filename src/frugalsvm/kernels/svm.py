"""The SVM on a support.

With weights to start from, the dual variables of samples far from the margin stay at
their bounds: they seldom change if the support differs by one feature. If a sample
turns out to be on the other side, it becomes active and the SVM is solved again. To see
that a cutoff is exceeded, the first solve mostly suffices: a dual point with some
variables at their bounds is still a dual point.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .data import admit_exactly, columns_of
from .interior_point import BestPair, Goal, PrimalDual, is_reached, solve_program
from .linalg import (
    add,
    copy_to,
    dot,
    fill,
    filled,
    new_indices,
    new_marks,
    new_matrix,
    new_vector,
    total,
)
from .program import Program, dual_point, margins_of, restrict
from .rows import Rows, combine_rows, correlate_rows
from .smoothing import best_intercept, hinge_sum
from .working_set import freeze_far, grow_samples

# --- The SVM with signs, by leaving columns out ---------------------------------------
#
# The barrier of signs needs weights that are not tiny, and those of columns of large
# numbers are: with them, the interior point may end with a gap. Then columns whose
# weight would have the wrong sign are left out and the SVM of the others is solved, in
# which all weights are free. As in the algorithm of Lawson and Hanson for least
# squares, the weights move towards that solution until one of them becomes zero, and
# its column leaves; if none does, those columns enter whose weights would gain. The
# objective never rises.

# Changes after which to give up: a number, and some for each column.
MOST_CHANGES, CHANGES_PER_COLUMN = 20, 3


@jit_new
def _copy(values):
    copied = new_vector(values.shape[0])
    copy_to(values, copied)
    return copied


@jit_new
def _without(program, excluded):
    """The program without some columns, which become zeros, and without signs."""
    rows, p = program.rows, program.n_columns
    dense = new_matrix(rows.dense.shape[0], rows.dense.shape[1])
    for j in range(dense.shape[0]):
        copy_to(rows.dense[j], dense[j])
    offset, values, means = (
        _copy(program.offset),
        _copy(rows.values),
        _copy(rows.means),
    )
    for f in range(p):
        if excluded[f] != 0:
            offset[f], means[f] = 0.0, 0.0
            if dense.shape[0] > 0:
                fill(dense[f], 0.0)
    for t in range(values.shape[0]):
        if excluded[rows.features[t]] != 0:
            values[t] = 0.0
    return Program(
        Rows(
            dense, rows.starts, rows.features, values, means, rows.y, rows.machines,
            rows.first,
        ), offset,
        program.mass, program.y, program.C, program.R, program.h, program.n_forced, p,
        program.starts, new_vector(0),
    )  # fmt: skip


@jit
def _objective(program, w, margins):
    p = program.n_columns
    combine_rows(w, program.rows, margins)
    value = 0.5 * dot(w, w, p) + hinge_sum(margins, program.C)
    return value + program.mass - dot(w, program.offset, w.shape[0])


@jit
def _bound(program, alpha, c, admitted):
    """The dual value; ``c`` receives the weight that each column would have."""
    p = program.n_columns
    correlate_rows(program.rows, alpha, c)
    add(c, program.offset[:p], 1.0)
    admit_exactly(program.signs, c, admitted)
    return total(alpha) - 0.5 * dot(admitted, admitted, p) + program.mass


@jit
def _move(w, other, signs, excluded):
    """Move w towards others, as far as signs admit; the column that leaves, or -1."""
    length, leaving, most = 1.0, -1, 0.0
    for f in range(signs.shape[0]):
        excess = -signs[f] * other[f]
        if excluded[f] == 0 and excess > 0.0:
            ratio = w[f] / (w[f] - other[f])
            if ratio < length or (ratio == length and excess > most):
                length, leaving, most = ratio, f, excess
    for f in range(w.shape[0]):
        w[f] += length * (other[f] - w[f])
    for f in range(signs.shape[0]):
        if f == leaving or excluded[f] != 0 or signs[f] * w[f] < 0.0:
            w[f] = 0.0
    return leaving


@jit
def _enter(signs, c, excluded, enter_all):
    """Let columns enter whose weights would gain, or all; whether there are any."""
    any_entered = False
    for f in range(signs.shape[0]):
        if excluded[f] != 0 and (enter_all or signs[f] * c[f] > 0.0):
            excluded[f], any_entered = 0, True
    return any_entered


@jit
def _leave_out(signs, w, excluded):
    """Leave out the columns whose weights are zero or have the wrong sign."""
    fill(excluded, 0)
    for f in range(signs.shape[0]):
        if signs[f] != 0.0 and signs[f] * w[f] <= 0.0:
            w[f], excluded[f] = 0.0, 1


@jit_new
def solve_by_signs(program, pair, goal):
    """Improve the solution of a program without free features.

    Parameters
    ----------
    program : Program
    pair : BestPair
        The result of the interior point.
    goal : Goal

    Returns
    -------
    BestPair
        Without weights of the wrong sign.
    """
    signs, p = program.signs, program.n_columns
    cold, margins = new_vector(0), new_vector(program.y.shape[0])
    c, admitted, excluded = new_vector(p), new_vector(p), new_marks(p)
    w, alpha = _copy(pair.solution.w), _copy(pair.solution.alpha)
    _leave_out(signs, w, excluded)
    best, primal, dual = _copy(w), _objective(program, w, margins), pair.dual
    free_goal = Goal(0.1 * goal.tol, np.inf, goal.stop)
    iterations, before, tried_all = pair.iterations, np.inf, False
    for _ in range(MOST_CHANGES + CHANGES_PER_COLUMN * p):
        free = solve_program(_without(program, excluded), cold, free_goal)
        iterations += free.iterations
        bound = _bound(program, free.solution.alpha, c, admitted)
        if bound > dual:
            dual = bound
            copy_to(free.solution.alpha, alpha)
        leaving = _move(w, free.solution.w, signs, excluded)
        value = _objective(program, w, margins)
        if value < primal:
            primal = value
            copy_to(w, best)
        if is_reached(goal, primal, dual):
            break
        if leaving >= 0:
            excluded[leaving] = 1
            continue
        # The loss has kinks, so columns may gain only if they enter together.
        is_stuck = not primal < before
        if is_stuck and tried_all:
            break
        tried_all = is_stuck
        before = primal
        if not _enter(signs, c, excluded, is_stuck):
            tried_all = True
            if not _enter(signs, c, excluded, True):
                break
    z = filled(0, 0.0)
    return BestPair(
        PrimalDual(best, z, alpha), primal, dual, iterations, pair.curvature
    )


# --- The SVM on a support -------------------------------------------------------------

# Samples near the margin that are active at first: this many for each weight, this
# fraction of all, and some more.
NEAR_RATE, NEAR_FRACTION, NEAR_EXTRA = 5, 0.1, 50
# All samples are active if that is more than this fraction of them, since the SVM may
# have to be solved twice. With at least this many samples, a subsample predicts better
# which ones matter: see ``engine.tall``.
MOST_NEAR, MOST_SAMPLES = 0.3, 20_000
# Rounds after which all samples are active.
NEAR_ROUNDS = 3


class SVMTask(NamedTuple):
    """The SVM on a support.

    Attributes
    ----------
    support : integer array
    tol : float
        Relative gap to reach.
    cutoff : float
        Stop once the dual value exceeds it.
    warm_w : array
        Weights of its columns to start from, or an empty array.
    n_near : int
        Number of samples that are active at first, given such weights.
    """

    support: np.ndarray
    tol: float
    cutoff: float
    warm_w: np.ndarray
    n_near: int


def near_samples(n_samples: int, n_columns: int) -> int:
    """Number of samples that are active at first, given weights to start from."""
    size = int(NEAR_RATE * (n_columns + 1) + NEAR_FRACTION * n_samples) + NEAR_EXTRA
    saves_work = size <= MOST_NEAR * n_samples and n_samples < MOST_SAMPLES
    return size if saves_work else n_samples


class SVM(NamedTuple):
    """Weights, intercept, dual point, the two values, and the number of rounds."""

    w: np.ndarray
    b: float
    alpha: np.ndarray
    primal: float
    dual: float
    rounds: int


@jit_new
def _polish_intercept(y, C, w, means, margins):
    """The best intercept for w, for uncentred data, and the objective."""
    p = means.shape[0]
    half_norm = 0.5 * dot(w, w, p)
    loss = hinge_sum(margins, C)
    if w.shape[0] == p:
        return 0.0, half_norm + loss
    # The exact breakpoint; through rounding, the interior point's own b may be better.
    b = w[p]
    scores = new_vector(y.shape[0])
    for i in range(y.shape[0]):
        scores[i] = margins[i] * y[i] - b
    other = best_intercept(scores, y, C, 0.0)
    for i in range(y.shape[0]):
        scores[i] = (scores[i] + other) * y[i]
    other_loss = hinge_sum(scores, C)
    if other_loss < loss:
        b, loss = other, other_loss
    return b - dot(w, means, p), half_norm + loss


@jit_new
def _start_margins(data, task):
    """Margins with the weights to start from and their best intercept."""
    columns = columns_of(data, task.support)
    y, p = data.y, columns.shape[0]
    margins = margins_of(data, columns, task.warm_w, filled(p, 0.0))
    if data.intercept:
        scores = new_vector(y.shape[0])
        for i in range(y.shape[0]):
            scores[i] = margins[i] * y[i]
        b = best_intercept(scores, y, data.C, 0.0)
        for i in range(y.shape[0]):
            margins[i] += b * y[i]
    return margins


@jit_new
def _first_sides(data, task):
    """Sides of samples far from the margin, 0 for active ones.

    Without weights to start from all are active.
    """
    m = data.y.shape[0]
    side = new_marks(m)
    if task.warm_w.shape[0] == 0 or task.n_near >= m:
        return side
    margins = _start_margins(data, task)
    freeze_far(margins, task.n_near, side)
    return side


@jit_new
def _drop_barrier_weights(program, pair, goal):
    """Set weights to zero that are positive only because of the barrier.

    Not if the objective would rise by more than the tolerance: weights of columns of
    large numbers are so small that errors of alpha decide about the sign of c.
    """
    w, margins = pair.solution.w, new_vector(program.y.shape[0])
    c, dropped = new_vector(program.n_columns), new_vector(w.shape[0])
    correlate_rows(program.rows, pair.solution.alpha, c)
    add(c, program.offset[: c.shape[0]], 1.0)
    copy_to(w, dropped)
    for f in range(c.shape[0]):
        if program.signs[f] * c[f] < 0.0:
            dropped[f] = 0.0
    combine_rows(dropped, program.rows, margins)
    objective = 0.5 * dot(dropped, dropped, c.shape[0])
    objective += hinge_sum(margins, program.C) + program.mass
    objective -= dot(dropped, program.offset, dropped.shape[0])
    if objective <= pair.primal + goal.tol * abs(pair.primal):
        copy_to(dropped, w)


@jit_new
def solve_svm(data, task):
    """Solve the SVM on a support."""
    nothing = new_indices(0)
    goal = Goal(task.tol, task.cutoff, data.stop)
    side = _first_sides(data, task)
    rounds = 0
    while True:
        part = restrict(
            data, task.support, nothing, side, new_matrix(0, 0), new_vector(0)
        )
        # The original weights stay the better start if samples join.
        pair = solve_program(part.program, task.warm_w, goal)
        rounds += 1
        if part.program.signs.shape[0] > 0:
            if is_reached(goal, pair.primal, pair.dual):
                _drop_barrier_weights(part.program, pair, goal)
            else:
                # The interior point gave up.
                pair = solve_by_signs(part.program, pair, goal)
        centred_w, means = pair.solution.w, part.means
        margins = margins_of(data, part.columns, centred_w, means)
        is_whole = part.samples.shape[0] == side.shape[0]
        if is_whole or pair.dual > task.cutoff or data.stop[0] != 0:
            break
        is_closed = pair.primal - pair.dual <= task.tol * abs(pair.primal)
        if is_closed and not grow_samples(margins, side):
            break
        if rounds == NEAR_ROUNDS or not is_closed:
            fill(side, 0)
    alpha = dual_point(part, pair.solution.alpha)
    b, objective = _polish_intercept(data.y, data.C, centred_w, means, margins)
    w = new_vector(means.shape[0])
    copy_to(centred_w[: w.shape[0]], w)
    return SVM(w, b, alpha, objective, pair.dual, rounds)
