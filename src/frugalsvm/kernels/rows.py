"""The rows of a program: signed columns at some samples, centred, and the labels.

Features such as words of texts and levels of categories are zero for most samples. If
nearly all entries of a program are zero, only the others are kept, sample by sample,
and results are centred instead of rows: the work of an iteration then depends on the
number of nonzero entries.

With several machines a row has the samples of its machine only, and is zero at all
others: products are made machine by machine.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .linalg import (
    combine,
    correlate,
    dot,
    fill,
    filled,
    new_indices,
    new_matrix,
    new_vector,
    total,
    weighted_gram,
)

# Zeros are only counted if a program has at least this many entries.
LARGE = 2**16
# Rows are kept as entries if at most this fraction of them is nonzero, and at most its
# square of the pairs of entries of a sample, which the Gram matrix takes time for.
SPARSE_FRACTION = 0.1
# Centring must leave this fraction of the squares of each row, or digits would be lost.
MIN_CENTRED = 0.25


class Rows(NamedTuple):
    """``a_ji - mean_j y_i`` of features and samples, and y if there is an intercept.

    Attributes
    ----------
    dense : array (q, m)
        The rows, or an empty array if they are kept as entries. With several machines,
        each row begins with the samples of its machine.
    starts : integer array (m + 1,)
        Position of the first entry of each sample, or an empty array.
    features : integer array
        Numbers of features, ascending for each sample.
    values : array
        ``a_ji``, not centred.
    means : array (p,)
        Zeros without an intercept.
    y : array (m,)
    machines : integer array (q,)
        The machine of each row, or an empty array if there is only one.
    first : integer array (n_machines + 1,)
        Where the samples of each machine begin.
    """

    dense: np.ndarray
    starts: np.ndarray
    features: np.ndarray
    values: np.ndarray
    means: np.ndarray
    y: np.ndarray
    machines: np.ndarray
    first: np.ndarray


@jit_new
def stack(data, features, samples, y):
    """The rows of some features at some samples, whose labels are y."""
    p, size = features.shape[0], samples.shape[0]
    if data.n_machines > 1:
        return _stack_machines(data, features, samples, y)
    first, no_machines = new_indices(2), new_indices(0)
    first[0], first[1] = 0, size
    means = filled(p, 0.0)
    if data.intercept:
        m = data.y.shape[0]
        for t in range(p):
            means[t] = dot(data.A[features[t]], data.y, m) / m
    # With more features than samples the matrix of the samples is factorised, which
    # needs dense rows: see ``newton_system.is_by_feature``.
    if p < size and p * size >= LARGE:
        starts, is_sparse = _find_starts(data.A, features, samples, means, y)
        if is_sparse:
            numbers, values = _take_entries(data.A, features, samples, starts)
            return Rows(
                new_matrix(0, 0), starts, numbers, values, means, y, no_machines, first
            )
    q = p + 1 if data.intercept else p
    rows = new_matrix(q, size)
    for t in range(p):
        row = data.A[features[t]]
        for i in range(size):
            rows[t, i] = row[samples[i]] - y[i] * means[t]
    if data.intercept:
        for i in range(size):
            rows[p, i] = y[i]
    nowhere = new_indices(0)
    return Rows(rows, nowhere, nowhere, new_vector(0), means, y, no_machines, first)


@jit_new
def _first_samples(data, samples):
    """Where the samples of each machine begin among some samples."""
    n_each, at = data.A.shape[1], 0
    first = new_indices(data.n_machines + 1)
    for k in range(first.shape[0]):
        while at < samples.shape[0] and samples[at] < k * n_each:
            at += 1
        first[k] = at
    return first


@jit_new
def _stack_machines(data, features, samples, y):
    """The rows of several machines, each at the samples of its machine."""
    p, n_each, first = features.shape[0], data.A.shape[1], _first_samples(data, samples)
    n_columns = data.A.shape[0] // data.n_machines
    widest = 0
    for k in range(data.n_machines):
        widest = max(widest, first[k + 1] - first[k])
    q = p + data.n_machines if data.intercept else p
    rows, machines, means = new_matrix(q, widest), new_indices(q), filled(p, 0.0)
    for t in range(q):
        k = features[t] // n_columns if t < p else t - p
        machines[t] = k
        if t < p and data.intercept:
            labels = data.y[k * n_each : (k + 1) * n_each]
            means[t] = dot(data.A[features[t]], labels, n_each) / n_each
        for i in range(first[k], first[k + 1]):
            value = y[i]
            if t < p:
                value = data.A[features[t], samples[i] - k * n_each] - y[i] * means[t]
            rows[t, i - first[k]] = value
    nowhere = new_indices(0)
    return Rows(rows, nowhere, nowhere, new_vector(0), means, y, machines, first)


@jit_new
def _find_starts(A, features, samples, means, y):
    """Position of the first entry of each sample, and whether entries are few."""
    p, size = features.shape[0], samples.shape[0]
    starts = new_indices(size + 1)
    fill(starts, 0)
    most = SPARSE_FRACTION * p * size
    count = 0
    for t in range(p):
        row = A[features[t]]
        squares, shared = 0.0, 0.0
        for i in range(size):
            value = row[samples[i]]
            squares += value * value
            shared += value * y[i]
            starts[i + 1] += value != 0.0
            count += value != 0.0
        centred = squares + means[t] * (means[t] * size - 2.0 * shared)
        if count > most or centred < MIN_CENTRED * squares:
            return starts, False
    pairs = 0.0
    for i in range(size):
        pairs += float(starts[i + 1]) * starts[i + 1]
        starts[i + 1] += starts[i]
    return starts, pairs <= SPARSE_FRACTION * p * most


@jit_new
def _take_entries(A, features, samples, starts):
    """Numbers of features and values of the nonzero entries."""
    p, size = features.shape[0], samples.shape[0]
    numbers, values = new_indices(starts[size]), new_vector(starts[size])
    for t in range(p):
        row = A[features[t]]
        for i in range(size):
            value = row[samples[i]]
            if value != 0.0:
                at = starts[i]
                numbers[at], values[at] = t, value
                starts[i] += 1
    # Each is now the start of the next sample.
    for i in range(size, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = 0
    return numbers, values


@jit
def _is_dense(rows):
    return rows.starts.shape[0] == 0


@jit
def _combine_machines(weights, rows, out):
    """``combine_rows`` with several machines."""
    fill(out, 0.0)
    for t in range(weights.shape[0]):
        start, end = rows.first[rows.machines[t]], rows.first[rows.machines[t] + 1]
        row, part, weight = rows.dense[t], out[start:end], weights[t]
        for i in range(part.shape[0]):
            part[i] += weight * row[i]


@jit
def _correlate_machines(rows, values, out):
    """``correlate_rows`` with several machines."""
    for t in range(out.shape[0]):
        start, end = rows.first[rows.machines[t]], rows.first[rows.machines[t] + 1]
        out[t] = dot(rows.dense[t], values[start:end], end - start)


@jit
def combine_rows(weights, rows, out):
    """One value per sample: the weighted sum of the rows; y may have no weight."""
    size, p = weights.shape[0], rows.means.shape[0]
    if rows.machines.shape[0] > 0:
        _combine_machines(weights, rows, out)
        return
    if _is_dense(rows):
        combine(weights, rows.dense[:size], out)
        return
    b = -dot(weights, rows.means, p)
    if size > p:
        b += weights[p]
    for i in range(out.shape[0]):
        value = b * rows.y[i]
        for t in range(rows.starts[i], rows.starts[i + 1]):
            value += weights[rows.features[t]] * rows.values[t]
        out[i] = value


@jit
def correlate_rows(rows, values, out):
    """One value per row: its product with the values; y if ``out`` is long enough."""
    size, p = out.shape[0], rows.means.shape[0]
    if rows.machines.shape[0] > 0:
        _correlate_machines(rows, values, out)
        return
    if _is_dense(rows):
        correlate(rows.dense[:size], values, out)
        return
    balance = dot(rows.y, values, values.shape[0])
    for j in range(p):
        out[j] = -balance * rows.means[j]
    if size > p:
        out[p] = balance
    for i in range(values.shape[0]):
        for t in range(rows.starts[i], rows.starts[i + 1]):
            out[rows.features[t]] += values[i] * rows.values[t]


@jit_new
def gram_of_rows(rows, weights, out, stop):
    """Write ``rows @ diag(weights) @ rows.T`` into the lower triangle of ``out``.

    Unfinished if the flag ``stop`` is set. For one machine: several have blocks.
    """
    if _is_dense(rows):
        weighted_gram(rows.dense, weights, out, stop)
        return
    order, p = out.shape[0], rows.means.shape[0]
    means, mass = rows.means, total(weights)
    for j in range(order):
        fill(out[j, : j + 1], 0.0)
    sums = filled(p, 0.0)
    _add_squares(rows, weights, sums, out, stop)
    for j in range(p):
        for k in range(j + 1):
            shared = means[j] * (sums[k] - mass * means[k]) + means[k] * sums[j]
            out[j, k] -= shared
    if order > p:
        for k in range(p):
            out[p, k] = sums[k] - mass * means[k]
        out[p, p] = mass


@jit
def _add_squares(rows, weights, sums, out, stop):
    """Add ``a diag(weights) a'`` to the lower triangle and ``a diag(weights) y``."""
    features, values = rows.features, rows.values
    for i in range(weights.shape[0]):
        if stop[0] != 0:
            return
        start = rows.starts[i]
        for t in range(start, rows.starts[i + 1]):
            j, weighted = features[t], weights[i] * values[t]
            sums[j] += weighted * rows.y[i]
            for s in range(start, t + 1):
                out[j, features[s]] += weighted * values[s]
