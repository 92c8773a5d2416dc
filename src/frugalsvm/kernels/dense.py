"""Products with a dense matrix of any real type, which is not copied."""

import numpy as np

from ._jit import jit_nogil


@jit_nogil
def row_by_row(X, v, shift, first, last, out):
    """``sum_i v_i (x_ij - shift_j)`` of neighbouring features; rows are contiguous."""
    m = X.shape[0]
    for j in range(first, last):
        out[j] = 0.0
    # Four rows at a time: sums are read and written less often.
    for i in range(0, m - 3, 4):
        a, b, c, d = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(first, last):
            s = shift[j]
            out[j] += (
                a * (np.float64(X[i, j]) - s)
                + b * (np.float64(X[i + 1, j]) - s)
                + c * (np.float64(X[i + 2, j]) - s)
                + d * (np.float64(X[i + 3, j]) - s)
            )
    for i in range(m - m % 4, m):
        a = v[i]
        for j in range(first, last):
            out[j] += a * (np.float64(X[i, j]) - shift[j])


@jit_nogil
def column_by_column(X, v, shift, first, last, out):
    """The same; columns are contiguous."""
    for j in range(first, last):
        total = 0.0
        for i in range(X.shape[0]):
            total += v[i] * (np.float64(X[i, j]) - shift[j])
        out[j] = total
