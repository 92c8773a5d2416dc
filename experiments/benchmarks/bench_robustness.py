"""How often the kernels end above their tolerance on deliberately awkward random data.

Sizes from 2 x 1 to 300 x 60, ties, duplicate and constant columns, separable or not,
C from 1e-4 to 1e6. Every fourth problem has sample weights over several orders, every
fifth has features on scales over several orders. Needs no data sets.
"""

import numpy as np

from frugalsvm import Problem, relax
from frugalsvm.engine.native import NativeEngine

from .tables import Table


def _awkward(seed, orders, sizes, widths):
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
    sizes, widths = [2, 3, 5, 10, 30, 100, 300], [1, 2, 3, 5, 10, 30, 60]
    rng, X, y, C = _awkward(seed, 6, sizes, widths)
    weights = np.full(y.size, C)
    if seed % 4 == 0:
        weights *= 10.0 ** rng.uniform(-3, 3, y.size)
    A = np.ascontiguousarray((X * y[:, None]).T)
    features = np.arange(X.shape[1])
    engine = NativeEngine.of(A, y, weights, bool(seed % 2))
    svm = engine.solve_svm(features)
    return (svm.primal - svm.dual) / abs(svm.primal)


def relaxation_gap(seed: int) -> float:
    rng, X, y, C = _awkward(seed, 3, [2, 3, 5, 10, 30, 100], [2, 3, 5, 10, 30, 60])
    n = X.shape[1]
    costs = {}
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


def run(quick: bool) -> None:
    table = Table(
        "Robustness: awkward random problems that end above their relative gap",
        ["kernel", "tolerance", "problems", "above it", "largest gap"],
    )
    count = 300 if quick else 3000
    for name, gap, tol in (
        ("SVM", svm_gap, 1e-8),
        ("relaxation", relaxation_gap, 1e-6),
    ):
        gaps = np.array([gap(seed) for seed in range(count)])
        above = np.sum(~(gaps <= 1.001 * tol))
        table.row([name, f"{tol:.0e}", count, above, f"{gaps.max():.1e}"])
