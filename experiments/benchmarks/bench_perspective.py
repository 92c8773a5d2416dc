"""The relaxation DSCoP against Clarabel's direct API, primal and dual form."""

from pathlib import Path

import clarabel
import numpy as np
import scipy.sparse as sp

from frugalsvm import Problem, relax

from .data import LARGE, load
from .results import Row
from .tables import Table, best_time, geometric_mean

C = 10.0
TOL = 1e-6


def _settings():
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_rel = TOL
    settings.tol_gap_abs = 1e-12
    settings.tol_feas = 1e-7
    return settings


def _zeros(rows, columns):
    return sp.csc_matrix((rows, columns))


def _solver(q, A, b, cones):
    empty = _zeros(q.size, q.size)
    return clarabel.DefaultSolver(empty, q, A.tocsc(), b, cones, _settings())


def _cones(n, rows, columns, values, width):
    matrix = sp.csc_matrix((values, (rows, columns)), shape=(3 * n, width))
    return matrix, [clarabel.SecondOrderConeT(3)] * n


def primal_socp(X, y, k):
    """Variables w, b, xi, z, t with t_j z_j >= w_j^2."""
    m, n = X.shape
    A = sp.csc_matrix(y[:, None] * X)
    eye = sp.identity
    q = np.r_[np.zeros(n + 1), np.full(m, C), np.zeros(n), np.full(n, 0.5)]
    linear = sp.vstack(
        [
            sp.hstack([-A, -sp.csc_matrix(y[:, None]), -eye(m), _zeros(m, 2 * n)]),
            sp.hstack([_zeros(m, n + 1), -eye(m), _zeros(m, 2 * n)]),
            sp.hstack([_zeros(n, n + 1 + m), eye(n), _zeros(n, n)]),
            sp.hstack([_zeros(1, n + 1 + m), np.ones((1, n)), _zeros(1, n)]),
        ]
    )
    j = np.arange(n)
    z, t, r = n + 1 + m + j, 2 * n + 1 + m + j, 3 * j
    one = np.ones(n)
    cones, kinds = _cones(
        n,
        np.r_[r, r, r + 1, r + 1, r + 2],
        np.r_[t, z, t, z, j],
        np.r_[-one, -one, -one, one, -2 * one],
        q.size,
    )
    b = np.r_[-np.ones(m), np.zeros(m), np.ones(n), k, np.zeros(3 * n)]
    kinds = [clarabel.NonnegativeConeT(2 * m + n + 1), *kinds]
    return _solver(q, sp.vstack([linear, cones]), b, kinds)


def dual_socp(X, y, k):
    """Variables alpha, lam, s, c with s_j + lam >= c_j^2."""
    m, n = X.shape
    A = sp.csc_matrix(y[:, None] * X)
    eye = sp.identity
    q = np.r_[-np.ones(m), 0.5 * k, np.full(n, 0.5), np.zeros(n)]
    linear = sp.vstack(
        [
            sp.hstack([sp.csc_matrix(y[None, :]), _zeros(1, 1 + 2 * n)]),
            sp.hstack([A.T, _zeros(n, 1 + n), -eye(n)]),
            sp.hstack([-eye(m), _zeros(m, 1 + 2 * n)]),
            sp.hstack([eye(m), _zeros(m, 1 + 2 * n)]),
            sp.hstack([_zeros(1, m), -eye(1), _zeros(1, 2 * n)]),
            sp.hstack([_zeros(n, m + 1), -eye(n), _zeros(n, n)]),
        ]
    )
    j = np.arange(n)
    lam, s, c, r = np.full(n, m), m + 1 + j, m + 1 + n + j, 3 * j
    cones, kinds = _cones(
        n,
        np.r_[r, r, r + 1, r + 1, r + 2],
        np.r_[s, lam, s, lam, c],
        np.r_[-np.ones(4 * n), -2 * np.ones(n)],
        q.size,
    )
    b = np.r_[np.zeros(n + 1 + m), np.full(m, C), np.zeros(1 + n)]
    b = np.r_[b, np.tile([1.0, -1.0, 0.0], n)]
    kinds = [
        clarabel.ZeroConeT(n + 1),
        clarabel.NonnegativeConeT(2 * m + 1 + n),
        *kinds,
    ]
    return _solver(q, sp.vstack([linear, cones]), b, kinds)


def run(folder: Path, quick: bool) -> list[Row]:
    table = Table(
        "DSCoP: frugalsvm against Clarabel, relative gap 1e-6, C = 10, one thread",
        ["data set", "B", "bound", "ours [s]", "Clarabel P", "Clarabel D", "ratio",
         "difference"],
    )  # fmt: skip
    rows: list[Row] = []
    for name in LARGE[:2] if quick else LARGE:
        X, y = load(folder, name)
        for k in (10, 20, 30):
            problem = Problem(X, y, C=C, max_features=k)
            # Norms and candidates belong to the problem, like Clarabel's matrices.
            problem.root_region(), problem.norms
            ours, relaxation = best_time(lambda p=problem: relax(p, tol=TOL))
            times, values = [], []
            for build, sign in ((primal_socp, 1), (dual_socp, -1)):
                solver = build(X, y, k)
                seconds, solution = best_time(solver.solve, 1)
                times.append(seconds)
                values.append(sign * solution.obj_val)
            ratio = min(times) / ours
            difference = abs(relaxation.bound - values[0]) / values[0]
            rows.append({"set": name, "B": k, "ours": ours, "primal": times[0],
                         "dual": times[1], "difference": difference})  # fmt: skip
            table.row(
                [name, k, f"{relaxation.bound:.6g}", f"{ours:.4f}", f"{times[0]:.2f}",
                 f"{times[1]:.2f}", f"{ratio:.1f}", f"{difference:.1e}"]
            )  # fmt: skip
    ratios = [min(row["primal"], row["dual"]) / row["ours"] for row in rows]
    largest = max(row["difference"] for row in rows)
    print(
        f"\nRatio to the better of Clarabel's two forms: geometric mean "
        f"{geometric_mean(ratios):.1f}, smallest {min(ratios):.1f}. Largest relative "
        f"difference of the values {largest:.1e}."
    )
    return rows
