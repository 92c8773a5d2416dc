"""However runs end or overlap, the number of BLAS threads is restored."""

import signal
import threading
from _thread import interrupt_main
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  Before a run: what is loaded later is not limited.
from threadpoolctl import threadpool_info, threadpool_limits

from frugalsvm import FrugalSVCCV, Problem, solve
from frugalsvm.estimators import grid_search
from frugalsvm.run.stopping import Abandoned, StopCondition
from frugalsvm.run.supervision import supervise
from frugalsvm.run.threads import single_threaded_blas
from frugalsvm.search.evaluator import Evaluator
from tests.reference import random_data


def n_threads():
    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    return {
        info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"
    }


def in_a_thread_that_ends(function, *arguments):
    """While a thread that has changed the number lives, no other can."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


@pytest.fixture
def before():
    """The number of BLAS threads that a run must leave behind."""
    limits = in_a_thread_that_ends(threadpool_limits, 2, "blas")
    yield n_threads()
    in_a_thread_that_ends(limits.restore_original_limits)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_last_run_restores_from_any_thread(before, order):
    runs = [single_threaded_blas() for _ in order]
    # Both threads live on.
    threads = [ThreadPoolExecutor(1) for _ in order]
    for run, thread in zip(runs, threads, strict=True):
        thread.submit(run.__enter__).result()
    for i in order:
        assert n_threads() == {1}
        threads[i].submit(runs[i].__exit__, None, None, None).result()
    assert n_threads() == before
    for thread in threads:
        thread.shutdown()


def test_others_may_change_the_number_after_a_run(before):
    with single_threaded_blas():
        pass
    with ThreadPoolExecutor(1) as pool:
        limits = pool.submit(threadpool_limits, 1, "blas").result()
        assert n_threads() == {1}
        pool.submit(limits.restore_original_limits).result()
    assert n_threads() == before


def test_an_error_restores(before):
    seen = []

    def fail(progress):
        seen.append(n_threads())
        raise ZeroDivisionError

    X, y = random_data(np.random.default_rng(0), 20, 5)
    with pytest.raises(ZeroDivisionError):
        solve(Problem(X, y, max_features=2), callback=fail)
    assert seen == [{1}]
    assert n_threads() == before


def test_abandoned_work_restores_when_it_ends(before):
    """After Ctrl-C twice the user need not wait for the work."""
    begun, may_end, ended = (threading.Event() for _ in range(3))

    def work():
        try:
            with single_threaded_blas():
                begun.set()
                may_end.wait(30)
                raise Abandoned
        finally:
            ended.set()

    def press():
        begun.wait(30)
        interrupt_main(signal.SIGINT)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt):
        supervise(work, StopCondition(), patient=False)
    assert n_threads() == {1}
    may_end.set()
    assert ended.wait(30)
    assert n_threads() == before


def test_runs_of_several_threads_restore(before):
    X, y = random_data(np.random.default_rng(0), 20, 5)
    problem = Problem(X, y, max_features=2)
    threads = [threading.Thread(target=solve, args=(problem,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert n_threads() == before


@pytest.fixture
def threads_in(monkeypatch):
    """A function that lists the numbers of threads in the calls of another one."""

    def watch(owner, name):
        seen, function = [], getattr(owner, name)

        def watched(*arguments, **options):
            seen.append(n_threads())
            return function(*arguments, **options)

        monkeypatch.setattr(owner, name, watched)
        return seen

    return watch


def test_the_relaxations_of_a_path_are_runs_too(before, threads_in):
    assert 2 in before
    seen = threads_in(grid_search, "relax_natively")
    X, y = random_data(np.random.default_rng(0), 40, 6)
    grid_search.bounded_grid(
        Problem(X, y), np.array([1, 2]), np.array([0.1, 1.0]), effort="fast",
        seed=np.random.SeedSequence(0),
    )  # fmt: skip
    assert seen == [{1}] * 4
    assert n_threads() == before


def test_the_svms_that_are_scored_are_runs_too(before, threads_in):
    assert 2 in before
    seen = threads_in(Evaluator, "solve")
    X, y = random_data(np.random.default_rng(0), 40, 6)
    FrugalSVCCV([1, 2], cv=2, effort="fast").fit(X, y)
    assert seen.count({1}) == len(seen) > 20
    assert n_threads() == before
