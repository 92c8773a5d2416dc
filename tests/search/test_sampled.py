"""SampledSearch takes supports from a subsample, and nothing else."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem, solve
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.run.monitor import Incumbent
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.parameters import SearchParameters
from frugalsvm.search.reduced import SampledSearch, n_searched, needs_subsample
from frugalsvm.search.restarts import SwapOptions
from tests.reference import brute_force

OPTIONS = SwapOptions(patience=8)
# A few hundred samples count as very many.
SMALL = (
    SearchParameters(sampled_min_samples=300, n_drawn=150),
    EngineParameters(tall_min_samples=300, subsample_min_per_class=20),
)


def made(m=1500, n=12, share=0.5, **arguments):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(m, n))
    X[:, 6:] += 0.6 * X[:, :6]
    score = X[:, [1, 4, 8]] @ [1.0, -1.0, 0.7] + rng.normal(size=m)
    y = np.where(score > np.quantile(score, 1 - share), 1.0, -1.0)
    problem = Problem(X, y, C=0.3, **({"max_features": 3} | arguments))
    return problem.with_parameters(*SMALL)


def run(problem, start=(0, 1, 2), should_stop=lambda: False):
    incumbent = Incumbent()
    with ThreadPoolExecutor(1) as pool:
        search = SampledSearch(
            problem, incumbent, OPTIONS, pool, np.random.SeedSequence(0), should_stop
        )
        first = Evaluator(problem).solve(np.array(start))
        incumbent.offer(first)
        search.start([first])
        search.restart_until_idle(lambda: False)
    return search, incumbent


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_it_finds_the_same_support_as_all_samples(share):
    problem = made(share=share)
    search, incumbent = run(problem)
    best, _ = brute_force(problem)
    assert incumbent.objective <= best * 1.005
    # It offers solutions of all samples.
    solution = incumbent.solution
    assert solution.alpha.shape == (1500,)
    again = Evaluator(problem).solve(solution.support)
    np.testing.assert_allclose(again.objective, solution.objective, rtol=1e-6)
    coef = np.zeros(12)
    coef[solution.support] = solution.w
    np.testing.assert_allclose(
        problem.objective(coef, solution.b), solution.objective, rtol=1e-9
    )
    for elite in search.elite_pool.solutions:
        assert elite.alpha.shape == (1500,)
    assert search.counters["restarts"] > 0
    assert search.work > 0


def test_reported_solutions_are_of_all_samples():
    problem = made()
    result = solve(problem, random_state=0, certificate=True, effort="fast")
    coef, b = result.coef, result.intercept
    assert result.objective == problem.objective(coef, b)
    best, _ = brute_force(problem)
    assert result.lower_bound <= best
    np.testing.assert_allclose(
        problem.dual_bound(result.dual_point), result.lower_bound, rtol=1e-9
    )


def test_runs_are_reproducible():
    results = [solve(made(), random_state=3, effort="fast") for _ in range(2)]
    np.testing.assert_array_equal(results[0].coef, results[1].coef)


def test_constraints_are_respected():
    rng = np.random.default_rng(0)
    problem = made(
        include=[7], exclude=[1], feature_costs=rng.uniform(1, 2, 12), max_cost=5.0
    )
    _, incumbent = run(problem, start=(2, 7))
    assert problem.admits(incumbent.solution.support)


def test_features_constant_on_the_subsample_are_handled():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 4))
    y = np.where(X[:, 0] + rng.normal(size=2000) > 0, 1.0, -1.0)
    X[:, 3] = 0.0
    X[:2, 3] = [1.0, -1.0]
    problem = Problem(X, y, max_features=2, C=0.1).with_parameters(*SMALL)
    _, incumbent = run(problem, start=(1, 3))
    assert 0 in incumbent.solution.support


def test_solutions_from_elsewhere_are_added():
    problem = made()
    search, _ = run(problem)
    other = Evaluator(problem).solve(np.array([9, 10, 11]))
    search.learn(other)
    known = [one.key for one in search.elite_pool.solutions]
    full = len(known) == OPTIONS.n_elites
    assert other.key in known or full


def test_it_ends_if_a_stop_is_requested():
    search, incumbent = run(made(), should_stop=lambda: True)
    assert search.counters["restarts"] == 0
    assert incumbent.solution.alpha.shape == (1500,)


def test_sparse_problems_are_searched_on_a_subsample():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1200, 30)) * (rng.random((1200, 30)) < 0.3)
    score = X[:, [3, 11, 20]] @ [2.0, -2.0, 1.5] + 0.5 * rng.normal(size=1200)
    y = np.where(score > 0, 1.0, -1.0)
    sparse, dense = (
        Problem(data, y, max_features=3, C=0.3).with_parameters(*SMALL)
        for data in (sp.csr_array(X), X)
    )
    found = solve(sparse, method="swap", effort="fast", random_state=0)
    np.testing.assert_array_equal(found.selected, [3, 11, 20])
    assert found.objective == sparse.objective(found.coef, found.intercept)
    other = solve(dense, method="swap", effort="fast", random_state=0)
    np.testing.assert_allclose(found.objective, other.objective, rtol=1e-6)
    np.testing.assert_allclose(found.lower_bound, other.lower_bound, rtol=1e-5)


def test_small_problems_are_searched_on_all_samples():
    assert not needs_subsample(made(m=299))
    assert n_searched(made(m=299)) == 299
    assert n_searched(made()) == 150
