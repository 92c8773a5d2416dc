"""The samples near the margin of a solution, side by side.

Those far from it keep alpha = 0 or C, as long as nobody finds them on the wrong side.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit_new
from .arrays import filled, new_indices, new_matrix, new_vector
from .linalg import dot, kth_largest


class Near(NamedTuple):
    """Some samples, seen by the features of a support.

    Attributes
    ----------
    samples : integer array (k,)
    rows, columns : arrays (p, k) and (k, p)
        Their signed entries, by feature and by sample.
    y, C : arrays (k,)
    far_w : array (p,)
        Weights by the other samples, of which some are at C.
    far_sums : array (2,)
        Sums of C and of C y over these.
    scale : array (1,)
        Mean of the squared norms of the samples.
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
def near_part(data, support, slack, alpha, count):
    """The samples of the smallest ``|slack|``, so many or a few more.

    The slack of a sample is 1 less its margin. Samples strictly between their bounds
    are near whatever it is.
    """
    m, p = slack.shape[0], support.shape[0]
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
                far_w[j] += alpha[i] * data.A[support[j], i]
    rows, columns = new_matrix(p, size), new_matrix(size, p)
    y, C = new_vector(size), new_vector(size)
    for t in range(size):
        y[t], C[t] = data.y[samples[t]], data.C[samples[t]]
    scale = filled(1, 0.0)
    for j in range(p):
        row = data.A[support[j]]
        for t in range(size):
            rows[j, t] = columns[t, j] = row[samples[t]]
        scale[0] += dot(rows[j], rows[j], size) / size
    return Near(samples[:size], rows, columns, y, C, far_w, far_sums, scale)
