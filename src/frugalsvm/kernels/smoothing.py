"""A smoothed SVM on a support, and the estimates of exchanges that follow from it.

A barrier of weight tau on ``0 <= alpha <= C`` smooths the hinge: the loss of a sample
with slack s becomes ``max s alpha + tau log alpha + tau log (C - alpha)``, and Newton's
method solves the resulting smooth problem in w and b. Its matrix is
``K = G theta G' + diag(1, ..., 1, 0)``, with the rows of the support and y in G and
``theta`` the slope of alpha as a function of s.

At its solution the dual has a second-order model. If row k replaces row j of the
support, its maximum is that of a quadratic in two unknowns, which reflects whether one
feature can replace the other: ``q_jk = a_j' P a_k`` is entry j of
``K^-1 G theta a_k``, ``q_jj = 1 - (K^-1)_jj``, and P the inverse Hessian of the dual on
the plane ``y'alpha = 0``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_entry, jit_new
from .linalg import (
    cholesky,
    cholesky_solve,
    combine,
    copy_to,
    dot,
    fill,
    filled,
    new_indices,
    new_matrix,
    new_vector,
    product,
    weighted_gram,
)

# Newton's method ends when its expected gain is below this fraction of tau per sample,
# or after this many iterations.
CENTRED, MAX_NEWTON_STEPS = 0.01, 10
# Most halvings of a step that gains too little, and the fraction of the expected gain
# that suffices.
HALVINGS, ENOUGH = 11, 0.1
# The weight of the barrier corresponds to a relative gap: the second number times the
# samples per weight, at most the first. With few samples, fine differences matter.
MOST_ROUGH, ROUGHNESS = 0.3, 0.04
# Keeps the row of y in K positive if no sample moves.
Y_ROW_EXTRA = 1e-12
# Samples whose theta is below this fraction of the largest do not move.
LEAST_THETA = 1e-5


class Smooth(NamedTuple):
    """The solution of the smoothed SVM.

    Attributes
    ----------
    alpha, theta : arrays (k,)
    factor : matrix (q, q)
        Cholesky factor of K; q is p, or p + 1 with an intercept.
    G : matrix (q, k)
        The rows of the support, and y.
    iterations : int
    """

    alpha: np.ndarray
    theta: np.ndarray
    factor: np.ndarray
    G: np.ndarray
    iterations: int


@jit
def barrier_weight(objective, n_samples, n_features):
    """The weight of the barrier for the gap at which models are made."""
    roughness = min(MOST_ROUGH, ROUGHNESS * n_samples / max(n_features, 1))
    return roughness * objective / (2.0 * n_samples)


@jit
def _value(G, C, far, p, weights, tau, slack, alpha):
    """The smooth objective; writes slacks and alpha."""
    combine(weights, G, slack)
    value = 0.5 * dot(weights, weights, p) - dot(weights, far, far.shape[0])
    for i in range(C.shape[0]):
        s, bound = 1.0 - slack[i], C[i]
        root = np.sqrt(s * s * bound * bound + 4.0 * tau * tau)
        # The smaller of alpha and C - alpha; the sign of s tells which one.
        lower = 2.0 * tau * bound / (2.0 * tau + abs(s) * bound + root)
        upper = bound - lower
        slack[i] = s
        alpha[i] = lower if s < 0.0 else upper
        value += s * alpha[i] + tau * np.log(lower * upper)
    return value


@jit
def _slopes(C, alpha, tau, theta):
    """``theta``: how fast alpha grows with the slack."""
    for i in range(C.shape[0]):
        room = C[i] - alpha[i]
        both = alpha[i] * room
        theta[i] = both * both / (tau * (alpha[i] * alpha[i] + room * room))


@jit_new
def moving_samples(theta):
    """The samples whose alpha moves."""
    largest = 0.0
    for i in range(theta.shape[0]):
        largest = max(largest, theta[i])
    moving = new_indices(theta.shape[0])
    size = 0
    for i in range(theta.shape[0]):
        if theta[i] > LEAST_THETA * largest:
            moving[size] = i
            size += 1
    return moving[:size]


@jit
def _take(row, samples, out):
    """Some entries of a row."""
    for t in range(samples.shape[0]):
        out[t] = row[samples[t]]


@jit_new
def _factorise(G, theta, p, stop, factor):
    """The Cholesky factor of K."""
    moving = moving_samples(theta)
    size = moving.shape[0]
    if size == theta.shape[0]:
        weighted_gram(G, theta, factor, stop)
    else:
        columns, slopes = new_matrix(G.shape[0], size), new_vector(size)
        _take(theta, moving, slopes)
        for j in range(G.shape[0]):
            _take(G[j], moving, columns[j])
        weighted_gram(columns, slopes, factor, stop)
    for j in range(factor.shape[0]):
        factor[j, j] += Y_ROW_EXTRA * factor[j, j] + (1.0 if j < p else Y_ROW_EXTRA)
    cholesky(factor, stop)


@jit
def _gradient(G, far, p, weights, alpha, gradient):
    """The negative gradient; for the weights it is ``A alpha - w``."""
    for j in range(G.shape[0]):
        gradient[j] = far[j] + dot(G[j], alpha, alpha.shape[0])
        if j < p:
            gradient[j] -= weights[j]


@jit
def _begin(near, point, tau, slack, alpha, theta):
    """First slopes of alpha; samples on the margin keep the alpha of the exact one.

    They are at the kink of the loss, where the smooth alpha would be C / 2.
    """
    _slopes(near.C, alpha, tau, theta)
    for t in range(point.size[0]):
        i = point.free[t]
        value, room = point.alpha[i], near.C[i] - point.alpha[i]
        if value > 0.0 and room > 0.0:
            both = value * room
            theta[i] = both * both / (tau * (value * value + room * room))
            alpha[i] = value + theta[i] * (slack[i] + tau / value - tau / room)


@jit_new
def smoothen(near, point, intercept, tau, stop):
    """Solve the smoothed SVM, starting from the exact solution.

    Its alpha is that of the last Newton step, which is balanced: ``A alpha = w`` and
    ``y'alpha = 0``, up to the far samples.
    """
    p, m = near.rows.shape
    order = p + 1 if intercept else p
    G, factor = new_matrix(order, m), new_matrix(order, order)
    for j in range(p):
        copy_to(near.rows[j], G[j])
    # The contributions of far samples to weights and intercept.
    far, weights, trial = filled(order, 0.0), filled(order, 0.0), new_vector(order)
    copy_to(point.w, weights)
    copy_to(near.far_w, far)
    if intercept:
        copy_to(near.y, G[p])
        weights[p], far[p] = point.numbers[0], near.far_sums[1]
    slack, alpha, theta = new_vector(m), new_vector(m), new_vector(m)
    gradient, step = new_vector(order), new_vector(order)
    value = _value(G, near.C, far, p, weights, tau, slack, alpha)
    _begin(near, point, tau, slack, alpha, theta)
    iterations = 0
    while True:
        iterations += 1
        _factorise(G, theta, p, stop, factor)
        _gradient(G, far, p, weights, alpha, gradient)
        copy_to(gradient, step)
        cholesky_solve(factor, step)
        expected = dot(gradient, step, order)
        is_centred = not expected > CENTRED * tau * m
        if is_centred or iterations == MAX_NEWTON_STEPS or stop[0] != 0:
            break
        length = 1.0
        for halving in range(HALVINGS + 1):
            for j in range(order):
                trial[j] = weights[j] + length * step[j]
            new = _value(G, near.C, far, p, trial, tau, slack, alpha)
            if new < value - ENOUGH * length * expected or halving == HALVINGS:
                break
            length *= 0.5
        copy_to(trial, weights)
        value = new
        _slopes(near.C, alpha, tau, theta)
    combine(step, G, slack)
    moving = moving_samples(theta)
    for t in range(moving.shape[0]):
        i = moving[t]
        alpha[i] -= theta[i] * slack[i]
    return Smooth(alpha, theta, factor, G, iterations)


class ExchangeModel(NamedTuple):
    """The estimated costs of exchanges.

    Attributes
    ----------
    features : integer array (q,)
        Features that may enter.
    losses : array (p, q)
        Increase of the objective for each leaving and each entering feature.
    """

    features: np.ndarray
    losses: np.ndarray


@jit_new
def inverse_of(factor):
    """The inverse of the factorised matrix."""
    order = factor.shape[0]
    inverse = new_matrix(order, order)
    for j in range(order):
        column = inverse[j]
        fill(column, 0.0)
        column[j] = 1.0
        cholesky_solve(factor, column)
    return inverse


@jit
def _weighted_square(x, weights):
    """``sum weights x^2``."""
    total = 0.0
    for t in range(x.shape[0]):
        total += weights[t] * x[t] * x[t]
    return total


@jit_new
def exchange_model(data, near, smooth, features, c):
    """Estimated costs of exchanges, given the products of the features with alpha."""
    p, count = near.rows.shape[0], features.shape[0]
    order, theta = smooth.G.shape[0], smooth.theta
    moving = moving_samples(theta)
    size = moving.shape[0]
    samples, slopes = new_indices(size), new_vector(size)
    for t in range(size):
        samples[t], slopes[t] = near.samples[moving[t]], theta[moving[t]]
    scaled, rows = new_matrix(order, size), new_matrix(count, size)
    for j in range(order):
        for t in range(size):
            scaled[j, t] = smooth.G[j, moving[t]] * slopes[t]
    free = new_vector(count)
    for k in range(count):
        _take(data.A[features[k]], samples, rows[k])
        free[k] = _weighted_square(rows[k], slopes)
    inverse = inverse_of(smooth.factor)
    seen = product(scaled, rows)
    shared = product(inverse, seen.T)
    for j in range(order):
        for k in range(count):
            free[k] -= seen[j, k] * shared[j, k]
    losses = new_matrix(p, count)
    for j in range(p):
        c_j = near.far_w[j] + dot(near.rows[j], smooth.alpha, theta.shape[0])
        diagonal = -inverse[j, j]
        for k in range(count):
            more, both = 1.0 + max(0.0, free[k]), shared[j, k]
            change = c_j * c_j * more - 2.0 * c_j * c[k] * both + c[k] * c[k] * diagonal
            losses[j, k] = -0.5 * change / (diagonal * more - both * both)
    return ExchangeModel(features, losses)


# --- Elementary operations on the hinge loss and its dual variables -------------------


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
            n_next = 0
            for i in range(size):
                if breaks[i] < pivot:
                    breaks[n_next] = breaks[i]
                    weights[n_next] = weights[i]
                    n_next += 1
            size = n_next
            continue
        if not keep_below:
            slope += below
        n_next = 0
        for i in range(size):
            if (breaks[i] <= pivot) == keep_below:
                breaks[n_next] = breaks[i]
                weights[n_next] = weights[i]
                n_next += 1
        if n_next == 0 or n_next == size:
            return pivot
        size = n_next
    return breaks[0]


@jit
def _reduction(excess, mass):
    """Factor that lowers a class if its sum is too large."""
    return max(0.0, 1.0 - excess / mass) if excess > 0.0 and mass > 0.0 else 1.0


@jit
def _rise(missing, room):
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
    up, down = _reduction(excess, positive), _reduction(-excess, negative)
    rise = _rise(-excess - negative, positive_room)
    other_rise = _rise(excess - positive, negative_room)
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


@jit_entry
def intercept_of(scores, y, C):
    """The best intercept for given scores."""
    return best_intercept(scores, y, C, 0.0)
