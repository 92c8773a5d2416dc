"""Walks in compiled code: what they return is what they say, under all conditions."""

import threading

import numpy as np
import pytest

from frugalsvm.engine.native import NativeEngine
from frugalsvm.kernels.walk import (
    ITERATIONS,
    MODELS,
    PIVOTS,
    SVMS,
    WalkTask,
    solve_walk,
)
from tests.kernels.test_pivots import random_data

FREE = np.zeros(4)
# A temperature at which some exchanges for the worse are accepted.
WARM = 0.02


def task_of(data, turns=300, seed=1, **changes):
    n, m = data.A.shape
    task = WalkTask(
        np.arange(4), np.zeros(m), np.arange(n), np.zeros(n, dtype=np.int8), np.inf,
        turns, WARM, 20, m, np.array([seed], dtype=np.uint64), FREE, np.inf,
    )  # fmt: skip
    return task._replace(**changes)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
@pytest.mark.parametrize("n_near", [15, 60])
def test_objectives_are_those_of_the_supports(n_near, C, intercept):
    data = random_data(3, m=60, n=30, C=C, intercept=intercept)
    for seed in range(1, 5):
        found = solve_walk(data, task_of(data, seed=seed, n_near=n_near))
        for support, objective in (
            (found.support, found.objective),
            (found.best_support, found.best_objective),
        ):
            assert np.unique(support).size == 4
            true = NativeEngine(data).solve_svm(np.sort(support), tol=1e-9)
            assert objective == pytest.approx(true.primal, rel=2e-5)
        own = data.A[found.support] @ found.alpha
        dual = found.alpha.sum() - 0.5 * (own**2).sum()
        assert dual == pytest.approx(found.objective, rel=1e-4)
        assert found.best_objective <= found.objective


def test_a_walk_that_is_cold_improves_on_its_start():
    data = random_data(0, m=60, n=40)
    start = NativeEngine(data).solve_svm(np.arange(4)).primal
    found = solve_walk(data, task_of(data, turns=1000, temperature=1e-6))
    assert found.best_objective < 0.95 * start
    assert found.objective == pytest.approx(found.best_objective, rel=1e-5)
    assert not found.fails


def test_the_warmer_the_more_exchanges_are_accepted():
    """From an optimum every exchange is for the worse, and still some are accepted."""
    data = random_data(0, m=60, n=40)
    best = solve_walk(data, task_of(data, turns=10_000, temperature=0.2))
    start = task_of(data, turns=2000, support=np.sort(best.best_support))
    cold, warm, hot = (
        solve_walk(data, start._replace(temperature=t)) for t in (1e-7, 0.2, 1.0)
    )
    assert cold.accepted == 0
    assert 20 < warm.accepted < hot.accepted <= 2000
    assert warm.best_objective == pytest.approx(best.best_objective, rel=1e-4)


def test_a_walk_goes_on_where_another_ended():
    data = random_data(0, m=60, n=40)
    first = solve_walk(data, task_of(data))
    onward = task_of(data, turns=0, support=first.support, alpha=first.alpha)
    again = solve_walk(data, onward)
    cold = solve_walk(data, onward._replace(alpha=np.zeros(60)))
    assert again.objective == pytest.approx(first.objective, rel=2e-5)
    assert cold.objective == pytest.approx(first.objective, rel=2e-5)
    assert again.counts[PIVOTS] < cold.counts[PIVOTS]


def test_without_exchanges_it_stays():
    data = random_data(0, m=60, n=4)
    found = solve_walk(data, task_of(data))
    assert sorted(found.support) == [0, 1, 2, 3]
    assert found.counts[SVMS] == 1


def test_budget_and_fixed_features_are_kept():
    data = random_data(0, m=60, n=40)
    costs = np.linspace(1.0, 3.0, 40)
    data = data._replace(costs=costs)
    fixed = np.zeros(40, dtype=np.int8)
    fixed[2] = 1
    candidates = np.delete(np.arange(40), [20, 21])
    for seed in range(1, 6):
        task = task_of(
            data, seed=seed, budget=6.0, fixed=fixed, candidates=candidates,
            temperature=0.2,
        )  # fmt: skip
        found = solve_walk(data, task)
        assert found.accepted > 5
        for support in (found.support, found.best_support):
            assert 2 in support
            assert not np.isin([20, 21], support).any()
            assert np.unique(support).size == 4
            assert costs[support].sum() <= 6.0


def test_the_same_seed_gives_the_same():
    data = random_data(0, m=60, n=40)
    one, two, three = (solve_walk(data, task_of(data, seed=s)) for s in (7, 7, 8))
    np.testing.assert_array_equal(one.support, two.support)
    np.testing.assert_array_equal(one.counts, two.counts)
    assert not np.array_equal(one.counts, three.counts)


def test_a_large_pool_of_features_is_priced_now_and_then():
    """There are more features than are looked at each time."""
    data = random_data(0, m=30, n=1500, shift=0.0)
    data.A[1400:] += 1.5 * np.abs(data.A[1400:])
    found = solve_walk(data, task_of(data, turns=2000))
    assert np.all(found.best_support >= 1400)


def test_work_and_turns_end_it():
    data = random_data(0, m=60, n=40)
    found = solve_walk(data, task_of(data, turns=100))
    assert 1 < found.counts[SVMS] <= 101
    assert found.counts[PIVOTS] >= found.counts[SVMS] - 1
    assert 0 < found.counts[MODELS] <= found.counts[ITERATIONS]
    costs = np.array([1.0, 0.0, 0.0, 0.0])
    task = task_of(data, turns=10_000, costs=costs, max_work=50.0)
    assert solve_walk(data, task).counts[SVMS] == 50


def test_a_flag_ends_it():
    data = random_data(0, m=60, n=40)._replace(stop=np.ones(1, dtype=np.uint8))
    found = solve_walk(data, task_of(data, turns=10**9))
    assert found.counts[SVMS] == 1
    assert not found.fails


def test_a_flag_ends_it_on_its_way():
    data = random_data(0, m=60, n=40)._replace(stop=np.zeros(1, dtype=np.uint8))
    task = task_of(data, turns=10**9, temperature=0.2)
    solve_walk(data, task._replace(turns=1))
    timer = threading.Timer(0.1, data.stop.fill, [1])
    timer.start()
    found = solve_walk(data, task)
    assert found.counts[SVMS] > 10
    assert not found.fails


def test_where_all_features_are_fixed_it_stays():
    data = random_data(0, m=60, n=40)
    fixed = np.ones(40, dtype=np.int8)
    found = solve_walk(data, task_of(data, turns=10**9, fixed=fixed))
    assert sorted(found.support) == [0, 1, 2, 3]


def test_where_pivots_are_too_many_it_gives_up():
    rng = np.random.default_rng(0)
    data = random_data(0, m=3000, n=40, C=1e3, shift=0.0)
    data.A[:] = rng.normal(size=data.A.shape)
    found = solve_walk(data, task_of(data, turns=10**6))
    assert found.fails
    assert found.counts[SVMS] < 100
