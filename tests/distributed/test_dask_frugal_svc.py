"""DaskFrugalSVC: the results of FrugalSVC, from blocks on the workers of a cluster."""

import os
import pickle
import signal
import subprocess
import sys
import time

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from dask.distributed import Client
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from frugalsvm import FrugalSVC, Problem, verify
from frugalsvm.distributed import DaskFrugalSVC
from frugalsvm.engine.parameters import EngineParameters
from frugalsvm.problem import problem as module
from frugalsvm.problem import sources
from frugalsvm.problem.parts import RunContext
from tests.reference import random_data

RNG = np.random.default_rng(2)
X, SIGNS = random_data(RNG, 40, 700)
X = np.round(X, 3)
# Two features that are shifted, one that is constant.
X[:, 20] += 900.0
X[:, 650] -= 500.0
X[:, 30] = 7.0
Y = np.where(SIGNS > 0, "yes", "no")
# Problems that estimators make get parameters from here.
NO_RUN = RunContext(parameters=(EngineParameters(whole_bytes=50 * 8 * Y.size),))
PARAMS = {"max_features": 4, "C": 0.5, "effort": "fast", "random_state": 0}


@pytest.fixture(autouse=True)
def _small_pools(monkeypatch):
    """Make working sets smaller than small data."""
    monkeypatch.setattr(module, "NO_RUN", NO_RUN)


def in_memory(data=X, weights=None, **params):
    """The fit of the same data in memory, used in place like large data."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FEW_ENTRIES", "FEW_FEATURES", "FEW_DOUBLES"):
            patch.setattr(sources, name, 0)
        patch.setattr(module, "NO_RUN", NO_RUN)
        return FrugalSVC(**PARAMS | params).fit(data, Y, weights)


@pytest.fixture(scope="module")
def local():
    return in_memory()


@pytest.fixture
def model(client):
    return DaskFrugalSVC(**PARAMS, client=client)


def blocks(data=X, width=200):
    return da.from_array(data, chunks=(-1, width))


def sparse_blocks(kind=sp.csr_matrix):
    zeros = np.where(np.abs(X) < 1.0, 0.0, X)
    return zeros, blocks(zeros).map_blocks(kind)


def assert_same(found, expected, rtol=1e-8):
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=rtol)
    np.testing.assert_allclose(found.lower_bound_, expected.lower_bound_, rtol=rtol)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=rtol)


# --- the same result -----------------------------------------------------------------


@pytest.mark.parametrize(
    "chunks", [(-1, 200), (-1, (1, 0, 699)), (15, 100), (15, -1), (-1, -1)]
)
def test_the_result_is_that_of_data_in_memory(model, local, chunks):
    model.fit(da.from_array(X, chunks=chunks), Y)
    assert_same(model, local)
    assert model.status_ == local.status_
    np.testing.assert_array_equal(model.classes_, local.classes_)
    # The working sets were parts of the data.
    assert model.traffic_.products > 1


def test_one_dense_matrix_has_the_same_optimum(model):
    dense = FrugalSVC(**PARAMS).fit(X, Y)
    model.fit(blocks(), Y)
    np.testing.assert_allclose(model.objective_, dense.objective_, rtol=1e-8)
    # Relaxations end at a relative gap of 1e-6.
    np.testing.assert_allclose(model.lower_bound_, dense.lower_bound_, rtol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.float16, bool])
def test_other_types(model, dtype):
    data = (X > 0.5 if dtype is bool else X).astype(dtype)
    assert_same(model.fit(blocks(data), Y), in_memory(data))


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array])
def test_sparse_blocks(model, kind):
    zeros, parts = sparse_blocks(kind)
    assert_same(model.fit(parts, Y), in_memory(sp.csc_array(zeros)))
    # Features come as sparse rows.
    assert model.traffic_.received_features < 6 * model.traffic_.features * X.shape[0]


def test_weights_costs_and_other_conditions(model, client):
    weights = RNG.uniform(0.5, 2.0, Y.size)
    weights[[3, 8]] = 0.0
    params = {
        "feature_costs": RNG.uniform(1, 3, X.shape[1]), "max_cost": 7.0,
        "include": [5], "exclude": [20, 21], "class_weight": "balanced",
    }  # fmt: skip
    expected = in_memory(weights=weights, **params)
    model.set_params(**params)
    found = model.fit(
        blocks(), da.from_array(Y, chunks=7), da.from_array(weights, chunks=9)
    )
    assert_same(found, expected)
    frame = found.summary()
    np.testing.assert_allclose(frame, expected.summary(), rtol=1e-7)


def test_without_an_intercept(model):
    params = {"fit_intercept": False}
    expected = in_memory(**params)
    assert_same(model.set_params(**params).fit(blocks(), Y), expected)


def test_a_tree_and_its_certificate(client, tmp_path):
    params = {**PARAMS, "C": 0.01, "max_features": 2, "certificate": True}
    params |= {"method": "branch-and-bound", "max_nodes": 5}
    model = DaskFrugalSVC(**params, client=client)
    with pytest.warns(UserWarning, match="max_nodes"):
        model.fit(blocks(), Y)
    proved = verify(model.result_.certificate, X, SIGNS)
    # Rounding has made some zeros negative, which are the same numbers.
    assert np.signbit(X[X == 0.0]).any()
    verify(model.result_.certificate, X + 0.0, SIGNS)
    assert proved.lower_bound == pytest.approx(model.lower_bound_, rel=1e-8)
    problem = Problem(X, SIGNS, C=0.01, max_features=2)
    bound = problem.dual_bound(model.result_.dual_point)
    assert bound <= model.objective_
    assert model.lower_bound_ >= bound * (1 - 1e-8)


# --- weights with a C of their own ---------------------------------------------------


def assert_same_refit(found, expected):
    assert_same(found, expected, rtol=1e-6)
    assert found.result_.refit.C == expected.result_.refit.C
    for name in ("refit_objective_", "refit_lower_bound_"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-8
        )


@pytest.mark.parametrize("refit_C", [0.02, 30.0])
def test_weights_with_a_C_of_their_own(model, local, refit_C):
    expected = in_memory(refit_C=refit_C)
    model.set_params(refit_C=refit_C).fit(blocks(), Y)
    assert_same_refit(model, expected)
    # The selection is what it was without.
    np.testing.assert_allclose(model.objective_, local.objective_, rtol=1e-8)
    np.testing.assert_allclose(model.lower_bound_, local.lower_bound_, rtol=1e-8)
    np.testing.assert_array_equal(model.result_.selected, local.result_.selected)
    value = Problem(X, SIGNS, C=refit_C).objective(model.coef_[0], model.intercept_[0])
    np.testing.assert_allclose(model.refit_objective_, value, rtol=1e-10)
    assert 0 < model.result_.refit.gap < 1e-6
    scores = model.decision_function(blocks()).compute()
    np.testing.assert_allclose(scores, expected.decision_function(X), rtol=1e-5)
    copy = model.to_local()
    assert copy.get_params() == expected.get_params()
    assert vars(copy).keys() == vars(expected).keys()


def test_weights_of_shifted_and_included_features_with_sample_weights(model):
    weights = np.random.default_rng(3).uniform(0.5, 2.0, Y.size)
    weights[[3, 8]] = 0.0
    # Feature 20 is shifted.
    params = {"refit_C": 2.0, "include": [20], "class_weight": "balanced"}
    expected = in_memory(weights=weights, **params)
    found = model.set_params(**params).fit(blocks(), Y, weights)
    assert_same_refit(found, expected)
    assert found.coef_[0, 20] != 0


def test_weights_from_sparse_blocks(model):
    zeros, parts = sparse_blocks()
    expected = in_memory(sp.csc_array(zeros), refit_C=5.0)
    assert_same_refit(model.set_params(refit_C=5.0).fit(parts, Y), expected)


def test_the_weights_need_little_traffic(client):
    plain = DaskFrugalSVC(**PARAMS, client=client).fit(blocks(), Y).traffic_
    model = DaskFrugalSVC(**PARAMS, client=client, refit_C=5.0).fit(blocks(), Y)
    assert model.traffic_.products <= plain.products + 1
    assert model.traffic_.features <= plain.features + 2 * PARAMS["max_features"]


def test_a_certificate_proves_the_weights(client, tmp_path):
    params = {**PARAMS, "refit_C": 3.0, "certificate": True}
    model = DaskFrugalSVC(**params, client=client).fit(blocks(), Y)
    model.result_.save_certificate(tmp_path / "proof.npz")
    proved = verify(tmp_path / "proof.npz", X, SIGNS, C=0.5, refit_C=3.0)
    assert proved.refit.lower_bound >= model.refit_lower_bound_ * (1 - 1e-9)
    assert proved.refit.objective >= model.refit_objective_ * (1 - 1e-9)


def test_a_refit_C_that_cannot_be_is_rejected(model):
    with pytest.raises(ValueError, match="refit_C must be a finite number > 0 or None"):
        model.set_params(refit_C="same").fit(blocks(), Y)


# --- predictions ---------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [(-1, 200), (15, -1), (15, 300)])
def test_predictions_are_lazy_and_equal(model, local, client, chunks):
    model.fit(blocks(), Y)
    data = da.from_array(X, chunks=chunks)
    scores, labels = model.decision_function(data), model.predict(data)
    assert isinstance(scores, da.Array)
    assert isinstance(labels, da.Array)
    assert labels.dtype == Y.dtype
    np.testing.assert_allclose(
        client.compute(scores).result(), local.decision_function(X), rtol=1e-7
    )
    np.testing.assert_array_equal(client.compute(labels).result(), local.predict(X))
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    assert model.score(data, da.from_array(Y)) == local.score(X, Y)
    assert model.score(X, Y) == local.score(X, Y)
    chosen = client.compute(model.transform(data)).result()
    np.testing.assert_array_equal(chosen, X[:, local.get_support()])
    np.testing.assert_array_equal(model.transform(X), X[:, local.get_support()])


def test_predictions_of_sparse_blocks_and_unknown_rows(model, local, client):
    model.fit(blocks(), Y)
    parts = blocks().map_blocks(sp.csr_matrix)
    scores = client.compute(model.decision_function(parts)).result()
    np.testing.assert_allclose(scores, local.decision_function(X), rtol=1e-7)
    some = da.from_array(X, chunks=(15, 300))
    some = some[some[:, 0] > 0]
    assert np.isnan(some.shape[0])
    found = client.compute(model.predict(some)).result()
    np.testing.assert_array_equal(found, local.predict(X[X[:, 0] > 0]))


def test_a_model_without_features_predicts(client):
    model = DaskFrugalSVC(0, client=client).fit(blocks(), Y)
    assert set(client.compute(model.predict(blocks())).result()) <= set(Y)


def test_a_local_copy_is_a_frugal_svc(model, local):
    found = model.fit(blocks(), Y).to_local()
    assert type(found) is FrugalSVC
    assert_same(found, local)
    assert found.get_params() == local.get_params()
    assert vars(found).keys() == vars(local).keys()
    np.testing.assert_array_equal(found.predict(X), local.predict(X))


def test_copies_and_pickles(model, client):
    model.fit(blocks(), Y)
    assert clone(model).client is client
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.client is None
    assert loaded.traffic_ == model.traffic_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


# --- the cluster ---------------------------------------------------------------------


def test_the_default_client_is_found(client, local):
    with client.as_current():
        assert_same(DaskFrugalSVC(**PARAMS).fit(blocks(), Y), local)


def test_no_data_are_left_on_the_workers(model, client):
    before = set(client.who_has())
    model.fit(blocks(), Y)
    for _ in range(100):
        if set(client.who_has()) <= before:
            return
        time.sleep(0.02)
    assert set(client.who_has()) <= before


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
def test_a_killed_worker_is_replaced(model, local, client):
    pids = client.run(os.getpid)
    killed = []

    def kill(progress):
        if not killed:
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    # In pieces of the graph, which can be made again.
    model.set_params(callback=kill).fit(blocks(), Y)
    assert killed
    assert_same(model, local)
    # The nanny of the worker starts another one.
    for _ in range(500):
        found = client.run(os.getpid, on_error="ignore")
        if len(found) == 2 and killed[0] not in found.values():
            return
        time.sleep(0.05)
    raise AssertionError(found)


def test_an_interrupted_fit_is_complete(model):
    model.set_params(callback=lambda progress: True, on_interrupt="return")
    model.fit(blocks(), Y)
    assert model.traffic_.products > 0
    assert model.lower_bound_ <= model.objective_


def test_traffic_is_counted(model):
    traffic = model.fit(blocks(), Y).traffic_
    assert traffic.sent == 2 * 8 * Y.size * traffic.products
    assert traffic.received_prices <= 8 * X.shape[1] * traffic.products
    assert traffic.received_features == 8 * Y.size * traffic.features
    assert traffic.received_facts >= 9 * X.shape[1]
    assert traffic.received == (
        traffic.received_prices + traffic.received_features + traffic.received_facts
    )


# --- bad input -----------------------------------------------------------------------


def unknown(data):
    return data[data[:, 0] > -np.inf]


def wrong_chunk(chunk):
    return chunk[:, :-1]


def listed(chunk):
    return chunk.tolist()


def with_nan():
    data = X.copy()
    data[7, 350] = np.nan
    return blocks(data)


def with_large():
    data = X.copy()
    data[7, 350] = 1e60
    return blocks(data)


@pytest.mark.parametrize(
    ("data", "labels", "error", "message"),
    [
        (X, Y, TypeError, "got ndarray; dask.array.from_array"),
        (unknown(blocks()), Y, ValueError, r"compute_chunk_sizes\(\)"),
        (blocks()[0], Y, ValueError, "got 1 dimension"),
        (blocks().astype(complex), Y, ValueError, "complex128; give real"),
        (blocks().astype(object), Y, ValueError, "object; give real"),
        (blocks().astype(np.longdouble), Y, ValueError, "at most double precision"),
        (blocks()[:, :0], Y, ValueError, "at least one row and one column"),
        (blocks(), Y[:-1], ValueError, r"one label per row of X \(40\), got 39"),
        (blocks(), Y[:, None, None], ValueError, "array with dim 3"),
        (blocks(), np.full(40, 1), ValueError, "only one class"),
        (blocks(), np.arange(40) % 3, ValueError, "40|3 classes"),
        (with_nan(), Y, ValueError, "nan .*row 7, column 350"),
        (with_large(), Y, ValueError, "up to 1e.60"),
        (
            blocks().map_blocks(wrong_chunk, dtype=float, chunks=blocks().chunks),
            Y, ValueError, "chunk of X has shape",
        ),
        (da.ma.masked_greater(blocks(), 2.0), Y, ValueError, "X is a masked array"),
        (blocks().map_blocks(listed, meta=np.empty((0, 0))), Y, TypeError, "got list"),
    ],
)  # fmt: skip
def test_bad_data_are_rejected(model, data, labels, error, message):
    with pytest.raises(error, match=message):
        model.fit(data, labels)
    with pytest.raises(NotFittedError):
        model.predict(data)


def test_data_that_are_on_the_workers_already(model, client, local):
    assert_same(model.fit(client.persist(blocks()), Y), local)


def test_known_chunk_sizes_are_enough(model, local):
    assert_same(model.fit(unknown(blocks()).compute_chunk_sizes(), Y), local)


def test_data_frames_raise_an_error_with_the_remedy(model):
    class Frame:
        def to_dask_array(self, lengths=None):
            raise AssertionError

    with pytest.raises(TypeError, match=r"X.to_dask_array\(lengths=True\)"):
        model.fit(Frame(), Y)


def test_predictions_of_other_features_are_rejected(model):
    model.fit(blocks(), Y)
    for method in (model.predict, model.decision_function, model.transform):
        with pytest.raises(ValueError, match="expects 700 features"):
            method(blocks()[:, 1:])


def test_scores_are_of_as_many_labels_as_samples(model, local):
    model.fit(blocks(), Y)
    assert model.score(blocks(), Y[:, None]) == local.score(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.score(blocks(), Y[:1])


def test_clients_that_cannot_be_used(client):
    with pytest.raises(TypeError, match=r"must be a dask.distributed.Client"):
        DaskFrugalSVC(client="tcp://here:8786").fit(blocks(), Y)
    closed = Client(client.scheduler.address, set_as_default=False)
    closed.close()
    with pytest.raises(ValueError, match="client is closed"):
        DaskFrugalSVC(client=closed).fit(blocks(), Y)
    with pytest.raises(ValueError, match="there is no dask client"):
        DaskFrugalSVC().fit(blocks(), Y)


def test_a_cluster_without_workers(monkeypatch):
    monkeypatch.setattr("frugalsvm.distributed.dask_frugal_svc.PATIENCE", 0.1)
    with (
        Client(n_workers=0, dashboard_address=":0", set_as_default=False) as client,
        pytest.raises(ValueError, match="no workers"),
    ):
        DaskFrugalSVC(client=client).fit(blocks(), Y)


def test_without_dask_it_says_what_to_install():
    code = (
        "import sys\n"
        "sys.modules['dask'] = sys.modules['distributed'] = None\n"
        "import frugalsvm, frugalsvm.estimators\n"
        "try:\n"
        "    import frugalsvm.distributed\n"
        "except ImportError as error:\n"
        "    assert 'frugalsvm[dask]' in str(error), error\n"
        "else:\n"
        "    raise AssertionError\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- groups and signs ----------------------------------------------------------------


def test_groups_and_signs_are_those_in_memory(client):
    # Pairs of columns, some of which are in two blocks.
    labels = (np.arange(700) + 1) // 2
    signs = np.zeros(700)
    signs[::3] = 1
    params = {"feature_groups": labels, "signs": signs}
    model = DaskFrugalSVC(**PARAMS, **params, client=client).fit(blocks(), Y)
    assert_same(model, in_memory(**params))
    assert len(model.selected_groups_) <= 4
    assert (model.coef_[0, ::3] >= 0).all()
    with pytest.raises(ValueError, match="X has none"):
        DaskFrugalSVC(feature_groups="auto", client=client).fit(blocks(), Y)
