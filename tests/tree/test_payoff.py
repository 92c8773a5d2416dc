"""Payoff ends slow trees, but not those close to a proof."""

from functools import partial

import numpy as np
import pytest

from frugalsvm import Problem, Status, solve
from frugalsvm.run.stopping import Effort
from frugalsvm.tree.parameters import DEFAULTS
from frugalsvm.tree.payoff import Payoff
from tests.reference import random_data

FIRST_CHECK = DEFAULTS.first_check
WORK = 64 * FIRST_CHECK


def end_of(
    gap_at, limit=WORK, step=WORK / 1000, closing=0.0, left_at=lambda work: np.inf
):
    """The work at which a tree ends, given its gap as a function of the work.

    And the work that is likely to be left, another one.
    """
    payoff = Payoff(limit, closing)
    payoff.start(gap_at(0.0))
    work = 0.0
    while not payoff.is_over(work, gap_at(work), partial(left_at, work)):
        work += step
    return work


def test_a_constant_gap_ends_the_tree_early():
    end = end_of(lambda work: 1.0)
    doublings = DEFAULTS.bad_checks - 1
    assert FIRST_CHECK <= end <= 2**doublings * (FIRST_CHECK + WORK / 500)


def test_a_larger_limit_never_ends_earlier():
    for pace in (0.01, 0.02, 0.03, 0.05):
        ends = [
            end_of(lambda work, pace=pace: 1 / (1 + pace * np.log1p(work)), limit)
            for limit in (WORK, 4 * WORK, 16 * WORK)
        ]
        assert ends == sorted(ends)


def test_a_tree_goes_on_if_the_gap_closes_with_the_logarithm_of_work():
    # The gap is closed at the limit.
    assert end_of(lambda work: 1.0 - np.log1p(work) / np.log1p(WORK)) >= WORK


@pytest.mark.parametrize(("pace", "checks"), [(0.04, 2), (0.07, 4)])
def test_a_tree_ends_if_the_rest_would_close_less_than_30_percent(pace, checks):
    # Six doublings are left at the first check: 24 and 20 %; 42, 35, 28 and 21 %.
    def gap_at(work):
        doublings = np.log2(max(work, FIRST_CHECK / 2) / FIRST_CHECK) + 1.0
        return (1.0 + pace) ** -doublings

    end = end_of(gap_at)
    assert end == pytest.approx(2 ** (checks - 1) * FIRST_CHECK, rel=0.2)


def test_one_check_without_progress_does_not_end_the_tree():
    # No progress between two checks, steady progress before and after.
    def gap_at(work):
        return 1.0 if work < 1.5 * FIRST_CHECK else FIRST_CHECK / work

    assert end_of(gap_at) >= WORK


def test_work_is_always_limited():
    assert end_of(lambda work: 0.5 ** (work / FIRST_CHECK)) == pytest.approx(WORK)


def test_without_a_limit_the_tree_never_ends_here():
    payoff = Payoff(np.inf)
    payoff.start(1.0)
    assert not any(payoff.is_over(10.0**power, 1.0 + power) for power in range(30))


def test_a_closed_gap_is_no_reason_to_stop():
    payoff = Payoff(WORK)
    payoff.start(1.0)
    assert not payoff.is_over(0.5 * WORK, 0.0)
    assert not payoff.is_over(0.9 * WORK, -np.inf)


@pytest.mark.parametrize("closing", [3 * WORK, WORK, WORK / 2])
def test_a_tree_that_is_likely_to_close_goes_on(closing):
    end = end_of(lambda work: 1.0, closing=closing, left_at=lambda work: closing)
    assert end == pytest.approx(2 * closing, rel=0.01)


def test_a_tree_ends_when_it_is_no_longer_likely_to_close():
    # From half of the limit on, it needs ten times the limit.
    def left_at(work):
        return 0.0 if work < 0.5 * WORK else 10.0 * WORK

    end = end_of(lambda work: 1.0, closing=4 * WORK, left_at=left_at)
    assert 0.5 * WORK <= end <= WORK * 1.01


def test_a_tree_that_needs_more_than_the_limit_is_judged_by_its_gap():
    alone = end_of(lambda work: 1.0)
    doomed = end_of(lambda work: 1.0, closing=3 * WORK, left_at=lambda work: 3.1 * WORK)
    assert doomed == alone < WORK / 10


def test_what_is_left_does_not_end_a_tree_earlier():
    def gap_at(work):
        return FIRST_CHECK / (work + FIRST_CHECK)

    assert end_of(gap_at, left_at=lambda work: np.inf) >= WORK


def test_a_raised_limit_lets_a_tree_close():
    payoff = Payoff(WORK)
    payoff.start(1.0)
    assert payoff.is_over(WORK, 1.0, lambda: 0.0)
    payoff.raise_limit(WORK, 4 * WORK)
    assert payoff.will_close(7 * WORK, lambda: 4 * WORK)
    assert not payoff.will_close(WORK, lambda: 4.1 * WORK)
    assert not payoff.will_close(8 * WORK, lambda: 0.0)


def test_a_tree_ends_if_its_bound_hardly_rises(set_efforts):
    rng = np.random.default_rng(0)
    X, _ = random_data(rng, 300, 200)
    noise = Problem(X, rng.choice([-1.0, 1.0], 300), max_features=10)
    effort = Effort(patience=0, search_work=1e8, least_svms=10, tree_work=1e10)
    set_efforts(normal=effort)
    alone = {"engine": "interior-point"}
    result = solve(noise, random_state=0, method_options=alone)
    assert result.status is Status.FEASIBLE
    # Work for about 1,500 nodes.
    assert 10 < result.counters["nodes"] < 300


@pytest.fixture
def closing_work(set_efforts):
    """Sets a limit for trees that are likely to close; the others are short."""

    def limit(work):
        set_efforts(
            normal=Effort(10, search_work=1e7, least_svms=10, tree_work=4e7),
            thorough=Effort(
                20, search_work=3e7, least_svms=10, tree_work=2e8, closing_work=work
            ),
        )

    return limit


def test_thorough_closes_a_tree_that_its_limit_would_leave(closing_work):
    X, y = random_data(np.random.default_rng(1), 100, 60)
    y = np.where(np.random.default_rng(1).random(100) < 0.25, -y, y)
    problem = Problem(X, y, C=0.1, max_features=6)
    closing_work(0.0)
    left = solve(problem, effort="thorough", random_state=0, n_jobs=1)
    assert left.status is Status.FEASIBLE
    normal = solve(problem, random_state=0, n_jobs=1)
    closing_work(2e10)
    first, second = (
        solve(problem, effort="thorough", random_state=0, n_jobs=1) for _ in range(2)
    )
    assert first.status is Status.OPTIMAL
    assert first.objective <= left.objective <= normal.objective
    assert first.lower_bound > left.lower_bound >= normal.lower_bound
    # Work decides, not the clock.
    assert first.counters == second.counters
    assert first.lower_bound == second.lower_bound
    # A smaller effort does what it did.
    again = solve(problem, random_state=0, n_jobs=1)
    assert again.counters == normal.counters


def test_thorough_still_leaves_a_hopeless_tree(closing_work):
    rng = np.random.default_rng(0)
    X, _ = random_data(rng, 100, 80)
    y = rng.choice([-1.0, 1.0], 100)
    noise = Problem(X, y, C=10.0, max_features=10)
    nodes = []
    for work in (0.0, 1e10):
        closing_work(work)
        run = solve(noise, effort="thorough", random_state=0, n_jobs=1)
        assert run.status is Status.FEASIBLE
        nodes.append(run.counters["nodes"])
    assert nodes[0] == nodes[1] > 30
