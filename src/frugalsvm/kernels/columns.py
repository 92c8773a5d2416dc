"""The columns of features, in compiled code.

``Data.starts`` is empty if every feature is one column, and ``Data.signs`` if every
weight is free: such problems take no extra time.
"""

from ._jit import jit, jit_new
from .arrays import copy_to, new_indices, new_vector


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
