"""Ranked exchanges, and descents with and without a full neighbourhood search."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.swap import (
    add_drop,
    after_exchange,
    drop_add,
    ranked_exchanges,
    swap_search,
)
from tests.reference import random_data


def problem_of(m=40, n=150, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), m, n)
    return Problem(X, y, **{"C": 10.0, "max_features": 6, **arguments})


def test_included_and_excluded_features_are_not_exchanged():
    problem = problem_of(include=[3], exclude=[7, 8])
    evaluator = Evaluator(problem)
    solution = evaluator.solve(np.arange(6))
    dropped, added = ranked_exchanges(evaluator, solution, 10_000)
    assert 3 not in solution.support[dropped]
    assert not np.isin(added, [*range(6), 7, 8]).any()
    assert len({*zip(dropped.tolist(), added.tolist(), strict=True)}) == dropped.size


def test_the_ranking_does_not_depend_on_the_count():
    evaluator = Evaluator(problem_of())
    solution = evaluator.solve(np.arange(6))
    few, many = (ranked_exchanges(evaluator, solution, k) for k in (5, 500))
    np.testing.assert_array_equal(few.added, many.added[:5])
    np.testing.assert_array_equal(few.dropped, many.dropped[:5])


def test_exchanges_beyond_the_cost_budget_are_rejected():
    costs = np.ones(150)
    costs[20] = 100.0
    evaluator = Evaluator(problem_of(feature_costs=costs, max_cost=6.0))
    solution = evaluator.solve(np.arange(6))
    assert after_exchange(evaluator, solution, 0, 20) is None
    found = after_exchange(evaluator, solution, 0, 21)
    np.testing.assert_array_equal(found, [1, 2, 3, 4, 5, 21])


@pytest.mark.parametrize("seed", range(4))
def test_a_full_neighbourhood_search_leaves_nothing_to_improve(seed):
    evaluator = Evaluator(problem_of(seed=seed))
    found = swap_search(evaluator, evaluator.solve(np.arange(6)))
    assert add_drop(evaluator, found, 20, 3) is None
    assert drop_add(evaluator, found, 20) is None


def test_a_descent_by_estimates_skips_the_full_neighbourhood_search():
    few, many = Evaluator(problem_of()), Evaluator(problem_of())
    start = few.solve(np.arange(6))
    found = swap_search(few, start, full_neighbourhood=False)
    assert found.objective < start.objective
    assert swap_search(many, start).objective <= found.objective
    assert few.n_solves < many.n_solves


def test_with_few_features_all_descents_search_the_full_neighbourhood():
    evaluator = Evaluator(problem_of(n=12))
    start = evaluator.solve(np.arange(6))
    found = swap_search(evaluator, start, full_neighbourhood=False)
    assert drop_add(evaluator, found, 20) is None
