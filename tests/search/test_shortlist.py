"""ShortlistSearch finds the same solutions as a search on all features."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem, relax, solve
from frugalsvm.run.monitor import Incumbent
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.parameters import SearchParameters
from frugalsvm.search.reduced import ShortlistSearch
from frugalsvm.search.restarts import SwapOptions
from tests.reference import random_data

OPTIONS = SwapOptions(patience=8)


def made(n=400, **arguments):
    rng = np.random.default_rng(11)
    X, y = random_data(rng, 50, n)
    X *= rng.random(X.shape) < 0.5
    X[:, -5:] += 0.6 * y[:, None]
    return Problem(sp.csc_array(X), y, C=0.3, max_features=4, **arguments)


def run(problem, length, start=(0, 1, 2, 3), **parameters):
    parameters = SearchParameters(max_listed=length, **parameters)
    problem = problem.with_parameters(parameters)
    incumbent = Incumbent()
    with ThreadPoolExecutor(1) as pool:
        search = ShortlistSearch(
            problem, incumbent, OPTIONS, pool, np.random.SeedSequence(0),
            lambda: False, points=[relax(problem).alpha],
        )  # fmt: skip
        first = Evaluator(problem).solve(np.array(start))
        search.start([first])
        search.restart_until_idle(lambda: False)
    return search, incumbent


@pytest.mark.parametrize("length", [16, 60, 1000])
def test_a_shortlist_finds_the_best_support(length):
    problem = made()
    search, incumbent = run(problem, length)
    dense = Problem(problem.A.T * problem.y[:, None], problem.y, C=0.3, max_features=4)
    wanted = solve(dense, method="swap", effort="fast", random_state=0)
    assert incumbent.objective <= wanted.objective * (1 + 1e-5)
    # It is a solution of all data, in the numbering of all features.
    support = incumbent.solution.support
    again = Evaluator(problem).solve(support)
    np.testing.assert_allclose(again.objective, incumbent.objective, rtol=1e-5)
    np.testing.assert_array_equal(search.elite_pool.supports[0], support)
    assert search.counters["restarts"] > 0
    assert search.work > 0


@pytest.mark.parametrize("short", [True, False])
def test_the_problem_of_a_shortlist_is_small(short):
    max_dense = {} if short else {"max_dense_bytes": 0}
    search, incumbent = run(made(), 30, **max_dense)
    assert search._search.problem.n_features < 100
    assert (search._search.problem.source is None) == short
    other, _ = run(made(), 60, **max_dense)
    np.testing.assert_allclose(
        other.elite_pool.solutions[0].objective, incumbent.objective, rtol=1e-4
    )


def test_constraints_are_respected():
    rng = np.random.default_rng(0)
    problem = made(
        include=[7], exclude=[399], feature_costs=rng.uniform(1, 2, 400), max_cost=6.0
    )
    _, incumbent = run(problem, 30, start=(1, 2, 7))
    assert problem.admits(incumbent.solution.support)
    assert 7 in incumbent.solution.support


def test_solutions_from_elsewhere_are_added():
    problem = made()
    search, _ = run(problem, 20)
    outside = np.setdiff1d(np.arange(400), search._list.features)[:4]
    other = Evaluator(problem).solve(outside)
    search.learn(other)
    assert search._list.holds(other)
    worst = search.elite_pool.solutions[-1]
    known = [one.key for one in search.elite_pool.solutions]
    assert other.key in known or worst.objective <= other.objective


def test_it_ends_if_a_stop_is_requested():
    problem = made()
    incumbent = Incumbent()
    with ThreadPoolExecutor(1) as pool:
        search = ShortlistSearch(
            problem, incumbent, OPTIONS, pool, np.random.SeedSequence(0), lambda: True
        )
        first = Evaluator(problem).solve(np.arange(4))
        search.start([first])
        search.restart_until_idle(lambda: False)
    assert search.counters["restarts"] == 0
