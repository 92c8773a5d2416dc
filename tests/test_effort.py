"""Effort: the same words everywhere, more work for more effort, limits win."""

import numpy as np
import pytest

from frugalsvm import FrugalSVC, Problem, solve
from frugalsvm.effort import EFFORTS, check_effort
from tests.reference import random_data


@pytest.fixture(scope="module")
def problem():
    X, y = random_data(np.random.default_rng(0), 60, 40)
    return Problem(X, y, C=5.0, max_features=5)


def test_known_words():
    assert list(EFFORTS) == ["fast", "normal", "thorough"]
    assert check_effort("fast") is EFFORTS["fast"]


@pytest.mark.parametrize("effort", ["quick", None, 3, ["fast"]])
def test_unknown_words_are_refused(effort, problem):
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
def test_effort_is_work_so_that_runs_can_be_repeated(effort, problem):
    first, second = (
        solve(problem, effort=effort, random_state=1, max_nodes=60) for _ in range(2)
    )
    assert first.counters == second.counters
    np.testing.assert_array_equal(first.coef, second.coef)


def test_what_is_given_wins(problem):
    single = {"patience": 0}
    run = solve(problem, effort="thorough", method="swap", method_options=single)
    assert run.counters["restarts"] == 0
    assert solve(problem, effort="fast", max_nodes=30).counters["nodes"] >= 30


def test_methods_with_rules_of_their_own_do_not_ask(problem):
    small = problem.with_budget(1)
    runs = [
        solve(small, method="branch-and-bound", effort=effort, random_state=0)
        for effort in EFFORTS
    ]
    assert all(run.counters == runs[0].counters for run in runs)


def test_the_estimator_hands_its_effort_on():
    X, y = random_data(np.random.default_rng(0), 60, 12)
    assert "nodes" not in FrugalSVC(3, effort="fast").fit(X, y).result_.counters
    assert "nodes" in FrugalSVC(3).fit(X, y).result_.counters
