"""Several tasks in one compiled call: the same answers as one by one."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.kernels.perspective import affordable, node_task
from frugalsvm.kernels.rounds import DROP_ROUNDS
from frugalsvm.kernels.tasks import answer, run, together
from tests.reference import random_data


def tasks_of(intercept, costs):
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 80, 12)
    problem = Problem(
        X, y, C=2.0, max_features=4, fit_intercept=intercept,
        feature_costs=rng.uniform(1, 2, 12) if costs else None,
        max_cost=5.0 if costs else None,
    )  # fmt: skip
    data = problem.data
    root = affordable(problem.costs, problem.root_node())
    nodes = [
        root._replace(forced=root.free[:j], free=root.free[j:], k=root.k - j)
        for j in range(4)
    ]
    return data, [node_task(data, t, None, 1e-6, 1e-6, np.inf, 5) for t in nodes]


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("costs", [True, False])
def test_together_is_one_by_one(intercept, costs):
    data, tasks = tasks_of(intercept, costs)
    alone = [answer(data, [task])[0] for task in tasks]
    for one, other in zip(alone, answer(data, tasks), strict=True):
        assert_same(one, other)


def test_generators_get_the_answers_to_their_own_tasks():
    data, tasks = tasks_of(True, False)
    expected = [answer(data, [task])[0] for task in tasks]

    def steps(*batches):
        got = []
        for batch in batches:
            got += yield [tasks[t] for t in batch]
        return got

    orders = [([0], [1, 2]), ([2, 3],), (), ([1], [0], [3, 3])]
    many = together([together([steps(*order)]) for order in orders])
    for order, (got,) in zip(orders, run(data, many), strict=True):
        asked = [t for batch in order for t in batch]
        assert len(got) == len(asked)
        for t, found in zip(asked, got, strict=True):
            assert_same(found, expected[t])


def test_a_finer_tolerance_where_it_decides_about_the_cutoff():
    data, tasks = tasks_of(True, False)
    exact = answer(data, [tasks[0]])[0]
    coarse = tasks[0]._replace(tol=0.1, fine_tol=1e-6, max_rounds=3)
    found = answer(data, [coarse])[0]
    assert found.primal - found.bound > 1e-4 * found.primal
    beyond = answer(data, [coarse._replace(cutoff=0.9999 * exact.bound)])[0]
    assert beyond.bound > 0.9999 * exact.bound


def test_unfinished_rounds_can_be_continued():
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 40, 500)
    X[:, :5] += y[:, None] * 0.5
    problem = Problem(X, y, C=1.0, max_features=6)
    data = problem.data
    node = problem.root_node()
    whole = answer(data, [node_task(data, node, None, 1e-6, 1e-6, np.inf, 99)])[0]
    assert whole.rounds > 1
    task = node_task(data, node, None, 1e-6, 1e-6, np.inf, 1)
    bounds = []
    for _ in range(99):
        found = answer(data, [task])[0]
        assert found.rounds == 1
        bounds.append(found.bound)
        if found.finished:
            break
        task = task.continued(found)
    assert found.finished
    assert len(bounds) > 1
    np.testing.assert_allclose(max(bounds), whole.bound, rtol=2e-6)


def test_later_rounds_drop_no_features_so_that_they_come_to_an_end():
    rng = np.random.default_rng(2)
    X, y = random_data(rng, 60, 2000)
    problem = Problem(X, y, C=1.0, max_features=5)
    data = problem.data
    task = node_task(data, problem.root_node(), None, 1e-6, 1e-6, np.inf, 1)
    for n_before in (0, DROP_ROUNDS):
        found = answer(data, [task._replace(n_before=n_before)])[0]
        assert not found.finished
        following = task._replace(n_before=n_before).continued(found)
        assert following.n_before == n_before + 1
        lost = np.setdiff1d(task.working, following.working)
        assert (lost.size > 0) == (n_before == 0)
