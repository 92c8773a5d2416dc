"""The exact linear SVM on a fixed support, problem (SVM) of the paper."""

import numpy as np

from ._jit import jit
from .hinge import best_intercept, hinge_sum
from .interior_point import solve_convex
from .linalg import combine, dot
from .rows import stack_rows

_NO_BUDGET = np.empty((0, 0)), np.empty(0)


@jit
def _polish_intercept(stacked, y, C, w, means):
    """Best intercept for w, in units of the uncentred data, and the objective."""
    p = means.shape[0]
    scores = np.empty(y.shape[0])
    combine(w[:p], stacked[:p], scores)
    half_norm = 0.5 * dot(w, w, p)
    if stacked.shape[0] == p:
        return 0.0, half_norm + hinge_sum(scores, C)
    # The exact breakpoint; rounding may let the interior point's own b win.
    best_b = 0.0
    best = np.inf
    for b in (w[p], best_intercept(scores * y, y, C)):
        loss = hinge_sum(scores + b * y, C)
        if loss < best:
            best, best_b = loss, b
    return best_b - dot(w, means, p), half_norm + best


def support_svm(A, support, y, C, intercept=True, tol=1e-8, cutoff=np.inf, warm_w=None):
    """Solve the SVM restricted to some features.

    Parameters
    ----------
    A : array (n, m)
        Signed features, ``y_i x_ij``.
    support : integer array (p,)
        The features that may be used.
    y, C : arrays (m,)
        Labels in {-1, +1} and positive weights.
    intercept : bool
        Whether a free intercept is fitted.
    tol : float
        Relative duality gap to reach.
    cutoff : float
        Stop as soon as the dual value exceeds it (the support is then of no use).
    warm_w : array (p,), optional
        Weights of a similar support, zero for the features that are new.

    Returns
    -------
    w : array (p,)
    b : float
    alpha : array (m,)
    primal, dual : float
    """
    stacked, means = stack_rows(A, support, y, intercept)
    if warm_w is not None and intercept:
        warm_w = np.append(warm_w, 0.0)
    alpha, _, w, _, dual, _ = solve_convex(
        stacked, y, C, support.shape[0], *_NO_BUDGET, tol, cutoff, warm_w
    )
    b, primal = _polish_intercept(stacked, y, C, w, means)
    return w[: support.shape[0]], b, alpha, primal, dual
