"""Stop conditions, and who is notified."""

import time

import numpy as np
import pytest

from frugalsvm.run.stopping import GRACE, Abandoned, StopCondition


def test_nothing_stops_a_run_without_limits():
    stop = StopCondition()
    stop.watch()
    assert not stop.should_stop()
    assert stop.seconds_left == np.inf
    assert stop.flag[0] == stop.urgent_flag[0] == 0


def test_the_clock_sets_the_flags_one_after_the_other():
    stop = StopCondition(0.0)
    assert stop.should_stop()
    assert stop.out_of_time
    assert stop.flag[0] == 0
    stop.watch()
    assert stop.flag[0] == 1
    assert stop.urgent_flag[0] == 0
    time.sleep(GRACE + 0.1)
    stop.watch()
    assert stop.urgent_flag[0] == 1


def test_an_interrupt_stops_at_once_but_leaves_time_for_a_first_solution():
    stop = StopCondition(100.0)
    stop.interrupt()
    assert stop.should_stop()
    assert stop.flag[0] == 1
    assert stop.urgent_flag[0] == 0
    assert stop.seconds_left == 0.0


def test_a_failed_solver_stops():
    stop = StopCondition()
    stop.failure = "no licence"
    assert stop.should_stop()


def test_an_abandoned_run_raises():
    stop = StopCondition()
    stop.abandon()
    assert stop.flag[0] == stop.urgent_flag[0] == 1
    with pytest.raises(Abandoned):
        stop.should_stop()
