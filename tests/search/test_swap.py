"""The swap search: valid bounds, local optima and constraints."""

import numpy as np

from frugalsvm import Problem
from frugalsvm.search.evaluator import Evaluator, insert
from frugalsvm.search.swap import fill, swap_search
from tests.reference import random_data


def make(seed=0, **arguments):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, 60, 25)
    X[:, 3] += y
    return Problem(X, y, C=5.0, **{"max_features": 4, **arguments})


def test_addition_bounds_are_valid():
    problem = make()
    evaluator = Evaluator(problem)
    solution = evaluator.solve(np.array([1, 5]))
    features = evaluator.addable(solution.support)
    bounds = evaluator.addition_bounds(solution, features)
    for feature, bound in zip(features, bounds, strict=True):
        larger = evaluator.solve(insert(solution.support, feature), tol=1e-9)
        assert bound <= larger.objective * (1 + 1e-9)


def test_dropping_a_feature_costs_at_least_half_its_squared_weight():
    problem = make()
    evaluator = Evaluator(problem)
    solution = evaluator.solve(np.array([1, 3, 5, 9]), tol=1e-9)
    for position, weight in enumerate(solution.w):
        smaller = evaluator.solve(np.delete(solution.support, position), tol=1e-9)
        assert smaller.objective >= solution.objective + 0.5 * weight**2 - 1e-5


def test_descent_ends_where_no_single_swap_helps():
    problem = make()
    evaluator = Evaluator(problem)
    start = evaluator.solve(np.array([0, 1, 2, 4]))
    found = swap_search(evaluator, start, width=25, tries=5)
    assert found.objective <= start.objective
    others = np.setdiff1d(np.arange(25), found.support)
    for position in range(4):
        for feature in others:
            support = insert(np.delete(found.support, position), feature)
            value = Evaluator(problem).solve(support, tol=1e-8).objective
            assert value >= found.objective * (1 - 1e-5)


def test_fill_respects_both_budgets():
    costs = np.linspace(0.5, 2.0, 25)
    problem = make(feature_costs=costs, max_cost=3.0, exclude=(3,), include=(7,))
    evaluator = Evaluator(problem)
    filled = fill(evaluator, evaluator.solve(np.array([7])))
    assert problem.admits(filled.support)
    assert evaluator.addable(filled.support).size == 0


def test_known_supports_are_not_solved_again():
    problem = make()
    first = Evaluator(problem)
    value = first.solve(np.array([1, 2])).objective
    second = Evaluator(problem, seen=first.values)
    assert second.solve(np.array([1, 2]), cutoff=0.9 * value) is None
    assert second.n_solves == 0
