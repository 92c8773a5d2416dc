"""Payoff ends slow trees, but not those close to a proof."""

import numpy as np
import pytest

from frugalsvm import Problem, Status, solve
from frugalsvm.runtime.effort import EFFORTS, Effort
from frugalsvm.tree.parameters import DEFAULTS
from frugalsvm.tree.payoff import Payoff
from tests.reference import random_data

FIRST_CHECK = DEFAULTS.first_check
WORK = 64 * FIRST_CHECK


def end_of(gap_at, limit=WORK, step=WORK / 1000):
    """The work at which a tree ends, given its gap as a function of the work."""
    payoff = Payoff(limit)
    payoff.start(gap_at(0.0))
    work = 0.0
    while not payoff.is_over(work, gap_at(work)):
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


def test_a_tree_ends_if_its_bound_hardly_rises(monkeypatch):
    rng = np.random.default_rng(0)
    X, _ = random_data(rng, 300, 200)
    noise = Problem(X, rng.choice([-1.0, 1.0], 300), max_features=10)
    effort = Effort(patience=0, search_work=1e8, least_svms=10, tree_work=1e10)
    monkeypatch.setitem(EFFORTS, "normal", effort)
    result = solve(noise, random_state=0)
    assert result.status is Status.FEASIBLE
    # Work for about 1,500 nodes.
    assert 10 < result.counters["nodes"] < 300
