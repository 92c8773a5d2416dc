"""The SVM on a support: values that belong to what is returned."""

import numpy as np
import pytest

from frugalsvm.kernels import svm
from frugalsvm.kernels.svm import SVMTask
from tests.kernels.compiled import compiled
from tests.kernels.test_program import random_data

solve_svm = compiled(svm.solve_svm)


def objective(data, support, w, b):
    margins = w @ data.A[support] + b * data.y
    return 0.5 * w @ w + data.C @ np.maximum(0, 1 - margins)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("size", [0, 1, 4])
def test_primal_and_dual_meet(intercept, size):
    data = random_data(intercept)
    support = np.array([5, 0, 3, 1])[:size]
    found = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0)))
    assert found.w.shape == (size,)
    assert found.primal == pytest.approx(objective(data, support, found.w, found.b))
    c = data.A[support] @ found.alpha
    assert found.dual == pytest.approx(found.alpha.sum() - 0.5 * c @ c)
    assert found.primal - found.dual <= 1e-8 * found.primal
    if not intercept:
        assert found.b == 0.0


def test_a_warm_start_finds_the_same():
    data = random_data()
    support = np.array([0, 1, 4])
    cold = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0)))
    warm = solve_svm(data, SVMTask(support, 1e-9, np.inf, cold.w))
    assert warm.primal == pytest.approx(cold.primal, rel=1e-8)
    np.testing.assert_allclose(warm.w, cold.w, atol=1e-3)


def test_the_cutoff_ends_it_early():
    data = random_data()
    support = np.array([0, 1, 4])
    whole = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0)))
    found = solve_svm(data, SVMTask(support, 1e-9, 0.5 * whole.dual, np.empty(0)))
    assert 0.5 * whole.dual < found.dual < (1 - 1e-6) * whole.dual
