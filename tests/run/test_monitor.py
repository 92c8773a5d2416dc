"""The monitor of a run: incumbent, bound, history, log and callback."""

import threading

import numpy as np
import pytest

from frugalsvm.problem.solution import Solution
from frugalsvm.run.monitor import LEAST_GAP, Incumbent, Monitor


def solution(objective):
    nothing = np.empty(0)
    return Solution(np.empty(0, dtype=np.int64), nothing, 0.0, nothing, objective)


# --- the incumbent: the best solution, its cutoff and its listeners ------------------


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


# --- the monitor ---------------------------------------------------------------------


def test_gap_and_end():
    monitor = Monitor(gap_tol=0.1)
    assert monitor.gap == np.inf
    monitor.incumbent.offer(solution(10.0))
    monitor.raise_bound(8.0)
    assert monitor.gap == pytest.approx(0.2)
    assert not monitor.is_finished()
    monitor.raise_bound(9.5)
    assert monitor.is_finished()


def test_bounds_are_never_taken_back():
    monitor = Monitor()
    monitor.raise_bound(2.0)
    monitor.raise_bound(1.0)
    assert monitor.bound == 2.0


def test_history_has_improvements_and_notable_bounds():
    monitor = Monitor()
    monitor.raise_bound(0.0)
    monitor.incumbent.offer(solution(10.0))
    monitor.raise_bound(0.01)
    monitor.raise_bound(5.0)
    monitor.incumbent.offer(solution(9.0))
    found = [entry[1:] for entry in monitor.history]
    assert found == [(np.inf, 0.0), (10.0, 0.0), (10.0, 5.0), (9.0, 5.0)]
    seconds = [entry[0] for entry in monitor.history]
    assert seconds == sorted(seconds)
    # The objective is rounded up at the end; history does not get worse by that.
    monitor.close(9.0 + 1e-12, 5.5, "optimal")
    assert monitor.history[-1][1:] == (9.0, 5.5)
    monitor.close(9.0, 5.5, "optimal")
    assert len(monitor.history) == 5


def test_the_callback_gets_progress_and_can_stop():
    told = []

    def callback(progress):
        told.append(progress)
        return progress.objective < 2.0

    monitor = Monitor(callback=callback)
    monitor.incumbent.offer(solution(3.0), "first")
    assert not monitor.should_stop()
    monitor.count_nodes(2, 1)
    monitor.raise_bound(1.0, "bound")
    assert (told[-1].nodes, told[-1].open_nodes, told[-1].lower_bound) == (2, 1, 1.0)
    monitor.incumbent.offer(solution(1.5), "second")
    assert monitor.should_stop()
    assert monitor.stop.interrupted


def test_nodes_add_up():
    monitor = Monitor()
    monitor.count_nodes(3, 2)
    monitor.count_nodes(4, 5)
    assert (monitor.nodes, monitor.open_nodes) == (7, 5)
