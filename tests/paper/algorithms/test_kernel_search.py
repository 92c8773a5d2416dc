"""Algorithms 1 and 2: optimal when they see all features, and their invariants."""

import numpy as np
import pytest

from frugalsvm import Problem, relax, solve
from frugalsvm.paper.algorithms.heuristic import HeuristicOptions, Strategy
from frugalsvm.paper.algorithms.kernel_search import (
    Kernel,
    kernel_search,
    rank_features,
)
from frugalsvm.paper.algorithms.restricted import solve_restricted
from frugalsvm.paper.algorithms.subproblem import SubproblemSolver
from frugalsvm.problem.solution import Solution
from frugalsvm.run.monitor import Monitor
from frugalsvm.search.evaluator import Evaluator
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem


def medium_problem(seed=0, n=45, **arguments):
    X, y = random_data(np.random.default_rng(seed), 50, n)
    return Problem(X, y, C=3.0, **{"max_features": 4, **arguments})


def ranking(problem):
    relaxation = relax(problem)
    return rank_features(problem, relaxation.u, relaxation.squares)


def solver_of(problem, name="native"):
    return SubproblemSolver(problem, Monitor(), name, None)


def fake(support, objective):
    return Solution(
        np.array(support), np.ones(len(support)), 0.0, np.zeros(1), objective
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_optimal_when_the_parameters_cover_all_features(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    optimum, _ = brute_force(problem)
    for method, options in (
        ("local-search", {"k": 12}),
        ("kernel-search", {"rho": 12}),
    ):
        result = solve(problem, method=method, method_options=options)
        np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
        assert result.lower_bound <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_feasible_and_not_below_the_optimum_for_any_parameters(kind, seed):
    problem, _, _ = small_problem(kind, 10 + seed)
    optimum, _ = brute_force(problem)
    for method, options in (("local-search", {"k": 0}), ("kernel-search", {"rho": 2})):
        result = solve(problem, method=method, method_options=options)
        used = np.union1d(result.selected, problem.include).astype(int)
        assert problem.admits(used)
        assert result.objective >= optimum * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_upper_bound_never_rises_and_the_kernel_holds_the_incumbent(seed):
    problem = medium_problem(seed)
    bounds, sizes = [], []

    def watch(kernel):
        bounds.append(kernel.upper_bound)
        sizes.append(kernel.features.size)
        assert np.isin(kernel.solution.support, kernel.features).all()
        assert kernel.solution.objective <= kernel.upper_bound * (1 + 2e-6)

    found = kernel_search(solver_of(problem), ranking(problem), 10, watch=watch)
    assert len(bounds) == 4
    assert (np.diff(bounds) <= 0).all()
    assert found.objective == bounds[-1]
    assert max(sizes) <= 3 * problem.max_features


@pytest.fixture
def restricted(monkeypatch):
    """Kernel, group and outcome of all subproblems."""
    seen = []

    def noted(problem, K, **arguments):
        outcome = solve_restricted(problem, K, **arguments)
        seen.append((K, arguments["group"], outcome))
        return outcome

    monkeypatch.setattr("frugalsvm.paper.algorithms.subproblem.solve_restricted", noted)
    return seen


def test_every_group_is_asked_for_a_feature(restricted):
    problem = medium_problem()
    ranked = ranking(problem)
    kernel_search(solver_of(problem), ranked, 10)
    for K, group, outcome in restricted:
        assert np.isin(group, K).all()
        if outcome.solution is not None:
            assert np.isin(group, outcome.solution.support).any()
    asked = [group for _, group, _ in restricted]
    np.testing.assert_array_equal(np.concatenate(asked), ranked)


def test_features_leave_the_kernel_after_two_solutions_without_them():
    kernel = Kernel()
    kernel.accept(fake([1, 2], 5.0))
    kernel.accept(fake([2, 3], 4.0))
    # Selected when they came: nothing can be missing twice so early.
    np.testing.assert_array_equal(kernel.features, [1, 2, 3])
    kernel.accept(fake([3, 4], 3.0))
    np.testing.assert_array_equal(kernel.features, [2, 3, 4])
    kernel.accept(fake([2, 4], 3.0))
    np.testing.assert_array_equal(kernel.features, [2, 3, 4])
    assert kernel.upper_bound == 3.0


def test_an_infeasible_subproblem_leaves_the_kernel_alone():
    # One strong feature is ranked first; no other group can be as good with B = 1.
    X, y = random_data(np.random.default_rng(1), 40, 30)
    X[:, 7] = y + 0.1 * X[:, 7]
    problem = Problem(X, y, C=1.0, max_features=1)
    ranked = np.concatenate([[7], np.delete(np.arange(30), 7)])
    seen = []
    kernel_search(
        solver_of(problem),
        ranked,
        10,
        watch=lambda kernel: seen.append(dict(kernel.idle)),
    )
    assert seen == [{7: 0}] * 3


def test_an_equally_good_solution_with_a_new_feature_enters_the_kernel():
    X, y = random_data(np.random.default_rng(2), 40, 6)
    problem = Problem(np.hstack([X, X]), y, C=1.0, max_features=2)
    kernels = []
    kernel_search(
        solver_of(problem), np.arange(12), 6,
        watch=lambda kernel: kernels.append(kernel.features),
    )  # fmt: skip
    assert (kernels[0] < 6).all()
    assert (kernels[1] >= 6).any()


def test_a_start_is_the_first_kernel_and_is_kept():
    problem = medium_problem(3)
    best = solve(problem, method="branch-and-bound", random_state=0)
    for method in ("local-search", "kernel-search", "heuristic"):
        result = solve(problem, method=method, initial_support=best.selected)
        np.testing.assert_allclose(result.objective, best.objective, rtol=1e-6)
    start = Evaluator(problem).solve(best.selected)
    kernel = kernel_search(solver_of(problem), ranking(problem), 10, start)
    assert kernel.objective <= start.objective


def test_a_ranking_decides_what_is_tried_first(restricted):
    problem = medium_problem(1, n=20)
    order = [17, 3, 11, 0, 8]
    for method in ("kernel-search", "heuristic"):
        restricted.clear()
        solve(problem, method=method, method_options={"ranking": order, "rho": 5})
        assert restricted[0][1].tolist() == order


def test_scip_solves_the_same_subproblems():
    problem = medium_problem(2, n=20)
    ours, scips = (
        solve(
            problem, method="kernel-search",
            method_options={"solver": name, "rho": 7, "subproblem_time_limit": 20},
        )
        for name in ("native", "scip")
    )  # fmt: skip
    np.testing.assert_allclose(ours.objective, scips.objective, rtol=1e-4)
    assert scips.reported_bound is None
    np.testing.assert_allclose(ours.lower_bound, scips.lower_bound, rtol=1e-6)


def test_the_last_groups_are_tried():
    X, y = random_data(np.random.default_rng(6), 150, 80)
    problem = Problem(X, y, C=10.0, max_features=12)
    solve(problem, method="local-search", time_limit=0.1)
    result = solve(problem, method="kernel-search", time_limit=4)
    assert result.seconds < 10
    assert result.counters["subproblems"] >= 6


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("local-search", {"k": -1}, "k.*>= 0.*-1"),
        ("local-search", {"rho": 10}, "rho.*takes: k, solver"),
        ("kernel-search", {"rho": 0}, "rho.*>= 1.*0"),
        ("kernel-search", {"solver": "cplex"}, "solver.*native.*cplex"),
        ("kernel-search", {"subproblem_time_limit": 0}, "positive"),
        ("kernel-search", {"ranking": [0, 99]}, "ranking.*99"),
        ("kernel-search", {"ranking": [1, 1]}, "duplicates"),
        ("heuristic", {"strategy": "luck"}, "strategy.*kernel-search.*luck"),
        ("exact", {"s": 0}, "s.*>= 1"),
        ("exact", {"semi_solver": "mosek"}, "semi_solver.*scip.*mosek"),
    ],
)
def test_bad_options_are_explained(method, options, words):
    with pytest.raises(ValueError, match=words):
        solve(medium_problem(n=8), method=method, method_options=options)


def test_a_solver_that_is_not_installed_is_named(uninstall):
    uninstall("pyscipopt")
    with pytest.raises(ImportError, match="pip install"):
        solve(
            medium_problem(n=8),
            method="local-search",
            method_options={"solver": "scip"},
        )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_with_enough_passes_the_solution_is_optimal(kind, seed):
    problem, *_ = small_problem(kind, seed)
    found = kernel_search(solver_of(problem), ranking(problem)[::-1], 2, passes=99)
    optimum, _ = brute_force(problem)
    np.testing.assert_allclose(found.objective, optimum, rtol=1e-5)


def test_groups_double_from_pass_to_pass():
    problem = medium_problem(1, n=40)
    subproblems = solver_of(problem)
    sizes = []
    original = subproblems.solve

    def solve_and_note(K, **cuts):
        sizes.append(cuts["group"].size)
        return original(K, **cuts)

    subproblems.solve = solve_and_note
    kernel_search(subproblems, ranking(problem), 5, passes=99)
    assert max(sizes[:8]) == 5
    # Once around everything that is not in the kernel, and the end.
    assert sizes[-1] >= 40 - 2 * 4
    assert any(5 < size < sizes[-1] for size in sizes)


def test_more_passes_are_never_worse_and_end_without_improvement():
    problem = medium_problem(2, n=30)
    ranked = ranking(problem)[::-1]
    values = [
        kernel_search(solver_of(problem), ranked, 5, passes=passes).objective
        for passes in (1, 2, 50)
    ]
    assert (np.diff(values) <= 0).all()


def test_a_ranking_is_not_tried_twice():
    problem = medium_problem(2, n=12)
    strategy = Strategy(problem, Monitor(), HeuristicOptions())
    found = strategy(ranking(problem))
    count = strategy.subproblems.counters["subproblems"]
    assert strategy(ranking(problem), found) is found
    assert strategy.subproblems.counters["subproblems"] == count
