"""Independent references: Clarabel for the convex programs, enumeration for FS-SVM."""

from itertools import combinations
from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

# Relative accuracy to which values are compared.
AGREEMENT = 1e-7
# Supports besides the best that are solved by another solver.
N_OTHERS = 2


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


def random_alpha(rng, C):
    """Dual points of many kinds: interior, at bounds, tiny, huge, outside, broken."""
    m = C.shape[0]
    kind = rng.integers(7)
    alpha = rng.uniform(0, 1, m) * C
    if kind == 1:
        alpha = np.where(rng.random(m) < 0.5, C, 0.0)
    elif kind == 2:
        alpha *= 1e-14
    elif kind == 3:
        alpha *= 10.0 ** rng.uniform(-16, 2, m)
    elif kind == 4:
        alpha = rng.normal(size=m) * C * 3
    elif kind == 5:
        alpha[rng.integers(m)] = np.nan
    elif kind == 6:
        alpha = np.zeros(m)
    return alpha


def rare(n=400, share=0.05, seed=0, n_features=12):
    """Few positives that no SVM with a small C finds worth the weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    y = -np.ones(n)
    y[: int(share * n)] = 1.0
    X[y > 0, :2] += 0.5
    return X, y


def signed_rows(X, y):
    return np.ascontiguousarray((X * y[:, None]).T)


def _compressed(M):
    """A dense matrix as a sparse one, faster than by scipy."""
    is_used = M.T != 0
    ends = np.concatenate([[0], is_used.sum(axis=1).cumsum()])
    return sp.csc_matrix((M.T[is_used], is_used.nonzero()[1], ends), M.shape)


def _solve(diagonal, q, A, b, cones, tol):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = tol
    n = diagonal.size
    P = sp.csc_matrix((diagonal, np.arange(n), np.arange(n + 1)), (n, n))
    solver = clarabel.DefaultSolver(P, q, _compressed(A), b, cones, settings)
    return solver.solve()


def svm_value(X, y, C, intercept=True, tol=1e-10, signs=None):
    """Optimal value of (SVM) by Clarabel; C is one weight per sample."""
    return svm_solution(X, y, C, intercept, tol, signs).obj_val


def svm_solution(X, y, C, intercept=True, tol=1e-10, signs=None):
    """The solution of (SVM) by Clarabel: w, b and xi; alpha comes first."""
    m, n = X.shape
    column = y[:, None] if intercept else np.zeros((m, 0))
    width = n + column.shape[1]
    A = np.vstack(
        [
            np.hstack([-y[:, None] * X, -column, -np.eye(m)]),
            np.hstack([np.zeros((m, width)), -np.eye(m)]),
        ]
    )
    squares = np.concatenate([np.ones(n), np.zeros(width - n + m)])
    q = np.concatenate([np.zeros(width), C])
    b = np.concatenate([-np.ones(m), np.zeros(m)])
    limited = np.flatnonzero(np.zeros(n) if signs is None else signs)
    if limited.size:
        rows = np.zeros((limited.size, width + m))
        rows[np.arange(limited.size), limited] = -np.asarray(signs)[limited]
        A, b = np.vstack([A, rows]), np.concatenate([b, np.zeros(limited.size)])
    return _solve(squares, q, A, b, [clarabel.NonnegativeConeT(b.size)], tol)


def dscop_value(
    X, y, C, k, forced=(), costs=None, budget=None, tol=1e-9, groups=None, signs=None
):
    """Optimal value of DSCoP by Clarabel: perspective terms as second-order cones.

    ``groups`` has the feature of each column; ``forced`` and ``costs`` are of features.
    """
    m, n = X.shape
    groups = np.arange(n) if groups is None else np.asarray(groups)
    p = groups.max() + 1
    # Variables: w, b, xi, z, t with t_g z_g >= ||w_g||^2.
    zero = np.zeros
    blocks = [
        np.hstack([-y[:, None] * X, -y[:, None], -np.eye(m), zero((m, 2 * p))]),
        np.hstack([zero((m, n + 1)), -np.eye(m), zero((m, 2 * p))]),
        np.hstack([zero((p, n + 1 + m)), np.eye(p), zero((p, p))]),
    ]
    right = [-np.ones(m), zero(m), np.ones(p)]
    free = np.setdiff1d(np.arange(p), forced)
    rows = [np.isin(np.arange(p), free).astype(float)]
    limits = [k]
    if costs is not None:
        rows.append(rows[0] * costs)
        limits.append(budget)
    for row, limit in zip(rows, limits, strict=True):
        blocks.append(np.hstack([zero(n + 1 + m), row, zero(p)])[None])
        right.append([limit])
    limited = np.flatnonzero(zero(n) if signs is None else signs)
    for j in limited:
        row = zero((1, n + 1 + m + 2 * p))
        row[0, j] = -signs[j]
        blocks.append(row)
        right.append([0.0])
    cones = [clarabel.NonnegativeConeT(2 * m + p + len(limits) + limited.size)]
    for g in range(p):
        members = np.flatnonzero(groups == g)
        cone = zero((2 + members.size, n + 1 + m + 2 * p))
        z, t = n + 1 + m + g, n + 1 + m + p + g
        cone[0, [t, z]] = -1
        cone[1, t], cone[1, z] = -1, 1
        cone[np.arange(2, 2 + members.size), members] = -2
        blocks.append(cone)
        right.append(zero(len(cone)))
        cones.append(clarabel.SecondOrderConeT(len(cone)))
    q = np.r_[zero(n + 1), C, zero(p), np.full(p, 0.5)]
    solution = _solve(
        zero(q.size), q, np.vstack(blocks), np.concatenate(right), cones, tol
    )
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


def brute_force(problem, tol=1e-10, values_of=None):
    """Smallest objective over all supports, and a support that attains it.

    Our solver proposes points only, and Clarabel does for groups of columns and signs.
    NumPy evaluates them and, by weak duality, shows that no support hides a smaller
    value; Clarabel solves the best support and some others once more.
    """
    tried = list(supports(problem))
    values, bounds = (values_of or evaluate)(problem, tried, tol)
    winner = values.argmin()
    best = values[winner]
    # Margins near one are rounded.
    rounding = 1e-15 * problem.C.sum()
    assert bounds.min() >= best - AGREEMENT * best - rounding, (bounds.min(), best)
    others = np.random.default_rng(0).integers(len(tried), size=N_OTHERS)
    for i in {winner, *others}:
        check_by_clarabel(problem, tried[i], values[i])
    return best, tried[winner]


def evaluate(problem, tried, tol):
    """The SVM on each support: objectives of points, and bounds from dual points.

    Those of several machines add up: they are independent if a support is given.
    """
    each = [_evaluate(one, tried, tol) for one in problem.machines]
    return np.sum(each, axis=0)


def _evaluate(problem, tried, tol):
    """``evaluate`` for one machine."""
    columns = [columns_of(problem, support) for support in tried]
    found = [
        propose(problem, support, used, tol)
        for support, used in zip(tried, columns, strict=True)
    ]
    signs = problem.columns.signs
    w = np.zeros((len(tried), problem.n_columns))
    is_used = np.zeros(w.shape, dtype=bool)
    for i, (used, svm) in enumerate(zip(columns, found, strict=True)):
        w[i, used] = svm.w
        is_used[i, used] = True
    b = np.array([[svm.b] for svm in found])
    losses = np.maximum(0.0, 1.0 - (w @ problem.A + b * problem.y))
    values = 0.5 * (w**2).sum(axis=1) + losses @ problem.C
    alpha = np.clip([svm.alpha for svm in found], 0.0, problem.C)
    if problem.fit_intercept:
        # Both classes must weigh the same.
        classes = [problem.y > 0, problem.y < 0]
        weights = [alpha[:, one].sum(axis=1, keepdims=True) for one in classes]
        for one, weight in zip(classes, weights, strict=True):
            alpha[:, one] *= np.minimum(*weights) / weight
    c = np.where(is_used, alpha @ problem.A.T, 0.0)
    c[c * signs < 0] = 0.0
    return values, alpha.sum(axis=1) - 0.5 * (c**2).sum(axis=1)


class Proposed(NamedTuple):
    """A solution of an SVM, up to some tolerance."""

    w: np.ndarray
    b: float
    alpha: np.ndarray


def columns_of(problem, support):
    """The columns of X that features consist of, told from their groups."""
    return np.flatnonzero(np.isin(problem.columns.groups, support))


def propose(problem, support, columns, tol):
    """The SVM on a support, by our solver or by Clarabel."""
    if problem.columns.is_plain:
        svm = problem.engine.solve_svm(support, tol=tol)
        return Proposed(svm.w, svm.b, svm.alpha)
    found, signs = _by_clarabel(problem, columns, tol), problem.columns.signs
    size, m = columns.size, problem.n_samples
    b = found.x[size] if problem.fit_intercept else 0.0
    w, alpha = np.array(found.x[:size]), np.array(found.z[:m])
    # Weights of the wrong sign, and those that have to be zero, are noise.
    return Proposed(np.where(w * signs[columns] < 0, 0.0, w), b, alpha)


def _by_clarabel(problem, columns, tol=1e-10):
    X = (problem.A[columns] * problem.y).T
    return svm_solution(
        X, problem.y, problem.C, problem.fit_intercept, tol,
        problem.columns.signs[columns],
    )  # fmt: skip


def check_by_clarabel(problem, support, value):
    """Compare the value of a support with another solver's, if it has one."""
    found = [_by_clarabel(one, columns_of(one, support)) for one in problem.machines]
    if all(one.status == clarabel.SolverStatus.Solved for one in found):
        theirs = sum(one.obj_val for one in found)
        assert abs(value - theirs) <= AGREEMENT * value + 1e-9, (value, theirs)


class Enumeration:
    """All supports of a problem with their values: what near_optimal must list."""

    def __init__(self, problem, tol=1e-10):
        tried = list(supports(problem))
        values, bounds = evaluate(problem, tried, tol)
        assert (bounds >= values * (1 - AGREEMENT)).all()
        self.problem = problem
        self.values = {
            tuple(support.tolist()): value
            for support, value in zip(tried, values, strict=True)
        }
        self.best = values.min()

    def sets(self, limit):
        """Sets of value at most ``limit`` that are not part of another support."""
        useful = set(self.problem.candidates) | set(self.problem.include)
        kept = [s for s, value in self.values.items() if value <= limit]
        admitted = [set(s) for s in self.values if set(s) <= useful]
        return [s for s in kept if set(s) <= useful
                and not any(set(s) < other for other in admitted)]  # fmt: skip

    def reduced(self, features, tol=1e-9):
        """Without the features that make no difference."""
        include = set(self.problem.include)
        for j in features:
            smaller = tuple(i for i in features if i != j)
            if j not in include and self.values[smaller] <= self.values[features] * (
                1 + tol
            ):
                return self.reduced(smaller, tol)
        return features

    def minimal(self, limit):
        """Sets of value at most ``limit`` all of whose parts are above it."""
        kept = {s for s, value in self.values.items() if value <= limit}
        return {s for s in kept if not any(set(other) < set(s) for other in kept)}
