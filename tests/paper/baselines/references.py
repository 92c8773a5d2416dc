"""Independent formulations of the baselines: SciPy's LP and MILP, plain CVXPY."""

from itertools import combinations

import cvxpy as cp
import numpy as np
from scipy.optimize import LinearConstraint, linprog, milp


def l1_matrices(X, y, C):
    """Costs and margins of the l1-SVM in (w+, w-, b+, b-, xi), all not negative."""
    m, n = X.shape
    signed = y[:, None] * X
    margins = np.hstack([signed, -signed, y[:, None], -y[:, None], np.eye(m)])
    return np.r_[np.ones(2 * n), 0.0, 0.0, C], margins


def l1_svm_by_linprog(X, y, C):
    costs, margins = l1_matrices(X, y, C)
    return linprog(costs, A_ub=-margins, b_ub=-np.ones(y.size), method="highs")


def l1_optimum(X, y, C, budget):
    """Smallest objective over all supports, and all (support, objective) pairs."""
    values = {}
    for size in range(budget + 1):
        for support in combinations(range(X.shape[1]), size):
            values[support] = l1_svm_by_linprog(X[:, list(support)], y, C).fun
    return min(values.values()), values


def l1_by_milp(X, y, C, budget, M):
    """l1-FS-SVM with two big-M rows a feature, by SciPy."""
    m, n = X.shape
    costs, margins = l1_matrices(X, y, C)
    size = costs.size
    rows = [LinearConstraint(np.hstack([margins, np.zeros((m, n))]), 1.0, np.inf)]
    for sign in (1.0, -1.0):
        weights = np.zeros((n, size))
        weights[:, :n], weights[:, n : 2 * n] = sign * np.eye(n), -sign * np.eye(n)
        rows.append(LinearConstraint(np.hstack([weights, -M * np.eye(n)]), -np.inf, 0))
    rows.append(LinearConstraint(np.r_[np.zeros(size), np.ones(n)], -np.inf, budget))
    integral = np.r_[np.zeros(size), np.ones(n)]
    upper = np.r_[np.full(size, np.inf), np.ones(n)]
    found = milp(
        np.r_[costs, np.zeros(n)], constraints=rows, integrality=integral,
        bounds=(0, upper), options={"mip_rel_gap": 1e-9},
    )  # fmt: skip
    return found.fun


def elastic_net_by_cvxpy(X, y, C, alpha, intercept=True):
    """EN-SVM as it is written, without slack variables."""
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    scores = X @ w + (b if intercept else 0.0)
    loss = C @ cp.pos(1 - cp.multiply(y, scores))
    objective = 0.5 * cp.sum_squares(w) + alpha * cp.norm1(w) + loss
    program = cp.Problem(cp.Minimize(objective))
    program.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10)
    return program.value, w.value
