"""Making and copying arrays.

Numba compiles ``np.empty`` again for every type of argument; here it is compiled once
for each kind of array that kernels use.
"""

import numpy as np

from ._jit import jit, jit_new


@jit_new
def new_vector(size):
    """An uninitialised vector."""
    return np.empty(size)


@jit_new
def new_matrix(height, width):
    """An uninitialised matrix."""
    return np.empty((height, width))


@jit_new
def new_indices(size):
    """An uninitialised array of indices."""
    return np.empty(size, dtype=np.int64)


@jit_new
def new_marks(size):
    """A small number for each feature or sample, all zero."""
    made = np.empty(size, dtype=np.int8)
    for t in range(size):
        made[t] = 0
    return made


@jit
def fill(x, value):
    """Set all entries to a value."""
    for i in range(x.shape[0]):
        x[i] = value


@jit_new
def filled(size, value):
    """A vector with all entries equal."""
    made = new_vector(size)
    fill(made, value)
    return made


@jit
def copy_to(source, target):
    """``target[: len(source)] = source``."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@jit_new
def part(array, start, size):
    """A copy of some indices, ``array[start : start + size]``."""
    copied = new_indices(size)
    for t in range(size):
        copied[t] = array[start + t]
    return copied


@jit_new
def join(first, second):
    """The concatenation of two arrays of indices."""
    both = new_indices(first.shape[0] + second.shape[0])
    copy_to(first, both)
    copy_to(second, both[first.shape[0] :])
    return both
