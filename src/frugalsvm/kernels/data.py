"""The data of a problem, regions and working sets, in the form for compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_entry, jit_new, jit_nogil, jit_strict
from .linalg import copy_to, filled, new_indices, new_vector

# A stop flag that is never set.
NEVER = np.zeros(1, dtype=np.uint8)
# If every feature is one column, and if all weights are free.
NO_COLUMNS, NO_SIGNS = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int8)
for _array in (NO_COLUMNS, NO_SIGNS):
    # Like arrays of problems: otherwise kernels would compile again.
    _array.setflags(write=False)


class Data(NamedTuple):
    """The data that all tasks of a problem share.

    With several machines, SVMs that share their features, those of machine k are the
    k-th part of the columns and of the samples: column f is one of machine
    ``f // (n_columns / n_machines)``, and its row of A has the samples of that machine.

    Attributes
    ----------
    A : array (n_columns, m / n_machines)
        Signed columns of X, ``y_i x_ij``.
    norms : array (n_columns,)
        Upper bounds of the row norms.
    y, C : arrays (m,)
        Labels and positive weights.
    intercept : bool
        Whether a free intercept is fitted, one for each machine.
    costs : array (n,)
        Costs of the features.
    stop : array (1,)
        Compiled code ends once another thread sets this flag.
    starts, columns, signs : integer arrays
        See ``engine.columns.Columns``. Without groups, starts and columns are empty;
        without signs, signs are.
    n_machines : int
    """

    A: np.ndarray
    norms: np.ndarray
    y: np.ndarray
    C: np.ndarray
    intercept: bool
    costs: np.ndarray
    stop: np.ndarray
    starts: np.ndarray = NO_COLUMNS
    columns: np.ndarray = NO_COLUMNS
    signs: np.ndarray = NO_SIGNS
    n_machines: int = 1


class RegionArrays(NamedTuple):
    """A set of supports.

    Attributes
    ----------
    forced, free : integer arrays
        Features that are used, and those to choose from.
    k : int
        Maximum number of free features that may be chosen.
    budget : float
        Their maximum total cost; may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float


class WorkingSetArrays(NamedTuple):
    """The features and samples that a relaxation works on.

    Attributes
    ----------
    features : integer array
        Free features to work on; all others are left out.
    side : array (m,)
        0 for active samples; the others keep alpha = C (1) or alpha = 0 (-1).
    """

    features: np.ndarray
    side: np.ndarray


# --- The columns of features, in compiled code ----------------------------------------
#
# ``Data.starts`` is empty if every feature is one column, and ``Data.signs`` if every
# weight is free: such problems take no extra time.


@jit
def n_columns_of(data, features):
    """Number of columns of some features."""
    if data.starts.shape[0] == 0:
        return features.shape[0]
    size = 0
    for j in features:
        size += data.starts[j + 1] - data.starts[j]
    return size


@jit_new
def columns_of(data, features):
    """The columns of some features, one feature after the other."""
    columns = new_indices(n_columns_of(data, features))
    if data.starts.shape[0] == 0:
        copy_to(features, columns)
        return columns
    at = 0
    for j in features:
        for s in range(data.starts[j], data.starts[j + 1]):
            columns[at] = data.columns[s]
            at += 1
    return columns


@jit_new
def starts_of(data, features, first):
    """Where the columns of each feature begin, if they are numbered from ``first``."""
    starts = new_indices(features.shape[0] + 1)
    starts[0] = first
    for t in range(features.shape[0]):
        size = 1
        if data.starts.shape[0] > 0:
            j = features[t]
            size = data.starts[j + 1] - data.starts[j]
        starts[t + 1] = starts[t] + size
    return starts


@jit_new
def signs_of(data, columns):
    """The signs of some columns; empty if all weights are free."""
    signs = new_vector(columns.shape[0] if data.signs.shape[0] > 0 else 0)
    for t in range(signs.shape[0]):
        signs[t] = data.signs[columns[t]]
    return signs


@jit
def sum_of_squares(x, start, stop):
    """The sum of squares of some entries."""
    total = x[start] * x[start]
    for f in range(start + 1, stop):
        total += x[f] * x[f]
    return total


# --- Contributions of columns to a relaxation, if weights are limited in sign ---------
#
# A column whose weight is free contributes its product ``c`` with alpha: its weight is
# ``z c``. If the weight may not be negative, it contributes ``max(0, c)``, which has a
# kink. The barrier ``t log v`` smooths it: v maximises ``c v - 1/2 v^2 + t log v``, so
#
#     v = (c + root) / 2,  dv/dc = v / root,  dv/dt = 1 / root,  root = sqrt(c^2 + 4 t)
#
# and ``q``, which replaces ``c^2``, is twice that maximum, up to a term in t only. The
# interior point lowers t together with its other barriers.


class Admitted(NamedTuple):
    """The contributions of columns at a point.

    Attributes
    ----------
    v : array (p,)
        ``c`` itself, not a copy, if all weights are free.
    slope : array (p,)
        ``dv/dc``.
    q : array (p,)
        Replacement of ``c^2``, or an empty array.
    v_rate, q_rate : arrays (p,)
        Derivatives of v and q by the barrier, or empty arrays.
    barrier : array (1,)
    """

    v: np.ndarray
    slope: np.ndarray
    q: np.ndarray
    v_rate: np.ndarray
    q_rate: np.ndarray
    barrier: np.ndarray


@jit_new
def new_admitted(program, c):
    """The contributions of c; to be set by ``admit``."""
    p, size = program.n_columns, program.signs.shape[0]
    v = c if size == 0 else new_vector(p)
    return Admitted(
        v,
        filled(p, 1.0),
        new_vector(size),
        filled(size, 0.0),
        filled(size, 0.0),
        filled(1, 0.0),
    )


@jit
def admit(signs, c, admitted):
    """Set the contributions of columns with signs."""
    v, slope, q, v_rate, q_rate, barrier = admitted
    t = barrier[0]
    for f in range(signs.shape[0]):
        sign = signs[f]
        if sign == 0.0:
            v[f], q[f] = c[f], c[f] * c[f]
            continue
        value = sign * c[f]
        root = np.sqrt(value * value + 4.0 * t)
        size = 0.5 * (value + root) if value >= 0.0 else 2.0 * t / (root - value)
        # In units of the barrier: the logarithm needs a scale.
        log = np.log(size / np.sqrt(t))
        v[f], slope[f] = sign * size, size / root
        q[f] = size * size + 2.0 * size * (value - size) + 2.0 * t * (1.0 + log)
        v_rate[f], q_rate[f] = sign / root, 2.0 * log + 1.0


@jit
def worth(admitted, start, stop):
    """The worth of a feature with these columns: the sum of its q."""
    if admitted.q.shape[0] == 0:
        return sum_of_squares(admitted.v, start, stop)
    total = 0.0
    for f in range(start, stop):
        total += admitted.q[f]
    return total


@jit
def admit_exactly(signs, c, out):
    """Copy c, with zeros where the sign of a weight does not admit it."""
    copy_to(c, out)
    for f in range(signs.shape[0]):
        if signs[f] * c[f] < 0.0:
            out[f] = 0.0


# --- Products with a dense matrix of any real type, which is not copied ---------------


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
    """``row_by_row`` for contiguous columns."""
    for j in range(first, last):
        total = 0.0
        for i in range(X.shape[0]):
            total += v[i] * (np.float64(X[i, j]) - shift[j])
        out[j] = total


# --- Columns of a sparse matrix: products with a vector, and summary statistics -------
#
# ``starts``, ``rows`` and ``values`` are those of compressed sparse columns, without
# repeated entries. Values may be of any real type; sums are in double precision.


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
