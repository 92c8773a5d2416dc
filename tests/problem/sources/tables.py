"""The same numbers in many formats."""

import numpy as np
import scipy.sparse as sp


def numbers(rng, m=30, n=40):
    """Small data with zeros, a constant, an empty and two far features."""
    X = np.round(rng.normal(size=(m, n)), 2) * (rng.random((m, n)) < 0.4)
    X[:, 3] = 0.0
    X[:, 5] = 2.5
    X[:, 7] = 1000.0 + np.round(rng.normal(size=m), 2)
    X[:, 8] = -400.0 - rng.integers(0, 2, m)
    X[4] = 0.0
    # No negative zeros, which sparse matrices cannot have.
    return X.astype(np.float32).astype(np.float64) + 0.0


def labels(rng, m=30):
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def unsorted(X):
    """Sparse columns whose entries are in no order, some of them twice, some zero."""
    coo = sp.coo_array(X)
    rows = np.concatenate([coo.row, coo.row[:9], coo.row[:4]])
    columns = np.concatenate([coo.col, coo.col[:9], coo.col[:4]])
    values = np.concatenate([coo.data, coo.data[:9], np.zeros(4)])
    values[:9] = 0.0
    order = np.random.default_rng(0).permutation(rows.size)
    starts = np.searchsorted(np.sort(columns), np.arange(X.shape[1] + 1))
    order = order[np.argsort(columns[order], kind="stable")]
    made = sp.csc_array((values[order], rows[order], starts), shape=X.shape)
    assert not made.has_canonical_format
    return made


def with_long_indices(X):
    made = sp.csc_array(X)
    made.indices = made.indices.astype(np.int64)
    made.indptr = made.indptr.astype(np.int64)
    return made


def strided(X):
    """A view into a larger array, backwards."""
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    view = wide[::-2, ::-3]
    view[:] = X
    return view


def read_only(X):
    copy = X.copy()
    copy.setflags(write=False)
    return copy


SPARSE = {
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
    "coo": sp.coo_array,
    "float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "unsorted": unsorted,
    "int64 indices": with_long_indices,
}
DENSE = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "float32 Fortran": lambda X: np.asfortranarray(X.astype(np.float32)),
    "strided": strided,
    "read-only": read_only,
}
