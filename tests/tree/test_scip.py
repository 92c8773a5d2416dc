"""Medium problems: the same optimum as SCIP finds for the perspective MISOCP.

Also with groups of columns and signs of weights.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from experiments.tasks.mip import scip
from frugalsvm import Problem, Status, solve
from tests.grouped import random_groups
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


@pytest.mark.parametrize("with_signs", [False, True])
@pytest.mark.parametrize(
    ("data", "n_groups", "C", "budget"),
    [
        (noise(3, 50, 24), 12, 1.0, 3),
        (noise(4, 40, 30, separable=True), 10, 10.0, 3),
        (noise(5, 60, 20, integer=True), 14, 0.3, 4),
        (wdbc(), 8, 1.0, 3),
    ],
)
def test_agrees_with_scip_on_groups(data, n_groups, C, budget, with_signs):
    X, y = data
    rng = np.random.default_rng(n_groups)
    groups = random_groups(rng, n_groups, X.shape[1])
    signs = rng.integers(-1, 2, X.shape[1]) if with_signs else np.zeros(X.shape[1])
    problem = Problem(X, y, C=C, max_features=budget, feature_groups=groups,
                      signs=signs)  # fmt: skip
    result = solve(problem, method="branch-and-bound", gap_tol=GAP, random_state=0)
    assert result.status is Status.OPTIMAL
    outcome = scip(X, y, C, budget, gap=GAP, seconds=120, groups=groups, signs=signs)
    assert outcome.proved
    np.testing.assert_allclose(result.objective, outcome.objective, rtol=5e-4)
    columns = np.isin(groups, outcome.support)
    refitted = svm_value(X[:, columns], y, np.full(y.size, C), signs=signs[columns])
    np.testing.assert_allclose(result.objective, refitted, rtol=3 * GAP)
