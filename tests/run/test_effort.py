"""Effort: same names everywhere, more work at higher levels, explicit limits win."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from frugalsvm import FrugalSVC, Problem, Status, solve
from frugalsvm.engine.work import svm_work
from frugalsvm.run.stopping import EFFORTS, Effort, check_effort
from frugalsvm.search.parameters import SearchParameters
from frugalsvm.search.reduced import n_searched
from frugalsvm.solving.running import search_limit
from tests.reference import random_data


@pytest.fixture(scope="module")
def problem():
    X, y = random_data(np.random.default_rng(0), 60, 40)
    return Problem(X, y, C=5.0, max_features=5)


def test_known_words():
    assert list(EFFORTS) == ["fast", "normal", "thorough"]
    assert check_effort("fast") is EFFORTS["fast"]


@pytest.mark.parametrize("effort", ["quick", None, 3, ["fast"]])
def test_unknown_words_are_rejected(effort, problem):
    with pytest.raises(ValueError, match=r"effort must be one of 'fast', .*, got"):
        solve(problem, effort=effort)
    X, y = random_data(np.random.default_rng(0), 20, 4)
    with pytest.raises(ValueError, match=r"effort must be one of 'fast', .*, got"):
        FrugalSVC(2, effort=effort).fit(X, y)


def test_more_effort_is_more_work_and_no_worse(problem):
    fast, normal, thorough = (
        solve(problem, effort=effort, random_state=0) for effort in EFFORTS
    )
    assert "nodes" not in fast.counters
    assert 0 < normal.counters["nodes"] <= thorough.counters["nodes"]
    assert fast.counters["restarts"] <= normal.counters["restarts"]
    assert normal.objective <= fast.objective * (1 + 1e-6)
    assert thorough.objective <= normal.objective * (1 + 1e-6)


@pytest.mark.parametrize("effort", EFFORTS)
def test_effort_is_work_so_that_runs_are_reproducible(effort, problem):
    first, second = (
        solve(problem, effort=effort, random_state=1, max_nodes=60) for _ in range(2)
    )
    assert first.counters == second.counters
    np.testing.assert_array_equal(first.coef, second.coef)


def test_explicit_limits_take_precedence(problem):
    single = {"patience": 0}
    run = solve(problem, effort="thorough", method="swap", method_options=single)
    assert run.counters["restarts"] == 0
    limited = solve(problem, effort="fast", max_nodes=30, random_state=0)
    assert limited.counters["nodes"] >= 30
    assert limited.status is Status.NODE_LIMIT


def test_a_given_patience_does_not_depend_on_the_gap():
    """The relaxation is nearly tight, so that the patience of the effort is short."""
    X, y = random_data(np.random.default_rng(0), 200, 12)
    tight = Problem(X, y, C=1e-3, max_features=11)
    own = solve(tight, method="swap", random_state=0, gap_tol=0.0)
    assert 0.0 < own.gap < 1e-3
    patience = EFFORTS["normal"].patience
    given = solve(
        tight, method="swap", random_state=0, gap_tol=0.0,
        method_options={"patience": patience},
    )  # fmt: skip
    assert own.counters["restarts"] < given.counters["restarts"]


def test_methods_with_their_own_stopping_rules_ignore_the_effort(problem):
    small = problem.with_budget(1)
    runs = [
        solve(small, method="branch-and-bound", effort=effort, random_state=0)
        for effort in EFFORTS
    ]
    assert all(run.counters == runs[0].counters for run in runs)


def test_the_estimator_passes_its_effort_on():
    X, y = random_data(np.random.default_rng(0), 60, 12)
    assert "nodes" not in FrugalSVC(3, effort="fast").fit(X, y).result_.counters
    assert "nodes" in FrugalSVC(3).fit(X, y).result_.counters


@pytest.fixture
def tiny_effort(set_efforts):
    """An effort that is used up before a tree of the problem is complete."""
    effort = Effort(patience=99, search_work=1e6, least_svms=5, tree_work=2e7)
    set_efforts(normal=effort)


@pytest.mark.usefixtures("tiny_effort")
def test_the_end_of_an_effort_is_not_a_limit(problem):
    run = solve(problem, random_state=0)
    assert run.status is Status.FEASIBLE
    assert run.gap > 1e-4
    assert 1 < run.counters["nodes"] < 200
    full = solve(problem, method="branch-and-bound", random_state=0, max_nodes=400)
    assert full.counters["nodes"] >= 400
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = FrugalSVC(5, C=5.0, random_state=0).fit(
            *random_data(np.random.default_rng(0), 60, 40)
        )
    assert clf.status_ == "feasible"


@pytest.mark.usefixtures("tiny_effort")
def test_the_search_ends_with_its_work(problem):
    run = solve(problem, method="swap", random_state=0)
    assert run.status is Status.FEASIBLE
    # One solve of each descent may go beyond the limit.
    limit = max(1e6, 5 * svm_work(60, 5))
    assert 1 <= run.counters["SVM solves"] <= 2 * limit / svm_work(60, 3) + 8


def test_expensive_svms_raise_the_limit(set_efforts, problem):
    solves = []
    for least_svms in (5, 200):
        effort = Effort(99, search_work=0.0, least_svms=least_svms, tree_work=0.0)
        set_efforts(fast=effort)
        run = solve(problem, effort="fast", random_state=0)
        solves.append(run.counters["SVM solves"])
    assert solves[0] < 40 < 100 < solves[1]


@pytest.mark.parametrize("limit", [{"max_nodes": 3}, {"time_limit": 0.0}])
def test_limits_of_the_user_warn(limit):
    X, y = random_data(np.random.default_rng(0), 60, 40)
    words = rf"{next(iter(limit))}=.* ended the fit: no better choice .* gap_tol=0.0001"
    with pytest.warns(ConvergenceWarning, match=words):
        FrugalSVC(5, C=5.0, random_state=0, **limit).fit(X, y)


def test_limits_that_are_not_reached_do_not_warn():
    X, y = random_data(np.random.default_rng(0), 60, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = FrugalSVC(2, max_nodes=10**6, time_limit=1e6).fit(X, y)
    assert clf.status_ == "optimal"


def test_no_tree_is_started_if_it_would_have_few_nodes(problem, monkeypatch):
    assert "nodes" in solve(problem, random_state=0).counters
    monkeypatch.setattr("frugalsvm.solving.methods.node_work", lambda engine: 1e9)
    run = solve(problem, random_state=0)
    assert "nodes" not in run.counters
    # Explicitly requested nodes are searched.
    assert solve(problem, max_nodes=5, random_state=0).counters["nodes"] >= 5


def test_the_search_of_many_samples_is_limited_by_those_it_is_made_on():
    X, y = random_data(np.random.default_rng(0), 3000, 5)
    problem = Problem(X, y, max_features=2)
    effort = Effort(patience=1, search_work=1.0, least_svms=10, tree_work=0.0)
    assert search_limit(effort, problem) == 10 * svm_work(3000, 2)
    parameters = SearchParameters(sampled_min_samples=2000, n_drawn=500)
    size = n_searched(problem.with_parameters(parameters))
    limit = search_limit(effort, problem, size)
    assert limit == 10 * svm_work(500, 2)
