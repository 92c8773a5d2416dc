"""Ctrl-C, limits and threads: work stops, and results so far are kept."""

import os
import pickle
import signal
import threading
import time
from _thread import interrupt_main
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from importlib import import_module

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.model_selection import cross_val_score

from frugalsvm import FrugalSVC, FrugalSVCCV, Problem, near_optimal, relax, solve
from frugalsvm.engine.perspective import region_request
from frugalsvm.estimators import final_fit
from frugalsvm.run.monitor import Monitor
from frugalsvm.run.stopping import StopCondition
from frugalsvm.run.supervision import Hold, supervise
from frugalsvm.solving import polish as refit
from tests.reference import random_data

# The package has a function of this name.
search = import_module("frugalsvm.estimators.near_optimal")


def hard_problem(m=200, n=300):
    X, y = random_data(np.random.default_rng(5), m, n)
    return X, y, Problem(X, y, C=10.0, max_features=10)


def still_running(seconds=10.0):
    """Our threads that are alive after some time to end."""
    until = time.monotonic() + seconds
    while True:
        alive = [t for t in threading.enumerate() if "frugalsvm" in t.name]
        if not alive or time.monotonic() >= until:
            return alive
        time.sleep(0.05)


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    X, y = random_data(np.random.default_rng(0), 20, 5)
    solve(Problem(X, y, max_features=2))


class Watcher:
    """An object to be notified; ``gone`` once the work is abandoned."""

    def __init__(self, needs_watching=True):
        self.needs_watching = needs_watching
        self.watched = threading.Event()
        self.gone = False

    def watch(self):
        self.watched.set()

    def interrupt(self):
        pass

    def abandon(self):
        self.gone = True


@contextmanager
def handlers_set_to(handler):
    """All of Python's signal handlers replaced by another."""
    numbers = [n for n in range(1, signal.NSIG) if callable(signal.getsignal(n))]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def in_main_thread(function):
    return function()


def unheard(function):
    """In the main thread, where no handler of a signal is Python's."""
    with handlers_set_to(signal.SIG_IGN):
        return function()


def in_another_thread(function):
    """In another thread; its result or exception is passed on."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


WAYS = [in_main_thread, unheard, in_another_thread]


class Alarm(Exception):
    """Raised by a signal handler of the user."""


@pytest.fixture
def alarm():
    """Raise Alarm after some seconds, wherever the main thread is."""

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


def test_a_callback_that_stops_does_not_raise():
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

    watched = Watcher()

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


def supervised_thread(watched):
    """The threads of a caller and of its work, and all threads alive meanwhile."""

    def work():
        return threading.current_thread(), threading.enumerate()

    (worker, alive), _ = supervise(work, watched)
    return threading.current_thread(), worker, {thread.name for thread in alive}


@pytest.mark.parametrize("way", WAYS)
def test_work_leaves_only_the_thread_that_receives_signals(way):
    caller, worker, _ = way(lambda: supervised_thread(Watcher()))
    assert (worker is caller) == (way is not in_main_thread)


def test_any_signal_handler_moves_the_work_to_a_thread(alarm):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        caller, worker, _ = supervised_thread(Watcher())
    finally:
        signal.signal(signal.SIGINT, before)
    assert worker is not caller


@pytest.mark.parametrize("way", [unheard, in_another_thread])
@pytest.mark.parametrize("needed", [True, False])
def test_a_clock_runs_only_if_it_is_needed(way, needed):
    _, _, names = way(lambda: supervised_thread(Watcher(needed)))
    assert ("frugalsvm clock" in names) == needed
    assert "frugalsvm" not in names


def test_a_run_without_limit_and_callback_needs_no_clock():
    assert not StopCondition().needs_watching
    assert StopCondition(1.0).needs_watching
    assert Monitor(callback=print).stop.needs_watching
    assert not Monitor().stop.needs_watching


@pytest.mark.parametrize("way", WAYS)
def test_the_clock_is_watched_during_the_work(way):
    watcher = Watcher()
    assert way(lambda: supervise(lambda: watcher.watched.wait(30), watcher)[0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_errors_of_the_work_reach_the_caller(way, error):
    def fail():
        raise error("in the work")

    with pytest.raises(error, match="in the work"):
        way(lambda: supervise(fail, Watcher()))
    assert still_running() == []


@pytest.mark.parametrize("way", WAYS)
def test_a_run_respects_its_limit(way):
    _, _, problem = hard_problem()
    options = {"patience": 10**9}
    result = way(lambda: solve(problem, time_limit=0.3, method_options=options))
    assert result.status == "time limit"
    assert still_running() == []


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_takes_effect_inside_one_compiled_call(way):
    X, y = random_data(np.random.default_rng(1), 1500, 1500)
    problem = Problem(X, y, max_features=10)
    relaxation = way(lambda: relax(problem, tol=1e-9, time_limit=0.5))
    assert relaxation.status == "inaccurate"
    assert 0.0 <= relaxation.bound <= relaxation.value


@pytest.mark.parametrize("way", WAYS)
def test_an_exception_of_a_callback_ends_the_run(way):
    X, y, _ = hard_problem()

    def fail(progress):
        raise ZeroDivisionError("in the callback")

    with pytest.raises(ZeroDivisionError, match="in the callback"):
        way(lambda: FrugalSVC(10, C=10.0, callback=fail, n_jobs=2).fit(X, y))
    assert still_running() == []


def test_work_of_two_threads_runs_concurrently():
    together = threading.Barrier(2)
    work = partial(together.wait, 30)
    found = Parallel(n_jobs=2, backend="threading")(
        delayed(supervise)(work, Watcher()) for _ in range(2)
    )
    assert sorted(found) == [(0, False), (1, False)]


def test_fits_in_threads_are_those_of_one_thread():
    X, y, _ = hard_problem(60, 20)
    clf = FrugalSVC(4, random_state=0, method_options={"patience": 5}, max_nodes=30)
    alone = cross_val_score(clf, X, y, cv=4)
    with parallel_config(backend="threading"):
        together = cross_val_score(clf, X, y, cv=4, n_jobs=2)
    np.testing.assert_array_equal(together, alone)
    assert still_running() == []


def test_compiled_code_looks_at_its_flag():
    """A set flag ends a relaxation at its first check, with a valid bound."""
    _, _, problem = hard_problem(60, 80)
    flag = np.zeros(1, dtype=np.uint8)
    engine = problem.watching(flag).engine
    task = region_request(
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
    """One relaxation of this size takes minutes, without checks between its rounds."""
    X, y = random_data(np.random.default_rng(1), 2000, 2000)
    flag = np.zeros(1, dtype=np.uint8)
    problem = Problem(X, y, max_features=10).watching(flag)
    task = region_request(
        problem.engine, problem.root_region(), None, tol=1e-9, fine_tol=1e-9,
        cutoff=np.inf, max_rounds=1000,
    )  # fmt: skip
    threading.Timer(1.0, flag.__setitem__, (0, 1)).start()
    (stopped,) = problem.engine.solve([task])
    assert not stopped.finished
    assert stopped.bound >= 0.0


def test_relax_respects_its_limit_on_a_copied_problem():
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


# --- between two runs -------------------------------------------------------------


def test_a_hold_counts_and_ends_the_next_run():
    with Hold() as hold:
        hold.begin()
        signal.raise_signal(signal.SIGINT)
        assert hold.count == 1
        stop = StopCondition()
        found = supervise(lambda: stop.interrupted, stop, patient=False)
        assert found == (True, True)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_hold_knows_what_was_pressed_during_a_run(ctrl_c):
    with Hold() as hold:
        hold.begin()
        stop = StopCondition()
        ctrl_c(0.1)
        _, was_interrupted = supervise(
            lambda: [time.sleep(0.01) for _ in range(10**4) if not stop.interrupted],
            stop,
        )  # fmt: skip
        assert was_interrupted
        assert hold.count == 1


def test_a_hold_leaves_handlers_of_the_users_and_other_threads_alone():
    before = signal.getsignal(signal.SIGINT)
    with handlers_set_to(lambda *_: None), Hold() as hold:
        hold.begin()
        signal.raise_signal(signal.SIGINT)
        assert hold.count == 0
    with Hold() as hold:
        in_another_thread(hold.begin)
        assert signal.getsignal(signal.SIGINT) is before
    hold.begin()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_after_the_run_of_a_fit_keeps_its_model(ctrl_c_at):
    ctrl_c_at(refit, "with_refit")
    X, y = random_data(np.random.default_rng(0), 40, 5)
    model = FrugalSVC(2, refit_C=10.0)
    with pytest.raises(KeyboardInterrupt, match="is kept"):
        model.fit(X, y)
    assert (model.coef_ != 0).sum() == 2
    assert FrugalSVC(2, refit_C=10.0, on_interrupt="return").fit(X, y).result_


def test_a_refit_is_not_done_where_signals_arrive(monkeypatch):
    """They would leave BLAS with one thread."""
    threads, solve_support = [], refit.solve_support

    def watched(*arguments):
        threads.append(threading.current_thread())
        return solve_support(*arguments)

    monkeypatch.setattr(refit, "solve_support", watched)
    X, y = random_data(np.random.default_rng(0), 40, 5)
    FrugalSVC(2, refit_C=10.0).fit(X, y)
    assert threading.main_thread() not in threads


@pytest.mark.parametrize("name", ["svm_on", "_best_start"])
def test_ctrl_c_after_the_folds_keeps_the_best_model(ctrl_c_at, name):
    ctrl_c_at(final_fit, name)
    X, y = random_data(np.random.default_rng(0), 60, 5)
    model = FrugalSVCCV(max_features=[1, 2], cv=2, effort="fast")
    # Without a path on all data there are only the features of the folds.
    model.callback = (lambda progress: progress.n_done == 4) if name[0] == "_" else None
    with pytest.raises(KeyboardInterrupt, match="is kept"):
        model.fit(X, y)
    assert model.coef_.any()


def test_ctrl_c_after_the_first_solution_of_a_list_keeps_it(ctrl_c_at):
    ctrl_c_at(search, "_check_start")
    X, y = random_data(np.random.default_rng(0), 60, 30)
    found = near_optimal(X, y, max_features=4)
    assert len(found) >= 1
    assert found.status == "interrupted"
