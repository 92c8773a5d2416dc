"""Kernels: SVMs beside libsvm, relaxations beside Clarabel, and awkward data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from frugalsvm import Problem, relax

from ..cells import cell, grid
from ..datasets import LARGE, SMALL, DataSet, scaled
from ..experiment import benchmark
from ..statistics import geometric_mean
from ..store import Row
from .timing import best_time

WEIGHT = 10.0

# --- the SVM on a support -------------------------------------------------------------


def support(data: DataSet, *, features: int) -> Row:
    """Time of an SVM on the features most correlated with the labels, and libsvm's."""
    X, y = scaled(data.X), data.y
    chosen = np.sort(np.argsort(-np.abs(X.T @ y), kind="stable")[:features])
    part = np.ascontiguousarray(X[:, chosen])

    def objective(w: np.ndarray, b: float) -> float:
        return 0.5 * w @ w + WEIGHT * np.maximum(0.0, 1.0 - y * (part @ w + b)).sum()

    engine = Problem(part, y, C=WEIGHT).engine
    ours, svm = best_time(partial(engine.solve_svm, np.arange(features)), 5)
    svc = SVC(kernel="linear", C=WEIGHT, tol=1e-5)
    theirs, _ = best_time(lambda: svc.fit(part, y), 1)
    value = objective(svm.w, svm.b)
    return {
        "ours": ours,
        "libsvm": theirs,
        "ratio": theirs / ours,
        "excess": objective(svc.coef_[0], svc.intercept_[0]) / value - 1.0,
    }


def _ratio_note(rows: list[Row]) -> str:
    ratios = [row["ratio"] for row in rows]
    return (
        f"Ratios: geometric mean {geometric_mean(ratios):.1f}, smallest "
        f"{min(ratios):.1f}. A positive excess means that our objective is lower."
    )


SUPPORT = benchmark(
    "support",
    "The SVM on a support beside libsvm, C = 10",
    "5 to 30 features; relative gap 1e-8 against libsvm's tol of 1e-5, one thread.",
    lambda settings: [
        cell("support", name, features=count)
        for name in settings.chosen(
            (*SMALL, *LARGE), ("wdbc", "arrhythmia", "colorectal")
        )
        for count in (5, 10, 20, 30)
        if count <= settings.n_features(name)
    ],
    [support],
    sets=(*SMALL, *LARGE),
    note=_ratio_note,
)


# --- the relaxation DSCoP -------------------------------------------------------------

RELAXATION_TOL = 1e-6


def _solver(
    q: np.ndarray, A: Any, b: np.ndarray, cones: list[Any], indices: Any, values: Any
) -> Any:
    """The program with linear rows A, and cones of three rows for each feature."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_rel = RELAXATION_TOL
    settings.tol_gap_abs = 1e-12
    settings.tol_feas = 1e-7
    n = len(indices[-1])
    r = 3 * np.arange(n)
    rows = np.r_[r, r, r + 1, r + 1, r + 2]
    matrix = sp.csc_matrix((values, (rows, np.hstack(indices))), (3 * n, q.size))
    kinds = [*cones, *[clarabel.SecondOrderConeT(3)] * n]
    A = sp.vstack([A, matrix]).tocsc()
    empty = sp.csc_matrix((q.size, q.size))
    return clarabel.DefaultSolver(empty, q, A, b, kinds, settings)


def primal_socp(X: np.ndarray, y: np.ndarray, k: int, C: float) -> Any:
    """Variables w, b, xi, z, t with t_j z_j >= w_j^2."""
    import clarabel

    m, n = X.shape
    A, labels = sp.csc_matrix(y[:, None] * X), sp.csc_matrix(y[:, None])
    slack, feature = sp.identity(m), sp.identity(n)
    q = np.r_[np.zeros(n + 1), np.full(m, C), np.zeros(n), np.full(n, 0.5)]
    linear = sp.bmat(
        [
            [-A, -labels, -slack, None, None],
            [None, None, -slack, None, None],
            [None, None, None, feature, sp.csc_matrix((n, n))],
            [None, None, None, np.ones((1, n)), None],
        ]
    )
    j, ones = np.arange(n), np.ones(n)
    z, t = n + 1 + m + j, 2 * n + 1 + m + j
    b = np.r_[-np.ones(m), np.zeros(m), ones, k, np.zeros(3 * n)]
    cones = [clarabel.NonnegativeConeT(2 * m + n + 1)]
    values = np.r_[-ones, -ones, -ones, ones, -2 * ones]
    return _solver(q, linear, b, cones, [t, z, t, z, j], values)


def dual_socp(X: np.ndarray, y: np.ndarray, k: int, C: float) -> Any:
    """Variables alpha, lam, s, c with s_j + lam >= c_j^2."""
    import clarabel

    m, n = X.shape
    A = sp.csc_matrix(y[:, None] * X)
    sample, feature = sp.identity(m), sp.identity(n)
    q = np.r_[-np.ones(m), 0.5 * k, np.full(n, 0.5), np.zeros(n)]
    linear = sp.bmat(
        [
            [sp.csc_matrix(y[None, :]), None, None, None],
            [A.T, None, None, -feature],
            [-sample, None, None, None],
            [sample, None, None, None],
            [None, -sp.identity(1), None, None],
            [None, None, -feature, None],
        ]
    )
    j = np.arange(n)
    lam, s, c = np.full(n, m), m + 1 + j, m + 1 + n + j
    b = np.r_[np.zeros(n + 1 + m), np.full(m, C), np.zeros(1 + n)]
    b = np.r_[b, np.tile([1.0, -1.0, 0.0], n)]
    cones = [clarabel.ZeroConeT(n + 1), clarabel.NonnegativeConeT(2 * m + 1 + n)]
    values = np.r_[-np.ones(4 * n), -2 * np.ones(n)]
    return _solver(q, linear, b, cones, [s, lam, s, lam, c], values)


def perspective(data: DataSet, *, B: int) -> Row:
    """Time of the relaxation, and of Clarabel's direct API in both forms."""
    X, y = scaled(data.X), data.y
    problem = Problem(X, y, C=WEIGHT, max_features=B)
    # Norms and candidates belong to the problem, like Clarabel's matrices.
    problem.root_region(), problem.norms
    ours, relaxation = best_time(lambda: relax(problem, tol=RELAXATION_TOL))
    primal, solution = best_time(primal_socp(X, y, B, WEIGHT).solve, 1)
    dual, _ = best_time(dual_socp(X, y, B, WEIGHT).solve, 1)
    value = solution.obj_val
    return {
        "ours": ours,
        "primal": primal,
        "dual": dual,
        "ratio": min(primal, dual) / ours,
        "difference": abs(relaxation.bound - value) / value,
    }


def _perspective_note(rows: list[Row]) -> str:
    ratios = [row["ratio"] for row in rows]
    return (
        f"Ratio to the better of Clarabel's two forms: geometric mean "
        f"{geometric_mean(ratios):.1f}, smallest {min(ratios):.1f}. Largest relative "
        f"difference of the values {max(row['difference'] for row in rows):.1e}."
    )


PERSPECTIVE = benchmark(
    "perspective",
    "The relaxation DSCoP beside Clarabel, C = 10",
    "Relative gap 1e-6, Clarabel's direct API with the primal and the dual form, one "
    "thread.",
    lambda settings: grid(
        "perspective", settings.chosen(LARGE, LARGE[:2]), B=(10, 20, 30)
    ),
    [perspective],
    note=_perspective_note,
)


# --- awkward data ---------------------------------------------------------------------


def _awkward(
    seed: int, orders: int, sizes: list[int], widths: list[int]
) -> tuple[np.random.Generator, np.ndarray, np.ndarray, float]:
    """Data with ties, equal and constant columns, separable or not, and C."""
    rng = np.random.default_rng(seed)
    m, p = int(rng.choice(sizes)), int(rng.choice(widths))
    X = rng.normal(size=(m, p))
    if seed % 3 == 0:
        X = rng.integers(-2, 3, (m, p)).astype(float)
    if seed % 5 == 0:
        X *= 10.0 ** rng.uniform(-orders, orders, p)
    if seed % 7 == 0 and p > 2:
        X[:, 1], X[:, 2] = X[:, 0], 1.0
    noise = rng.choice([0, 1]) * rng.normal(size=m) * np.abs(X).max()
    y = np.where(X @ rng.normal(size=p) + noise > 0, 1.0, -1.0)
    y[0], y[-1] = 1.0, -1.0
    return rng, X, y, 10.0 ** rng.uniform(-4, 6)


def svm_gap(seed: int) -> float:
    """Relative gap of an SVM; every fourth problem has weights of samples."""
    sizes, widths = [2, 3, 5, 10, 30, 100, 300], [1, 2, 3, 5, 10, 30, 60]
    rng, X, y, C = _awkward(seed, 6, sizes, widths)
    sample_weight = 10.0 ** rng.uniform(-3, 3, y.size) if seed % 4 == 0 else None
    problem = Problem(
        X, y, C=C, sample_weight=sample_weight, fit_intercept=bool(seed % 2)
    )
    svm = problem.engine.solve_svm(np.arange(X.shape[1]))
    return (svm.primal - svm.dual) / abs(svm.primal)


def relaxation_gap(seed: int) -> float:
    """Relative gap of the relaxation; every third problem has costs of features."""
    rng, X, y, C = _awkward(seed, 3, [2, 3, 5, 10, 30, 100], [2, 3, 5, 10, 30, 60])
    n = X.shape[1]
    costs: dict[str, Any] = {}
    if seed % 3 == 0:
        limit = float(rng.uniform(0.5, 2) * (1 + n / 4))
        costs = {"feature_costs": rng.uniform(0.5, 2, n), "max_cost": limit}
    problem = Problem(
        X,
        y,
        C=C,
        sample_weight=10.0 ** rng.uniform(-2, 2, y.size) if seed % 4 == 0 else None,
        max_features=int(rng.integers(1, n + 1)),
        fit_intercept=bool(seed % 2),
        **costs,
    )
    relaxation = relax(problem)
    return (relaxation.value - relaxation.bound) / abs(relaxation.value)


KERNELS = {"SVM": (svm_gap, 1e-8), "relaxation": (relaxation_gap, 1e-6)}


def robustness(data: None, *, kernel: str, problems: int) -> Row:
    """How often a kernel ends above its tolerance, and the largest gap."""
    gap, tolerance = KERNELS[kernel]
    gaps = np.array([gap(seed) for seed in range(problems)])
    return {
        "tolerance": tolerance,
        "above it": int(np.sum(~(gaps <= 1.001 * tolerance))),
        "largest gap": float(gaps.max()),
    }


ROBUSTNESS = benchmark(
    "robustness",
    "Robustness: awkward random problems that end above their relative gap",
    "Sizes from 2 x 1 to 300 x 60, ties, duplicate and constant columns, separable or "
    "not, C from 1e-4 to 1e6, sample weights and features over several orders.",
    lambda settings: grid(
        "robustness", kernel=KERNELS, problems=settings.pick(300, 3000)
    ),
    [robustness],
    sets=(),
)
