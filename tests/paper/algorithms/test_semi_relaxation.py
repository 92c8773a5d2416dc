"""SR-DLMP(K) by our tree: equal to SCIP's, between the relaxation and the optimum."""

import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.paper.algorithms.semi_relaxation import solve_semi_relaxation
from frugalsvm.paper.models import big_m, sr_dlmp
from frugalsvm.search.evaluator import Evaluator
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem

# M is valid for FS-SVM, but cuts solutions of SR-DLMP(K) off; so much larger it does
# not, and native and printed program are the same.
LOOSE = 20.0


def poor_solution(problem):
    return Evaluator(problem).solve(problem.include)


def half(problem, seed):
    rng = np.random.default_rng(seed)
    features = problem.candidates
    return rng.choice(features, features.size // 2, replace=False)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_is_scip(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    K, poor = half(problem, seed), poor_solution(problem)
    ours = solve_semi_relaxation(problem, K, poor, gap_tol=1e-6)
    M = LOOSE * big_m(problem, poor.objective, max_programs=0)
    scip = sr_dlmp(problem, K, M).solve("scip", tolerance=1e-6)
    assert ours.complete
    np.testing.assert_allclose(ours.value, scip.objective, rtol=1e-4)
    np.testing.assert_allclose(ours.bound, ours.value, rtol=2e-6)
    decided = ours.u[K]
    assert (np.minimum(decided, 1 - decided) <= 1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_grows_from_the_relaxation_to_the_optimum(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    optimum, _ = brute_force(problem)
    poor = poor_solution(problem)
    features = problem.candidates
    bounds = [
        solve_semi_relaxation(problem, features[:size], poor, gap_tol=1e-6).bound
        for size in (0, features.size // 2, features.size)
    ]
    np.testing.assert_allclose(bounds[0], relax(problem, tol=1e-8).bound, rtol=5e-6)
    np.testing.assert_allclose(bounds[2], optimum, rtol=2e-6)
    assert bounds[0] <= bounds[1] * (1 + 3e-6)
    assert bounds[1] <= bounds[2] * (1 + 3e-6)
    assert max(bounds) <= optimum * (1 + 1e-9)


def test_a_solution_that_cannot_be_improved_prunes_the_tree():
    problem, _, _ = small_problem("random", 5)
    _, support = brute_force(problem)
    best = Evaluator(problem).solve(support, tol=1e-9)
    semi = solve_semi_relaxation(problem, problem.candidates, best)
    assert semi.complete
    assert semi.bound >= best.objective * (1 - 1e-4)


def test_stopped_trees_still_bound_the_optimum():
    X, y = random_data(np.random.default_rng(0), 120, 60)
    problem = Problem(X, y, C=10.0, max_features=8)
    poor = poor_solution(problem)
    root = relax(problem, tol=1e-6).bound
    K = np.arange(30)
    semi = solve_semi_relaxation(problem, K, poor, max_nodes=200)
    assert semi.hit_limit == "nodes"
    assert not semi.complete
    assert root * (1 - 3e-3) <= semi.bound <= poor.objective
    more = solve_semi_relaxation(problem, K, poor, max_nodes=2000)
    assert more.bound > semi.bound
    at_once = solve_semi_relaxation(problem, K, poor, should_stop=lambda: True)
    assert at_once.bound <= more.value
    small = solve_semi_relaxation(problem, K, poor, max_bytes=1e4)
    assert small.hit_limit == "memory"


def test_features_beyond_the_cost_budget_may_be_in_k():
    X, y = random_data(np.random.default_rng(7), 30, 6)
    costs = np.array([9.0, 1.0, 1.0, 9.0, 1.0, 1.0])
    problem = Problem(X, y, max_features=3, feature_costs=costs, max_cost=2.0)
    printed = sr_dlmp(problem, [0, 3, 4], 50.0).solve("scip", tolerance=1e-6)
    without = sr_dlmp(problem, [4], 50.0).solve("scip", tolerance=1e-6)
    np.testing.assert_allclose(printed.objective, without.objective, rtol=1e-5)
