"""The SVM on a support."""

from typing import NamedTuple

import numpy as np

from ._jit import jit_new
from .arrays import copy_to, new_marks, new_matrix, new_vector
from .hinge import best_intercept, hinge_sum
from .interior_point import Goal, solve_program
from .linalg import dot
from .program import margins_of, restrict


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
        Weights to start from, or nothing.
    """

    support: np.ndarray
    tol: float
    cutoff: float
    warm_w: np.ndarray


class SVM(NamedTuple):
    """Weights, intercept, dual point and the two values."""

    w: np.ndarray
    b: float
    alpha: np.ndarray
    primal: float
    dual: float


@jit_new
def _polish_intercept(y, C, w, means, margins):
    """Best intercept for w, in units of the uncentred data, and the objective."""
    p = means.shape[0]
    half_norm = 0.5 * dot(w, w, p)
    loss = hinge_sum(margins, C)
    if w.shape[0] == p:
        return 0.0, half_norm + loss
    # The exact breakpoint; rounding may let the interior point's own b win.
    b = w[p]
    scores = new_vector(y.shape[0])
    for i in range(y.shape[0]):
        scores[i] = margins[i] * y[i] - b
    other = best_intercept(scores, y, C)
    for i in range(y.shape[0]):
        scores[i] = (scores[i] + other) * y[i]
    other_loss = hinge_sum(scores, C)
    if other_loss < loss:
        b, loss = other, other_loss
    return b - dot(w, means, p), half_norm + loss


@jit_new
def solve_svm(data, task):
    """Solve the SVM on a support."""
    support = task.support
    side = new_marks(data.y.shape[0])
    part = restrict(data, support, side, new_matrix(0, 0), new_vector(0))
    goal = Goal(task.tol, task.cutoff, data.stop)
    found = solve_program(part.program, task.warm_w, goal)
    own_w, means = found.solution.w, part.means
    margins = margins_of(data, support, own_w, means)
    # All samples are active, so those of the program are all.
    y, C = part.program.y, part.program.C
    b, objective = _polish_intercept(y, C, own_w, means, margins)
    w = new_vector(support.shape[0])
    copy_to(own_w[: w.shape[0]], w)
    return SVM(w, b, found.solution.alpha, objective, found.dual)
