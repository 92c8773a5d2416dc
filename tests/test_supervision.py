"""Ctrl-C, signals and limits: what is stopped stops, and what was found is kept."""

import os
import pickle
import signal
import threading
import time
from _thread import interrupt_main

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from frugalsvm import FrugalSVC, Problem, relax, solve
from frugalsvm.engine.perspective import region_task
from frugalsvm.stopping import StopCondition
from frugalsvm.supervision import supervise
from tests.reference import random_data


def hard_problem(m=200, n=300):
    X, y = random_data(np.random.default_rng(5), m, n)
    return X, y, Problem(X, y, C=10.0, max_features=10)


def still_running(seconds=10.0):
    """Our threads that are alive after some time to end."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        alive = [t for t in threading.enumerate() if "frugalsvm" in t.name]
        if not alive:
            return []
        time.sleep(0.05)
    return alive


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    X, y = random_data(np.random.default_rng(0), 20, 5)
    solve(Problem(X, y, max_features=2))


class Alarm(Exception):
    """What a signal handler of the user's raises."""


@pytest.fixture
def alarm():
    """Raise Alarm after some seconds, wherever the main thread is then."""

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    # Again after two seconds: Python ignores exceptions inside finalizers.
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds, 2.0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def ctrl_c():
    """Send a real SIGINT to this process after some seconds."""
    timers = []

    def later(seconds):
        timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
        timers[-1].start()

    yield later
    for timer in timers:
        timer.cancel()


@pytest.mark.parametrize("moment", [1e-4, 1e-3, 3e-3, 6e-3, 0.02, 0.1, 0.5])
def test_an_exception_from_any_handler_ends_the_search(alarm, moment):
    _, _, problem = hard_problem()

    def ring_and_solve():
        alarm(moment)
        solve(problem, method_options={"patience": 10**9}, time_limit=60)

    with pytest.raises(Alarm):
        ring_and_solve()
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert still_running() == []


@pytest.mark.parametrize("moment", [1e-4, 1e-3, 3e-3, 6e-3, 0.02, 0.1, 0.5])
def test_ctrl_c_at_any_moment_leaves_nothing_running(ctrl_c, moment):
    _, _, problem = hard_problem()
    try:
        ctrl_c(moment)
        result = solve(problem, method_options={"patience": 10**9}, time_limit=60)
    except KeyboardInterrupt:
        pass  # before the run began
    else:
        assert result.status == "interrupted"
        assert 0 <= result.lower_bound <= result.objective
    assert still_running() == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_fit_keeps_its_model_and_raises(ctrl_c):
    X, y, _ = hard_problem()
    clf = FrugalSVC(10, C=10.0, method_options={"patience": 10**9}, time_limit=60)
    ctrl_c(0.7)
    with pytest.raises(KeyboardInterrupt, match="best model so far is kept"):
        clf.fit(X, y)
    assert clf.status_ == "interrupted"
    assert 0 < clf.get_support().sum() <= 10
    assert clf.score(X, y) > 0.5
    assert still_running() == []


def test_an_interrupted_fit_can_return_instead(ctrl_c):
    X, y, _ = hard_problem()
    clf = FrugalSVC(
        10, C=10.0, on_interrupt="return", time_limit=60,
        method_options={"patience": 10**9},
    )  # fmt: skip
    ctrl_c(0.7)
    assert clf.fit(X, y).status_ == "interrupted"


def test_ctrl_c_stops_cross_validation(ctrl_c):
    X, y, _ = hard_problem()
    clf = FrugalSVC(10, C=10.0, method_options={"patience": 10**9}, time_limit=60)
    ctrl_c(0.7)
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(clf, X, y, cv=5)
    assert still_running() == []


def test_a_callback_that_says_stop_does_not_raise():
    X, y, _ = hard_problem()
    clf = FrugalSVC(10, C=10.0, callback=lambda progress: True).fit(X, y)
    assert clf.status_ == "interrupted"


def test_a_handler_of_the_users_is_left_alone(ctrl_c):
    _, _, problem = hard_problem()
    struck = []
    before = signal.signal(signal.SIGINT, lambda *_: struck.append(True))
    try:
        ctrl_c(0.3)
        result = solve(problem, method_options={"patience": 10**9}, time_limit=1.0)
        assert signal.getsignal(signal.SIGINT) is not before
    finally:
        signal.signal(signal.SIGINT, before)
    assert struck == [True]
    assert result.status == "time limit"


def test_a_second_ctrl_c_is_raised():
    begun = threading.Event()

    class Deaf:
        """Hears nothing but the last word."""

        gone = False

        def watch(self):
            pass

        def interrupt(self):
            pass

        def abandon(self):
            self.gone = True

    watched = Deaf()

    def work():
        begun.set()
        while not watched.gone:
            time.sleep(0.01)

    def press_twice():
        begun.wait()
        for _ in range(2):
            interrupt_main()
            time.sleep(0.2)

    thread = threading.Thread(target=press_twice)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        supervise(work, watched)
    thread.join()
    assert still_running() == []


def test_errors_of_the_work_reach_the_caller():
    def fail():
        raise ZeroDivisionError("in the thread")

    with pytest.raises(ZeroDivisionError, match="in the thread"):
        supervise(fail, StopCondition())


def test_a_run_outside_the_main_thread_keeps_its_limit():
    _, _, problem = hard_problem()
    results = []

    def run():
        results.append(
            solve(problem, time_limit=0.3, method_options={"patience": 10**9})
        )

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert results[0].status == "time limit"


def test_compiled_code_looks_at_its_flag():
    """A set flag ends a relaxation at its first look, with a valid bound."""
    _, _, problem = hard_problem(60, 80)
    flag = np.zeros(1, dtype=np.uint8)
    engine = problem.watching(flag).engine
    task = region_task(
        engine, problem.root_region(), None, tol=1e-6, fine_tol=1e-6, cutoff=np.inf,
        max_rounds=30,
    )  # fmt: skip
    (whole,) = engine.solve([task])
    flag[0] = 1
    (stopped,) = engine.solve([task])
    assert whole.iterations > 5
    assert stopped.iterations <= 1
    assert 0.0 <= stopped.bound <= whole.primal
    svm = engine.solve_svm(np.arange(10))
    best = problem.engine.solve_svm(np.arange(10)).primal
    assert svm.dual <= best <= svm.primal


def test_a_flag_that_is_set_meanwhile_ends_a_long_call():
    """One relaxation of this size takes minutes; nobody asks between its rounds."""
    X, y = random_data(np.random.default_rng(1), 2000, 2000)
    flag = np.zeros(1, dtype=np.uint8)
    problem = Problem(X, y, max_features=10).watching(flag)
    task = region_task(
        problem.engine, problem.root_region(), None, tol=1e-9, fine_tol=1e-9,
        cutoff=np.inf, max_rounds=1000,
    )  # fmt: skip
    threading.Timer(1.0, flag.__setitem__, (0, 1)).start()
    (stopped,) = problem.engine.solve([task])
    assert not stopped.finished
    assert stopped.bound >= 0.0


def test_relax_keeps_its_limit_on_a_copied_problem():
    X, y = random_data(np.random.default_rng(1), 1500, 1500)
    problem = pickle.loads(pickle.dumps(Problem(X, y, max_features=10)))
    relaxation = relax(problem, tol=1e-9, time_limit=0.5)
    assert relaxation.status == "inaccurate"
    assert 0.0 <= relaxation.bound <= relaxation.value


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.5])
def test_a_limit_on_large_data_gives_a_complete_result(limit):
    X, y = random_data(np.random.default_rng(1), 1500, 1500)
    problem = Problem(X, y, max_features=10)
    result = solve(problem, time_limit=limit)
    assert result.status == "time limit"
    assert result.selected.size <= 10
    assert 0.0 <= result.lower_bound <= result.objective
