"""The program that the interior point solves, on some features and samples.

It has one row per column of its features, ``y_i x_ij``, and the labels as a last row if
there is an intercept: a column without penalty. With a free intercept the means of the
columns do not change the solution, but large means would lose digits, so the rows are
centred. With several machines there is a row of labels for each.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .data import columns_of, n_columns_of, signs_of, starts_of
from .linalg import copy_to, dot, fill, filled, join, new_indices, new_vector, total
from .rows import Rows, stack

# Largest fraction of C that the active samples of a class may need to balance frozen
# ones: interior points are not at the bounds.
MAX_BALANCING = 0.99


class Program(NamedTuple):
    """A saddle point in z and alpha; see ``interior_point``.

    Attributes
    ----------
    rows : Rows (q, m)
        Signed and centred: columns of forced features, of free ones, and y of each
        machine if there are intercepts.
    offset : array (q,)
        The contribution of frozen samples to ``rows @ alpha``.
    mass : float
        Their contribution to the sum of alpha.
    y, C : arrays (m,)
        Labels and positive weights.
    R, h : arrays (r, free), (r,)
        Budget rows ``R z <= h``, positive; the first is all ones. No rows for an SVM.
    n_forced, n_columns : int
        Number of columns of the forced and of all features.
    starts : integer array (free + 1,)
        Where the columns of each free feature begin.
    signs : array (n_columns,)
        Signs of the weights, see ``engine.columns``; empty if all are free.
    """

    rows: Rows
    offset: np.ndarray
    mass: float
    y: np.ndarray
    C: np.ndarray
    R: np.ndarray
    h: np.ndarray
    n_forced: int
    n_columns: int
    starts: np.ndarray
    signs: np.ndarray


class Restriction(NamedTuple):
    """A program, and its relation to the data.

    Attributes
    ----------
    program : Program
    columns, samples : integer arrays
        Columns and active samples of the program.
    means : array
        Means of the columns: the weights of the program belong to centred ones.
    alpha : array
        Dual variables of all samples, zero for the active ones.
    """

    program: Program
    columns: np.ndarray
    samples: np.ndarray
    means: np.ndarray
    alpha: np.ndarray


@jit_new
def _frozen(side, data):
    """The dual variables of frozen samples, zero for active ones."""
    m, n_each = side.shape[0], data.A.shape[1]
    alpha = filled(m, 0.0)
    for start in range(0, m, n_each):
        end = start + n_each
        _freeze(
            side[start:end],
            data.y[start:end],
            data.C[start:end],
            data.intercept,
            alpha[start:end],
        )
    return alpha


@jit
def _freeze(side, y, C, intercept, alpha):
    """Set the dual variables of the frozen samples of a machine.

    If its active samples cannot balance the others, all become active, and ``side`` is
    updated: the constraint ``y @ alpha = 0`` must stay feasible.
    """
    excess = 0.0
    positive = 0.0
    negative = 0.0
    for i in range(side.shape[0]):
        if side[i] > 0:
            alpha[i] = C[i]
            excess += y[i] * C[i]
        elif side[i] == 0:
            if y[i] > 0:
                positive += C[i]
            else:
                negative += C[i]
    can_balance = -MAX_BALANCING * positive <= excess <= MAX_BALANCING * negative
    if intercept and not can_balance:
        for i in range(side.shape[0]):
            side[i] = 0
        fill(alpha, 0.0)


@jit_new
def _active(side):
    """The samples whose side is 0."""
    size = 0
    for i in range(side.shape[0]):
        size += side[i] == 0
    samples = new_indices(size)
    at = 0
    for i in range(side.shape[0]):
        if side[i] == 0:
            samples[at] = i
            at += 1
    return samples


@jit_new
def _take(values, samples):
    """The values of some samples."""
    taken = new_vector(samples.shape[0])
    for i in range(samples.shape[0]):
        taken[i] = values[samples[i]]
    return taken


@jit_new
def _offset(data, columns, means, alpha):
    """The contribution of frozen samples to the products of the rows with alpha."""
    p, n_each = columns.shape[0], data.A.shape[1]
    n_columns = data.A.shape[0] // data.n_machines
    balances = new_vector(data.n_machines)
    for k in range(data.n_machines):
        balances[k] = dot(data.y[k * n_each :], alpha[k * n_each :], n_each)
    offset = new_vector(p + data.n_machines if data.intercept else p)
    for t in range(p):
        k = columns[t] // n_columns
        shared = dot(data.A[columns[t]], alpha[k * n_each :], n_each)
        offset[t] = shared - means[t] * balances[k]
    if data.intercept:
        copy_to(balances, offset[p:])
    return offset


@jit_new
def restrict(data, forced, free, side, R, h):
    """The program on forced and free features, and on the samples of side 0.

    If these cannot balance the others, it has all samples, and all sides become 0.
    """
    alpha = _frozen(side, data)
    samples = _active(side)
    y, C = _take(data.y, samples), _take(data.C, samples)
    columns = columns_of(data, join(forced, free))
    n_forced = n_columns_of(data, forced)
    rows = stack(data, columns, samples, y)
    means = rows.means
    program = Program(
        rows, _offset(data, columns, means, alpha), total(alpha), y, C, R, h, n_forced,
        columns.shape[0], starts_of(data, free, n_forced), signs_of(data, columns),
    )  # fmt: skip
    return Restriction(program, columns, samples, means, alpha)


@jit_new
def dual_point(restriction, alpha):
    """Dual variables of all samples, given those of the active ones."""
    whole = new_vector(restriction.alpha.shape[0])
    copy_to(restriction.alpha, whole)
    for i in range(alpha.shape[0]):
        whole[restriction.samples[i]] = alpha[i]
    return whole


@jit_new
def margins_of(data, columns, w, means):
    """Margins of all samples; ``w`` of centred rows, intercepts last if any."""
    p, m, n_each = columns.shape[0], data.y.shape[0], data.A.shape[1]
    n_columns = data.A.shape[0] // data.n_machines
    margins = new_vector(m)
    for k in range(data.n_machines):
        b = w[p + k] if w.shape[0] > p else 0.0
        for i in range(k * n_each, (k + 1) * n_each):
            margins[i] = b * data.y[i]
    for t in range(p):
        row = data.A[columns[t]]
        weight = w[t]
        mean = means[t]
        if weight != 0.0:
            start = columns[t] // n_columns * n_each
            y, out = data.y[start:], margins[start:]
            for i in range(n_each):
                out[i] += weight * (row[i] - mean * y[i])
    return margins
