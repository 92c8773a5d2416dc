"""The incumbent: the best solution, its cutoff and its listeners."""

import threading

import numpy as np
import pytest

from frugalsvm.problem.solution import Solution
from frugalsvm.run.monitor import LEAST_GAP, Incumbent


def solution(objective):
    nothing = np.empty(0)
    return Solution(np.empty(0, dtype=np.int64), nothing, 0.0, nothing, objective)


def test_only_improvements_are_accepted():
    incumbent = Incumbent()
    assert incumbent.objective == np.inf
    first = solution(3.0)
    assert incumbent.offer(first)
    assert not incumbent.offer(solution(3.0))
    assert not incumbent.offer(solution(4.0))
    assert not incumbent.offer(solution(np.nan))
    assert incumbent.solution is first
    assert incumbent.offer(solution(2.0))
    assert incumbent.objective == 2.0


@pytest.mark.parametrize("gap_tol", [0.0, 1e-6, 1e-2])
def test_the_cutoff_is_within_the_gap(gap_tol):
    incumbent = Incumbent(gap_tol)
    assert incumbent.cutoff == np.inf
    incumbent.offer(solution(8.0))
    gap = 1.0 - incumbent.cutoff / 8.0
    assert 0.0 < gap <= max(gap_tol, LEAST_GAP)


def test_a_limit_rejects_solutions_and_is_the_first_cutoff():
    incumbent = Incumbent(1e-4, limit=5.0)
    assert incumbent.cutoff == 5.0
    assert not incumbent.offer(solution(5.1))
    assert incumbent.solution is None
    assert incumbent.offer(solution(5.0))
    assert incumbent.cutoff < 5.0


def test_the_cutoff_never_rises():
    incumbent = Incumbent()
    incumbent.lower_cutoff(1.0)
    cutoff = incumbent.cutoff
    incumbent.offer(solution(7.0))
    assert incumbent.cutoff == cutoff
    incumbent.lower_cutoff(2.0)
    assert incumbent.cutoff == cutoff


def test_values_cut_like_objectives():
    by_value, by_solution = Incumbent(1e-3), Incumbent(1e-3)
    by_value.lower_cutoff(3.0)
    by_solution.offer(solution(3.0))
    assert by_value.cutoff == by_solution.cutoff
    assert by_value.solution is None


def test_listeners_are_notified_of_improvements_only():
    heard = []
    incumbent = Incumbent()
    incumbent.listen(lambda solution, event: heard.append((solution.objective, event)))
    incumbent.offer(solution(2.0), "first")
    incumbent.offer(solution(3.0), "worse")
    incumbent.offer(solution(1.0), "second")
    assert heard == [(2.0, "first"), (1.0, "second")]


def test_offers_from_many_threads_keep_the_best():
    incumbent = Incumbent()
    values = np.random.default_rng(0).permutation(4000) + 1.0

    def offer(part):
        for value in part:
            incumbent.offer(solution(value))

    threads = [threading.Thread(target=offer, args=(values[t::4],)) for t in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert incumbent.objective == 1.0
