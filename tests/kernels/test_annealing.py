"""Annealing in compiled code: what it returns is what it says, under all conditions."""

import numpy as np
import pytest

from frugalsvm.engine.native import NativeEngine
from frugalsvm.kernels.annealing import (
    ITERATIONS,
    MODELS,
    PIVOTS,
    SVMS,
    AnnealTask,
    solve_annealing,
)
from tests.kernels.test_pivots import random_data

FREE = np.zeros(4)


def task_of(data, turns=300, seed=1, **changes):
    n, m = data.A.shape
    task = AnnealTask(
        np.arange(4), np.arange(n), np.zeros(n, dtype=np.int8), np.inf, turns, 0.3,
        0.05, 20, m, np.array([seed], dtype=np.uint64), FREE, np.inf,
    )  # fmt: skip
    return task._replace(**changes)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
@pytest.mark.parametrize("n_near", [15, 60])
def test_the_objective_is_that_of_the_support(n_near, C, intercept):
    data = random_data(3, m=60, n=30, C=C, intercept=intercept)
    for seed in range(1, 5):
        found = solve_annealing(data, task_of(data, seed=seed, n_near=n_near))
        support = np.sort(found.support)
        assert np.unique(support).size == 4
        true = NativeEngine(data).solve_svm(support, tol=1e-9)
        assert found.objective == pytest.approx(true.primal, rel=2e-5)
        margins = found.w @ data.A[found.support] + found.b * data.y
        loss = data.C @ np.maximum(0.0, 1.0 - margins)
        own = 0.5 * found.w @ found.w + loss
        assert own == pytest.approx(found.objective, rel=1e-4)
        dual = found.alpha.sum() - 0.5 * ((data.A[support] @ found.alpha) ** 2).sum()
        assert dual == pytest.approx(found.objective, rel=1e-4)


def test_it_improves_on_its_start():
    data = random_data(0, m=60, n=40)
    start = NativeEngine(data).solve_svm(np.arange(4)).primal
    found = solve_annealing(data, task_of(data, turns=1000))
    assert found.objective < 0.95 * start
    assert not found.fails


def test_it_goes_through_worse_solutions():
    """From an optimum every exchange is for the worse, and still some are accepted."""
    data = random_data(0, m=60, n=40)
    best = solve_annealing(data, task_of(data, turns=3000))
    task = task_of(data, turns=3000, support=np.sort(best.support))
    again = solve_annealing(data, task)
    # Models are also made anew when half of the exchanges were tried.
    assert again.counts[MODELS] > 3 * again.counts[SVMS] / (0.5 * 4 * 20)
    assert again.objective >= best.objective * (1 - 1e-5)


def test_without_exchanges_it_stays():
    data = random_data(0, m=60, n=4)
    found = solve_annealing(data, task_of(data))
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
        task = task_of(data, seed=seed, budget=6.0, fixed=fixed, candidates=candidates)
        support = solve_annealing(data, task).support
        assert 2 in support
        assert not np.isin([20, 21], support).any()
        assert costs[support].sum() <= 6.0


def test_the_same_seed_gives_the_same():
    data = random_data(0, m=60, n=40)
    one, two, three = (solve_annealing(data, task_of(data, seed=s)) for s in (7, 7, 8))
    np.testing.assert_array_equal(one.support, two.support)
    np.testing.assert_array_equal(one.counts, two.counts)
    assert not np.array_equal(one.counts, three.counts)


def test_a_large_pool_of_features_is_priced_now_and_then():
    """There are more features than are looked at each time."""
    data = random_data(0, m=30, n=1500, shift=0.0)
    data.A[1400:] += 1.5 * np.abs(data.A[1400:])
    found = solve_annealing(data, task_of(data, turns=2000))
    assert np.all(found.support >= 1400)


def test_work_and_turns_end_it():
    data = random_data(0, m=60, n=40)
    found = solve_annealing(data, task_of(data, turns=100))
    assert 1 < found.counts[SVMS] <= 101
    assert found.counts[PIVOTS] >= found.counts[SVMS] - 1
    assert 0 < found.counts[MODELS] <= found.counts[ITERATIONS]
    costs = np.array([1.0, 0.0, 0.0, 0.0])
    task = task_of(data, turns=10_000, costs=costs, max_work=50.0)
    assert solve_annealing(data, task).counts[SVMS] == 50


def test_a_flag_ends_it():
    data = random_data(0, m=60, n=40)._replace(stop=np.ones(1, dtype=np.uint8))
    found = solve_annealing(data, task_of(data, turns=10**9))
    assert found.counts[SVMS] == 1
    assert not found.fails


def test_where_all_features_are_fixed_it_stays():
    data = random_data(0, m=60, n=40)
    fixed = np.ones(40, dtype=np.int8)
    found = solve_annealing(data, task_of(data, turns=10**9, fixed=fixed))
    assert sorted(found.support) == [0, 1, 2, 3]


def test_where_pivots_are_too_many_it_gives_up():
    rng = np.random.default_rng(0)
    data = random_data(0, m=3000, n=40, C=1e3, shift=0.0)
    data.A[:] = rng.normal(size=data.A.shape)
    found = solve_annealing(data, task_of(data, turns=10**6))
    assert found.fails
    assert found.counts[SVMS] < 100
