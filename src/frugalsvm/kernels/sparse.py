"""Columns of a sparse matrix: products with a vector, and summary statistics.

``starts``, ``rows`` and ``values`` are those of compressed sparse columns, without
repeated entries. Values may be of any real type; sums are in double precision.
"""

import numpy as np

from ._jit import jit_entry, jit_nogil, jit_strict


@jit_nogil
def column_products(starts, rows, values, v, shift, first, last, out):
    """``sum_i v_i (x_ij - shift_j)`` of the columns from ``first`` to before ``last``.

    Columns with a shift have no zeros left out.
    """
    for j in range(first, last):
        total = 0.0
        for t in range(starts[j], starts[j + 1]):
            total += v[rows[t]] * (values[t] - shift[j])
        out[j] = total


@jit_entry
def fill_columns(starts, rows, values, features, out):
    """Write some columns into the rows of ``out``, which is zero."""
    for t in range(features.shape[0]):
        j = features[t]
        for s in range(starts[j], starts[j + 1]):
            out[t, rows[s]] = values[s]


@jit_strict
def survey_columns(starts, values, n_samples, low, high, squares):
    """Smallest and largest value and the sum of squares of every column.

    NaN anywhere in a column makes all three NaN.
    """
    for j in range(low.shape[0]):
        lowest, highest, total = 0.0, 0.0, 0.0
        first, last = starts[j], starts[j + 1]
        if last - first == n_samples:
            lowest = highest = np.float64(values[first])
        for t in range(first, last):
            value = np.float64(values[t])
            if value < lowest:
                lowest = value
            if value > highest:
                highest = value
            total += value * value
        if total != total:
            lowest = highest = total
        low[j], high[j], squares[j] = lowest, highest, total
