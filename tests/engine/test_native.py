"""Several requests in one compiled call give the same results as separate calls."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine.perspective import region_request
from frugalsvm.engine.protocol import WorkingSet
from frugalsvm.kernels.working_set import DROP_ROUNDS
from tests.reference import random_data


def request_of(engine, region, max_rounds):
    return region_request(
        engine, region, None, tol=1e-6, fine_tol=1e-6, cutoff=np.inf,
        max_rounds=max_rounds,
    )  # fmt: skip


def requests_of(intercept, costs):
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 80, 12)
    problem = Problem(
        X, y, C=2.0, max_features=4, fit_intercept=intercept,
        feature_costs=rng.uniform(1, 2, 12) if costs else None,
        max_cost=5.0 if costs else None,
    )  # fmt: skip
    engine = problem.engine
    root = problem.root_region().affordable(problem.costs)
    regions = [
        root._replace(forced=root.free[:j], free=root.free[j:], k=root.k - j)
        for j in range(4)
    ]
    return engine, [request_of(engine, t, 5) for t in regions]


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        if isinstance(a, WorkingSet):
            assert_same(a, b)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("costs", [True, False])
def test_requests_solved_together_give_the_same_results(intercept, costs):
    engine, requests = requests_of(intercept, costs)
    alone = [engine.solve([request])[0] for request in requests]
    for one, other in zip(alone, engine.solve(requests), strict=True):
        assert_same(one, other)


def test_the_fine_tolerance_is_used_if_it_may_exceed_the_cutoff():
    engine, requests = requests_of(True, False)
    exact = engine.solve([requests[0]])[0]
    coarse = requests[0]._replace(tol=0.1, fine_tol=1e-6, max_rounds=3)
    found = engine.solve([coarse])[0]
    assert found.primal - found.bound > 1e-4 * found.primal
    beyond = engine.solve([coarse._replace(cutoff=0.9999 * exact.bound)])[0]
    assert beyond.bound > 0.9999 * exact.bound


def test_unfinished_rounds_can_be_continued():
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 40, 500)
    X[:, :5] += y[:, None] * 0.5
    problem = Problem(X, y, C=1.0, max_features=6)
    engine = problem.engine
    region = problem.root_region()
    whole = engine.solve([request_of(engine, region, 99)])[0]
    assert whole.rounds > 1
    request = request_of(engine, region, 1)
    bounds = []
    for _ in range(99):
        found = engine.solve([request])[0]
        assert found.rounds == 1
        bounds.append(found.bound)
        if found.finished:
            break
        request = request.continued(found)
    assert found.finished
    assert len(bounds) > 1
    np.testing.assert_allclose(max(bounds), whole.bound, rtol=2e-6)


def test_later_rounds_drop_no_features():
    rng = np.random.default_rng(2)
    X, y = random_data(rng, 60, 2000)
    problem = Problem(X, y, C=1.0, max_features=5)
    engine = problem.engine
    request = request_of(engine, problem.root_region(), 1)
    for n_before in (0, DROP_ROUNDS):
        found = engine.solve([request._replace(n_before=n_before)])[0]
        assert not found.finished
        following = request._replace(n_before=n_before).continued(found)
        assert following.n_before == n_before + 1
        lost = np.setdiff1d(request.start.features, following.start.features)
        assert (lost.size > 0) == (n_before == 0)
