"""The exact linear SVM on a fixed support, problem (SVM) of the paper."""

import numpy as np

from .rounds import DUAL, INTERCEPT, MAX_ROUNDS, N_FORCED, N_WARM, PRIMAL, solve_tasks

# A flag that nobody sets.
NEVER = np.zeros(1, dtype=np.uint8)
# Read-only like the arrays of a Problem: numba compiles once for each kind.
_NOTHING = np.empty(0)
_NOTHING.setflags(write=False)
_COLD = np.empty(0)
# What only relaxations have.
_NO_FEATURES = np.empty(0, dtype=np.int64)
_NO_DECISION = np.empty(0, dtype=np.int8)
_NO_SQUARES = np.empty((1, 0))


def support_svm(
    A, support, y, C, intercept=True, tol=1e-8, cutoff=np.inf, warm_w=None, stop=NEVER
):
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
    stop : array (1,), optional
        Ends with the best found so far once another thread sets it.

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
    # One task, packed by hand: a search solves so many that it counts.
    sizes = np.zeros((1, 8), dtype=np.int64)
    sizes[0, N_FORCED] = support.shape[0]
    sizes[0, N_WARM] = warm_w.shape[0]
    sizes[0, MAX_ROUNDS] = 1
    w = np.empty(support.shape[0])
    alpha = np.empty((1, y.shape[0]))
    results = np.empty((1, 10))
    solve_tasks(
        A, _NOTHING, y, C, intercept, _NOTHING, stop, sizes,
        np.array([[np.inf, tol, tol, cutoff]]), np.array(support, dtype=np.int64),
        _NO_FEATURES, _NO_FEATURES, warm_w, np.zeros((1, y.shape[0]), dtype=np.int8),
        alpha, _NO_SQUARES, _NO_SQUARES, w, _NO_DECISION, _NO_FEATURES, results,
    )  # fmt: skip
    found = results[0]
    return (
        w,
        float(found[INTERCEPT]),
        alpha[0],
        float(found[PRIMAL]),
        float(found[DUAL]),
    )
