"""Searches over budgets and C share what they find."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.search.evaluator import Stop
from frugalsvm.search.path_search import PathSearch
from frugalsvm.search.restarts import SwapOptions
from tests.reference import brute_force, random_data


def search(problem, budgets, weights, should_stop=lambda: False, patience=0):
    with ThreadPoolExecutor(1) as pool:
        return PathSearch(
            problem, np.array(budgets), np.array(weights), SwapOptions(patience),
            pool, np.random.SeedSequence(0), should_stop,
        ).run()  # fmt: skip


def test_optima_of_tiny_problems_are_found():
    X, y = random_data(np.random.default_rng(3), 40, 9)
    problem = Problem(X, y, include=[2], exclude=[0])
    found = search(problem, [1, 2, 4], [0.1, 2.0], patience=20)
    for C, row in zip([0.1, 2.0], found.rows, strict=True):
        for budget, solution in zip([1, 2, 4], row, strict=True):
            cell = problem.with_C(C).with_budget(budget)
            assert cell.admits(solution.support)
            optimum, _ = brute_force(cell)
            assert solution.objective == pytest.approx(optimum, rel=1e-5)


def test_objectives_do_not_rise_with_the_budget():
    X, y = random_data(np.random.default_rng(5), 50, 40)
    found = search(Problem(X, y), [2, 5, 8, 12], [1.0, 10.0])
    objectives = np.array([[one.objective for one in row] for row in found.rows])
    assert (np.diff(objectives, axis=1) <= 1e-6 * objectives[:, :1]).all()
    assert found.n_solves > 8


def test_a_stopped_search_raises():
    X, y = random_data(np.random.default_rng(5), 50, 40)
    asked = []

    def should_stop():
        asked.append(1)
        return len(asked) > 40

    with pytest.raises(Stop):
        search(Problem(X, y), [2, 5, 8], [1.0, 10.0], should_stop)
