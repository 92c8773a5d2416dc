"""Rows of the data as the interior point wants them.

One row per feature, ``y_i x_ij``, and the labels as a last row when there is an
intercept. A free intercept makes the problem blind to the features' means, but rounding
errors are not: large means would cost digits, so the rows are centred.
"""

import numpy as np

from ._jit import jit
from .linalg import dot, kth_largest, total


@jit
def _split_samples(side, y, C, intercept):
    """Active samples, and the dual variables of the others (zero for the active).

    If the active samples cannot balance the others, all become active: the constraint
    ``y @ alpha = 0`` must stay feasible. ``side`` is updated then.
    """
    m = side.shape[0]
    frozen = np.zeros(m)
    excess = 0.0
    positive = 0.0
    negative = 0.0
    size = 0
    for i in range(m):
        if side[i] > 0:
            frozen[i] = C[i]
            excess += y[i] * C[i]
        elif side[i] == 0:
            size += 1
            if y[i] > 0:
                positive += C[i]
            else:
                negative += C[i]
    if intercept and (excess > negative or -excess > positive):
        for i in range(m):
            side[i] = 0
            frozen[i] = 0.0
        size = m
    samples = np.empty(size, dtype=np.int64)
    at = 0
    for i in range(m):
        if side[i] == 0:
            samples[at] = i
            at += 1
    return samples, frozen


@jit
def _stack_samples(A, features, samples, frozen, y, intercept):
    """Centred rows at some samples, the product of the others, and the means.

    ``frozen`` holds the dual variables of the samples left out (zero for the others);
    ``offset`` is the product of the centred rows with it.
    """
    p = features.shape[0]
    m = y.shape[0]
    size = samples.shape[0]
    q = p + 1 if intercept else p
    means = np.zeros(p)
    stacked = np.empty((q, size))
    offset = np.zeros(q)
    balance = dot(y, frozen, m)
    for t in range(p):
        row = A[features[t]]
        if intercept:
            means[t] = dot(row, y, m) / m
        for i in range(size):
            stacked[t, i] = row[samples[i]] - y[samples[i]] * means[t]
        offset[t] = dot(row, frozen, m) - means[t] * balance
    if intercept:
        for i in range(size):
            stacked[p, i] = y[samples[i]]
        offset[p] = balance
    return stacked, offset, means


@jit
def restrict(A, features, side, y, C, intercept):
    """The problem on some features and on the samples whose side is 0.

    Returns the centred rows, what the other samples add to them, the means, the samples
    with their y and C, and the dual variables of the others with their sum.
    """
    samples, frozen = _split_samples(side, y, C, intercept)
    stacked, offset, means = _stack_samples(A, features, samples, frozen, y, intercept)
    size = samples.shape[0]
    some_y = np.empty(size)
    some_C = np.empty(size)
    for i in range(size):
        some_y[i] = y[samples[i]]
        some_C[i] = C[samples[i]]
    return stacked, offset, means, samples, some_y, some_C, frozen, total(frozen)


@jit
def margins_of(A, features, weights, means, y, margins):
    """Margins of all samples; ``weights`` of centred rows, intercept last if any."""
    p = features.shape[0]
    m = y.shape[0]
    b = weights[p] if weights.shape[0] > p else 0.0
    for i in range(m):
        margins[i] = b * y[i]
    for t in range(p):
        row = A[features[t]]
        weight = weights[t]
        mean = means[t]
        if weight != 0.0:
            for i in range(m):
                margins[i] += weight * (row[i] - mean * y[i])


@jit
def far_sides(alpha, C, margins, rate, extra, least_frozen):
    """Sides of the samples far from the margin, 0 for those near it.

    Near are ``rate`` times as many as there are samples strictly between their bounds,
    and ``extra`` more; all, if that leaves less than ``least_frozen`` of them.
    """
    m = alpha.shape[0]
    side = np.zeros(m, dtype=np.int8)
    largest = 0.0
    for i in range(m):
        largest = max(largest, alpha[i])
    between = 0
    distance = np.empty(m)
    for i in range(m):
        if 1e-3 * largest < alpha[i] < (1.0 - 1e-3) * C[i]:
            between += 1
        distance[i] = abs(1.0 - margins[i])
    size = int(rate * between) + extra
    if size >= (1.0 - least_frozen) * m:
        return side
    far = kth_largest(distance, m - size)
    for i in range(m):
        if distance[i] >= far:
            side[i] = 1 if margins[i] < 1.0 else -1
    return side
