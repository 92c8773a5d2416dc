"""Independent references: Clarabel for the convex programs, enumeration for FS-SVM."""

from itertools import combinations

import clarabel
import numpy as np
import scipy.sparse as sp


def random_data(rng, m, n, *, separable=False, integer=False):
    """Random X and y with both classes present."""
    X = rng.normal(size=(m, n))
    if integer:
        X = rng.integers(-2, 3, size=(m, n)).astype(float)
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    if separable:
        y = np.where(X[:, 0] + 0.5 * X[:, -1] > 0, 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    return X, y


def signed_rows(X, y):
    return np.ascontiguousarray((X * y[:, None]).T)


def _solve(P, q, A, b, cones, tol):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tol
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(sp.triu(P)), q, sp.csc_matrix(A), b, cones, settings
    )
    return solver.solve()


def svm_value(X, y, C, intercept=True, tol=1e-10):
    """Optimal value of (SVM) by Clarabel; C is one weight per sample."""
    m, n = X.shape
    column = y[:, None] if intercept else np.zeros((m, 0))
    width = n + column.shape[1]
    A = np.vstack(
        [
            np.hstack([-y[:, None] * X, -column, -np.eye(m)]),
            np.hstack([np.zeros((m, width)), -np.eye(m)]),
        ]
    )
    P = sp.diags(np.r_[np.ones(n), np.zeros(width - n + m)])
    q = np.r_[np.zeros(width), C]
    b = np.r_[-np.ones(m), np.zeros(m)]
    return _solve(P, q, A, b, [clarabel.NonnegativeConeT(2 * m)], tol).obj_val


def dscop_value(X, y, C, k, forced=(), costs=None, budget=None, tol=1e-9):
    """Optimal value of DSCoP by Clarabel: perspective terms as second-order cones."""
    m, n = X.shape
    # Variables: w, b, xi, z, t with t_j z_j >= w_j^2.
    zero = np.zeros
    blocks = [
        np.hstack([-y[:, None] * X, -y[:, None], -np.eye(m), zero((m, 2 * n))]),
        np.hstack([zero((m, n + 1)), -np.eye(m), zero((m, 2 * n))]),
        np.hstack([zero((n, n + 1 + m)), np.eye(n), zero((n, n))]),
    ]
    right = [-np.ones(m), zero(m), np.ones(n)]
    free = np.setdiff1d(np.arange(n), forced)
    rows = [np.isin(np.arange(n), free).astype(float)]
    limits = [k]
    if costs is not None:
        rows.append(rows[0] * costs)
        limits.append(budget)
    for row, limit in zip(rows, limits, strict=True):
        blocks.append(np.hstack([zero(n + 1 + m), row, zero(n)])[None])
        right.append([limit])
    for j in range(n):
        cone = zero((3, 3 * n + 1 + m))
        z, t = n + 1 + m + j, 2 * n + 1 + m + j
        cone[0, [t, z]] = -1
        cone[1, t], cone[1, z] = -1, 1
        cone[2, j] = -2
        blocks.append(cone)
        right.append(zero(3))
    cones = [clarabel.NonnegativeConeT(2 * m + n + len(limits))]
    cones += [clarabel.SecondOrderConeT(3)] * n
    q = np.r_[zero(n + 1), C, zero(n), np.full(n, 0.5)]
    size = q.shape[0]
    solution = _solve(
        sp.csc_matrix((size, size)), q, np.vstack(blocks), np.concatenate(right),
        cones, tol,
    )  # fmt: skip
    return solution.obj_val


def supports(problem):
    """All supports that a problem admits."""
    free = np.setdiff1d(np.arange(problem.n_features), problem.include)
    for size in range(problem.max_features - problem.include.size + 1):
        for extra in combinations(free, size):
            support = np.union1d(problem.include, np.array(extra, dtype=np.int64))
            support = support.astype(np.int64)
            if problem.admits(support):
                yield support


def brute_force(problem, tol=1e-10):
    """Smallest objective over all supports, and a support that attains it."""
    best, best_support = np.inf, None
    for support in supports(problem):
        value = problem.engine.solve_svm(support, tol=tol).primal
        if value < best:
            best, best_support = value, support
    return best, best_support
