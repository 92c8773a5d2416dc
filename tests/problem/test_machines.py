"""Several machines: what the problem stores of each, and what it refuses."""

import pickle

import numpy as np
import pytest

from frugalsvm import Problem, relax
from tests.classes import KINDS, class_arguments, class_problem, one_against_rest


@pytest.mark.parametrize("kind", KINDS)
def test_each_machine_is_the_problem_of_its_labels(kind):
    X, classes, arguments = class_arguments(kind, 2)
    Y = one_against_rest(classes)
    problem = Problem(X, Y, **arguments)
    assert problem.n_machines == Y.shape[1] == len(problem.machines)
    alone = [Problem(X, labels, **arguments) for labels in Y.T]
    for own, one in zip(problem.machines, alone, strict=True):
        for name in ("A", "y", "C", "shift", "norms"):
            np.testing.assert_array_equal(getattr(own, name), getattr(one, name))
        np.testing.assert_array_equal(own.columns.groups, one.columns.groups)
    for name in ("A", "y", "C", "shift", "norms"):
        together = np.concatenate([getattr(one, name) for one in alone])
        np.testing.assert_array_equal(getattr(problem, name), together)
    for name in ("candidates", "include", "exclude", "costs"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(alone[0], name))
    assert problem.n_features == alone[0].n_features
    assert problem.n_columns == Y.shape[1] * alone[0].n_columns
    groups = np.tile(alone[0].columns.groups, Y.shape[1])
    np.testing.assert_array_equal(problem.columns.groups, groups)
    rng = np.random.default_rng(0)
    w, b = rng.normal(size=(Y.shape[1], X.shape[1])), rng.normal(size=Y.shape[1])
    each = list(zip(alone, w, b, strict=True))
    value = sum(one.objective(*point) for one, *point in each)
    np.testing.assert_allclose(problem.objective(w.ravel(), b), value, rtol=1e-14)
    assert problem.objective(w.ravel(), b) >= value * (1 - 1e-16)
    margins = np.concatenate([one.margins(*point) for one, *point in each])
    np.testing.assert_allclose(problem.margins(w.ravel(), b), margins, rtol=1e-12)
    shifted = [one.unshifted_intercept(*point) for one, *point in each]
    np.testing.assert_array_equal(problem.unshifted_intercept(w.ravel(), b), shifted)


@pytest.mark.parametrize("kind", ["plain", "groups"])
def test_weights_of_features_become_rows_of_machines(kind):
    X, classes, arguments = class_arguments(kind, 3)
    problem = Problem(X, one_against_rest(classes), **arguments)
    groups = arguments.get("feature_groups", np.arange(X.shape[1]))
    whole = np.arange(1.0, problem.n_columns + 1)
    support = np.arange(problem.n_features)[::2]
    # Feature by feature, in each the columns of all machines.
    w = whole[problem.columns.of(support)]
    own = [j for g in support for j in np.flatnonzero(groups == g)]
    expected = whole.reshape(problem.n_machines, -1)[:, own]
    np.testing.assert_array_equal(problem.blocks(support, w), expected.ravel())


def test_the_data_are_left_alone_and_pickles_are_the_same_problem():
    X, classes, arguments = class_arguments("everything", 1)
    before = X.copy()
    problem = Problem(X, one_against_rest(classes), **arguments)
    again = pickle.loads(pickle.dumps(problem))
    assert relax(again).bound == relax(problem).bound
    np.testing.assert_array_equal(X, before)
    X[:] = 7.0
    assert relax(problem).bound == relax(again).bound
    with pytest.raises(ValueError, match="read-only"):
        problem.A[0, 0] = 7.0


def test_other_budgets_and_C_keep_the_machines():
    problem = class_problem("plain", 2).with_C(0.7).with_budget(1)
    assert problem.n_machines == 3
    np.testing.assert_array_equal(problem.C, 0.7)
    assert [one.max_features for one in problem.machines] == [1, 1, 1]


X = np.arange(12.0).reshape(6, 2)
Y = one_against_rest([0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": Y[:5]}, r"one label per row of X \(6\), got shape \(5, 3\)"),
        ({"y": Y[:, :0]}, r"got shape \(6, 0\)"),
        ({"y": Y[None]}, r"got shape \(1, 6, 3\)"),
        ({"y": np.where(Y < 0, 0.0, Y)}, "-1 or \\+1, got 0"),
        ({"y": np.where(np.arange(3) == 1, -1.0, Y)}, "only one class"),
        ({"sample_weight": [0, 1, 1, 0, 1, 1]}, "only one class"),
        ({"sample_weight": [1, 1]}, "sample_weight.*6"),
        ({"signs": [1, 0]}, "signs are for one column of labels"),
    ],
)
def test_bad_labels_are_explained(arguments, words):
    with pytest.raises(ValueError, match=words):
        Problem(**{"X": X, "y": Y, **arguments})


def test_dual_points_are_for_all_samples_of_all_machines():
    problem = Problem(X, Y)
    assert problem.dual_bound(np.ones(18)) >= 0
    with pytest.raises(ValueError, match=r"18\), got shape \(6,\)"):
        problem.dual_bound(np.ones(6))


def test_copies_that_do_not_fit_are_refused(monkeypatch):
    from frugalsvm.problem import data as machines

    asked = []
    monkeypatch.setattr(machines, "check_room", lambda *given: asked.append(given))
    Problem(X, Y)
    assert asked[0][0] == 8.0 * 3 * X.size
    assert "for each of 3 classes" in asked[0][1]
