"""The SVM on a support: values belong to the returned weights and dual points."""

import numpy as np
import pytest

from frugalsvm.kernels import svm
from frugalsvm.kernels.svm import SVMTask
from tests.kernels.compiled import compiled
from tests.kernels.test_program import data_of, random_data

solve_svm = compiled(svm.solve_svm)
ALL = 10**6


def objective(data, support, w, b):
    margins = w @ data.A[support] + b * data.y
    return 0.5 * w @ w + data.C @ np.maximum(0, 1 - margins)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("size", [0, 1, 4])
def test_primal_and_dual_values_agree(intercept, size):
    data = random_data(intercept)
    support = np.array([5, 0, 3, 1])[:size]
    found = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0), ALL))
    assert found.w.shape == (size,)
    assert found.primal == pytest.approx(objective(data, support, found.w, found.b))
    c = data.A[support] @ found.alpha
    assert found.dual == pytest.approx(found.alpha.sum() - 0.5 * c @ c)
    assert found.primal - found.dual <= 1e-8 * found.primal
    if not intercept:
        assert found.b == 0.0


def test_a_warm_start_finds_the_same_solution():
    data = random_data()
    support = np.array([0, 1, 4])
    cold = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0), ALL))
    warm = solve_svm(data, SVMTask(support, 1e-9, np.inf, cold.w, ALL))
    assert warm.primal == pytest.approx(cold.primal, rel=1e-8)
    np.testing.assert_allclose(warm.w, cold.w, atol=1e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("n_near", [1, 10, 60])
@pytest.mark.parametrize("seed", range(8))
def test_wrongly_frozen_samples_become_active(intercept, n_near, seed):
    """For any weights to start from and any number of near samples."""
    rng = np.random.default_rng(seed)
    data = random_data(intercept, m=200)
    support = rng.permutation(6)[:4]
    cold = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0), ALL))
    start = rng.normal(size=4) * rng.choice([0.0, 0.1, 1.0, 1e3])
    warm = solve_svm(data, SVMTask(support, 1e-9, np.inf, start, n_near))
    assert warm.primal == pytest.approx(cold.primal, rel=1e-8)
    assert warm.primal == pytest.approx(objective(data, support, warm.w, warm.b))
    c = data.A[support] @ warm.alpha
    assert warm.dual == pytest.approx(warm.alpha.sum() - 0.5 * c @ c)
    assert warm.dual == pytest.approx(cold.dual, rel=1e-8)
    if intercept:
        assert abs(data.y @ warm.alpha) <= 1e-9 * warm.alpha.sum()


def test_active_samples_of_one_class_are_balanced():
    """No weights: one class is near the margin, all of the other is frozen."""
    y = np.where(np.arange(400) % 2 == 0, 1.0, -1.0)
    data = data_of(np.zeros((1, 400)), y, np.where(y > 0, 0.95, 1.0))
    found = solve_svm(data, SVMTask(np.array([0]), 1e-8, np.inf, np.zeros(1), 100))
    assert found.dual == pytest.approx(found.primal, rel=1e-8)
    assert abs(y @ found.alpha) <= 1e-9 * found.alpha.sum()


@pytest.mark.parametrize("n_near", [1, 10, 60])
def test_a_cutoff_is_exceeded_only_if_all_samples_exceed_it(n_near):
    data = random_data(m=200)
    support = np.array([0, 1, 4])
    whole = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0), ALL))
    for part in (0.5, 0.9, 0.999, 1.001, 1.1):
        task = SVMTask(support, 1e-6, part * whole.dual, np.zeros(3), n_near)
        found = solve_svm(data, task)
        assert (found.dual > task.cutoff) == (part < 1)
        assert found.dual <= whole.primal
        c = data.A[support] @ found.alpha
        assert found.dual == pytest.approx(found.alpha.sum() - 0.5 * c @ c)
        assert np.all((found.alpha >= 0) & (found.alpha <= data.C))


def test_it_ends_early_above_the_cutoff():
    data = random_data()
    support = np.array([0, 1, 4])
    whole = solve_svm(data, SVMTask(support, 1e-9, np.inf, np.empty(0), ALL))
    found = solve_svm(data, SVMTask(support, 1e-9, 0.5 * whole.dual, np.empty(0), ALL))
    assert 0.5 * whole.dual < found.dual < (1 - 1e-6) * whole.dual
