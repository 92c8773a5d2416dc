"""Screening only makes decisions that hold in every better solution."""

import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.kernels import screening
from frugalsvm.kernels.screening import FIXED_IN, FIXED_OUT
from tests.kernels.compiled import compiled
from tests.reference import random_data, supports

screen = compiled(screening.screen)


def values_by_support(problem):
    return [
        (
            set(support.tolist()),
            problem.engine.solve_svm(support, tol=1e-10).dual,
        )
        for support in supports(problem)
    ]


def random_problem(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(6, 14)), int(rng.integers(3, 7))
    X, y = random_data(rng, m, n, separable=seed % 2 == 0, integer=seed % 5 == 0)
    X[:, 0] += y * rng.uniform(0, 3)
    costs = rng.uniform(0.5, 2.0, n)
    return Problem(
        X,
        y,
        C=float(10.0 ** rng.uniform(-1, 1)),
        max_features=int(rng.integers(1, n)),
        feature_costs=costs,
        max_cost=float(rng.uniform(0.6, 1.0) * costs.sum()) if seed % 3 == 0 else None,
        include=(1,) if seed % 7 == 0 and costs[1] < 0.6 * costs.sum() else (),
    )


def test_decisions_hold_in_every_better_solution():
    decided = {FIXED_IN: 0, FIXED_OUT: 0}
    for seed in range(150):
        problem = random_problem(seed)
        relaxation = relax(problem)
        values = values_by_support(problem)
        node = problem.root_region()
        for upper in (min(v for _, v in values), np.median([v for _, v in values])):
            decisions = screen(
                relaxation.alpha, relaxation.squares, node.forced, node.free, node.k,
                problem.costs, node.budget, upper,
            )  # fmt: skip
            for j, decision in zip(node.free, decisions, strict=True):
                if decision == 0:
                    continue
                decided[int(decision)] += 1
                for support, value in values:
                    if value < upper:
                        assert (j in support) == (decision == FIXED_IN)
    # The test is only meaningful if some features are decided.
    assert min(decided.values()) > 50


def test_an_empty_budget_fixes_all_features_out():
    problem = random_problem(1)
    alpha = relax(problem).alpha
    node = problem.root_region()
    squares = np.ones(problem.n_features)
    decisions = screen(
        alpha, squares, node.forced, node.free, 0, problem.costs, np.inf, 1.0
    )
    assert np.all(decisions == FIXED_OUT)


@pytest.mark.parametrize("k", [1, 2])
def test_decisions_follow_the_rules(k):
    """Hand-made squares: sum(alpha) = 10 and squares 8, 6, 1."""
    alpha = np.full(4, 2.5)
    squares = np.array([8.0, 6.0, 1.0])
    none = np.empty(0, dtype=np.int64)
    bound = 10 - 0.5 * (8.0 if k == 1 else 14.0)
    decisions = screen(
        alpha, squares, none, np.arange(3), k, np.ones(3), np.inf, bound + 1.5
    )
    expected = {1: [0, 0, FIXED_OUT], 2: [FIXED_IN, FIXED_IN, FIXED_OUT]}
    np.testing.assert_array_equal(decisions, expected[k])
