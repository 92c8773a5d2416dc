"""The SVM on a support.

With weights to start from, the dual variables of samples far from the margin stay at
their bounds: they seldom change if the support differs by one feature. If a sample
turns out to be on the other side, it becomes active and the SVM is solved again. To see
that a cutoff is exceeded, the first solve mostly suffices: a dual point with some
variables at their bounds is still a dual point.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import (
    copy_to,
    fill,
    filled,
    new_indices,
    new_marks,
    new_matrix,
    new_vector,
)
from .columns import columns_of
from .hinge import best_intercept, hinge_sum
from .interior_point import Goal, solve_program
from .linalg import add, dot, kth_largest
from .program import dual_point, margins_of, restrict
from .rows import combine_rows, correlate_rows
from .sign_steps import solve_by_signs
from .working_set import grow_samples

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
    is_few = size <= MOST_NEAR * n_samples and n_samples < MOST_SAMPLES
    return size if is_few else n_samples


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
    distance = new_vector(m)
    for i in range(m):
        distance[i] = abs(1.0 - margins[i])
    # Ties count as near: all distances may be equal.
    near = kth_largest(distance, m - task.n_near + 1)
    for i in range(m):
        if distance[i] > near:
            side[i] = 1 if margins[i] < 1.0 else -1
    return side


@jit_new
def _drop_ghosts(program, found, goal):
    """Set weights to zero that are positive only because of the barrier.

    Not if the objective would rise by more than the tolerance: weights of columns of
    large numbers are so small that errors of alpha decide about the sign of c.
    """
    w, margins = found.solution.w, new_vector(program.y.shape[0])
    c, dropped = new_vector(program.n_columns), new_vector(w.shape[0])
    correlate_rows(program.rows, found.solution.alpha, c)
    add(c, program.offset[: c.shape[0]], 1.0)
    copy_to(w, dropped)
    for f in range(c.shape[0]):
        if program.signs[f] * c[f] < 0.0:
            dropped[f] = 0.0
    combine_rows(dropped, program.rows, margins)
    objective = 0.5 * dot(dropped, dropped, c.shape[0])
    objective += hinge_sum(margins, program.C) + program.mass
    objective -= dot(dropped, program.offset, dropped.shape[0])
    if objective <= found.primal + goal.tol * abs(found.primal):
        copy_to(dropped, w)


@jit
def _is_open(found, goal):
    """Whether a gap is left because the interior point gave up."""
    is_closed = found.primal - found.dual <= goal.tol * abs(found.primal)
    return not is_closed and found.dual <= goal.cutoff and goal.stop[0] == 0


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
        found = solve_program(part.program, task.warm_w, goal)
        rounds += 1
        if part.program.signs.shape[0] > 0:
            if _is_open(found, goal):
                found = solve_by_signs(part.program, found, goal)
            else:
                _drop_ghosts(part.program, found, goal)
        own_w, means = found.solution.w, part.means
        margins = margins_of(data, part.columns, own_w, means)
        is_whole = part.samples.shape[0] == side.shape[0]
        if is_whole or found.dual > task.cutoff or data.stop[0] != 0:
            break
        is_closed = found.primal - found.dual <= task.tol * abs(found.primal)
        if is_closed and not grow_samples(margins, side):
            break
        if rounds == NEAR_ROUNDS or not is_closed:
            fill(side, 0)
    alpha = dual_point(part, found.solution.alpha)
    b, objective = _polish_intercept(data.y, data.C, own_w, means, margins)
    w = new_vector(means.shape[0])
    copy_to(own_w[: w.shape[0]], w)
    return SVM(w, b, alpha, objective, found.dual, rounds)
