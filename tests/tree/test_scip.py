"""Medium problems: the same optimum as SCIP finds for the perspective MISOCP."""

import numpy as np
import pytest
from benchmarks.mip_solvers import scip
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from frugalsvm import Problem, Status, solve
from tests.reference import random_data, svm_value

GAP = 1e-5


def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X[:150, :16]), np.where(y[:150] == 1, 1.0, -1.0)


def noise(seed, m, n, **kinds):
    return random_data(np.random.default_rng(seed), m, n, **kinds)


@pytest.mark.parametrize(
    ("data", "C", "budget"),
    [
        (noise(0, 50, 20), 1.0, 4),
        (noise(1, 40, 24, separable=True), 10.0, 3),
        (noise(2, 60, 16, integer=True), 0.3, 5),
        (wdbc(), 1.0, 4),
    ],
)
def test_agrees_with_scip(data, C, budget):
    X, y = data
    result = solve(
        Problem(X, y, C=C, max_features=budget), method="branch-and-bound", gap_tol=GAP
    )
    assert result.status is Status.OPTIMAL
    outcome = scip(X, y, C, budget, gap=GAP, seconds=120)
    assert outcome.proved
    # SCIP's claim is true up to its feasibility tolerance; its support is refitted.
    np.testing.assert_allclose(result.objective, outcome.objective, rtol=5e-4)
    refitted = svm_value(X[:, outcome.support], y, np.full(y.size, C))
    np.testing.assert_allclose(result.objective, refitted, rtol=3 * GAP)
