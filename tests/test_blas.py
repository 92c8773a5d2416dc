"""Runs that overlap leave the number of BLAS threads as it was."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from frugalsvm.blas import single_threaded_blas


def n_threads():
    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    return {
        info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"
    }


def test_the_last_to_leave_restores():
    with threadpool_limits(2, "blas"):
        before = n_threads()
        first, second = single_threaded_blas(), single_threaded_blas()
        first.__enter__()
        second.__enter__()
        assert n_threads() == {1}
        first.__exit__(None, None, None)
        assert n_threads() == {1}
        second.__exit__(None, None, None)
        assert n_threads() == before
