"""Work grows with the sizes and does not depend on the clock."""

import numpy as np

from frugalsvm import Problem
from frugalsvm.engine.perspective import region_request
from frugalsvm.engine.work import node_work, product_work, request_work, svm_work
from tests.reference import random_data


def work_of(m, n):
    X, y = random_data(np.random.default_rng(0), m, n)
    problem = Problem(X, y, max_features=3)
    request = region_request(
        problem.engine, problem.root_region(), None,
        tol=1e-3, fine_tol=1e-6, cutoff=np.inf, max_rounds=3,
    )  # fmt: skip
    [found] = problem.engine.solve([request])
    return request_work(problem.engine, request, found), found, problem.engine


def test_svms_cost_more_on_more_data():
    assert svm_work(100, 5) < svm_work(200, 5) < svm_work(200, 10)
    # With many samples the work is proportional to their number.
    assert 9 < svm_work(10**6, 10) / svm_work(10**5, 10) < 10.1
    # With few samples the matrix of the samples is factorised.
    assert svm_work(50, 2000) < 50 * 2000**2 / 2


def test_relaxations_cost_more_on_more_data():
    works = [work_of(m, n)[0] for m, n in ((50, 10), (500, 10), (500, 50))]
    assert works == sorted(works)
    assert works[2] > 4 * works[0]


def test_work_is_at_least_that_of_its_products():
    work, found, engine = work_of(200, 20)
    assert work > found.rounds * product_work(engine)
    assert work == work_of(200, 20)[0]


def test_nodes_cost_more_on_more_data():
    def node(m, n):
        X, y = random_data(np.random.default_rng(0), m, n)
        return node_work(Problem(X, y).engine)

    assert node(50, 10) < node(500, 10) < node(500, 50)
    # With many samples the work is proportional to their number.
    assert 7 < node(20_000, 5) / node(2000, 5) < 10.1


def test_warm_starts_save_work_with_many_samples():
    assert svm_work(60, 10, warm=True) == svm_work(60, 10)
    assert svm_work(2000, 10, warm=True) < 0.5 * svm_work(2000, 10)
