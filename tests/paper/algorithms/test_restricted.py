"""CoP(K) by our tree, compared with enumeration and SCIP, with and without the cuts."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.paper.algorithms.restricted import solve_restricted
from frugalsvm.paper.models import cop
from tests.reference import brute_force, random_data, supports
from tests.tree.problems import KINDS, small_problem


def enumerate_cop(problem, K, group=None):
    """The best support within K, with a feature of the group if there is one."""
    from frugalsvm.search.evaluator import Evaluator

    allowed = set(K.tolist()) | set(problem.include.tolist())
    values = [
        Evaluator(problem).solve(support, tol=1e-10).objective
        for support in supports(problem)
        if set(support.tolist()) <= allowed
        and (group is None or np.isin(group, support).any())
    ]
    return min(values, default=np.inf)


def draw(problem, seed):
    """A random K and a group inside it."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, problem.candidates.size + 1))
    K = rng.permutation(problem.candidates)[:size]
    return K, K[: max(1, size // 3)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_is_enumeration(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    K, group = draw(problem, seed)
    for cut in (None, group):
        outcome = solve_restricted(problem, K, group=cut)
        optimum = enumerate_cop(problem, K, cut)
        assert outcome.complete
        if np.isinf(optimum):
            assert outcome.solution is None
            continue
        np.testing.assert_allclose(outcome.solution.objective, optimum, rtol=3e-6)
        support = outcome.solution.support
        assert problem.admits(support)
        assert np.isin(support, np.union1d(K, problem.include)).all()
        if cut is not None:
            assert np.isin(cut, support).any()


@pytest.mark.parametrize("kind", ["random", "separable", "constrained"])
def test_is_scip_with_both_cuts(kind):
    for seed in range(3):
        problem, _, _ = small_problem(kind, 20 + seed)
        K, group = draw(problem, seed)
        upper_bound = 1.02 * enumerate_cop(problem, K)
        ours = solve_restricted(problem, K, upper_bound=upper_bound, group=group)
        whole = np.union1d(K, problem.include)
        scip = cop(problem, whole, upper_bound=upper_bound, group=group).solve("scip")
        assert (ours.solution is None) == (scip.status == "infeasible")
        if ours.solution is not None:
            np.testing.assert_allclose(
                ours.solution.objective, scip.objective, rtol=1e-4, atol=1e-6
            )


def test_upper_bound_admits_equal_objectives_and_nothing_worse():
    problem, _, _ = small_problem("random", 4)
    optimum, _ = brute_force(problem)
    K = problem.candidates
    at = solve_restricted(problem, K, upper_bound=optimum)
    np.testing.assert_allclose(at.solution.objective, optimum, rtol=1e-6)
    below = solve_restricted(problem, K, upper_bound=0.999 * optimum)
    assert below.complete
    assert below.solution is None


def test_a_duplicate_in_the_group_is_an_equally_good_solution():
    X, y = random_data(np.random.default_rng(3), 30, 5)
    problem = Problem(np.hstack([X, X]), y, C=2.0, max_features=2)
    first = solve_restricted(problem, np.arange(5)).solution
    second = solve_restricted(
        problem, np.arange(10), upper_bound=first.objective, group=np.arange(5, 10)
    ).solution
    np.testing.assert_allclose(second.objective, first.objective, rtol=2e-6)
    assert (second.support >= 5).any()


def test_fewer_features_than_the_budget_are_all_used():
    X, y = random_data(np.random.default_rng(4), 40, 30)
    problem = Problem(X, y, C=5.0, max_features=20)
    outcome = solve_restricted(problem, np.arange(10))
    np.testing.assert_array_equal(outcome.solution.support, np.arange(10))


def test_a_stop_returns_the_results_so_far():
    X, y = random_data(np.random.default_rng(5), 120, 60)
    problem = Problem(X, y, C=10.0, max_features=8)
    nodes = []
    outcome = solve_restricted(
        problem, np.arange(60), watch=nodes.append,
        should_stop=lambda: sum(nodes) > 300,
    )  # fmt: skip
    assert not outcome.complete
    assert problem.admits(outcome.solution.support)
    nothing = solve_restricted(problem, np.arange(60), should_stop=lambda: True)
    assert not nothing.complete
