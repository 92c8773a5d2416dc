"""Problem: what it stores, and how it rejects invalid input."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem, relax
from tests.reference import random_data

X = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [0.0, 3.0, 5.0]])
Y = np.array([1.0, -1.0, 1.0, -1.0])


def test_signed_rows_and_weights():
    problem = Problem(X, Y, C=2.0, sample_weight=[1, 2, 3, 4])
    np.testing.assert_array_equal(problem.signed_rows(), (X * Y[:, None]).T)
    # The constant feature is shifted to zero, the others stay where they are.
    np.testing.assert_array_equal(problem.shift, [0.0, 0.0, 5.0])
    np.testing.assert_array_equal(problem.A, ((X - problem.shift) * Y[:, None]).T)
    np.testing.assert_array_equal(problem.C, [2, 4, 6, 8])
    assert (problem.n_samples, problem.n_features) == (4, 3)


def test_samples_of_weight_zero_are_dropped():
    problem = Problem(X, Y, sample_weight=[1, 0, 1, 1])
    np.testing.assert_array_equal(problem.y, Y[[0, 2, 3]])
    assert problem.n_samples == 3


def test_is_immutable_and_leaves_the_input_alone():
    data = X.copy()
    problem = Problem(data, Y)
    with pytest.raises(ValueError, match="read-only"):
        problem.A[0, 0] = 7.0
    data[0, 0] = 7.0
    assert problem.A[0, 0] == 0.0


def test_nothing_of_a_problem_can_be_set():
    problem = Problem(X, Y)
    for name in ("C", "data", "max_features", "new"):
        with pytest.raises(AttributeError, match="with_budget and with_C"):
            setattr(problem, name, 1)
    with pytest.raises(FrozenInstanceError):
        problem.constraints.max_features = 1


def test_pickles_hold_the_parts_and_no_run():
    problem = Problem(X, Y, C=2.0, max_features=2)
    flag = np.zeros(1, dtype=np.uint8)
    watched = problem.watching(flag, 2)
    assert relax(watched).bound == relax(problem).bound
    again = pickle.loads(pickle.dumps(watched))
    assert not again.is_watched
    assert vars(again).keys() == {"data", "loss", "constraints", "columns", "context"}
    assert relax(again).bound == relax(problem).bound


@pytest.mark.parametrize("labels", [Y, np.column_stack([Y, -Y, Y])])
def test_what_was_pickled_cannot_be_changed_either(labels):
    problem = Problem(X, labels, sample_weight=np.arange(1.0, Y.size + 1))
    again = pickle.loads(pickle.dumps(problem))
    for name in ("A", "y", "C", "norms", "costs", "weights", "include"):
        assert not getattr(again, name).flags.writeable
    assert not again.columns.numbers.flags.writeable


def test_the_engine_of_a_problem_is_made_once():
    problem = Problem(X, Y)
    assert problem.engine is problem.engine
    assert problem.with_C(3.0).engine is not problem.engine


def test_constant_features_are_candidates_only_without_intercept():
    np.testing.assert_array_equal(Problem(X, Y).candidates, [0, 1])
    np.testing.assert_array_equal(
        Problem(X, Y, fit_intercept=False).candidates, [0, 1, 2]
    )


def test_objective_is_the_formula():
    problem = Problem(X, Y, C=3.0)
    coef, b = np.array([0.5, 0.0, -0.2]), 0.3
    expected = 0.5 * coef @ coef + 3 * np.maximum(0, 1 - Y * (X @ coef + b)).sum()
    np.testing.assert_allclose(problem.objective(coef, b), expected)


def test_dual_bound_takes_any_point_of_the_right_length():
    problem = Problem(X, Y, max_features=1)
    assert problem.dual_bound(np.zeros(4)) <= 0.0
    assert problem.dual_bound(np.full(4, np.nan)) <= 0.0
    assert problem.dual_bound([0.1, 0.1, 0.1, 0.1]) > 0.0
    with pytest.raises(ValueError, match=r"alpha.*\(4\).*\(3,\)"):
        problem.dual_bound(np.zeros(3))


def test_sums_of_costs_may_round():
    problem = Problem(X, Y, feature_costs=[0.1, 0.2, 0.4], max_cost=0.3)
    assert 0.1 + 0.2 > 0.3
    assert problem.admits(np.array([0, 1]))
    assert not problem.admits(np.array([0, 2]))


def test_admits_checks_every_constraint():
    problem = Problem(X, Y, max_features=2, include=[1], exclude=[2])
    assert problem.admits(np.array([0, 1]))
    assert not problem.admits(np.array([0]))
    assert not problem.admits(np.array([1, 2]))
    assert not problem.admits(np.array([0, 1, 2]))


def test_other_budgets_and_weights_share_the_data():
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 30, 8)
    weights = rng.choice([0.0, 0.5, 2.0], 30)
    weights[[0, -1]] = 1.0
    costs = rng.uniform(1.0, 2.0, 8)
    fixed = {"sample_weight": weights, "feature_costs": costs, "include": [2]}
    problem = Problem(X, y, C=3.0, max_features=5, max_cost=6.0, **fixed)
    other = problem.with_budget(2, max_cost=4.0).with_C(0.1)
    fresh = Problem(X, y, C=0.1, max_features=2, max_cost=4.0, **fixed)
    assert other.A is problem.A
    assert other.norms is problem.norms
    np.testing.assert_array_equal(other.C, fresh.C)
    np.testing.assert_array_equal(other.weights, fresh.weights)
    assert (other.max_features, other.max_cost) == (2, 4.0)
    assert relax(other).bound == relax(fresh).bound
    # The first one is unchanged.
    assert (problem.max_features, problem.max_cost) == (5, 6.0)
    assert problem.C[0] == 3.0


def test_other_budgets_are_checked():
    X, y = random_data(np.random.default_rng(0), 10, 4)
    problem = Problem(X, y, max_features=3, include=[0, 1])
    assert problem.with_budget(None).max_features == 4
    with pytest.raises(ValueError, match="include has 2 features"):
        problem.with_budget(1)
    with pytest.raises(TypeError, match="max_features"):
        problem.with_budget(1.5)
    with pytest.raises(ValueError, match="needs feature_costs"):
        problem.with_budget(3, max_cost=2.0)
    with pytest.raises(ValueError, match="C must be"):
        problem.with_C(0.0)


def test_data_are_overwritten_only_on_request():
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(20, 3)))
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    before = X.copy()
    A = np.array(Problem(X, y).A)
    np.testing.assert_array_equal(X, before)
    weights = np.r_[0.0, np.ones(19)]
    Problem(X, y, sample_weight=weights, overwrite_X=True)
    np.testing.assert_array_equal(X, before)
    Problem(before[:, :], y, overwrite_X=True)
    inside = Problem(X, y, overwrite_X=True)
    np.testing.assert_array_equal(inside.A, A)
    assert np.shares_memory(inside.A, X)
    X = np.asfortranarray(before)
    X.setflags(write=False)
    assert not np.shares_memory(Problem(X, y, overwrite_X=True).A, X)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int8, np.uint64, bool])
def test_numbers_of_any_type_are_the_same_problem(kind, order):
    rng = np.random.default_rng(1)
    data = (10 * rng.random(size=(700, 3))).astype(kind)
    y = np.where(np.arange(700) % 3, 1.0, -1.0)
    given = np.asarray(data, order=order)
    problem = Problem(given, y, overwrite_X=True)
    np.testing.assert_array_equal(problem.A, Problem(data.astype(float), y).A)
    assert problem.A.flags.c_contiguous
    np.testing.assert_array_equal(given, data)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_problem_on_some_samples(is_sparse):
    rng = np.random.default_rng(2)
    X, y = random_data(rng, 400, 5)
    y[20:] = -1.0
    X[:, 4] += 1e4
    weights = rng.uniform(0.5, 2.0, 400)
    data = sp.csr_array(X) if is_sparse else X
    problem = Problem(data, y, C=3.0, sample_weight=weights, max_features=2)
    small = problem.drawn(80, np.random.default_rng(0))
    # A class of few samples is included completely.
    assert (small.y > 0).sum() == (y > 0).sum() < 20
    assert 75 <= small.n_samples <= 100
    assert small.source is None
    for sign in (1.0, -1.0):
        np.testing.assert_allclose(
            small.C[small.y == sign].sum(), problem.C[y == sign].sum()
        )
    rows = (X * y[:, None]).tolist()
    for signed in small.signed_rows().T.tolist():
        assert signed in rows
    np.testing.assert_array_equal(small.shift, problem.shift)
    assert small.shift[4] > 0
    np.testing.assert_array_equal(small.candidates, np.arange(5))
    assert (small.norms < problem.norms).all()
    np.testing.assert_allclose(small.with_C(2.0).C, 2.0 * small.C)
    assert relax(small).bound > 0.0
