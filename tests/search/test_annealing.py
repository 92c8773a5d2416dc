"""Annealing: finds optima, keeps to all conditions, and can be stopped."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.search.annealing import anneal
from frugalsvm.search.evaluator import Evaluator, Stop
from tests.reference import brute_force, random_data


def problem_of(n=14, max_features=4, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), 40, n)
    return Problem(X, y, C=2.0, max_features=max_features, **arguments)


def annealed(problem, turns, seed=0, **options):
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.arange(problem.max_features))
    rng = np.random.default_rng(seed)
    return anneal(evaluator, start, rng, turns, **options), start


@pytest.mark.parametrize("by_price", [0.0, 0.5, 1.0, None])
def test_the_optimum_of_a_small_problem_is_met(by_price):
    for seed in range(3):
        problem = problem_of(seed=seed)
        best, start = annealed(problem, 600, by_price=by_price)
        optimum = brute_force(problem)[0]
        assert start.objective > optimum * (1 + 1e-4)
        assert best.objective == pytest.approx(optimum, rel=1e-4)


def test_it_goes_through_worse_solutions():
    problem = problem_of(n=30)
    optimum, _ = annealed(problem, 600)
    # From an optimum every exchange is for the worse, and still some are accepted.
    evaluator = Evaluator(problem)
    end = anneal(evaluator, optimum, np.random.default_rng(1), 30)
    assert end.key != optimum.key
    assert end.objective > optimum.objective


@pytest.mark.parametrize("by_price", [0.5, None])
def test_all_conditions_hold(by_price):
    costs = np.linspace(1.0, 2.0, 14)
    problem = problem_of(feature_costs=costs, max_cost=5.5, include=[0], exclude=[13])
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.array([0, 1, 2]))
    for seed in range(5):
        end = anneal(evaluator, start, np.random.default_rng(seed), 200, by_price)
        assert problem.admits(end.support)


def test_the_same_seed_gives_the_same():
    problem = problem_of(n=40)
    ends = [annealed(problem, 200, seed=5)[0] for _ in range(2)]
    assert ends[0].key == ends[1].key
    assert annealed(problem, 200, seed=6)[0].key != ends[0].key


@pytest.mark.parametrize("by_price", [0.5, None])
def test_without_features_to_exchange_it_stays(by_price):
    problem = problem_of(n=4, max_features=4)
    end, start = annealed(problem, 20, by_price=by_price)
    assert end.key == start.key


def test_a_stopped_annealing_leaves_the_best_it_met():
    problem = problem_of(n=40)
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.arange(4))
    evaluator.max_work = evaluator.work * 100
    with pytest.raises(Stop):
        anneal(evaluator, start, np.random.default_rng(0), 10_000)
    assert evaluator.reached.objective < start.objective
