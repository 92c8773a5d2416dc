"""Merging samples gives the same SVM with fewer samples."""

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem
from frugalsvm.engine.column_generation import merge_zeros
from frugalsvm.engine.parameters import EngineParameters
from tests.reference import random_data


def sparse_rows(seed=0, m=80):
    rng = np.random.default_rng(seed)
    X, y = random_data(rng, m, 3)
    X *= rng.random(X.shape) < 0.2
    return X, y, rng.uniform(0.5, 2.0, m)


ALWAYS = EngineParameters(merging_min_samples=0)


def test_zero_samples_of_a_class_are_merged():
    X, y, C = sparse_rows()
    A = (X * y[:, None]).T
    merged = merge_zeros(A, y, C, ALWAYS)
    is_zero = ~X.any(axis=1)
    assert merged.A.shape == (3, (~is_zero).sum() + 2)
    np.testing.assert_array_equal(merged.A[:, :-2], A[:, ~is_zero])
    assert not merged.A[:, -2:].any()
    np.testing.assert_array_equal(merged.y[-2:], [1.0, -1.0])
    np.testing.assert_allclose(merged.C.sum(), C.sum())
    np.testing.assert_allclose(merged.C[-2], C[is_zero & (y > 0)].sum())
    # Shares are within the bounds and add up to the merged value.
    alpha = merged.spread(0.5 * merged.C)
    np.testing.assert_allclose(alpha, 0.5 * C)


def test_one_class_may_have_no_zero_samples():
    X, y, C = sparse_rows()
    X[y > 0] += 1.0
    merged = merge_zeros((X * y[:, None]).T, y, C, ALWAYS)
    assert len(merged.groups) == 1
    assert merged.y[-1] == -1.0


def test_few_zero_samples_are_not_merged():
    X, y, C = sparse_rows()
    assert merge_zeros((X + 1.0).T * y, y, C, ALWAYS) is None
    for least, merges in ((80, True), (81, False)):
        parameters = EngineParameters(merging_min_samples=least)
        assert (merge_zeros(X.T * y, y, C, parameters) is not None) == merges


@pytest.mark.parametrize("intercept", [True, False])
def test_merging_does_not_change_the_svm(intercept):
    X, y, C = sparse_rows(3, m=200)
    arguments = {"sample_weight": C, "fit_intercept": intercept, "C": 2.0}
    dense, sparse = (
        Problem(data, y, **arguments).with_parameters(ALWAYS)
        for data in (X, sp.csr_array(X))
    )
    support = np.array([0, 2])
    one, other = (p.engine.solve_svm(support, tol=1e-9) for p in (dense, sparse))
    np.testing.assert_allclose(other.primal, one.primal, rtol=1e-9)
    np.testing.assert_allclose(other.w, one.w, rtol=1e-4, atol=1e-6)
    assert other.alpha.shape == one.alpha.shape
    # The dual point of all samples proves the value.
    exact = sparse.with_budget(2).restrict(support)
    bound = exact.engine.bound(exact.root_region(), other.alpha).bound
    np.testing.assert_allclose(bound, one.primal, rtol=1e-7)
