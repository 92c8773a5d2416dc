"""Tempering finds optima, respects all constraints, and can be stopped."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.sparse import csr_array

from frugalsvm import Problem
from frugalsvm.engine.native import NativeEngine
from frugalsvm.search.evaluator import Evaluator
from frugalsvm.search.parameters import DEFAULTS, SearchParameters, TemperingParameters
from frugalsvm.search.tempering import Tempering, can_temper, is_worth_tempering
from tests.reference import brute_force, random_data

PARAMETERS = DEFAULTS.tempering
# Most SVMs of a run without a limit.
MOST_SVMS = PARAMETERS.swaps * PARAMETERS.n_levels * PARAMETERS.tries


def problem_of(n=14, max_features=4, seed=0, **arguments):
    X, y = random_data(np.random.default_rng(seed), 40, n)
    return Problem(X, y, C=2.0, max_features=max_features, **arguments)


def first_of(problem, support=None):
    support = np.arange(problem.max_features) if support is None else support
    return Evaluator(problem).solve(support)


def tempering_of(problem, seed=0, support=None):
    rng = np.random.default_rng(seed)
    return Tempering(problem, [first_of(problem, support)], rng)


def run(tempering, work=2e7, n_jobs=1, should_stop=lambda: False, n_best=4):
    with ThreadPoolExecutor(n_jobs) as pool:
        return tempering.run(pool, work, should_stop, n_best)


def keys(found):
    return [solution.key for solution in found.solutions]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_tempering_visits_the_optimum_of_a_small_problem(fit_intercept):
    for seed in range(3):
        problem = problem_of(seed=seed, fit_intercept=fit_intercept)
        optimum, _ = brute_force(problem)[:2]
        assert first_of(problem).objective > optimum * (1 + 1e-4)
        tempering = tempering_of(problem)
        found = run(tempering)
        assert tempering.best == pytest.approx(optimum, rel=1e-4)
        assert found.solutions[0].objective == pytest.approx(optimum, rel=1e-4)


def test_all_constraints_hold():
    costs = np.linspace(1.0, 2.0, 14)
    problem = problem_of(feature_costs=costs, max_cost=5.5, include=[0], exclude=[13])
    for seed in range(3):
        tempering = tempering_of(problem, seed, np.array([0, 1, 2]))
        found = run(tempering)
        assert found.solutions
        for solution in found.solutions:
            assert problem.admits(solution.support)
            assert np.all(np.diff(solution.support) > 0)


def test_the_best_visited_solutions_are_returned_best_first():
    problem = problem_of(n=60, max_features=6)
    tempering = tempering_of(problem)
    found = run(tempering, work=1e8).solutions
    assert [one.objective for one in found] == sorted(one.objective for one in found)
    assert len({one.key for one in found}) == 4
    assert found[0].objective == pytest.approx(tempering.best, rel=2e-5)
    for one in found:
        true = first_of(problem, one.support)
        assert one.objective == pytest.approx(true.objective, rel=2e-5)
        rows = problem.engine.signed_rows(one.support)
        margins = one.w @ rows + one.b * problem.y
        loss = problem.C @ np.maximum(0.0, 1.0 - margins)
        assert 0.5 * one.w @ one.w + loss == pytest.approx(one.objective, rel=1e-4)


def test_the_result_depends_only_on_the_seed():
    problem = problem_of(n=40)
    one, again, three, other = (
        run(tempering_of(problem, seed), n_jobs=n)
        for seed, n in ((5, 1), (5, 1), (5, 3), (6, 1))
    )
    for same in (again, three):
        assert keys(one) == keys(same)
        assert one[1:] == same[1:]
    assert one[1:] != other[1:]


def test_temperatures_reach_their_acceptance_rates():
    problem = problem_of(n=60, max_features=6)
    tempering = tempering_of(problem)
    run(tempering, work=1.5e8)
    temperatures = [level.temperature for level in tempering._levels]
    assert len(temperatures) == PARAMETERS.n_levels
    assert np.all(np.diff(temperatures) > 0)
    accepted = []
    for level in (tempering._levels[0], tempering._levels[-1]):
        results = [tempering.run_chain(level, np.inf) for _ in range(20)]
        accepted.append(np.mean([w.accepted / w.counts[0] for w in results]))
    coldest, warmest = PARAMETERS.acceptance
    assert accepted[0] < 3 * coldest
    assert 0.5 * warmest < accepted[1] < 2 * warmest


def test_neighbours_swap_states_by_the_metropolis_rule():
    tempering = tempering_of(problem_of(n=40))
    lower, upper = tempering._levels[:2]
    tempering._levels = [lower, upper]
    lower.temperature, upper.temperature = 0.01, 0.02
    chain = lower.chain
    changes = 0
    for _ in range(2000):
        lower.chain = chain._replace(objective=1.0)
        upper.chain = chain._replace(objective=1.02)
        tempering._swap_states()
        changes += lower.chain.objective == 1.02
    expected = np.exp((1 / 0.01 - 1 / 0.02) * np.log(1.0 / 1.02))
    assert changes / 2000 == pytest.approx(expected, abs=0.05)
    lower.chain = chain._replace(objective=1.02)
    upper.chain = chain._replace(objective=1.0)
    tempering._swap_states()
    assert lower.chain.objective == 1.0


def test_chains_continue_from_a_better_solution():
    problem = problem_of(n=40)
    best = first_of(problem, run(tempering_of(problem), work=1e8).solutions[0].support)
    tempering = tempering_of(problem)
    assert first_of(problem).objective > best.objective
    tempering.visit(best)
    result = tempering.run_chain(tempering._levels[0], np.inf)
    assert result.best_objective == pytest.approx(best.objective, rel=1e-4)
    # Once visited, it is not a start again.
    run(tempering)
    before = tempering._levels[0].chain
    tempering.visit(best)
    assert tempering._levels[0].chain is before


def test_chains_stay_without_features_to_exchange():
    problem = problem_of(n=4, max_features=4)
    found = run(tempering_of(problem), work=1e6)
    assert keys(found) == [(0, 1, 2, 3)]


def test_a_run_without_a_limit_ends():
    found = run(tempering_of(problem_of(n=40)), np.inf)
    assert 0.5 * MOST_SVMS < found.n_svms <= 1.1 * MOST_SVMS


def test_work_is_counted_and_limited():
    problem = problem_of(n=40)
    found = run(tempering_of(problem), work=3e7)
    assert 3e7 <= found.work < 1.3 * 3e7
    assert found.n_svms > 1000


def test_little_remaining_work_does_not_make_it_fail():
    tempering = tempering_of(problem_of(n=40))
    for work in (1e6, 2e6, 3e6, 5e6):
        assert run(tempering, work).n_svms > PARAMETERS.n_levels
        assert not tempering.failed


def test_it_ends_if_a_stop_is_requested():
    count = iter(range(10))
    found = run(
        tempering_of(problem_of(n=40)), np.inf, should_stop=lambda: next(count) > 2
    )
    assert found.solutions


def test_the_flag_ends_chains():
    problem = problem_of(n=40).watching(np.ones(1, dtype=np.uint8))
    # The first solution is made without the flag.
    first = first_of(problem_of(n=40))
    tempering = Tempering(problem, [first], np.random.default_rng(0))
    found = run(tempering, np.inf)
    assert found.n_svms <= PARAMETERS.swaps * PARAMETERS.n_levels
    assert not tempering.failed


def test_failed_chains_are_replaced():
    tempering = tempering_of(problem_of(n=40))
    results = [tempering.run_chain(level, np.inf) for level in tempering._levels]
    dead = results[3]._replace(objective=np.inf)
    tempering._update_chains([*results[:3], dead, *results[4:]])
    values = [level.chain.objective for level in tempering._levels]
    assert np.isfinite(values).all()
    assert values[3] in [*values[:3], *values[4:]]


def test_failed_chains_do_not_change_temperatures():
    tempering = tempering_of(problem_of(n=40))
    result = tempering.run_chain(tempering._levels[0], np.inf)
    before = tempering._ends.copy()
    dead = result._replace(objective=np.inf, accepted=0, counts=np.ones(4, dtype=int))
    tempering._adapt(dead, dead)
    np.testing.assert_array_equal(tempering._ends, before)
    # Nor do chains that had nothing to exchange.
    idle = dead._replace(objective=1.0)
    tempering._adapt(idle, idle)
    np.testing.assert_allclose(tempering._ends, before)


def test_it_fails_if_most_chains_fail():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 60)), np.resize([-1, 1], 3000)
    problem = Problem(X, y, C=1e3, max_features=4)
    tempering = tempering_of(problem)
    run(tempering, np.inf)
    assert tempering.failed


def test_only_dense_data_with_many_features_are_tempered():
    assert not is_worth_tempering(problem_of(n=14))
    assert can_temper(problem_of(n=60))
    X, y = random_data(np.random.default_rng(0), 40, 60)
    sparse = Problem(csr_array(np.where(X > 1, X, 0.0)), y, max_features=3)
    assert is_worth_tempering(sparse)
    assert can_temper(sparse) == (type(sparse.engine) is NativeEngine)


def test_the_parameters_of_the_problem_are_used():
    few = TemperingParameters(n_levels=3, swaps=2, tries=10, features_above=40)
    problem = problem_of(n=40).with_parameters(SearchParameters(tempering=few))
    assert not is_worth_tempering(problem)
    assert is_worth_tempering(problem_of(n=60))
    tempering = tempering_of(problem)
    assert len(tempering._levels) == 3
    assert 0 < run(tempering, np.inf).n_svms <= 1.1 * 2 * 3 * 10
