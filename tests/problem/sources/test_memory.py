"""Estimates of memory come before the allocation."""

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem, solve
from frugalsvm.problem import sources as memory


def test_there_is_some_memory():
    room = memory.available_bytes()
    assert room is None or room > 2**20


@pytest.fixture
def available(request, monkeypatch):
    """What is known about the available memory."""
    monkeypatch.setattr(memory, "available_bytes", lambda: request.param)


@pytest.mark.usefixtures("available")
@pytest.mark.parametrize("available", [3 * 2**30], indirect=True)
def test_arrays_that_fit_and_arrays_that_do_not():
    memory.check_room(2**31, "this", "buy more.")
    with pytest.raises(MemoryError, match=r"this .*4\.0 GiB.*3\.0 GiB.*buy more\."):
        memory.check_room(2**32, "this", "buy more.")


@pytest.mark.usefixtures("available")
@pytest.mark.parametrize("available", [None], indirect=True)
def test_memory_is_not_checked_if_it_is_unknown():
    memory.check_room(2**60, "this", "buy more.")


def large_problem():
    """Data that would take 1.6 TB as a dense matrix."""
    m, n = 200_000, 1_000_000
    X = sp.csr_array(([1.0, -1.0, 2.0], ([0, 1, 2], [5, 5, 9])), shape=(m, n))
    y = np.ones(m)
    y[::2] = -1.0
    return Problem(X, y, max_features=1)


def test_large_data_raise_memory_error_with_an_estimate():
    problem = large_problem()
    with pytest.raises(MemoryError, match=r"dense matrix.*1,490\.1 GiB.*swap"):
        _ = problem.A
    with pytest.raises(MemoryError, match=r"dense matrix.*swap"):
        solve(problem, method="heuristic")
