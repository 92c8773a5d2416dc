"""The relaxation against Clarabel, with and without working sets."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from frugalsvm import Problem, relax
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.engine.perspective import perspective
from tests.reference import dscop_value, random_data, svm_value


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize(("m", "n", "k"), [(20, 5, 2), (60, 12, 4), (15, 30, 3)])
def test_agrees_with_clarabel(m, n, k, separable):
    rng = np.random.default_rng(m + n)
    X, y = random_data(rng, m, n, separable=separable)
    for C in (0.1, 10.0):
        weights = rng.uniform(0.5, 2.0, m)
        problem = Problem(X, y, C=C, sample_weight=weights, max_features=k)
        relaxation = relax(problem)
        value = dscop_value(X, y, C * weights, k)
        np.testing.assert_allclose(relaxation.bound, value, rtol=1e-5)
        assert relaxation.value - relaxation.bound <= 1e-6 * relaxation.value
        assert relaxation.bound >= svm_value(X, y, C * weights) * (1 - 1e-6)


def test_forced_excluded_and_costs_agree_with_clarabel():
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 40, 10, separable=True)
    costs = rng.uniform(0.5, 2.0, 10)
    # Enough for any single feature: leaving out unaffordable features would be tighter
    # than the relaxation.
    left = 2.2
    problem = Problem(
        X, y, C=2.0, max_features=5, feature_costs=costs,
        max_cost=left + costs[[2, 3]].sum(), include=(2, 3), exclude=(7,),
    )  # fmt: skip
    kept = np.setdiff1d(np.arange(10), [7])
    value = dscop_value(
        X[:, kept], y, np.full(40, 2.0), 3, forced=(2, 3), costs=costs[kept],
        budget=left,
    )  # fmt: skip
    np.testing.assert_allclose(relax(problem).bound, value, rtol=1e-5)


def test_a_working_set_changes_nothing():
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 40, 400)
    X[:, :5] += y[:, None] * 0.5
    problem = Problem(X, y, C=1.0, max_features=6)
    whole = relax(problem.with_parameters(EngineParameters(solved_at_once=1000)))
    few = EngineParameters(solved_at_once=50, first_working_set=20)
    parts = relax(problem.with_parameters(few))
    np.testing.assert_allclose(parts.bound, whole.bound, rtol=2e-6)
    np.testing.assert_allclose(parts.u, whole.u, atol=1e-2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_working_sets_with_unequal_costs_close_the_gap(seed, share):
    rng = np.random.default_rng(seed)
    m, n, k = 40, 700, 3
    X = rng.standard_normal((m, n))
    y = np.where(X[:, :2].sum(1) + 0.3 * rng.standard_normal(m) > 0, 1, -1)
    costs = rng.uniform(0.1, 10, n) ** 2
    # With a share of 1 only the number of features is limited.
    problem = Problem(
        X, y, C=1.0, max_features=k, feature_costs=costs,
        max_cost=share * np.sort(costs)[-k:].sum(),
    )  # fmt: skip
    found = perspective(problem.engine, problem.root_region(), tol=1e-5)
    assert found.primal - found.bound <= 1e-5 * found.primal


def test_working_set_with_costs():
    rng = np.random.default_rng(2)
    X, y = random_data(rng, 30, 900)
    costs = rng.uniform(0.5, 3.0, 900)
    problem = Problem(
        X, y, max_features=8, feature_costs=costs, max_cost=6.0, exclude=range(400)
    )
    relaxation = relax(problem)
    assert relaxation.value - relaxation.bound <= 1e-6 * relaxation.value
    assert np.all(relaxation.u[:400] == 1.0)
    z = 1 - relaxation.u
    assert z.sum() <= 8 + 1e-6
    assert z @ costs <= 6 * (1 + 1e-6)


@pytest.mark.parametrize(("budget", "value"), [(5, 213.7612), (10, 191.7117)])
def test_known_values_on_wdbc(budget, value):
    X, target = load_breast_cancer(return_X_y=True)
    problem = Problem(scale(X), 2.0 * target - 1, C=10.0, max_features=budget)
    np.testing.assert_allclose(relax(problem).bound, value, rtol=1e-6)


def test_budget_beyond_all_features_is_the_svm():
    rng = np.random.default_rng(3)
    X, y = random_data(rng, 30, 4)
    relaxation = relax(Problem(X, y, max_features=4))
    np.testing.assert_allclose(
        relaxation.bound, svm_value(X, y, np.ones(30)), rtol=1e-6
    )
    np.testing.assert_array_equal(relaxation.u, 0.0)


def test_cutoff_stops_early_with_a_valid_bound():
    rng = np.random.default_rng(4)
    X, y = random_data(rng, 60, 20)
    problem = Problem(X, y, C=10.0, max_features=3)
    full = relax(problem)
    stopped = perspective(
        problem.engine, problem.root_region(), cutoff=0.8 * full.bound
    )
    assert 0.8 * full.bound < stopped.bound <= full.value
    assert stopped.iterations < full.iterations
