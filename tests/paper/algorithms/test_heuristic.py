"""Algorithm 3: the strategy, the big-M, and the second ranking."""

import numpy as np
import pytest

from frugalsvm import Problem, relax, solve
from frugalsvm.paper.algorithms.heuristic import second_ranking, threshold
from frugalsvm.paper.models import big_m, weight_bounds
from frugalsvm.paper.models import weight_ranges as weights_module
from frugalsvm.run.monitor import Monitor
from frugalsvm.search.evaluator import Evaluator
from tests.reference import brute_force, random_data
from tests.tree.problems import KINDS, small_problem


def spread_problem(n=12, budget=2, C=2e-3):
    """A loss that weighs little: all weights are small, and M is below ||w||_1 / B."""
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 60, n)
    X += 0.8 * y[:, None]
    return Problem(X, y, C=C, max_features=budget)


@pytest.mark.parametrize("strategy", ["kernel-search", "local-search"])
@pytest.mark.parametrize("kind", KINDS)
def test_not_below_the_optimum_and_optimal_when_all_is_covered(kind, strategy):
    for seed in range(3):
        problem, _, _ = small_problem(kind, seed)
        optimum, _ = brute_force(problem)
        options = {"strategy": strategy, "k": 12, "rho": 12}
        result = solve(problem, method="heuristic", method_options=options)
        np.testing.assert_allclose(result.objective, optimum, rtol=2e-6)
        assert result.lower_bound <= optimum * (1 + 1e-9)


def test_threshold_is_the_mean_weight_of_the_svm_per_budget():
    problem = spread_problem()
    w = relax(problem, "SVM", tol=1e-9).w
    np.testing.assert_allclose(threshold(problem), np.abs(w).sum() / 2, rtol=1e-3)


def test_a_small_big_m_leads_to_a_second_ranking():
    problem = spread_problem()
    first = solve(problem, method="kernel-search", method_options={"rho": 3})
    M = big_m(problem, first.objective, max_programs=0)
    assert threshold(problem) > M
    result = solve(problem, method="heuristic", method_options={"rho": 3})
    assert result.counters["rankings"] == 2
    assert result.objective <= first.objective * (1 + 1e-9)
    best = Evaluator(problem).solve(first.selected)
    ranked = second_ranking(problem, Monitor(), best, 0)
    u = relax(problem, "DSCoMP", M=M).u
    assert np.isin(ranked[:2], np.argsort(u)[:3]).all()


@pytest.fixture
def _many_features(monkeypatch):
    """As with thousands of features: M comes from a few dual points, and is loose."""
    monkeypatch.setattr(weights_module, "MANY_FEATURES", 0)


@pytest.mark.usefixtures("_many_features")
@pytest.mark.parametrize(("options", "rankings"), [({}, 2), ({"bound_programs": 0}, 1)])
def test_a_big_m_that_is_nearly_small_enough_is_worth_some_programs(options, rankings):
    problem = spread_problem(C=0.02)
    best = solve(problem, method="kernel-search")
    loose = big_m(problem, best.objective, max_programs=0)
    assert big_m(problem, best.objective) < threshold(problem) <= loose
    result = solve(problem, method="heuristic", method_options=options)
    assert result.counters["rankings"] == rankings


@pytest.mark.usefixtures("_many_features")
def test_a_big_m_that_is_far_too_large_is_worth_no_programs(monkeypatch):
    problem = spread_problem(C=0.02)
    objective = solve(problem, method="kernel-search").objective
    useful = big_m(problem, objective, max_programs=0) / 1.6
    early = weight_bounds(problem, objective, useful_below=useful)
    assert (early.programs, early.settled) == (0, False)
    # Within reach, but one of the programs shows that M stays too large.
    monkeypatch.setattr(weights_module, "WITHIN_REACH", 10.0)
    settled = weight_bounds(problem, objective)
    close = weight_bounds(problem, objective, useful_below=0.8 * settled.M)
    assert 1 <= close.programs < settled.programs


def test_a_large_big_m_does_not():
    problem, _, _ = small_problem("random", 0)
    result = solve(problem, method="heuristic")
    assert result.counters["rankings"] == 1


def test_a_large_weight_makes_the_big_m_unnecessary():
    X, y = random_data(np.random.default_rng(1), 40, 6, separable=True)
    problem = Problem(X, y, C=10.0, max_features=5)
    best = Evaluator(problem).solve(brute_force(problem)[1])
    assert np.abs(best.w).max() >= threshold(problem)
    # So is every valid M.
    M = big_m(problem, best.objective, max_programs=0)
    assert np.abs(best.w).max() * (1 - 1e-6) <= M
    assert second_ranking(problem, Monitor(), best, 0) is None


def test_without_cvxpy_the_first_ranking_is_kept(uninstall):
    problem = spread_problem()
    uninstall("cvxpy")
    with pytest.warns(UserWarning, match="CVXPY"):
        result = solve(problem, method="heuristic", method_options={"rho": 3})
    assert result.counters["rankings"] == 1
