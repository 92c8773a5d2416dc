"""The SVM on a support."""

from typing import NamedTuple

import numpy as np

from ._jit import jit_new
from .arrays import copy_to, new_marks, new_matrix, new_vector
from .hinge import best_intercept, hinge_sum
from .interior_point import UNITS, interior_point
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
    """Solve the SVM on a support, from another start if one fails."""
    support, tol, cutoff, warm_w = task
    side = new_marks(data.y.shape[0])
    part = restrict(data, support, side, new_matrix(0, 0), new_vector(0))
    cold = new_vector(0)
    first = 0 if warm_w.shape[0] > 0 else 1
    dual, primal = -np.inf, np.inf
    for attempt in range(first, UNITS.shape[0]):
        guess = warm_w if attempt == 0 else cold
        found = interior_point(part.program, guess, attempt, tol, cutoff, data.stop)
        if attempt == first or found.dual > dual:
            dual, alpha = found.dual, found.solution.alpha
        if attempt == first or found.primal < primal:
            primal, own_w = found.primal, found.solution.w
        done = dual > cutoff or primal - dual <= tol * abs(primal)
        if done or data.stop[0] != 0:
            break
    margins = margins_of(data, support, own_w, part.means)
    # All samples are active, so those of the program are all.
    y, C = part.program.y, part.program.C
    b, objective = _polish_intercept(y, C, own_w, part.means, margins)
    w = new_vector(support.shape[0])
    copy_to(own_w[: w.shape[0]], w)
    return SVM(w, b, alpha, objective, dual)
