"""The SVM with signs, by leaving columns out.

The barrier of signs needs weights that are not tiny, and those of columns of large
numbers are: with them, the interior point may end with a gap. Then columns whose weight
would have the wrong sign are left out and the SVM of the others is solved, in which all
weights are free. As in the algorithm of Lawson and Hanson for least squares, the
weights move towards that solution until one of them becomes zero, and its column
leaves; if none does, those columns enter whose weights would gain. The objective never
rises.
"""

import numpy as np

from ._jit import jit, jit_new
from .admitted import admit_exactly
from .arrays import copy_to, fill, filled, new_marks, new_matrix, new_vector
from .hinge import hinge_sum
from .interior_point import BestPair, Goal, PrimalDual, solve_program
from .linalg import add, dot, total
from .program import Program
from .rows import Rows, combine_rows, correlate_rows

# Changes after which to give up: a number, and some for each column.
MOST_CHANGES, CHANGES_PER_COLUMN = 20, 3


@jit_new
def _copy(values):
    copied = new_vector(values.shape[0])
    copy_to(values, copied)
    return copied


@jit_new
def _without(program, left_out):
    """The program without some columns, which become zeros, and without signs."""
    rows, p = program.rows, program.n_columns
    dense = new_matrix(rows.dense.shape[0], rows.dense.shape[1])
    for j in range(dense.shape[0]):
        copy_to(rows.dense[j], dense[j])
    offset, values, means = (
        _copy(program.offset), _copy(rows.values), _copy(rows.means),
    )  # fmt: skip
    for f in range(p):
        if left_out[f] != 0:
            offset[f], means[f] = 0.0, 0.0
            if dense.shape[0] > 0:
                fill(dense[f], 0.0)
    for t in range(values.shape[0]):
        if left_out[rows.features[t]] != 0:
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
    """The dual value; ``c`` receives what each column would have as a weight."""
    p = program.n_columns
    correlate_rows(program.rows, alpha, c)
    add(c, program.offset[:p], 1.0)
    admit_exactly(program.signs, c, admitted)
    return total(alpha) - 0.5 * dot(admitted, admitted, p) + program.mass


@jit
def _move(w, other, signs, left_out):
    """Move w towards others, as far as signs admit; the column that leaves, or -1."""
    length, leaving, most = 1.0, -1, 0.0
    for f in range(signs.shape[0]):
        excess = -signs[f] * other[f]
        if left_out[f] == 0 and excess > 0.0:
            ratio = w[f] / (w[f] - other[f])
            if ratio < length or (ratio == length and excess > most):
                length, leaving, most = ratio, f, excess
    for f in range(w.shape[0]):
        w[f] += length * (other[f] - w[f])
    for f in range(signs.shape[0]):
        if f == leaving or left_out[f] != 0 or signs[f] * w[f] < 0.0:
            w[f] = 0.0
    return leaving


@jit
def _enter(signs, c, left_out, enter_all):
    """Let columns enter whose weights would gain, or all; whether there are any."""
    found = False
    for f in range(signs.shape[0]):
        if left_out[f] != 0 and (enter_all or signs[f] * c[f] > 0.0):
            left_out[f], found = 0, True
    return found


@jit
def _leave_out(signs, w, left_out):
    """Leave out the columns whose weights are zero or have the wrong sign."""
    fill(left_out, 0)
    for f in range(signs.shape[0]):
        if signs[f] != 0.0 and signs[f] * w[f] <= 0.0:
            w[f], left_out[f] = 0.0, 1


@jit_new
def solve_by_signs(program, found, goal):
    """Improve the solution of a program without free features.

    Parameters
    ----------
    program : Program
    found : BestPair
        What the interior point has found.
    goal : Goal

    Returns
    -------
    BestPair
        Without weights of the wrong sign.
    """
    signs, p = program.signs, program.n_columns
    cold, margins = new_vector(0), new_vector(program.y.shape[0])
    c, admitted, left_out = new_vector(p), new_vector(p), new_marks(p)
    w, alpha = _copy(found.solution.w), _copy(found.solution.alpha)
    _leave_out(signs, w, left_out)
    best, primal, dual = _copy(w), _objective(program, w, margins), found.dual
    own_goal = Goal(0.1 * goal.tol, np.inf, goal.stop)
    iterations, before, tried_all = found.iterations, np.inf, False
    for _ in range(MOST_CHANGES + CHANGES_PER_COLUMN * p):
        free = solve_program(_without(program, left_out), cold, own_goal)
        iterations += free.iterations
        bound = _bound(program, free.solution.alpha, c, admitted)
        if bound > dual:
            dual = bound
            copy_to(free.solution.alpha, alpha)
        leaving = _move(w, free.solution.w, signs, left_out)
        value = _objective(program, w, margins)
        if value < primal:
            primal = value
            copy_to(w, best)
        if primal - dual <= goal.tol * abs(primal) or dual > goal.cutoff:
            break
        if goal.stop[0] != 0:
            break
        if leaving >= 0:
            left_out[leaving] = 1
            continue
        # The loss has kinks, so columns may gain only if they enter together.
        is_stuck = not primal < before
        if is_stuck and tried_all:
            break
        tried_all = is_stuck
        before = primal
        if not _enter(signs, c, left_out, is_stuck):
            tried_all = True
            if not _enter(signs, c, left_out, True):
                break
    z = filled(0, 0.0)
    return BestPair(
        PrimalDual(best, z, alpha), primal, dual, iterations, found.curvature
    )
