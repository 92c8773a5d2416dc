"""The samples near the margin of a solution, in contiguous arrays.

All other samples keep alpha = 0 or C until a check of the margins shows otherwise.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit_new
from .arrays import filled, new_indices, new_matrix, new_vector
from .linalg import dot, kth_largest


class NearSamples(NamedTuple):
    """Data of some samples on a support's columns, and sums over other samples.

    Attributes
    ----------
    samples : integer array (k,)
    rows, columns : arrays (p, k) and (k, p)
        Their signed entries, by active column and by sample.
    y, C : arrays (k,)
    far_w : array (p,)
        What the other samples contribute to the weights.
    far_sums : array (2,)
        Their sums of alpha and of alpha y.
    scale : array (1,)
        Mean squared norm of the samples.
    """

    samples: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    y: np.ndarray
    C: np.ndarray
    far_w: np.ndarray
    far_sums: np.ndarray
    scale: np.ndarray


@jit_new
def select_near_samples(data, active, slack, alpha, count):
    """The ``count`` samples of the smallest ``|slack|``, or a few more.

    The slack of a sample is 1 minus its margin. Samples strictly between their bounds
    are included in any case.
    """
    m, p = slack.shape[0], active.shape[0]
    limit = np.inf
    if count < m:
        distance = new_vector(m)
        for i in range(m):
            distance[i] = abs(slack[i])
        limit = kth_largest(distance, m - count + 1)
    samples = new_indices(m)
    size = 0
    far_w, far_sums = filled(p, 0.0), filled(2, 0.0)
    for i in range(m):
        if abs(slack[i]) <= limit or 0.0 < alpha[i] < data.C[i]:
            samples[size] = i
            size += 1
        elif alpha[i] > 0.0:
            far_sums[0] += alpha[i]
            far_sums[1] += alpha[i] * data.y[i]
            for j in range(p):
                far_w[j] += alpha[i] * data.A[active[j], i]
    rows, columns = new_matrix(p, size), new_matrix(size, p)
    y, C = new_vector(size), new_vector(size)
    for t in range(size):
        y[t], C[t] = data.y[samples[t]], data.C[samples[t]]
    scale = filled(1, 0.0)
    for j in range(p):
        row = data.A[active[j]]
        for t in range(size):
            rows[j, t] = columns[t, j] = row[samples[t]]
        scale[0] += dot(rows[j], rows[j], size) / size
    return NearSamples(samples[:size], rows, columns, y, C, far_w, far_sums, scale)
