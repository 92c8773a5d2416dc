"""The exact linear SVM on a fixed support, problem (SVM) of the paper."""

import numpy as np

from .tasks import Data, Task, answer

# Read-only like the arrays of a Problem: numba compiles once for each kind.
_NOTHING = np.empty(0)
_NOTHING.setflags(write=False)
_NO_FEATURES = np.empty(0, dtype=np.int64)
_COLD = np.empty(0)


def support_svm(A, support, y, C, intercept=True, tol=1e-8, cutoff=np.inf, warm_w=None):
    """Solve the SVM restricted to some features.

    A warm start begins further down the central path than a cold one: a third to a half
    fewer iterations after exchanging one feature of a support.

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
    if warm_w is None:
        warm_w = _COLD
    elif intercept:
        warm_w = np.append(warm_w, 0.0)
    task = Task(
        support, _NO_FEATURES, 0, np.inf, _NO_FEATURES,
        np.zeros(y.shape[0], dtype=np.int8), tol, tol, cutoff, warm_w=warm_w,
    )  # fmt: skip
    found = answer(Data(A, _NOTHING, y, C, intercept, _NOTHING), [task])[0]
    return found.w, found.b, found.alpha, found.primal, found.dual
