"""Points near the central path: starts, complementarity products, step lengths.

The variables of the interior point come in two blocks. The sample block holds alpha and
the multipliers of its bounds 0 and C, the share block holds z and the multipliers s and
g of its bounds 1 and 0; see ``interior_point`` for the conditions they satisfy.
"""

import numpy as np

from ._jit import jit
from .hinge import balance, longest_step
from .linalg import correlate, dot, total

# Rows of the sample block and of the share block.
ALPHA, LOWER, UPPER = 0, 1, 2
Z, S, G = 0, 1, 2
BISECTIONS = 100


@jit
def ray_start(rows, y, C, share, n_forced, p, offset):
    """C on the ray of balanced half-bounds, at the scale that maximises the dual."""
    alpha = 0.5 * C
    if rows.shape[0] > p:
        balance(alpha, y, offset[p])
    c = np.empty(rows.shape[0])
    correlate(rows, alpha, c)
    for j in range(p):
        c[j] += offset[j]
    quadratic = share * dot(c, c, p) + (1.0 - share) * dot(c, c, n_forced)
    mass = total(alpha)
    if quadratic > mass:
        for j in range(p):
            c[j] *= mass / quadratic
    if rows.shape[0] > p:
        c[p] = 0.0
    return c


@jit
def central_samples(margins, C, mu, weight, sample):
    """Multipliers for margins: all products equal ``mu weight``, no residual."""
    for i in range(C.shape[0]):
        excess = margins[i] - 1.0
        unit = mu * weight[i] / C[i]
        ratio = excess / unit
        root = np.sqrt(4.0 + ratio * ratio)
        sample[ALPHA, i] = C[i] * 2.0 / (2.0 + ratio + root)
        # The smaller multiplier; root - |ratio| written without cancellation.
        small = 0.5 * unit * (2.0 + 4.0 / (root + abs(ratio)))
        sample[LOWER, i] = small + max(excess, 0.0)
        sample[UPPER, i] = small + max(-excess, 0.0)


@jit
def _central_share(excess, product):
    """The z with ``s (1 - z) = g z = product`` and ``s - g = excess``."""
    root = np.sqrt(excess * excess + 4.0 * product * product)
    if excess <= 0.0:
        return 2.0 * product / (root - excess + 2.0 * product)
    return 1.0 - 2.0 * product / (root + excess + 2.0 * product)


@jit
def central_shares(c, n_forced, R, h, least_product, shares, lam):
    """Centre z and its multipliers for the given c; return their common product.

    The price of a feature (equal in all rows after scaling by the budgets) is found by
    bisection so that every budget is met up to its own complementarity. The product is
    in proportion to the price, but never below ``least_product``: a z that starts too
    close to its bounds cannot move.
    """
    free = shares.shape[1]
    n_rows = R.shape[0]
    z = shares[Z]
    weight = np.zeros(free)
    top = 1e-200
    for j in range(free):
        for r in range(n_rows):
            weight[j] += R[r, j] * h[0] / (h[r] * n_rows)
        top = max(top, (c[n_forced + j] ** 2 + least_product) / weight[j])
    ratio = min(0.5, 0.25 * h[0] / free)
    low = 1e-9 * top
    high = 4.0 * top * (1.0 + free / h[0])
    # Far more turns than the bisection of any two numbers needs.
    for _ in range(BISECTIONS):
        if not high > 1.001 * low:
            break
        price = np.sqrt(low) * np.sqrt(high)
        product = max(ratio * price, least_product)
        for j in range(free):
            excess = c[n_forced + j] ** 2 - price * weight[j]
            z[j] = _central_share(excess, product)
        fits = True
        for r in range(n_rows):
            left = h[r] - dot(R[r], z, free)
            fits = fits and left >= min(0.1, ratio / h[0]) * h[r]
        if fits:
            high = price
        else:
            low = price
    product = max(ratio * high, least_product)
    for r in range(n_rows):
        lam[r] = high * h[0] / (h[r] * n_rows)
    for j in range(free):
        z[j] = _central_share(c[n_forced + j] ** 2 - high * weight[j], product)
        shares[S, j] = product / (1.0 - z[j])
        shares[G, j] = product / z[j]
    return product


@jit
def mean_product(
    sample, room, shares, lam, slack, kappa, step, d_sample, d_shares, d_lam, d_slack
):
    """Mean complementarity product after a step, the share block in units of kappa."""
    m = room.shape[0]
    mean = 0.0
    for i in range(m):
        d_alpha = step * d_sample[ALPHA, i]
        alpha = sample[ALPHA, i] + d_alpha
        mean += alpha * (sample[LOWER, i] + step * d_sample[LOWER, i])
        mean += (room[i] - d_alpha) * (sample[UPPER, i] + step * d_sample[UPPER, i])
    if kappa == 0.0:
        return mean / (2 * m)
    share_sum = 0.0
    for r in range(lam.shape[0]):
        share_sum += (lam[r] + step * d_lam[r]) * (slack[r] + step * d_slack[r])
    free = shares.shape[1]
    for j in range(free):
        z = shares[Z, j] + step * d_shares[Z, j]
        share_sum += (shares[G, j] + step * d_shares[G, j]) * z
        share_sum += (shares[S, j] + step * d_shares[S, j]) * (1.0 - z)
    return (mean + share_sum / kappa) / (2 * m + 2 * free + lam.shape[0])


@jit
def longest_common_step(
    sample, inverse, shares, lam, slack, d_sample, d_shares, d_lam, d_slack
):
    """Step to the boundary of the positive orthant.

    ``inverse`` holds 1 / alpha and 1 / (C - alpha): divisions are what an iteration on
    few features spends its time on.
    """
    worst = 1e-300
    for i in range(inverse.shape[1]):
        change = d_sample[ALPHA, i]
        worst = max(worst, -change * inverse[0, i])
        worst = max(worst, change * inverse[1, i])
        worst = max(worst, -d_sample[LOWER, i] / sample[LOWER, i])
        worst = max(worst, -d_sample[UPPER, i] / sample[UPPER, i])
    step = 1.0 / worst
    for j in range(shares.shape[1]):
        if d_shares[Z, j] > 0.0:
            step = min(step, (1.0 - shares[Z, j]) / d_shares[Z, j])
    if shares.shape[1] > 0:
        for row in range(3):
            step = min(step, longest_step(shares[row], d_shares[row]))
    step = min(step, longest_step(lam, d_lam))
    return min(step, longest_step(slack, d_slack))
