"""The engine of several machines: SVMs one by one, everything else together."""

import numpy as np
import pytest

from frugalsvm import Problem
from frugalsvm.engine.native import SharedEngine
from tests.classes import KINDS, class_arguments, class_problem, one_against_rest


@pytest.mark.parametrize("kind", KINDS)
def test_svms_are_those_of_the_machines(kind):
    X, classes, arguments = class_arguments(kind, 1)
    Y = one_against_rest(classes)
    problem = Problem(X, Y, **arguments)
    assert isinstance(problem.engine, SharedEngine)
    support = np.arange(problem.n_features)[1:]
    found = problem.engine.solve_svm(support)
    each = [Problem(X, y, **arguments).engine.solve_svm(support) for y in Y.T]
    assert found.primal == pytest.approx(sum(one.primal for one in each), rel=1e-12)
    assert found.dual == pytest.approx(sum(one.dual for one in each), rel=1e-12)
    np.testing.assert_array_equal(found.b, [one.b for one in each])
    alpha = np.concatenate([one.alpha for one in each])
    np.testing.assert_array_equal(found.alpha, alpha)
    # Weights are ordered feature by feature.
    own = np.concatenate([one.w for one in each])
    np.testing.assert_array_equal(problem.blocks(support, found.w), own)
    again = problem.engine.solve_svm(support, warm_w=found.w)
    np.testing.assert_allclose(again.primal, found.primal, rtol=1e-7)


def test_hopeless_supports_end_early():
    problem = class_problem("four", 2)
    support = np.arange(problem.n_features)[:1]
    whole = problem.engine.solve_svm(support)
    first = problem.machines[0].engine.solve_svm(support)
    cut = problem.engine.solve_svm(support, cutoff=0.5 * first.dual)
    assert cut.primal == np.inf
    assert 0.5 * first.dual < cut.dual <= first.dual * (1 + 1e-9)
    kept = problem.engine.solve_svm(support, cutoff=1.01 * whole.primal)
    assert kept.primal == pytest.approx(whole.primal, rel=1e-6)


@pytest.mark.parametrize("kind", ["plain", "groups"])
def test_products_and_rows_are_those_of_block_matrices(kind):
    problem = class_problem(kind, 4)
    engine, n_machines = problem.engine, problem.n_machines
    blocks = problem.A.reshape(n_machines, -1, problem.A.shape[1])
    whole = np.zeros((problem.n_columns, problem.n_samples))
    n, m = blocks.shape[1:]
    for k, block in enumerate(blocks):
        whole[k * n : (k + 1) * n, k * m : (k + 1) * m] = block
    alpha = np.random.default_rng(0).uniform(size=problem.n_samples)
    np.testing.assert_allclose(engine.products(alpha), whole @ alpha, atol=1e-12)
    features = np.arange(problem.n_features)[::-1][:2]
    expected = whole[problem.columns.of(features)]
    np.testing.assert_array_equal(engine.signed_rows(features), expected)
