"""Gaps, and the table of a verbose run."""

import logging

import numpy as np
import pytest

from frugalsvm.run.monitor import (
    LOG_INTERVAL,
    History,
    Progress,
    ProgressLog,
    relative_gap,
)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [(2.0, 1.0, 0.5), (2.0, 2.0, 0.0), (2.0, 3.0, 0.0), (0.0, 0.0, 0.0),
     (np.inf, 1.0, np.inf)],
)  # fmt: skip
def test_relative_gap(objective, bound, gap):
    assert relative_gap(objective, bound) == gap


def test_lines_of_the_table(caplog):
    with caplog.at_level(logging.INFO, "frugalsvm"):
        log = ProgressLog(1)
        log.line(Progress(1.0, 0, 0, np.inf, 0.5, np.inf), "relaxation")
        log.line(Progress(2.0, 1234, 56, 2.0, 1.0, 0.5), "tree")
    header, first, second = (record.message for record in caplog.records)
    assert header.split() == [
        "time",
        "nodes",
        "open",
        "objective",
        "bound",
        "gap",
        "event",
    ]
    assert first.split() == ["1.0s", "-", "-", "-", "0.5", "-", "relaxation"]
    assert second.split() == ["2.0s", "1,234", "56", "2", "1", "50.00%", "tree"]
    assert not log.is_due(2.0 + 0.9 * LOG_INTERVAL)
    assert log.is_due(2.0 + LOG_INTERVAL)


def test_a_quiet_run_logs_nothing(caplog):
    with caplog.at_level(logging.INFO, "frugalsvm"):
        log = ProgressLog(0)
        log.line(Progress(1.0, 0, 0, 1.0, 0.5, 0.5), "relaxation")
    assert not caplog.records
    assert not log.is_due(1e9)


def test_a_thread_that_is_late_makes_the_history_no_worse():
    history = History()
    history.add(Progress(1.0, 0, 0, 10.0, 5.0, 0.5))
    history.add(Progress(3.0, 0, 0, 9.0, 6.0, 1 / 3))
    # Its objective was read before the last entry, its bound after.
    history.add(Progress(2.0, 0, 0, 10.0, 7.0, 0.3))
    history.add(Progress(2.5, 0, 0, 9.5, 6.5, 0.3))
    history.close(Progress(4.0, 0, 0, 9.1, 7.0, 0.2))
    assert history.entries == [(1.0, 10.0, 5.0), (3.0, 9.0, 6.0), (3.0, 9.0, 7.0)]
