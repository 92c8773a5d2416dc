"""Rankings and groups: our choices where the paper is unclear or contradicts itself."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.paper.algorithms.kernel_search import (
    first_features,
    make_groups,
    prefer,
    rank_features,
)
from tests.reference import random_data


def problem_of(n, **arguments):
    X, y = random_data(np.random.default_rng(0), 20, n)
    return Problem(X, y, **{"max_features": 3, **arguments})


def test_small_u_comes_first():
    u = np.array([0.9, 0.1, 0.5, 1.0])
    ranked = rank_features(problem_of(4), u, np.zeros(4))
    np.testing.assert_array_equal(ranked, [1, 2, 0, 3])


def test_ties_go_to_the_feature_worth_more_then_to_the_first():
    u = np.array([1.0, 1.0 - 1e-9, 1.0, 0.2, 1.0])
    squares = np.array([1.0, 2.0, 3.0, 0.0, 3.0])
    ranked = rank_features(problem_of(5), u, squares)
    np.testing.assert_array_equal(ranked, [3, 2, 4, 1, 0])


def test_only_features_that_may_be_chosen_are_ranked():
    ranked = rank_features(
        problem_of(6, include=[2], exclude=[4]), np.linspace(0, 1, 6), np.zeros(6)
    )
    np.testing.assert_array_equal(ranked, [0, 1, 3, 5])


@pytest.mark.parametrize(
    ("n", "rho", "sizes"),
    [(20, 10, [10, 10]), (25, 10, [10, 15]), (9, 10, [9]), (10, 10, [10]),
     (7, 2, [2, 2, 3]), (3, 1, [1, 1, 1]), (0, 10, [])],
)  # fmt: skip
def test_the_last_group_takes_the_remainder(n, rho, sizes):
    groups = make_groups(np.arange(n), rho)
    assert [group.size for group in groups] == sizes
    if n:
        np.testing.assert_array_equal(np.concatenate(groups), np.arange(n))


@pytest.mark.parametrize(("n", "rho"), [(25, 10), (9, 10), (7, 2), (1, 3), (0, 3)])
def test_spread_groups_have_features_of_all_ranks(n, rho):
    groups = make_groups(np.arange(n), rho, spread=True)
    assert len(groups) == len(make_groups(np.arange(n), rho))
    np.testing.assert_array_equal(np.sort([j for g in groups for j in g]), np.arange(n))
    for group in groups:
        assert group[0] < len(groups)
        assert group[-1] >= n - len(groups)


def test_a_ranking_of_the_user_comes_first():
    ranked = prefer(np.array([5, 9, 1]), np.array([0, 1, 2, 5]))
    np.testing.assert_array_equal(ranked, [5, 1, 0, 2])


def test_local_search_looks_at_k_more_than_the_budget():
    problem = problem_of(12, include=[11], max_features=4)
    K = first_features(problem, np.arange(11), k=2)
    np.testing.assert_array_equal(np.sort(K), [0, 1, 2, 3, 4, 11])
    assert first_features(problem, np.arange(11), k=99).size == 12
