"""Kernels: SVMs beside libsvm, relaxations beside Clarabel, and awkward data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC

from frugalsvm import (Problem, relax)

from ..cells import Cell, cell, grid
from ..datasets import LARGE, SMALL, DataSet, scaled
from ..experiment import Settings, benchmark
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
    engine = Problem(part, y, C=WEIGHT).engine
    ours, svm = best_time(partial(engine.solve_svm, np.arange(features)), 5)
    svc = SVC(kernel="linear", C=WEIGHT, tol=1e-5)
    theirs, _ = best_time(lambda: svc.fit(part, y), 1)
    objective = _objective(part, y, svm.w, svm.b)
    libsvm = _objective(part, y, svc.coef_[0], svc.intercept_[0])
    return {
        "ours": ours,
        "libsvm": theirs,
        "ratio": theirs / ours,
        "excess": (libsvm - objective) / objective,
    }


def _objective(X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> float:
    return 0.5 * w @ w + WEIGHT * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


def _support_plan(settings: Settings) -> list[Cell]:
    return [
        cell("support", name, features=count)
        for name in settings.chosen(
            (*SMALL, *LARGE), ("wdbc", "arrhythmia", "colorectal")
        )
        for count in (5, 10, 20, 30)
        if count <= settings.n_features(name)
    ]


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
    _support_plan,
    [support],
    sets=(*SMALL, *LARGE),
    note=_ratio_note,
)


# --- the relaxation DSCoP -------------------------------------------------------------

RELAXATION_TOL = 1e-6


def _clarabel_settings() -> Any:
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_rel = RELAXATION_TOL
    settings.tol_gap_abs = 1e-12
    settings.tol_feas = 1e-7
    return settings


def _zeros(rows: int, columns: int) -> Any:
    return sp.csc_matrix((rows, columns))


def _solver(q: np.ndarray, A: Any, b: np.ndarray, cones: list[Any]) -> Any:
    import clarabel

    empty = _zeros(q.size, q.size)
    return clarabel.DefaultSolver(empty, q, A.tocsc(), b, cones, _clarabel_settings())


def _cones(
    n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, width: int
) -> tuple[Any, list[Any]]:
    import clarabel

    matrix = sp.csc_matrix((values, (rows, columns)), shape=(3 * n, width))
    return matrix, [clarabel.SecondOrderConeT(3)] * n


def primal_socp(X: np.ndarray, y: np.ndarray, k: int, C: float) -> Any:
    """Variables w, b, xi, z, t with t_j z_j >= w_j^2."""
    import clarabel

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
    ones = np.ones(n)
    cones, kinds = _cones(
        n,
        np.r_[r, r, r + 1, r + 1, r + 2],
        np.r_[t, z, t, z, j],
        np.r_[-ones, -ones, -ones, ones, -2 * ones],
        q.size,
    )
    b = np.r_[-np.ones(m), np.zeros(m), np.ones(n), k, np.zeros(3 * n)]
    kinds = [clarabel.NonnegativeConeT(2 * m + n + 1), *kinds]
    return _solver(q, sp.vstack([linear, cones]), b, kinds)


def dual_socp(X: np.ndarray, y: np.ndarray, k: int, C: float) -> Any:
    """Variables alpha, lam, s, c with s_j + lam >= c_j^2."""
    import clarabel

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


def _perspective_plan(settings: Settings) -> list[Cell]:
    return grid("perspective", settings.chosen(LARGE, LARGE[:2]), B=(10, 20, 30))


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
    _perspective_plan,
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


def _robustness_plan(settings: Settings) -> list[Cell]:
    return grid("robustness", kernel=KERNELS, problems=[settings.pick(300, 3000)])


ROBUSTNESS = benchmark(
    "robustness",
    "Robustness: awkward random problems that end above their relative gap",
    "Sizes from 2 x 1 to 300 x 60, ties, duplicate and constant columns, separable or "
    "not, C from 1e-4 to 1e6, sample weights and features over several orders.",
    _robustness_plan,
    [robustness],
    sets=(),
)
