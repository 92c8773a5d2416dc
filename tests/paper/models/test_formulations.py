"""BigMP, CoP and CoP(K), compared with enumeration of all supports."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.paper.models import big_m, bigmp, boxmp, cop, svm
from frugalsvm.paper.solvers import SolveStatus
from tests.paper.models.instances import MIP_RTOL, SMALL, random_problem, value
from tests.reference import brute_force, supports, svm_value

CONSTRAINED = {
    "include and exclude": random_problem(5, n=6, B=3, include=(1,), exclude=(0, 4)),
    "costs": random_problem(
        6, n=6, B=3, feature_costs=[1, 2, 1.5, 3, 1, 9], max_cost=4.0
    ),
    "budget of zero": random_problem(7, B=0),
    "budget of all": random_problem(8, n=4, B=4),
}


@pytest.mark.parametrize("name", [*SMALL, *CONSTRAINED])
def test_big_m_and_complementarity_are_enumeration(name):
    problem = (SMALL | CONSTRAINED)[name]
    best, _ = brute_force(problem)
    M = big_m(problem, best)
    assert value(bigmp(problem, M)) == pytest.approx(best, rel=MIP_RTOL)
    assert value(cop(problem)) == pytest.approx(best, rel=MIP_RTOL)


@pytest.mark.parametrize("name", ["random", "separable", "iris"])
def test_both_forms_of_the_cardinality_constraint_agree(name):
    problem = SMALL[name]
    best, _ = brute_force(problem)
    M = big_m(problem, best)
    for cardinality in ("=", "<="):
        for model in (
            bigmp(problem, M, cardinality=cardinality),
            cop(problem, cardinality=cardinality),
        ):
            solution = model.solve(tolerance=1e-9)
            assert solution.objective == pytest.approx(best, rel=MIP_RTOL)
            shares = solution.variables.get("v", 1 - solution.variables.get("u", 0))
            if cardinality == "=":
                assert shares.sum() == pytest.approx(problem.max_features)


@pytest.mark.parametrize("name", ["random", "more features than samples", "iris"])
def test_the_box_relaxation_of_cop_is_cop(name):
    problem = SMALL[name]
    best, _ = brute_force(problem)
    assert value(cop(problem, binary=False)) == pytest.approx(best, rel=MIP_RTOL)


def test_an_m_below_the_optimal_weights_cuts_off_the_optimum():
    problem = SMALL["separable"]
    best, support = brute_force(problem)
    largest = np.abs(problem.engine.solve_svm(support, tol=1e-9).w).max()
    assert value(bigmp(problem, 1.001 * largest)) == pytest.approx(best, rel=MIP_RTOL)
    assert value(bigmp(problem, 0.7 * largest)) > best * (1 + 1e-3)


@pytest.mark.parametrize("K", [(0, 2, 3), (4,), (1, 2, 3, 4)])
def test_cop_restricted_to_k(K):
    """Also for K smaller than the budget, where the printed equation fails."""
    problem = random_problem(9)
    outside = np.setdiff1d(np.arange(problem.n_features), K)
    X = problem.A.T * problem.y[:, None]
    inside = Problem(X, problem.y, C=1.0, max_features=2, exclude=outside)
    solution = cop(problem, K).solve(tolerance=1e-9)
    best, _ = brute_force(inside)
    assert solution.objective == pytest.approx(best, rel=MIP_RTOL)
    assert np.all(solution.variables["w"][outside] == 0)
    assert np.all(solution.variables["u"][outside] == 1)


def test_kernel_search_cuts():
    problem = random_problem(10, n=6)
    best, support = brute_force(problem)
    everything = range(6)
    # At most the known objective: attained by an equal one, infeasible below.
    cut = cop(problem, everything, upper_bound=best * (1 + 1e-6))
    assert value(cut) == pytest.approx(best, rel=MIP_RTOL)
    below = cop(problem, everything, upper_bound=0.99 * best).solve()
    assert below.status is SolveStatus.INFEASIBLE
    assert below.objective == np.inf
    # At least one of the features that the optimum does not use.
    group = np.setdiff1d(np.arange(6), support)[:2]
    values = [
        problem.engine.solve_svm(s, tol=1e-10).primal
        for s in supports(problem)
        if np.isin(group, s).any()
    ]
    forced = cop(problem, everything, group=group).solve(tolerance=1e-9)
    assert forced.objective == pytest.approx(min(values), rel=MIP_RTOL)
    assert forced.variables["u"][group].min() == 0
    assert forced.objective > best * (1 + 1e-6)


@pytest.mark.parametrize("name", SMALL)
def test_svm_and_box_relaxation_by_two_solvers(name):
    problem = SMALL[name]
    X = problem.A.T * problem.y[:, None]
    reference = svm_value(X, problem.y, problem.C, problem.fit_intercept)
    for solver in ("clarabel", "highs"):
        assert value(svm(problem), solver) == pytest.approx(reference, rel=1e-6)
    boxes = [value(boxmp(problem, 0.3), solver) for solver in ("clarabel", "highs")]
    assert boxes[0] == pytest.approx(boxes[1], rel=1e-6)
    assert boxes[0] >= reference * (1 - 1e-7)
