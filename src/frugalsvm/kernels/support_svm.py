"""The exact linear SVM on a fixed support, problem (SVM) of the paper."""

import numpy as np

from ._jit import jit
from .convex import Data, convex_steps, run
from .hinge import best_intercept, hinge_sum
from .linalg import dot

# Read-only like the arrays of a Problem: numba compiles once for each kind.
_NOTHING = np.empty(0)
_NOTHING.setflags(write=False)
_NO_FEATURES = np.empty(0, dtype=np.int64)
_NO_BUDGET = np.empty((0, 0)), np.empty(0)


@jit
def _polish_intercept(margins, y, C, w, means, intercept):
    """Best intercept for w, in units of the uncentred data, and the objective."""
    p = means.shape[0]
    half_norm = 0.5 * dot(w, w, p)
    if not intercept:
        return 0.0, half_norm + hinge_sum(margins, C)
    # The exact breakpoint; rounding may let the interior point's own b win.
    own = w[p]
    scores = np.empty(y.shape[0])
    for i in range(y.shape[0]):
        scores[i] = margins[i] * y[i] - own
    best_b = own
    best = hinge_sum(margins, C)
    b = best_intercept(scores, y, C)
    for i in range(y.shape[0]):
        scores[i] = (scores[i] + b) * y[i]
    loss = hinge_sum(scores, C)
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
    if warm_w is not None and intercept:
        warm_w = np.append(warm_w, 0.0)
    steps = convex_steps(
        _NO_FEATURES, np.inf, support, np.zeros(y.shape[0], dtype=np.int8),
        *_NO_BUDGET, tol, cutoff, warm_w,
    )  # fmt: skip
    found = run(Data(A, _NOTHING, y, C, intercept, _NOTHING), steps)
    b, primal = _polish_intercept(found.margins, y, C, found.w, found.means, intercept)
    return found.w[: support.shape[0]], b, found.alpha, primal, found.dual
