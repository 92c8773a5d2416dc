"""Chains in compiled code return consistent results and respect all constraints."""

import threading

import numpy as np
import pytest

from frugalsvm.engine.native import NativeEngine
from frugalsvm.kernels.chain import (
    ITERATIONS,
    MODELS,
    STEPS,
    SVMS,
    ChainTask,
    run_chain,
)
from tests.kernels.test_active_set_steps import random_data

FREE = np.zeros(4)
# A temperature at which some worse exchanges are accepted.
WARM = 0.02


def task_of(data, max_tries=300, seed=1, **changes):
    n, m = data.A.shape
    task = ChainTask(
        np.arange(4), np.zeros(m), np.arange(n), np.zeros(n, dtype=np.int8), np.inf,
        max_tries, WARM, 20, m, np.array([seed], dtype=np.uint64), FREE, np.inf,
    )  # fmt: skip
    return task._replace(**changes)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [0.02, 1.0, 50.0])
@pytest.mark.parametrize("n_near", [15, 60])
def test_objectives_belong_to_the_supports(n_near, C, intercept):
    data = random_data(3, m=60, n=30, C=C, intercept=intercept)
    for seed in range(1, 5):
        found = run_chain(data, task_of(data, seed=seed, n_near=n_near))
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


def test_a_cold_chain_improves_on_its_start():
    data = random_data(0, m=60, n=40)
    start = NativeEngine(data).solve_svm(np.arange(4)).primal
    found = run_chain(data, task_of(data, max_tries=1000, temperature=1e-6))
    assert found.best_objective < 0.95 * start
    assert found.objective == pytest.approx(found.best_objective, rel=1e-5)
    assert not found.failed


def test_warmer_chains_accept_more_exchanges():
    """At an optimum every exchange is worse, and yet some are accepted."""
    data = random_data(0, m=60, n=40)
    best = run_chain(data, task_of(data, max_tries=10_000, temperature=0.2))
    start = task_of(data, max_tries=2000, support=np.sort(best.best_support))
    cold, warm, hot = (
        run_chain(data, start._replace(temperature=t)) for t in (1e-7, 0.2, 1.0)
    )
    assert cold.accepted == 0
    assert 20 < warm.accepted < hot.accepted <= 2000
    assert warm.best_objective == pytest.approx(best.best_objective, rel=1e-4)


def test_a_chain_continues_from_an_earlier_result():
    data = random_data(0, m=60, n=40)
    first = run_chain(data, task_of(data))
    onward = task_of(data, max_tries=0, support=first.support, alpha=first.alpha)
    again = run_chain(data, onward)
    cold = run_chain(data, onward._replace(alpha=np.zeros(60)))
    assert again.objective == pytest.approx(first.objective, rel=2e-5)
    assert cold.objective == pytest.approx(first.objective, rel=2e-5)
    assert again.counts[STEPS] < cold.counts[STEPS]


def test_a_chain_without_exchanges_keeps_its_support():
    data = random_data(0, m=60, n=4)
    found = run_chain(data, task_of(data))
    assert sorted(found.support) == [0, 1, 2, 3]
    assert found.counts[SVMS] == 1


def test_chains_respect_budget_and_fixed_features():
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
        found = run_chain(data, task)
        assert found.accepted > 5
        for support in (found.support, found.best_support):
            assert 2 in support
            assert not np.isin([20, 21], support).any()
            assert np.unique(support).size == 4
            assert costs[support].sum() <= 6.0


def test_the_same_seed_gives_the_same_chain():
    data = random_data(0, m=60, n=40)
    one, two, three = (run_chain(data, task_of(data, seed=s)) for s in (7, 7, 8))
    np.testing.assert_array_equal(one.support, two.support)
    np.testing.assert_array_equal(one.counts, two.counts)
    assert not np.array_equal(one.counts, three.counts)


def test_all_features_are_priced_again_from_time_to_time():
    """There are more features than a shortlist holds."""
    data = random_data(0, m=30, n=1500, shift=0.0)
    data.A[1400:] += 1.5 * np.abs(data.A[1400:])
    found = run_chain(data, task_of(data, max_tries=2000))
    assert np.all(found.best_support >= 1400)


def test_chains_end_at_their_limits_of_work_and_tries():
    data = random_data(0, m=60, n=40)
    found = run_chain(data, task_of(data, max_tries=100))
    assert 1 < found.counts[SVMS] <= 101
    assert found.counts[STEPS] >= found.counts[SVMS] - 1
    assert 0 < found.counts[MODELS] <= found.counts[ITERATIONS]
    costs = np.array([1.0, 0.0, 0.0, 0.0])
    task = task_of(data, max_tries=10_000, costs=costs, max_work=50.0)
    assert run_chain(data, task).counts[SVMS] == 50


def test_it_ends_if_the_flag_is_set():
    data = random_data(0, m=60, n=40)._replace(stop=np.ones(1, dtype=np.uint8))
    found = run_chain(data, task_of(data, max_tries=10**9))
    assert found.counts[SVMS] == 1
    assert not found.failed


def test_a_chain_ends_if_the_flag_is_set_while_it_runs():
    data = random_data(0, m=60, n=40)._replace(stop=np.zeros(1, dtype=np.uint8))
    task = task_of(data, max_tries=10**9, temperature=0.2)
    run_chain(data, task._replace(max_tries=1))
    timer = threading.Timer(0.1, data.stop.fill, [1])
    timer.start()
    found = run_chain(data, task)
    assert found.counts[SVMS] > 10
    assert not found.failed


def test_a_chain_keeps_its_support_if_all_features_are_fixed():
    data = random_data(0, m=60, n=40)
    fixed = np.ones(40, dtype=np.int8)
    found = run_chain(data, task_of(data, max_tries=10**9, fixed=fixed))
    assert sorted(found.support) == [0, 1, 2, 3]


def test_a_chain_fails_if_svms_take_too_many_steps():
    rng = np.random.default_rng(0)
    data = random_data(0, m=3000, n=40, C=1e3, shift=0.0)
    data.A[:] = rng.normal(size=data.A.shape)
    found = run_chain(data, task_of(data, max_tries=10**6))
    # How soon depends on rounding, and so on the processor.
    assert found.failed
    assert found.counts[SVMS] < 10**6
