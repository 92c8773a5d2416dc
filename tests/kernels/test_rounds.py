"""Rounds on a growing working set give the solution of the whole relaxation."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.kernels import working_set as rounds
from frugalsvm.kernels.data import RegionArrays, WorkingSetArrays
from frugalsvm.kernels.working_set import RelaxationGoal
from tests.kernels.compiled import compiled
from tests.reference import random_data

compiled_relax = compiled(rounds.relax)
GOAL = RelaxationGoal(1e-6, 1e-6, np.inf, 30, False, 0)


def relax(data, region, active, goal):
    n, m = data.A.shape
    return compiled_relax(data, region, active, goal, np.empty(m), np.empty(n))


def problem_of(costs=False, m=120, n=60):
    rng = np.random.default_rng(0)
    X, y = random_data(rng, m, n)
    return Problem(
        X, y, C=2.0, max_features=5,
        feature_costs=rng.uniform(1, 2, n) if costs else None,
        max_cost=6.0 if costs else None,
    )  # fmt: skip


def region_of(problem):
    return RegionArrays(*problem.root_region().affordable(problem.costs))


def whole(region, m):
    return WorkingSetArrays(region.free, np.zeros(m, dtype=np.int8))


@pytest.mark.parametrize("costs", [True, False])
def test_the_working_set_grows_until_the_relaxation_is_solved(costs):
    problem = problem_of(costs)
    data, region = problem.engine.data, region_of(problem)
    at_once = relax(data, region, whole(region, 120), GOAL)
    assert at_once.rounds == 1
    assert at_once.finished
    side = np.where(np.arange(120) % 3 == 0, 0, -1).astype(np.int8)
    part = relax(data, region, WorkingSetArrays(region.free[:6].copy(), side), GOAL)
    assert part.rounds > 1
    assert part.finished
    for found in (at_once, part):
        gap = found.last.value - found.bound
        assert 0.0 <= gap <= 1e-6 * found.last.value
    assert part.bound == pytest.approx(at_once.bound, rel=2e-6)


def test_bounds_are_valid_after_any_number_of_rounds():
    problem = problem_of()
    data, region = problem.engine.data, region_of(problem)
    value = relax(data, region, whole(region, 120), GOAL).last.value
    before = -np.inf
    for limit in (1, 2, 3, 30):
        start = WorkingSetArrays(region.free[:6].copy(), np.zeros(120, dtype=np.int8))
        found = relax(data, region, start, GOAL._replace(max_rounds=limit))
        assert found.rounds <= limit
        assert before <= found.bound <= value
        before = found.bound


def test_the_fine_tolerance_is_used_if_it_may_decide():
    problem = problem_of()
    data, region = problem.engine.data, region_of(problem)
    exact = relax(data, region, whole(region, 120), GOAL).bound
    coarse = GOAL._replace(tol=0.1)
    found = relax(data, region, whole(region, 120), coarse._replace(fine_tol=0.1))
    assert found.bound < 0.9999 * exact
    cutoff = 0.9999 * exact
    found = relax(data, region, whole(region, 120), coarse._replace(cutoff=cutoff))
    assert found.bound > cutoff


def test_a_stop_leaves_a_valid_bound():
    problem = problem_of().watching(np.ones(1, dtype=np.uint8))
    data, region = problem.engine.data, region_of(problem)
    found = relax(data, region, whole(region, 120), GOAL)
    assert not found.finished
    assert found.rounds == 1
    assert found.bound <= found.last.value
