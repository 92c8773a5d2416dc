"""Exchanges by rank, and descents that look closely at what is good only."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.search import swap
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.exchanges import exchanged, ranked_exchanges
from frugalsvm.search.swap import add_drop, drop_add, swap_search
from tests.reference import random_data


def problem_of(m=40, n=150, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), m, n)
    return Problem(X, y, **{"C": 10.0, "max_features": 6, **arguments})


def test_features_that_must_stay_or_may_not_come_are_in_no_exchange():
    problem = problem_of(include=[3], exclude=[7, 8])
    evaluator = Evaluator(problem)
    solution = evaluator.solve(np.arange(6))
    dropped, added = ranked_exchanges(evaluator, solution, 10_000)
    assert 3 not in solution.support[dropped]
    assert not np.isin(added, [*range(6), 7, 8]).any()
    assert len({*zip(dropped.tolist(), added.tolist(), strict=True)}) == dropped.size


def test_the_first_of_many_exchanges_are_the_same():
    evaluator = Evaluator(problem_of())
    solution = evaluator.solve(np.arange(6))
    few, many = (ranked_exchanges(evaluator, solution, k) for k in (5, 500))
    np.testing.assert_array_equal(few.added, many.added[:5])
    np.testing.assert_array_equal(few.dropped, many.dropped[:5])


def test_an_exchange_beyond_the_cost_budget_is_none():
    costs = np.ones(150)
    costs[20] = 100.0
    evaluator = Evaluator(problem_of(feature_costs=costs, max_cost=6.0))
    solution = evaluator.solve(np.arange(6))
    assert exchanged(evaluator, solution, 0, 20) is None
    found = exchanged(evaluator, solution, 0, 21)
    np.testing.assert_array_equal(found, [1, 2, 3, 4, 5, 21])


@pytest.mark.parametrize("seed", range(4))
def test_a_close_descent_leaves_nothing_to_improve(seed):
    evaluator = Evaluator(problem_of(seed=seed))
    found = swap_search(evaluator, evaluator.solve(np.arange(6)))
    assert add_drop(evaluator, found, 20, 3) is None
    assert drop_add(evaluator, found, 20) is None


def test_a_rough_descent_ends_before(monkeypatch):
    evaluator = Evaluator(problem_of())
    start = evaluator.solve(np.arange(6))

    def closely(*args):
        raise AssertionError("looked closely")

    monkeypatch.setattr(swap, "add_drop", closely)
    found = swap_search(evaluator, start, closely=False)
    assert found.objective < start.objective
    with pytest.raises(AssertionError, match="looked closely"):
        swap_search(evaluator, start)


def test_with_few_features_all_descents_are_close():
    evaluator = Evaluator(problem_of(n=12))
    start = evaluator.solve(np.arange(6))
    found = swap_search(evaluator, start, closely=False)
    assert drop_add(evaluator, found, 20) is None
