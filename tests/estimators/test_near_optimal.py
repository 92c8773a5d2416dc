"""near_optimal, compared with enumeration; its limits and its errors."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from frugalsvm import Problem, near_optimal, verify
from tests.reference import Enumeration, random_data
from tests.tree.problems import KINDS, small_problem

# Objectives that are closer than this to the threshold may be listed or not.
CLOSE = 1e-8
TOLERANCES = (0.0, 0.01, 0.1, 0.5)


def keys(supports):
    return {tuple(one.tolist()) for one in supports}


def agrees(found, reference):
    """Whether a list agrees with enumeration, except for rounding at the threshold."""
    limit = (1 + found.tolerance) * reference.best
    sure, possible = (
        {reference.reduced(s) for s in reference.sets(limit * (1 + sign * CLOSE))}
        for sign in (-1, 1)
    )
    if found.tolerance == 0.0:
        sure = set()
    return sure <= keys(found.supports) <= possible


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_equals_enumeration(kind, seed):
    problem, X, y = small_problem(kind, seed)
    reference = Enumeration(problem)
    for tolerance in TOLERANCES:
        found = near_optimal(problem, tolerance=tolerance, certificate=True)
        assert found.complete
        assert found.complete_up_to == tolerance
        assert len(found) == len(keys(found.supports)) > 0
        assert agrees(found, reference), tolerance
        values = [reference.values[tuple(s.tolist())] for s in found.supports]
        np.testing.assert_allclose(found.objectives, values, rtol=1e-8)
        assert (np.diff(found.objectives) >= 0).all()
        assert found.lower_bound <= reference.best * (1 + 1e-12)
        np.testing.assert_allclose(found.lower_bound, reference.best, rtol=1e-6)
        proved = verify(found.certificate, X, y).alternatives
        assert proved.threshold >= found.threshold * (1 - 1e-9)
        assert keys(found.supports) <= {
            tuple(s[i] for i in range(s.size) if s[i] in set(t.tolist()))
            for s in proved.supports
            for t in found.supports
        }


@pytest.mark.parametrize("kind", KINDS)
def test_weights_have_the_objectives(kind):
    problem, _, _ = small_problem(kind, 1)
    found = near_optimal(problem, tolerance=0.2)
    for support, coef, intercept, objective in zip(
        found.supports, found.coefs, found.intercepts, found.objectives, strict=True
    ):
        whole = np.zeros(problem.n_features)
        whole[support] = coef
        assert problem.objective(whole, intercept) == objective
        assert problem.admits(support)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_minimal_equals_enumeration(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    reference = Enumeration(problem)
    found = near_optimal(problem, tolerance=0.3)
    useful = set(problem.candidates) | set(problem.include)
    expected = reference.minimal(1.3 * reference.best)
    assert keys(found.minimal()) == {s for s in expected if set(s) <= useful}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_indispensable_equals_enumeration(kind, seed):
    problem, _, _ = small_problem(kind, seed)
    reference = Enumeration(problem)
    found = near_optimal(problem, tolerance=0.3)
    within = [s for s, v in reference.values.items() if v <= 1.3 * reference.best]
    expected = set.intersection(*map(set, within))
    assert {int(name[1:]) for name in found.indispensable} == expected


def test_a_budget_that_fits_all_features():
    X, y = random_data(np.random.default_rng(3), 30, 4)
    found = near_optimal(X, y, max_features=None, tolerance=1.0, certificate=True)
    assert found.complete
    assert keys(found.supports) == {(0, 1, 2, 3)}
    # No single feature makes that much difference.
    assert found.indispensable == []
    assert verify(found.certificate, X, y).alternatives.threshold == np.inf


def test_a_weight_of_zero_is_not_a_feature():
    # The last feature is zero wherever it could matter.
    X = np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [-2.0, 0.0], [90.0, 1.0]])
    y = np.array([1, 1, -1, -1, 1])
    found = near_optimal(X, y, max_features=2, certificate=True)
    assert keys(found.supports) == {(0,)}
    assert found.complete
    proved = verify(found.certificate, X, y).alternatives
    assert keys(proved.supports) == {(0, 1)}
    assert found.never == ["x1"]


def test_a_start_that_is_not_a_leaf_is_dropped():
    # A start without weights has no features, its leaf has; there is room for one.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4)), np.where(np.arange(12) < 10, 1.0, -1.0)
    found = near_optimal(X, y, max_features=1, C=1e-9, limit=1, tolerance=1.0)
    assert len(found) == 1
    assert np.isfinite([found.lower_bound, found.complete_up_to]).all()
    np.testing.assert_allclose(found.lower_bound, found.objectives[0], rtol=1e-6)


def test_ties_are_listed():
    rng = np.random.default_rng(1)
    X, y = random_data(rng, 30, 5)
    X = np.column_stack([X, X[:, 2]])
    y = np.where(X[:, 2] + 0.1 * X[:, 0] > 0, 1.0, -1.0)
    found = near_optimal(X, y, max_features=1, tolerance=0.0)
    assert found.complete
    assert keys(found.supports) == {(2,), (5,)}
    assert found.replaceable == {"x2": ["x5"], "x5": ["x2"]}
    assert found.indispensable == []


def hard():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 14))
    y = np.where(X[:, :6].sum(axis=1) + rng.normal(size=60) > 0, 1.0, -1.0)
    return Problem(X, y, max_features=4), X, y


@pytest.fixture(scope="module")
def whole():
    """The complete list of a problem that needs a tree."""
    problem, _, _ = hard()
    return near_optimal(problem, tolerance=0.2)


@pytest.mark.parametrize("limits", [{"limit": 5}, {"limit": 1}, {"max_nodes": 30},
                                    {"max_nodes": 1}, {"time_limit": 0.0}])  # fmt: skip
def test_limits_leave_a_list_that_is_complete_up_to_a_tolerance(whole, limits):
    problem, X, y = hard()
    assert len(whole) > 12
    found = near_optimal(problem, tolerance=0.2, certificate=True, **limits)
    assert not found.complete
    assert found.status in ("limit", "node limit", "time limit")
    assert found.complete_up_to < 0.2
    best = whole.objectives[0]
    below = whole.objectives < (1 + found.complete_up_to) * best
    assert keys(whole.supports[: below.sum()]) <= keys(found.supports)
    assert len(found) <= limits.get("limit", 10_000)
    if "limit" in limits:
        # The best ones, whatever was found first.
        np.testing.assert_allclose(
            found.objectives, whole.objectives[: limits["limit"]], rtol=1e-9
        )
    proved = verify(found.certificate, X, y).alternatives
    assert proved.threshold >= (1 + found.complete_up_to) * best * (1 - 1e-9)


def test_a_smaller_tolerance_is_a_shorter_list(whole):
    problem, _, _ = hard()
    fewer = whole.within(0.05)
    assert fewer.complete
    assert 0 < len(fewer) < len(whole)
    assert keys(fewer.supports) == keys(near_optimal(problem, tolerance=0.05).supports)
    cut = near_optimal(problem, tolerance=0.2, limit=5)
    assert not cut.within(0.15).complete
    assert cut.within(0.0).complete
    with pytest.raises(ValueError, match=r"between 0 and that of the list, 0\.2"):
        whole.within(0.3)


def test_threads_find_the_same(whole):
    problem, _, _ = hard()
    found = near_optimal(problem, tolerance=0.2, n_jobs=3)
    assert keys(found.supports) == keys(whole.supports)
    assert found.complete


def test_data_frames_and_labels(whole):
    _, X, y = hard()
    names = [f"f{j}" for j in range(14)]
    frame = pd.DataFrame(X, columns=names)
    labels = np.where(y > 0, "yes", "no")
    found = near_optimal(frame, labels, max_features=4, tolerance=0.2)
    assert keys(found.supports) == keys(whole.supports)
    assert found.feature_names == names
    given = near_optimal(frame, labels, include=["f3"], exclude=["f0"])
    assert all(3 in one and 0 not in one for one in given.supports)
    assert "f3" in given.indispensable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tolerance": -0.1}, "tolerance must be a number >= 0, got -0.1"),
        ({"tolerance": np.nan}, "tolerance must be"),
        ({"tolerance": "1 %"}, "tolerance must be"),
        ({"limit": 0}, "limit must be an integer >= 1, got 0"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"max_nodes": 0}, "max_nodes must be"),
        ({"feature_names": ["a"]}, "feature_names has 1 entries"),
        ({"feature_names": 5}, "must be a list of names"),
        ({"feature_names": "abc"}, "must be a list of names"),
        ({"C": 2.0}, "cannot be given with a Problem"),
        ({"include": [1]}, "include cannot be given with a Problem"),
        ({"y": np.ones(3)}, "y cannot be given with a Problem"),
        ({"max_features": np.array([1, 2])}, "cannot be given with a Problem"),
        ({"random_state": "a"}, "random_state must be an integer >= 0.*got 'a'"),
        ({"random_state": 1.5}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_jobs": "a"}, "n_jobs must be a number of threads.*got 'a'"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"certificate": "file"}, "certificate must be True or False, got 'file'"),
    ],
)
def test_bad_input(arguments, message):
    problem, _, _ = hard()
    with pytest.raises(ValueError, match=message):
        near_optimal(problem, **arguments)


def test_bad_data():
    _, X, y = hard()
    with pytest.raises(ValueError, match="y must be given"):
        near_optimal(X)
    with pytest.raises(ValueError, match="two classes or more, got 1"):
        near_optimal(X, np.ones(60))
    with pytest.raises(ValueError, match="one label per row"):
        near_optimal(X, y[:-1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"include": 3}, "include must be a list.*got 3"),
        ({"include": "f3"}, "include must be a list.*got 'f3'"),
        ({"include": [[1, 2], [3]]}, r"include must hold.*got \[1, 2\]"),
        ({"sample_weight": ["a"] * 60}, "sample_weight must hold numbers"),
        ({"feature_costs": ["a"] * 12, "max_cost": 1}, "feature_costs must hold num"),
        ({"fit_intercept": "no"}, "fit_intercept must be True or False, got 'no'"),
    ],
)
def test_bad_conditions(arguments, message):
    _, X, y = hard()
    with pytest.raises(ValueError, match=message):
        near_optimal(X, y, **arguments)


def test_sparse_data():
    _, X, y = hard()
    dense, sparse = near_optimal(X, y), near_optimal(csr_array(X), y)
    for one, other in zip(dense.supports, sparse.supports, strict=True):
        np.testing.assert_array_equal(other, one)
    np.testing.assert_allclose(sparse.objectives, dense.objectives, rtol=1e-8)


def test_data_that_are_not_a_numeric_table():
    _, X, y = hard()
    with pytest.raises(ValueError, match="complex numbers"):
        near_optimal(X + 1j, y)
    with pytest.raises(ValueError, match="X must be numeric"):
        near_optimal([[1.0, 2.0], [1.0]], [0, 1])


def test_costs_that_limit_nothing():
    _, X, y = hard()
    with pytest.warns(UserWarning, match="without max_cost limits nothing") as caught:
        near_optimal(X, y, max_features=1, feature_costs=np.ones(X.shape[1]))
    assert caught[0].filename == __file__


def test_features_by_given_names():
    X, y = random_data(np.random.default_rng(2), 40, 4)
    given = {"max_features": 2, "tolerance": 0.3, "feature_names": list("abcd")}
    found = near_optimal(X, y, include=["c"], exclude=["a"], **given)
    same = near_optimal(X, y, include=[2], exclude=[0], **given)
    assert keys(found.supports) == keys(same.supports)
    assert "c" in found.indispensable
    costs = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    found = near_optimal(X, y, feature_costs=costs, max_cost=4.0, **given)
    np.testing.assert_array_equal(found.problem.costs, [1.0, 2.0, 3.0, 4.0])


def test_missing_labels():
    X, y = random_data(np.random.default_rng(2), 40, 4)
    for missing in (np.nan, None, pd.NA):
        labels = np.where(y > 0, 1.0, 0.0).astype(object)
        labels[3] = missing
        with pytest.raises(ValueError, match="missing labels"):
            near_optimal(X, labels)
    with pytest.raises(ValueError, match="missing labels"):
        near_optimal(X, np.where(y > 0, 1.0, np.nan))
    with pytest.raises(ValueError, match="y is a masked array"):
        near_optimal(X, np.ma.masked_equal(y, 1))
    mixed = np.array([1 if one > 0 else "a" for one in y], dtype=object)
    with pytest.raises(ValueError, match="labels of one type, got int and str"):
        near_optimal(X, mixed)


def test_status_of_numbers_too_large_for_a_proof():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    found = near_optimal(X * 1e20, y, max_features=2, C=1e3, tolerance=0.5)
    assert not found.complete
    # The list has room for more.
    assert found.status == "feasible"


def test_proof_that_everything_is_listed():
    X, y = random_data(np.random.default_rng(2), 40, 4)
    found = near_optimal(X, y, max_features=2, tolerance=1e6, certificate=True)
    proved = verify(found.certificate, X, y)
    assert proved.alternatives.threshold == np.inf
    assert "every choice of features is one of the 6 listed" in str(proved)
    assert "inf" not in str(proved)


def test_a_model_without_features_is_printed():
    X, y = random_data(np.random.default_rng(2), 40, 4)
    found = near_optimal(X, y, max_features=0)
    assert "(no features)" in str(found)
    with pytest.raises(ValueError, match="tolerance must be between"):
        found.within("a")


def test_features_that_are_included_need_no_weight():
    """The start does not select a feature whose weight has the wrong sign."""
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -0.5], [-1.0, 0.5]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    problem = Problem(X, y, include=[0, 1], signs=[1, 1])
    found = near_optimal(problem, random_state=0)
    assert found.complete
    assert [support.tolist() for support in found.supports] == [[0, 1]]
    assert found.coefs[0][1] == 0.0


def test_a_list_from_a_result_needs_no_search_before_it():
    # In a process of its own, where the search has not been compiled or loaded.
    code = (
        "from frugalsvm import near_optimal, solve\n"
        "from frugalsvm.run.compilation import tiny_problem\n"
        "problem = tiny_problem()\n"
        "result = solve(problem, method='relax-and-round')\n"
        "print(len(near_optimal(problem, tolerance=0.1, warm=result).supports))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, timeout=300
    )
    assert int(done.stdout) > 0
