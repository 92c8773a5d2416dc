"""Fits through joblib: equal on every backend, and robust to lost workers."""

import os
import signal
import weakref
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from frugalsvm import FrugalSVC, FrugalSVCCV, frugal_path, stability_selection
from frugalsvm.estimators.folds import FoldJob
from frugalsvm.run.threads import Shared, sent_once, thread_count

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)[::4]
Y = Y[::4]
BACKENDS = ["loky", "multiprocessing", "threading", "dask"]


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Settings for joblib to use a backend with two workers."""
    if request.param == "dask":
        return {"backend": "dask", "client": request.getfixturevalue("client")}
    return {"backend": request.param, "n_jobs": 2}


def cross_validated(**params):
    model = FrugalSVCCV(
        [1, 2, 3], [0.1, 1.0], cv=3, scoring="accuracy", effort="fast", random_state=0
    )
    return model.set_params(**params).fit(X, Y)


@pytest.fixture(scope="module")
def alone():
    return cross_validated()


def assert_same(found, expected):
    for name in expected.cv_results_:
        if not name.endswith("time"):
            np.testing.assert_array_equal(
                found.cv_results_[name], expected.cv_results_[name], name
            )
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.lower_bound_ == expected.lower_bound_


def test_cross_validation_is_the_same_on_every_backend(backend, alone):
    with joblib.parallel_config(**backend):
        assert_same(cross_validated(n_jobs=2), alone)


def test_stability_is_the_same_on_every_backend(backend):
    model = FrugalSVC(2, method="swap", effort="fast")
    expected = stability_selection(model, X, Y, n_pairs=2, random_state=0)
    with joblib.parallel_config(**backend):
        found = stability_selection(model, X, Y, n_pairs=2, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(found.masks, expected.masks)


class Fatal:
    """A scorer that kills the process it is in, the first time that is a worker."""

    def __init__(self, marker):
        self.marker, self.home = str(marker), os.getpid()

    def __call__(self, model, X, y):
        if os.getpid() != self.home:
            try:
                Path(self.marker).touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return accuracy_score(y, model.predict(X))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_worker_loses_no_result(client, tmp_path, alone):
    marker = tmp_path / "killed"
    # Folds and labels above a kilobyte, which joblib would leave with one worker.
    assert Y.nbytes > 1000
    workers = set(client.scheduler_info()["workers"])
    with joblib.parallel_config("dask", client=client):
        found = cross_validated(scoring=Fatal(marker))
    assert marker.exists()
    assert_same(found, alone)
    assert set(client.scheduler_info()["workers"]) != workers
    client.wait_for_workers(2)


def total(shared, factor):
    return float(shared.value.sum()) * factor[0]


def test_data_are_sent_to_every_worker_once(client):
    shared = Shared(np.arange(5000.0))
    backend = {"backend": "dask", "client": client, "retries": 1}
    with joblib.parallel_config(**backend), sent_once(shared):
        active = joblib.parallel.get_active_backend()[0]
        assert active.submit_kwargs == {"retries": 1}
        held = client.who_has(list(active.data_futures.values()))
        assert [len(workers) for workers in held.values()] == [2]
        n_keys = len(client.who_has())
        found = joblib.Parallel()(
            joblib.delayed(total)(shared, (k, np.zeros(1000))) for k in range(4)
        )
        # No other data are on a single worker.
        assert len(client.who_has()) <= n_keys + 4
    assert found == [k * 12497500.0 for k in range(4)]


def test_data_of_a_single_fold_are_sent_with_its_job():
    # joblib sends large objects that support weak references to one worker only.
    rows = np.arange(1000)
    with pytest.raises(TypeError, match="weak reference"):
        weakref.ref(FoldJob(0, rows, rows))


def test_the_same_data_can_be_sent_repeatedly(client):
    data = np.arange(5000.0)
    with joblib.parallel_config("dask", client=client):
        for _ in range(5):
            shared = Shared(data)
            with sent_once(shared):
                jobs = [joblib.delayed(total)(shared, (k,)) for k in range(2)]
                assert joblib.Parallel()(jobs) == [0.0, 12497500.0]


def test_cross_validation_inside_of_jobs(client):
    model = FrugalSVCCV([1, 2], [1.0], cv=2, effort="fast", random_state=0)
    expected = cross_val_score(model, X, Y, cv=2)
    with joblib.parallel_config("dask", client=client):
        found = cross_val_score(model, X, Y, cv=2)
    np.testing.assert_array_equal(found, expected)


def test_threads_are_those_of_this_machine(client):
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    with joblib.parallel_config("threading", n_jobs=5):
        assert thread_count(None) == 5
    with joblib.parallel_config("dask", client=client):
        # The cluster has two.
        assert joblib.effective_n_jobs() == 2
        assert thread_count(None) == 1
        assert thread_count(3) == 3
        jobs = [joblib.delayed(thread_count)(None) for _ in range(2)]
        assert joblib.Parallel()(jobs) == [1, 1]


def test_paths_on_a_cluster_are_those_of_one_thread(client):
    signs = np.where(Y == 1, 1.0, -1.0)
    expected = frugal_path(X, signs, max_features=[1, 2], random_state=0)
    with joblib.parallel_config("dask", client=client):
        found = frugal_path(X, signs, max_features=[1, 2], random_state=0)
    np.testing.assert_array_equal(found.objectives, expected.objectives)
    np.testing.assert_array_equal(found.lower_bounds, expected.lower_bounds)
