"""The monitor combines incumbent, bound, history, log and callback."""

import numpy as np
import pytest

from frugalsvm.run.monitor import Monitor
from tests.run.test_incumbent import solution


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
