"""Branch and bound finds the optimum; its bound is valid whenever it stops."""

import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest

from frugalsvm import Problem, Status, solve, verify
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem


def hard_problem(seed=0):
    """A problem of more than a second, far from solved after a hundred nodes."""
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, 120, 60)
    return Problem(X, y, C=10.0, max_features=8), X, y


def assert_bounds(problem, result):
    value = problem.objective(result.coef, result.intercept)
    np.testing.assert_allclose(result.objective, value, rtol=1e-12)
    assert problem.admits(np.union1d(result.selected, problem.include).astype(int))
    assert result.lower_bound <= result.objective * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_finds_and_proves_the_optimum(kind, seed):
    problem, X, y = small_problem(kind, seed)
    optimum, _ = brute_force(problem)
    result = solve(
        problem, method="branch-and-bound", gap_tol=1e-6, certificate=True,
        random_state=0, method_options={"patience": 0},
    )  # fmt: skip
    assert_bounds(problem, result)
    assert result.status is Status.OPTIMAL
    np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
    assert result.lower_bound <= optimum * (1 + 1e-9)
    proved = verify(result.certificate, X, y)
    assert result.lower_bound * (1 - 1e-9) <= proved.lower_bound <= optimum * (1 + 1e-9)


def test_without_tolerance_only_rounding_is_left_of_the_gap():
    problem, _, _ = small_problem("random", 3)
    result = solve(problem, method="branch-and-bound", gap_tol=0.0)
    assert result.status is Status.OPTIMAL
    assert result.gap <= 1e-8


def test_one_thread_is_deterministic():
    problem, _, _ = hard_problem()
    runs = [
        solve(problem, method="branch-and-bound", max_nodes=400, random_state=1)
        for _ in range(2)
    ]
    assert runs[0].counters == runs[1].counters
    assert runs[0].lower_bound == runs[1].lower_bound
    np.testing.assert_array_equal(runs[0].coef, runs[1].coef)


def test_two_threads_prove_the_same_optimum():
    for seed in range(3):
        problem, X, y = small_problem("random", 200 + seed)
        result = solve(problem, method="branch-and-bound", n_jobs=2, certificate=True)
        assert result.status is Status.OPTIMAL
        np.testing.assert_allclose(result.objective, brute_force(problem)[0], rtol=1e-4)
        assert verify(result.certificate, X, y).gap <= 1e-4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_node_limit_leaves_a_valid_bound(n_jobs):
    problem, X, y = hard_problem()
    result = solve(
        problem, method="branch-and-bound", max_nodes=101, n_jobs=n_jobs,
        certificate=True, method_options={"patience": 5},
    )  # fmt: skip
    assert result.status is Status.NODE_LIMIT
    # Nodes in progress when the limit is reached are completed.
    assert 101 <= result.counters["nodes"] <= 101 + 20 * n_jobs
    assert_bounds(problem, result)
    proved = verify(result.certificate, X, y)
    assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)


def test_a_larger_limit_proves_more():
    problem, _, _ = hard_problem()
    bounds = [
        solve(problem, method="branch-and-bound", max_nodes=nodes, random_state=0,
              method_options={"patience": 5}).lower_bound
        for nodes in (1, 20, 200)
    ]  # fmt: skip
    assert bounds[0] < bounds[1] < bounds[2]


def test_a_memory_limit_leaves_a_valid_bound():
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 400, 60)
    problem = Problem(X, y, C=10.0, max_features=8)
    result = solve(
        problem, method="branch-and-bound", certificate=True,
        method_options={"max_megabytes": 1, "patience": 5},
    )  # fmt: skip
    assert result.status is Status.MEMORY_LIMIT
    assert_bounds(problem, result)
    assert verify(result.certificate, X, y).lower_bound >= result.lower_bound * (
        1 - 1e-9
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_receives_progress_and_can_stop(n_jobs):
    problem, X, y = hard_problem()
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.nodes >= 50

    result = solve(
        problem, method="branch-and-bound", callback=stop, n_jobs=n_jobs,
        certificate=True, method_options={"patience": 5},
    )  # fmt: skip
    assert result.status is Status.INTERRUPTED
    assert_bounds(problem, result)
    assert 50 <= seen[-1].nodes < 200
    assert any(progress.open_nodes > 0 for progress in seen)
    bounds = [progress.lower_bound for progress in seen]
    assert all(np.diff(bounds) >= 0)
    assert all(p.lower_bound <= p.objective for p in seen)
    assert verify(result.certificate, X, y).lower_bound >= bounds[-1] * (1 - 1e-9)


def test_an_error_in_a_callback_reaches_the_caller():
    problem, _, _ = hard_problem()

    def broken(progress):
        if progress.nodes > 10:
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        solve(problem, method="branch-and-bound", callback=broken, n_jobs=2)


@pytest.mark.parametrize("moment", [0.02, 0.1, 0.3, 0.8])
def test_interruption_at_any_moment_leaves_a_valid_result(moment):
    problem, X, y = hard_problem(7)
    timer = threading.Timer(moment, interrupt_main)
    timer.start()
    started = time.perf_counter()
    result = solve(
        problem, method="branch-and-bound", time_limit=60, certificate=True,
        method_options={"patience": 5},
    )  # fmt: skip
    assert time.perf_counter() - started < 30
    assert result.status is Status.INTERRUPTED
    assert_bounds(problem, result)
    proved = verify(result.certificate, X, y)
    assert proved.lower_bound >= result.lower_bound * (1 - 1e-9)


@pytest.mark.parametrize("limit", [0.0, 1e-3, 0.2])
def test_time_limits_are_respected(limit):
    problem, X, y = hard_problem()
    result = solve(
        problem, method="branch-and-bound", time_limit=limit, certificate=True
    )
    assert result.status is Status.TIME_LIMIT
    assert_bounds(problem, result)
    verify(result.certificate, X, y)


def test_auto_respects_the_node_limit():
    problem, _, _ = hard_problem()
    result = solve(problem, max_nodes=11, method_options={"patience": 5})
    assert result.status is Status.NODE_LIMIT
    with pytest.raises(ValueError, match="max_nodes must be an integer >= 1"):
        solve(problem, max_nodes=0)


def test_the_search_starts_from_the_initial_support():
    problem, _, _ = hard_problem()
    best = solve(problem, method="swap", random_state=0)
    result = solve(
        problem, method="branch-and-bound", max_nodes=1, time_limit=0.0,
        initial_support=best.selected,
    )  # fmt: skip
    assert result.objective <= best.objective * (1 + 1e-6)
