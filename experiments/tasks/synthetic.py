"""Task: synthetic data with known true features.

Two generators from the literature, reimplemented. *logistic*: rows are Gaussian with
correlation ``rho^|i-j|``, the weights are ten ones at equal distances, labels are drawn
from the logistic model (OKRidge; Liu et al.). *hinge*: column j is noise plus rho times
column j - 1 and then has a root mean square of 1, weights are 1 or -1 at random
positions, labels are the signs of the products (the experiments of SubsetSelectionCIO).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from frugalsvm import Problem

from .methods import described, solved
from .selection import SELECTORS


class Design(NamedTuple):
    """Data, labels, and the true features."""

    X: np.ndarray
    y: np.ndarray
    support: np.ndarray


def logistic_design(m: int, n: int, k: int, rho: float, seed: int) -> Design:
    """Correlation ``rho^|i-j|``, k ones at equal distances, logistic labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    for j in range(1, n):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    support = np.arange(k) * (n // k)
    chance = 1.0 / (1.0 + np.exp(-X[:, support].sum(axis=1)))
    return Design(X, np.where(rng.random(m) < chance, 1.0, -1.0), support)


def hinge_design(m: int, n: int, k: int, rho: float, seed: int) -> Design:
    """Chained columns, weights 1 or -1 at random positions, labels without noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    for j in range(1, n):
        X[:, j] += rho * X[:, j - 1]
    support = np.sort(rng.choice(n, size=k, replace=False))
    score = X[:, support] @ rng.choice([-1.0, 1.0], size=k)
    X /= np.sqrt((X**2).mean(axis=0))
    return Design(X, np.where(score > 0, 1.0, -1.0), support)


DESIGNS = {"logistic": logistic_design, "hinge": hinge_design}
# Methods of solve; the others are in peers.
NATIVE = ("auto", "branch-and-bound", "kernel-search")


def design(
    data: None,
    *,
    limit: float | None,
    kind: str,
    m: int,
    n: int,
    k: int,
    rho: float,
    seed: int,
    C: float,
    method: str,
) -> dict[str, Any]:
    """The number of true features that a method finds, and its proved gap."""
    sample = DESIGNS[kind](m, n, k, rho, seed)
    problem = Problem(sample.X, sample.y, C=C, max_features=k)
    if method in NATIVE:
        values = described(solved(problem, method, limit))
    else:
        support = np.sort(SELECTORS[method](sample.X, sample.y, k, C))
        objective = problem.engine.solve_svm(support).primal
        values = {"objective": float(objective), "support": [int(j) for j in support]}
    right = np.intersect1d(values["support"], sample.support).size
    return values | {
        "recovered": 100.0 * right / k,
        "true objective": float(problem.engine.solve_svm(sample.support).primal),
        "capped": bool(values.get("capped", False)),
    }
