"""Algorithm 4: exact, monotone, finite, and with a complete result if stopped."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

from frugalsvm import FrugalSVC, Problem, Status, relax, solve, verify
from frugalsvm.paper import models
from frugalsvm.paper.algorithms.exact_procedure import BinarySet, least_binary
from frugalsvm.paper.solvers import (
    ModelSolution,
    SolverFailed,
    SolverNotAvailable,
    SolveStatus,
)
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem

PAPER = ("local-search", "kernel-search", "heuristic", "exact")


def hard_problem(m=150, n=80):
    """Far from closed after a minute, by any method."""
    X, y = random_data(np.random.default_rng(4), m, n)
    return Problem(X, y, C=10.0, max_features=10)


def assert_complete(problem, result):
    used = np.union1d(result.selected, problem.include).astype(int)
    assert problem.admits(used)
    value = problem.objective(result.coef, result.intercept)
    np.testing.assert_allclose(result.objective, value, rtol=1e-12)
    assert -np.inf < result.lower_bound <= result.objective * (1 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", ["kernel-search", "local-search"])
def test_is_branch_and_bound_and_enumeration(kind, seed, strategy):
    problem, X, y = small_problem(kind, seed)
    optimum, _ = brute_force(problem)
    options = {"strategy": strategy, "s": 1 + seed, "k": seed, "rho": 3}
    result = solve(
        problem, method="exact", gap_tol=1e-6, certificate=True, method_options=options
    )
    tree = solve(problem, method="branch-and-bound", gap_tol=1e-6, random_state=0)
    assert result.status is Status.OPTIMAL
    np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
    np.testing.assert_allclose(result.objective, tree.objective, rtol=2e-6)
    assert result.lower_bound <= optimum * (1 + 1e-9)
    assert result.reported_bound is None
    proved = verify(result.certificate, X, y)
    assert result.lower_bound * (1 - 1e-9) <= proved.lower_bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize(("kind", "seed"), [("separable", 0), ("duplicated", 5)])
def test_a_gap_of_zero_is_closed_to_rounding(kind, seed):
    options = {"rho": 5, "s": 2}
    result = solve(
        small_problem(kind, seed)[0], method="exact", gap_tol=0, method_options=options
    )
    assert result.status is Status.OPTIMAL


def test_the_estimator_takes_it():
    X, y = random_data(np.random.default_rng(8), 60, 18)
    X[:, 2] += y
    exact = FrugalSVC(4, method="exact").fit(X, y)
    tree = FrugalSVC(4, method="branch-and-bound", random_state=0).fit(X, y)
    assert exact.status_ == "optimal"
    np.testing.assert_allclose(exact.objective_, tree.objective_, rtol=2e-4)


def test_bound_and_objective_are_monotone_and_valid_at_every_moment():
    problem, _, _ = small_problem("tied", 0)
    optimum, _ = brute_force(problem)
    seen = []
    solve(
        problem, method="exact", method_options={"s": 1, "strategy": "local-search"},
        callback=lambda p: seen.append((p.lower_bound, p.objective)) and False,
    )  # fmt: skip
    bounds, objectives = np.array(seen).T
    assert bounds.size > 10
    assert (np.diff(bounds) >= 0).all()
    assert (np.diff(objectives) <= 0).all()
    assert bounds.max() <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("n_calls", [1, 2, 3, 5, 8, 13, 40])
def test_stopping_at_any_time_returns_both(n_calls):
    problem, X, y = small_problem("tied", 0)
    optimum, _ = brute_force(problem)
    calls = []

    def stop_late(progress):
        calls.append(progress)
        return len(calls) >= n_calls

    result = solve(
        problem, method="exact", callback=stop_late, certificate=True,
        method_options={"s": 1, "k": 0, "strategy": "local-search"},
    )  # fmt: skip
    assert_complete(problem, result)
    assert result.status is Status.INTERRUPTED
    assert result.lower_bound <= optimum * (1 + 1e-9)
    proved = verify(result.certificate, X, y)
    np.testing.assert_allclose(proved.lower_bound, result.lower_bound, rtol=1e-6)


def test_k_exchanges_the_least_binary_for_the_unselected():
    K = BinarySet(np.array([0, 1]), np.arange(6))
    ranked = np.arange(6)
    K.update(np.array([0.0, 1.0, 0.5, 0.9, 0.6, 1.0]), ranked, 2)
    # Feature 1 was not selected once: it stays.
    np.testing.assert_array_equal(K.features, [0, 1, 2, 4])
    K.update(np.array([0.0, 1.0, 0.0, 0.5, 1.0, 1.0]), ranked, 1)
    np.testing.assert_array_equal(K.features, [0, 2, 3, 4])


def test_a_set_that_was_visited_grows_instead():
    K = BinarySet(np.array([0, 1, 2]), np.arange(6))
    ranked = np.arange(6)
    u = np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    sets = [frozenset(K.features.tolist())]
    while not K.is_everything:
        # By the printed rule 1 and 2 would leave and come back for ever.
        K.update(u, ranked, 1)
        current = frozenset(K.features.tolist())
        assert not any(current <= earlier for earlier in sets)
        sets.append(current)
    assert len(sets) < 2**6


def test_ties_in_fractionality_follow_the_ranking():
    u = np.array([1.0, 0.5, 0.0, 0.5, 1.0])
    np.testing.assert_array_equal(
        least_binary(u, np.array([4, 3, 2, 1, 0])), [3, 1, 4, 2, 0]
    )


def test_claims_of_another_solver_are_not_proved_bounds():
    problem, _, _ = small_problem("random", 0)
    optimum, _ = brute_force(problem)
    result = solve(problem, method="exact", method_options={"semi_solver": "scip"})
    np.testing.assert_allclose(result.objective, optimum, rtol=1e-4)
    np.testing.assert_allclose(result.reported_bound, optimum, rtol=1e-3)
    np.testing.assert_allclose(result.lower_bound, relax(problem).bound, rtol=1e-6)
    assert result.status is Status.FEASIBLE


class Broken:
    """A model whose first call succeeds and whose later calls fail."""

    def __init__(self, model, calls, error):
        self.model, self.calls, self.error = model, calls, error
        self.name = model.name

    def solve(self, *arguments, **options):
        self.calls.append(options)
        if len(self.calls) > 1:
            if isinstance(self.error, str):
                return ModelSolution(SolveStatus(self.error), np.inf, -np.inf)
            raise self.error
        return self.model.solve(*arguments, **options)


@pytest.fixture
def broken(monkeypatch):
    """A function that lets a model fail in its second call; it lists the calls."""

    def fail(name, error):
        calls, build = [], getattr(models, name)

        def build_broken(*arguments, **cuts):
            return Broken(build(*arguments, **cuts), calls, error)

        monkeypatch.setattr(models, name, build_broken)
        return calls

    return fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (SolverFailed("out of numbers"), "out of numbers"),
        (SolverNotAvailable("no licence"), "no licence"),
        ("failed", "scip failed on SR-DLMP"),
    ],
)
def test_a_failing_solver_ends_the_run_with_its_results_so_far(broken, error, words):
    problem, _, _ = small_problem("random", 0)
    calls = broken("sr_dlmp", error)
    options = {"semi_solver": "scip", "strategy": "local-search", "k": 0, "s": 1}
    with pytest.warns(UserWarning, match=words):
        result = solve(problem, method="exact", method_options=options)
    assert len(calls) == 2
    assert result.status is Status.SOLVER_FAILED
    assert words in result.message
    assert words in str(result)
    assert_complete(problem, result)
    # The claim of the first call is kept.
    assert result.reported_bound > result.lower_bound


def test_a_solver_that_fails_in_a_subproblem_ends_the_run(broken):
    problem, _, _ = small_problem("random", 0)
    calls = broken("cop", SolverFailed("out of numbers"))
    options = {"solver": "scip", "rho": 2}
    with pytest.warns(UserWarning, match="out of numbers"):
        result = solve(problem, method="kernel-search", method_options=options)
    assert (len(calls), result.status) == (2, Status.SOLVER_FAILED)
    assert result.counters["subproblems solved"] == 1
    assert_complete(problem, result)


def test_the_big_m_for_another_solver_is_part_of_the_time(monkeypatch):
    """It is asked to stop with the run."""
    problem, _, _ = small_problem("random", 0)
    asked = []
    real = models.big_m

    def spy(*given, should_stop, **options):
        asked.append(should_stop())
        return real(*given, should_stop=should_stop, **options)

    monkeypatch.setattr(models, "big_m", spy)
    solve(problem, method="exact", method_options={"semi_solver": "scip"})
    assert asked
    assert not any(asked)


def test_node_limit():
    problem = hard_problem()
    result = solve(
        problem, method="exact", max_nodes=50,
        method_options={"strategy": "local-search", "k": 2},
    )  # fmt: skip
    assert result.status is Status.NODE_LIMIT
    assert_complete(problem, result)


@pytest.mark.parametrize("method", PAPER)
@pytest.mark.parametrize("limit", [0.0, 1e-3, 1.0])
def test_time_limits_are_respected(method, limit):
    problem = hard_problem()
    options = {} if method == "local-search" else {"subproblem_time_limit": 30}
    if method == "local-search":
        options = {"k": 60}
    result = solve(problem, method=method, time_limit=limit, method_options=options)
    assert_complete(problem, result)
    assert result.status is Status.TIME_LIMIT
    assert result.seconds <= limit + 5.0


@pytest.mark.parametrize("method", PAPER)
def test_a_huge_time_limit_is_none(method):
    problem, _, _ = small_problem("random", 1)
    result = solve(problem, method=method, time_limit=1e9)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.seconds < 30


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("kernel-search", {"solver": "scip"}),
        ("exact", {"semi_solver": "scip", "strategy": "local-search", "k": 0}),
    ],
)
def test_time_limits_hold_inside_scip(method, options):
    problem = hard_problem(100, 50)
    relax(problem)
    result = solve(problem, method=method, time_limit=2.5, method_options=options)
    assert_complete(problem, result)
    assert result.seconds <= 2.5 + 5.0


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("local-search", {"k": 60}),
        ("kernel-search", {"rho": 40}),
        ("kernel-search", {"rho": 40, "solver": "scip"}),
        ("exact", {"strategy": "local-search", "k": 0, "s": 40}),
    ],
)
def test_ctrl_c_in_the_middle_of_a_subproblem(method, options):
    problem = hard_problem()
    relax(problem)
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.perf_counter()
    result = solve(problem, method=method, time_limit=60, method_options=options)
    assert time.perf_counter() - started < 30
    assert result.status is Status.INTERRUPTED
    assert_complete(problem, result)


@pytest.mark.parametrize(
    ("package", "options"),
    [("coptpy", {"semi_solver": "copt"}), ("gurobipy", {"solver": "gurobi"})],
)
def test_licensed_solvers_take_small_problems(package, options):
    pytest.importorskip(package)
    X, y = random_data(np.random.default_rng(2), 20, 6)
    problem = Problem(X, y, max_features=2)
    optimum, _ = brute_force(problem)
    result = solve(problem, method="exact", method_options=options)
    np.testing.assert_allclose(result.objective, optimum, rtol=1e-4)
    assert result.lower_bound <= optimum * (1 + 1e-9)
    assert (result.reported_bound is None) == ("semi_solver" not in options)


def test_a_solver_without_a_licence_for_this_size_ends_the_run_likewise():
    pytest.importorskip("coptpy")
    X, y = random_data(np.random.default_rng(3), 3000, 8)
    problem = Problem(X, y, max_features=2)
    options = {"semi_solver": "copt", "strategy": "local-search", "k": 0}
    with warnings.catch_warnings(record=True):
        result = solve(problem, method="exact", method_options=options, time_limit=60)
    if result.status is not Status.SOLVER_FAILED:
        pytest.skip("COPT is licensed here")
    assert "scip" in result.message
    assert "clarabel" not in result.message
    assert_complete(problem, result)


def test_the_upper_bound_leaves_time_for_the_lower_one():
    problem = hard_problem()
    result = solve(problem, method="exact", time_limit=3, method_options={"passes": 99})
    assert result.counters["semi-relaxations"] >= 1
    assert result.lower_bound > relax(problem).bound
    assert result.seconds <= 3 + 5.0
