"""DaskSource: same statistics, products and features as for data in memory."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from frugalsvm.distributed.dask_source import ColumnBlocks
from frugalsvm.problem.sources import make_source
from tests.problem.sources.tables import labels, numbers

RNG = np.random.default_rng(5)
X = numbers(RNG)
V = RNG.normal(size=30) * labels(RNG)
FORMS = {
    "dense": lambda X: X,
    "single": lambda X: X.astype(np.float32),
    "sparse": sp.csr_array,
}


def distant(form, client, kept, shifts):
    chunks = ((30,), (7, 0, 1, 32))
    parts = da.from_array(FORMS["single" if form == "single" else "dense"](X), chunks)
    if form == "sparse":
        parts = parts.map_blocks(sp.csr_array)
    return make_source(ColumnBlocks(parts, client), kept, shifts)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kept", [None, np.flatnonzero(np.arange(30) % 3)])
@pytest.mark.parametrize("shifts", [True, False])
def test_results_equal_those_of_data_in_memory(client, form, kept, shifts):
    far, near = distant(form, client, kept, shifts), make_source(X, kept, shifts)
    assert (far.n_samples, far.n_features) == (near.n_samples, near.n_features)
    assert far.n_entries <= near.n_entries
    for name in ("shift", "norms", "varies"):
        np.testing.assert_allclose(getattr(far, name), getattr(near, name), rtol=1e-12)
    v = V if kept is None else V[kept]
    np.testing.assert_allclose(far.multiply(v), near.multiply(v), atol=1e-9)
    features = np.array([39, 0, 7, 6, 8, 3])
    np.testing.assert_array_equal(far.columns(features), near.columns(features))
    assert far.columns(features[:0]).shape == (0, far.n_samples)


@pytest.mark.parametrize(("most", "above"), [(None, 0.8), (5, 0), (0, 0), (99, 0)])
def test_prices_are_exact_or_upper_bounds(client, most, above):
    far, near = distant("dense", client, None, True), make_source(X)
    exact = np.abs(near.multiply(V))
    above = np.quantile(exact, above)
    values, known = far.price(V, most, above)
    np.testing.assert_allclose(values[known], exact[known], atol=1e-12)
    assert (values >= exact - 1e-12).all()
    order = np.argsort(-exact)
    if most is None:
        assert known[exact > above].all()
        assert (values[~known] <= above).all()
        assert not known.all()
    else:
        assert known[order[:most]].all()
        # No more than so many of the large blocks.
        assert known[8:].sum() == min(most, 32)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_the_largest_integers(client, dtype):
    table = np.zeros((30, 4), dtype=dtype)
    table[:2] = np.iinfo(dtype).max
    far = ColumnBlocks(da.from_array(table, chunks=(-1, 2)), client).as_source(
        None, False
    )
    found = far.columns(np.arange(4))
    np.testing.assert_array_equal(found, table.T.astype(float))
