"""Points near the central path: starts, complementarity products, step lengths.

A point has a block for the samples, alpha and the multipliers of its bounds, and one
for the choice of features, z and the multipliers of its bounds and of the budgets; see
``interior_point`` for the conditions. On the path with barrier tau all products of
sample i are ``tau weight_i`` and all products of the choice are ``tau kappa``.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .data import admit
from .linalg import add, copy_to, dot, fill, filled, total
from .rows import combine_rows, correlate_rows
from .smoothing import balance_machines, best_intercept, longest_step

# Fraction of the budgets that a uniform z leaves unused.
UNUSED = 0.1
# Far more steps than the bisection of any interval needs.
BISECTIONS = 100


class SampleVariables(NamedTuple):
    """Dual variables alpha and the multipliers of 0 <= alpha and alpha <= C."""

    alpha: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class ChoiceVariables(NamedTuple):
    """z, the multipliers s of z <= 1 and g of 0 <= z, and those of the budgets.

    ``slack`` is ``h - R z``, or its change in a step.
    """

    z: np.ndarray
    s: np.ndarray
    g: np.ndarray
    lam: np.ndarray
    slack: np.ndarray


class Point(NamedTuple):
    """The variables of the interior point, or a step of them.

    At the solution ``c`` is ``A alpha``; ``b`` holds the intercept of each machine.
    """

    samples: SampleVariables
    choice: ChoiceVariables
    c: np.ndarray
    b: np.ndarray


@jit_new
def zero_point(program):
    """A point with all variables zero."""
    m = program.y.shape[0]
    n_rows, free = program.R.shape
    return Point(
        SampleVariables(filled(m, 0.0), filled(m, 0.0), filled(m, 0.0)),
        ChoiceVariables(
            filled(free, 0.0),
            filled(free, 0.0),
            filled(free, 0.0),
            filled(n_rows, 0.0),
            filled(n_rows, 0.0),
        ),
        filled(program.n_columns, 0.0),
        filled(program.rows.first.shape[0] - 1, 0.0),
    )


@jit
def clear(point):
    """Set all variables to zero."""
    for x in point.samples:
        fill(x, 0.0)
    for x in point.choice:
        fill(x, 0.0)
    fill(point.c, 0.0)
    fill(point.b, 0.0)


@jit
def advance(point, step, length):
    """Take a step of some length; slacks are not moved, since they follow from z."""
    add(point.samples.alpha, step.samples.alpha, length)
    add(point.samples.lower, step.samples.lower, length)
    add(point.samples.upper, step.samples.upper, length)
    add(point.choice.z, step.choice.z, length)
    add(point.choice.s, step.choice.s, length)
    add(point.choice.g, step.choice.g, length)
    add(point.choice.lam, step.choice.lam, length)
    add(point.c, step.c, length)
    add(point.b, step.b, length)


@jit
def weights_of(starts, z, v, b, w):
    """``w = z v`` with z = 1 for forced features, and intercepts last if any."""
    p = v.shape[0]
    for f in range(starts[0]):
        w[f] = v[f]
    for j in range(z.shape[0]):
        for f in range(starts[j], starts[j + 1]):
            w[f] = z[j] * v[f]
    if w.shape[0] > p:
        copy_to(b, w[p:])


@jit
def start(program, warm_w, mu, weight, point, admitted, w, margins):
    """Set a point whose products of samples are ``mu weight``.

    Only c is not A alpha; z is uniform and has no multipliers yet. ``warm_w`` are the
    weights to start from, for an SVM, or nothing. ``w`` and ``margins`` are scratch.
    """
    clear(point)
    c, b, p = point.c, point.b, program.n_columns
    fill(point.choice.z, _uniform_z(program.R, program.h))
    fill(point.choice.lam, 1.0)
    if warm_w.shape[0] == p and program.n_forced == p:
        copy_to(warm_w, c)
    else:
        _start_on_ray(program, point.choice.z, point.samples.alpha, c)
    admitted.barrier[0] = mu
    admit(program.signs, c, admitted)
    weights_of(program.starts, point.choice.z, admitted.v, b, w)
    combine_rows(w, program.rows, margins)
    if w.shape[0] > p:
        for i in range(margins.shape[0]):
            margins[i] *= program.y[i]
        _best_intercepts(program, margins, b)
        copy_to(b, w[p:])
        combine_rows(w, program.rows, margins)
    _centre_samples(margins, program.C, mu, weight, point.samples)


@jit
def _best_intercepts(program, scores, b):
    """The best intercept of each machine."""
    first, p = program.rows.first, program.n_columns
    for k in range(b.shape[0]):
        start, end = first[k], first[k + 1]
        b[k] = best_intercept(
            scores[start:end],
            program.y[start:end],
            program.C[start:end],
            program.offset[p + k],
        )


@jit
def _uniform_z(R, h):
    """The z for all features that leaves some of each budget unused."""
    z = 1.0
    for r in range(h.shape[0]):
        z = min(z, (1.0 - UNUSED) * h[r] / total(R[r]))
    return z


@jit
def _start_on_ray(program, z, alpha, c):
    """Set c for half the bounds, balanced and scaled to maximise the dual."""
    C, offset, p = program.C, program.offset, program.n_columns
    for i in range(C.shape[0]):
        alpha[i] = 0.5 * C[i]
    balance_machines(alpha, program.y, C, offset[p:], program.rows.first)
    correlate_rows(program.rows, alpha, c)
    add(c, offset[:p], 1.0)
    uniform = z[0] if z.shape[0] > 0 else 1.0
    forced = dot(c, c, program.n_forced)
    quadratic = uniform * dot(c, c, p) + (1.0 - uniform) * forced
    mass = total(alpha)
    if quadratic > mass:
        for j in range(p):
            c[j] *= mass / quadratic


@jit
def _centre_samples(margins, C, mu, weight, samples):
    """Alpha and its multipliers for margins: equal products, no residual."""
    alpha, lower, upper = samples
    for i in range(C.shape[0]):
        excess = margins[i] - 1.0
        unit = mu * weight[i] / C[i]
        ratio = excess / unit
        root = np.sqrt(4.0 + ratio * ratio)
        alpha[i] = C[i] * 2.0 / (2.0 + ratio + root)
        # The smaller multiplier; root - |ratio| written without cancellation.
        small = 0.5 * unit * (2.0 + 4.0 / (root + abs(ratio)))
        lower[i] = small + max(excess, 0.0)
        upper[i] = small + max(-excess, 0.0)


@jit
def _central_z(excess, product):
    """The z with ``s (1 - z) = g z = product`` and ``s - g = excess``."""
    root = np.sqrt(excess * excess + 4.0 * product * product)
    if excess <= 0.0:
        return 2.0 * product / (root - excess + 2.0 * product)
    return 1.0 - 2.0 * product / (root + excess + 2.0 * product)


@jit
def _row_weights(R, h, weight):
    """The total price of each feature if all rows have the same price."""
    n_rows, free = R.shape
    for j in range(free):
        weight[j] = 0.0
        for r in range(n_rows):
            weight[j] += R[r, j] * h[0] / (h[r] * n_rows)


@jit
def _set_z(worths, weight, price, product, z):
    """The central z at a price."""
    for j in range(z.shape[0]):
        z[j] = _central_z(worths[j] - price * weight[j], product)


@jit
def _leaves(R, h, z, part):
    """Whether z leaves a given fraction of every budget unused."""
    fits = True
    for r in range(h.shape[0]):
        fits = fits and h[r] - dot(R[r], z, z.shape[0]) >= part * h[r]
    return fits


@jit
def centre_choice(R, h, worths, least_product, choice, weight):
    """Centre z and its multipliers, given the worth of features.

    Returns their common product.

    The price of a feature (equal in all rows after scaling by the budgets) is found by
    bisection so that every budget is met up to its own complementarity. The product is
    in proportion to the price, but never below ``least_product``: a z that starts too
    close to its bounds cannot move. ``weight`` is scratch, one number per feature.
    """
    z, s, g, lam, _ = choice
    n_rows, free = R.shape
    _row_weights(R, h, weight)
    top = 1e-200
    for j in range(free):
        top = max(top, (worths[j] + least_product) / weight[j])
    ratio = min(0.5, 0.25 * h[0] / free)
    low = 1e-9 * top
    high = 4.0 * top * (1.0 + free / h[0])
    for _ in range(BISECTIONS):
        if not high > 1.001 * low:
            break
        price = np.sqrt(low) * np.sqrt(high)
        _set_z(worths, weight, price, max(ratio * price, least_product), z)
        if _leaves(R, h, z, min(0.1, ratio / h[0])):
            high = price
        else:
            low = price
    product = max(ratio * high, least_product)
    _set_z(worths, weight, high, product, z)
    for r in range(n_rows):
        lam[r] = high * h[0] / (h[r] * n_rows)
    for j in range(free):
        s[j] = product / (1.0 - z[j])
        g[j] = product / z[j]
    return product


@jit
def _sample_products(samples, room, step, length):
    """Sum of the complementarity products of samples after a step."""
    alpha, lower, upper = samples
    products = 0.0
    for i in range(room.shape[0]):
        change = length * step.alpha[i]
        products += (alpha[i] + change) * (lower[i] + length * step.lower[i])
        products += (room[i] - change) * (upper[i] + length * step.upper[i])
    return products


@jit
def _choice_products(choice, step, length):
    """Sum of the complementarity products of the choice after a step."""
    products = 0.0
    for r in range(choice.lam.shape[0]):
        slack = choice.slack[r] + length * step.slack[r]
        products += (choice.lam[r] + length * step.lam[r]) * slack
    for j in range(choice.z.shape[0]):
        z = choice.z[j] + length * step.z[j]
        products += (choice.g[j] + length * step.g[j]) * z
        products += (choice.s[j] + length * step.s[j]) * (1.0 - z)
    return products


@jit
def mean_product(point, room, kappa, step, length):
    """Mean complementarity product after a step, those of the choice by kappa.

    ``room`` is ``C - alpha``; kappa is zero as long as z has no multipliers.
    """
    count = 2 * room.shape[0]
    products = _sample_products(point.samples, room, step.samples, length)
    if kappa > 0.0:
        products += _choice_products(point.choice, step.choice, length) / kappa
        count += 2 * point.choice.z.shape[0] + point.choice.lam.shape[0]
    return products / count


@jit
def _longest_step_of_samples(samples, step, per_alpha, per_room):
    alpha, lower, upper = step
    worst = 1e-300
    for i in range(per_alpha.shape[0]):
        worst = max(worst, -alpha[i] * per_alpha[i])
        worst = max(worst, alpha[i] * per_room[i])
        worst = max(worst, -lower[i] / samples.lower[i])
        worst = max(worst, -upper[i] / samples.upper[i])
    return 1.0 / worst


@jit
def _longest_step_of_choice(choice, step):
    length = longest_step(choice.z, step.z)
    for j in range(choice.z.shape[0]):
        if step.z[j] > 0.0:
            length = min(length, (1.0 - choice.z[j]) / step.z[j])
    length = min(length, longest_step(choice.s, step.s))
    length = min(length, longest_step(choice.g, step.g))
    length = min(length, longest_step(choice.lam, step.lam))
    return min(length, longest_step(choice.slack, step.slack))


@jit
def longest_common_step(point, step, per_alpha, per_room):
    """Step to the boundary of the positive orthant.

    Takes ``1 / alpha`` and ``1 / (C - alpha)``: divisions are what an iteration on few
    features spends its time on.
    """
    return min(
        _longest_step_of_samples(point.samples, step.samples, per_alpha, per_room),
        _longest_step_of_choice(point.choice, step.choice),
    )
