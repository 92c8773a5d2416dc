"""Elementary operations on the hinge loss and its dual variables."""

import numpy as np

from ._jit import jit, jit_new
from .arrays import new_vector


@jit
def hinge_sum(margins, C):
    """``sum_i C_i max(0, 1 - margins_i)``."""
    total = 0.0
    for i in range(margins.shape[0]):
        total += C[i] * max(0.0, 1.0 - margins[i])
    return total


@jit_new
def best_intercept(scores, y, C, pull):
    """Minimise ``sum_i C_i max(0, 1 - y_i (scores_i + b)) - pull b`` over b.

    The pull comes from samples whose loss is taken as linear. The function is convex
    and piecewise linear with breakpoints ``y_i - scores_i``; the minimum is the first
    one, in increasing order, at which the slope is no longer negative. It is found by
    repeated splitting, in linear time on average.
    """
    m = scores.shape[0]
    breaks = new_vector(m)
    weights = C.copy()
    slope = -pull
    for i in range(m):
        breaks[i] = y[i] - scores[i]
        if y[i] > 0:
            slope -= C[i]
    size = m
    # Every pass drops the pivot, unless there are NaN.
    for _ in range(m):
        if size <= 1:
            break
        a, b, c = breaks[0], breaks[size // 2], breaks[size - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        below = 0.0
        smallest_above = np.inf
        for i in range(size):
            if breaks[i] <= pivot:
                below += weights[i]
            else:
                smallest_above = min(smallest_above, breaks[i])
        keep_below = slope + below >= 0.0
        if keep_below and smallest_above == np.inf:
            # The pivot is the largest candidate: look strictly below it.
            strictly = 0.0
            for i in range(size):
                if breaks[i] < pivot:
                    strictly += weights[i]
            if slope + strictly < 0.0:
                return pivot
            kept = 0
            for i in range(size):
                if breaks[i] < pivot:
                    breaks[kept] = breaks[i]
                    weights[kept] = weights[i]
                    kept += 1
            size = kept
            continue
        if not keep_below:
            slope += below
        kept = 0
        for i in range(size):
            if (breaks[i] <= pivot) == keep_below:
                breaks[kept] = breaks[i]
                weights[kept] = weights[i]
                kept += 1
        if kept == 0 or kept == size:
            return pivot
        size = kept
    return breaks[0]


@jit
def _kept(excess, mass):
    """Fraction of a class that is kept if its sum is too large."""
    return max(0.0, 1.0 - excess / mass) if excess > 0.0 and mass > 0.0 else 1.0


@jit
def _raised(missing, room):
    """Fraction of its room by which a class is raised if its sum is too small."""
    return min(1.0, missing / room) if missing > 0.0 and room > 0.0 else 0.0


@jit
def balance(alpha, y, C, offset):
    """Make ``y @ alpha + offset`` zero up to rounding.

    One class is scaled down; if that does not compensate for the offset, the other is
    raised towards C.
    """
    positive, negative = 0.0, 0.0
    positive_room, negative_room = 0.0, 0.0
    for i in range(alpha.shape[0]):
        if y[i] > 0:
            positive += alpha[i]
            positive_room += C[i] - alpha[i]
        else:
            negative += alpha[i]
            negative_room += C[i] - alpha[i]
    excess = positive - negative + offset
    up, down = _kept(excess, positive), _kept(-excess, negative)
    rise = _raised(-excess - negative, positive_room)
    other_rise = _raised(excess - positive, negative_room)
    for i in range(alpha.shape[0]):
        if y[i] > 0:
            alpha[i] = up * alpha[i] + rise * (C[i] - alpha[i])
        else:
            alpha[i] = down * alpha[i] + other_rise * (C[i] - alpha[i])


@jit
def balance_machines(alpha, y, C, offsets, first):
    """``balance`` the samples of each machine, if there are intercepts."""
    for k in range(offsets.shape[0]):
        start, end = first[k], first[k + 1]
        balance(alpha[start:end], y[start:end], C[start:end], offsets[k])


@jit
def longest_step(value, change):
    """Largest step that keeps ``value + step * change`` non-negative."""
    worst = 0.0
    for i in range(value.shape[0]):
        worst = max(worst, -change[i] / value[i])
    return 1.0 / worst if worst > 0.0 else 1e300
