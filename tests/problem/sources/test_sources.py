"""Sources: same statistics and products as for a dense matrix, in every format."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm import Problem
from frugalsvm.problem import array_sources as arrays
from frugalsvm.problem import sources
from frugalsvm.problem.array_sources import ArraySource, SparseSource
from frugalsvm.problem.sources import make_source
from tests.problem.sources.tables import DENSE, SPARSE, labels, numbers

RNG = np.random.default_rng(5)
X = numbers(RNG)
Y = labels(RNG)
FORMS = {**{f"sparse {k}": v for k, v in SPARSE.items()}, **DENSE}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK", 7 * X.shape[0])
    monkeypatch.setattr(arrays, "AT_ONCE", 9 * X.shape[1])
    monkeypatch.setattr(arrays, "SPARSE_BLOCK", 7 * X.shape[0])
    monkeypatch.setattr(arrays, "PART", 50)


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


@pytest.mark.parametrize("kept", [None, np.flatnonzero(np.arange(30) % 3)])
@pytest.mark.parametrize("shifts", [True, False])
def test_facts_equal_those_of_a_dense_problem(form, kept, shifts):
    source = make_source(form(X), kept, shifts)
    some = slice(None) if kept is None else kept
    problem = Problem(X[some], Y[some], fit_intercept=shifts)
    assert problem.source is None
    assert (source.n_samples, source.n_features) == X[some].shape
    np.testing.assert_allclose(source.shift, problem.shift, rtol=1e-15)
    np.testing.assert_allclose(source.norms, problem.norms, rtol=1e-12)
    np.testing.assert_array_equal(source.norms > 0, problem.norms > 0)
    assert (source.norms >= np.linalg.norm(problem.A, axis=1)).all()
    np.testing.assert_array_equal(source.varies, np.ptp(X[some], axis=0) > 0)


@pytest.mark.parametrize("kept", [None, np.flatnonzero(np.arange(30) % 3)])
def test_products_and_columns_are_those_of_a_dense_matrix(form, kept):
    source = make_source(form(X), kept)
    dense = X if kept is None else X[kept]
    v = RNG.normal(size=source.n_samples)
    wanted = v @ (dense - source.shift)
    np.testing.assert_allclose(source.multiply(v), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(source.multiply(v, 3), source.multiply(v))
    features = np.array([8, 0, 7, 3])
    np.testing.assert_array_equal(source.columns(features), dense[:, features].T)


def test_input_is_left_alone(form):
    given = form(X)
    before = copy.deepcopy(given)
    make_source(given, np.arange(20)).multiply(np.ones(20))
    make_source(given).columns(np.arange(3))
    names = ["data", "indices", "indptr", "row", "col"] if sp.issparse(given) else []
    for name in names:
        if hasattr(before, name):
            wanted = getattr(before, name)
            np.testing.assert_array_equal(getattr(given, name), wanted)
    if not names:
        np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint16, np.int64, bool])
def test_other_types_are_exact(dtype):
    values = RNG.integers(0, 2, X.shape).astype(dtype)
    wanted = np.asarray(values, dtype=np.float64)
    forms = [values]
    if dtype != np.float16:  # SciPy has no such matrices
        forms.append(sp.csr_array(values))
    for source in map(make_source, forms):
        np.testing.assert_array_equal(source.columns(np.arange(40)), wanted.T)
        v = RNG.normal(size=30)
        shifted = v @ (wanted - source.shift)
        np.testing.assert_allclose(source.multiply(v), shifted, atol=1e-12)


def test_mapped_files(tmp_path):
    path = tmp_path / "X.dat"
    mapped = np.memmap(path, dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    source = make_source(np.memmap(path, dtype=np.float32, mode="r", shape=X.shape))
    v = RNG.normal(size=30)
    np.testing.assert_allclose(
        source.multiply(v), v @ (X - source.shift), rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(source.columns(np.arange(9)), X[:, :9].T)


def test_changes_of_a_mapped_copy_are_kept(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[2, 3] = 9.0
    source = make_source(mapped)
    source.multiply(np.ones(30))
    assert mapped[2, 3] == 9.0
    assert source.columns(np.array([3]))[0, 2] == 9.0


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(form, value):
    wrong = X.copy()
    wrong[20, 11] = value
    with pytest.raises(ValueError, match=rf"{value}.*row 20, column 11"):
        make_source(form(wrong))
    with pytest.raises(ValueError, match=rf"{value}.*row 20, column 11"):
        make_source(form(wrong), np.arange(5, 30))


def test_values_that_are_too_large():
    for wrong in (2e50 * X, sp.csr_array(2e50 * X)):
        with pytest.raises(ValueError, match=r"values up to .*1e\+50.*rescale"):
            make_source(wrong)


def test_which_tables_are_used_in_place(tmp_path):
    wide = np.zeros((1, 2**23), dtype=np.float32)
    assert sources.is_for_source(wide)
    assert not sources.is_for_source(wide.T)
    assert not sources.is_for_source(wide.astype(np.float64))
    assert not sources.is_for_source(wide[:, : 2**22])
    assert not sources.is_for_source(wide.astype(np.longdouble))
    assert sources.is_for_source(sp.csr_array((2, 2)))
    path = tmp_path / "X.dat"
    mapped = np.memmap(path, dtype=np.float64, mode="w+", shape=(1, 2**23))
    assert sources.is_for_source(mapped)


def test_a_part_of_a_sparse_source():
    features = np.array([8, 0, 7, 3])
    whole = make_source(sp.csr_array(X))
    part = whole.part(features)
    v = RNG.normal(size=30)
    np.testing.assert_array_equal(part.multiply(v), whole.multiply(v)[features])
    np.testing.assert_array_equal(part.shift, whole.shift[features])
    np.testing.assert_array_equal(part.norms, whole.norms[features])


def test_kinds():
    assert isinstance(make_source(X), ArraySource)
    assert isinstance(make_source(sp.csr_array(X)), SparseSource)
