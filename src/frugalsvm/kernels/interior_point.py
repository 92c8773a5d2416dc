"""One interior point for the SVM on a fixed support and for the relaxation DSCoP.

    min_z max_alpha  sum(alpha) - 1/2 [ sum_F c_j^2 + sum_P z_j c_j^2 ],   c = A alpha
    0 <= z <= 1,  R z <= h,  0 <= alpha <= C,  y alpha = 0

F are the forced features (a plain SVM has no others) and P the free ones; R has a row
of ones and, with feature costs, a row of costs. The conditions, with barrier tau, are

    c = A alpha,   y alpha = 0,   A'(z c) + b y - lower + upper = 1
    s + R' lam = c^2 + g,   alpha lower = (C - alpha) upper = tau
    g z = s (1 - z) = lam (h - R z) = kappa tau

All of alpha, c, z, b and the multipliers are independent variables, so the rounding
errors of one step are residuals that the next one removes. Mehrotra's
predictor-corrector solves the conditions; eliminating all but ``du = z dc + c dz`` (one
value per feature) or ``dalpha`` (one per sample) leaves a positive definite matrix, the
smaller of which is factored. The second-order terms of the products z c and c^2 are
corrected, too.

Layout: ``rows[j, i] = y_i x_ij`` with the forced features first, then the free ones,
then, if there is an intercept, y itself: a feature without penalty whose c is zero.
"""

import numpy as np

from ._jit import jit
from .hinge import balance, best_intercept, hinge_sum, longest_step
from .linalg import (
    advance,
    cholesky,
    cholesky_solve,
    clear,
    combine,
    copy_to,
    correlate,
    dot,
    solve_small,
    top_sum,
    total,
    transpose,
    weighted_gram,
)

# Fraction of the way to the boundary that a step may go.
STEP_TO_BOUNDARY = 0.99
# Iterations without progress before giving up, and in all.
PATIENCE = 12
MAX_ITERATIONS = 150
# A warm start begins this much further down the central path than a cold one (measured:
# a third to a half fewer iterations after exchanging one feature of a support).
WARM_MU = 0.1
# z is released once the SVM with uniform z is solved to this relative gap.
RELEASE_GAP = 0.3
# c - A alpha above this fraction of c asks for refined solves.
REFINE_ABOVE = 1e-9

# Rows of the sample block and of the share block.
ALPHA, LOWER, UPPER = 0, 1, 2
Z, S, G = 0, 1, 2


@jit
def _ray_start(rows, y, C, share, n_forced, p):
    """C on the ray of balanced half-bounds, at the scale that maximises the dual."""
    alpha = 0.5 * C
    if rows.shape[0] > p:
        balance(alpha, y)
    c = np.empty(rows.shape[0])
    correlate(rows, alpha, c)
    quadratic = share * dot(c, c, p) + (1.0 - share) * dot(c, c, n_forced)
    mass = total(alpha)
    if quadratic > mass:
        for j in range(p):
            c[j] *= mass / quadratic
    if rows.shape[0] > p:
        c[p] = 0.0
    return c


@jit
def _central_samples(margins, C, mu, sample):
    """``lower - upper = margins - 1`` with ``alpha lower = (C - alpha) upper = mu``."""
    for i in range(C.shape[0]):
        excess = margins[i] - 1.0
        ratio = excess * C[i] / mu
        root = np.sqrt(4.0 + ratio * ratio)
        sample[ALPHA, i] = C[i] * 2.0 / (2.0 + ratio + root)
        # The smaller multiplier; root - |ratio| written without cancellation.
        small = 0.5 * mu / C[i] * (2.0 + 4.0 / (root + abs(ratio)))
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
def _central_shares(c, n_forced, R, h, shares, lam):
    """Centre z and its multipliers for the given c; return their common product.

    The price of a feature (equal in all rows after scaling by the budgets) is found by
    bisection so that every budget is met up to its own complementarity.
    """
    free = shares.shape[1]
    n_rows = R.shape[0]
    z = shares[Z]
    weight = np.zeros(free)
    top = 1e-300
    for j in range(free):
        for r in range(n_rows):
            weight[j] += R[r, j] * h[0] / (h[r] * n_rows)
        top = max(top, c[n_forced + j] ** 2 / weight[j])
    ratio = min(0.5, 0.25 * h[0] / free)
    low = 1e-9 * top
    high = 4.0 * top
    while high > 1.001 * low:
        price = np.sqrt(low * high)
        for j in range(free):
            excess = c[n_forced + j] ** 2 - price * weight[j]
            z[j] = _central_share(excess, ratio * price)
        fits = True
        for r in range(n_rows):
            left = h[r] - dot(R[r], z, free)
            fits = fits and left >= min(0.1, ratio / h[0]) * h[r]
        if fits:
            high = price
        else:
            low = price
    product = ratio * high
    for r in range(n_rows):
        lam[r] = high * h[0] / (h[r] * n_rows)
    for j in range(free):
        z[j] = _central_share(c[n_forced + j] ** 2 - high * weight[j], product)
        shares[S, j] = product / (1.0 - z[j])
        shares[G, j] = product / z[j]
    return product


@jit
def price_of(R, lam, j):
    """``(R' lam)_j``: what the budgets charge for feature j."""
    price = 0.0
    for r in range(R.shape[0]):
        price += R[r, j] * lam[r]
    return price


@jit
def _dual_value(alpha, c, n_forced, R, h, lam, uniform):
    """Dual value at (alpha, lam); for ``uniform`` > 0, of the SVM with that z."""
    value = total(alpha) - 0.5 * dot(c, c, n_forced)
    free = R.shape[1]
    squares = np.empty(free)
    for j in range(free):
        squares[j] = c[n_forced + j] ** 2
    if uniform > 0.0:
        return value - 0.5 * uniform * total(squares)
    if R.shape[0] == 1:
        return value - 0.5 * top_sum(squares, int(h[0] + 0.5))
    penalty = 0.0
    for r in range(R.shape[0]):
        penalty += h[r] * lam[r]
    for j in range(free):
        penalty += max(0.0, squares[j] - price_of(R, lam, j))
    return value - 0.5 * penalty


@jit
def _mean_product(
    sample, room, shares, lam, slack, kappa, step, d_sample, d_shares, d_lam, d_slack
):
    """Mean complementarity product after a step, the share block in units of kappa."""
    m = room.shape[0]
    mu = 0.0
    for i in range(m):
        d_alpha = step * d_sample[ALPHA, i]
        mu += (sample[ALPHA, i] + d_alpha) * (
            sample[LOWER, i] + step * d_sample[LOWER, i]
        )
        mu += (room[i] - d_alpha) * (sample[UPPER, i] + step * d_sample[UPPER, i])
    if kappa == 0.0:
        return mu / (2 * m)
    share_mu = 0.0
    for r in range(lam.shape[0]):
        share_mu += (lam[r] + step * d_lam[r]) * (slack[r] + step * d_slack[r])
    free = shares.shape[1]
    for j in range(free):
        z = shares[Z, j] + step * d_shares[Z, j]
        share_mu += (shares[G, j] + step * d_shares[G, j]) * z
        share_mu += (shares[S, j] + step * d_shares[S, j]) * (1.0 - z)
    return (mu + share_mu / kappa) / (2 * m + 2 * free + lam.shape[0])


@jit
def _scalings(sample, room, shares, c, n_forced, R, released, theta, H, omega, E):
    """Diagonal scalings of the Newton system at the current point."""
    for i in range(room.shape[0]):
        theta[i] = 1.0 / (
            sample[LOWER, i] / sample[ALPHA, i] + sample[UPPER, i] / room[i]
        )
    for j in range(shares.shape[1]):
        f = n_forced + j
        z = shares[Z, j]
        H[j] = shares[S, j] / (1.0 - z) + shares[G, j] / z if released else np.inf
        omega[f] = z + 2.0 * c[f] ** 2 / H[j]
        for r in range(R.shape[0]):
            E[r, f] = c[f] * R[r, j] / H[j]


@jit
def _factor_by_feature(rows, theta, omega, E, matrix, border):
    """``1 / omega + A theta A'`` and the border ``E / omega`` of the budget rows."""
    weighted_gram(rows, theta, matrix)
    p = omega.shape[0]
    for j in range(p):
        matrix[j, j] += 1.0 / omega[j]
        for r in range(E.shape[0]):
            border[r, j] = E[r, j] / omega[j]
    for r in range(E.shape[0]):
        for j in range(p, rows.shape[0]):
            border[r, j] = 0.0
    cholesky(matrix)


@jit
def _factor_by_sample(rows, columns, y, theta, omega, E, matrix, border):
    """``1 / theta + A' omega A`` and the border ``-A' E`` and y."""
    p = omega.shape[0]
    weighted_gram(columns, omega, matrix)
    for i in range(theta.shape[0]):
        matrix[i, i] += 1.0 / theta[i]
    for r in range(E.shape[0]):
        combine(E[r], rows[:p], border[r])
        for i in range(theta.shape[0]):
            border[r, i] = -border[r, i]
    if rows.shape[0] > p:
        for i in range(theta.shape[0]):
            border[E.shape[0], i] = y[i]
    cholesky(matrix)


@jit
def _border_matrix(border, solved, R, shares, lam, slack, H, omega, by_feature, small):
    """Schur complement of the bordered unknowns: budget prices and perhaps b."""
    n_rows = R.shape[0]
    for r in range(border.shape[0]):
        for q in range(border.shape[0]):
            small[r, q] = dot(border[r], solved[q], border.shape[1])
    n_forced = omega.shape[0] - R.shape[1]
    for r in range(n_rows):
        for q in range(n_rows):
            coupling = slack[r] / lam[r] if r == q else 0.0
            for j in range(R.shape[1]):
                ratio = R[r, j] * R[q, j] / H[j]
                if by_feature:
                    ratio *= shares[Z, j] / omega[n_forced + j]
                coupling += ratio
            small[r, q] += 0.5 * coupling if by_feature else -0.5 * coupling


@jit
def _solve_bordered(matrix, border, solved, small, rhs, small_rhs):
    """Solve ``matrix x + border' t = rhs`` with ``small t = small_rhs + border x0``."""
    cholesky_solve(matrix, rhs)
    order = rhs.shape[0]
    for r in range(border.shape[0]):
        small_rhs[r] += dot(border[r], rhs, order)
    solve_small(small, small_rhs)
    for r in range(border.shape[0]):
        for j in range(order):
            rhs[j] -= solved[r, j] * small_rhs[r]


@jit
def _back_to_samples(rows, base, theta, du, d_alpha):
    """``d_alpha = theta (base - A' du)``."""
    combine(du, rows, d_alpha)
    for i in range(theta.shape[0]):
        d_alpha[i] = theta[i] * (base[i] - d_alpha[i])


@jit
def _step_by_feature(
    rows, theta, omega, E, matrix, border, solved, small, base, r_c, price_rhs, refine,
    d_alpha, d_c, d_lam,
):  # fmt: skip
    """Newton step through the feature-space matrix; returns the change of b."""
    q, m = rows.shape
    p = omega.shape[0]
    n_rows = E.shape[0]
    du = np.zeros(q)
    rhs = np.empty(q)
    small_rhs = np.empty(n_rows)
    weighted = np.empty(m)
    for r in range(n_rows):
        d_lam[r] = 0.0
    for attempt in range(3 if refine else 1):
        if attempt == 0:
            for i in range(m):
                weighted[i] = theta[i] * base[i]
            correlate(rows, weighted, rhs)
        else:
            # What the computed step leaves of  A dalpha - dc = r_c.
            correlate(rows, d_alpha, rhs)
        for j in range(q):
            rhs[j] -= r_c[j]
        for j in range(p):
            rhs[j] -= d_c[j] if attempt > 0 else 0.0
        for r in range(n_rows):
            small_rhs[r] = 0.5 * price_rhs[r] if attempt == 0 else 0.0
        _solve_bordered(matrix, border, solved, small, rhs, small_rhs)
        for j in range(q):
            du[j] += rhs[j]
        for r in range(n_rows):
            d_lam[r] += small_rhs[r]
        _back_to_samples(rows, base, theta, du, d_alpha)
        for j in range(p):
            change = du[j]
            for r in range(n_rows):
                change += E[r, j] * d_lam[r]
            d_c[j] = change / omega[j]
    return du[p] if q > p else 0.0


@jit
def _step_by_sample(
    rows, omega, E, matrix, border, solved, small, base, r_c, price_rhs,
    d_alpha, d_c, d_lam,
):  # fmt: skip
    """Newton step through the sample-space matrix; returns the change of b."""
    q, m = rows.shape
    p = omega.shape[0]
    n_rows = E.shape[0]
    weighted = np.empty(p)
    small_rhs = np.empty(border.shape[0])
    for j in range(p):
        weighted[j] = omega[j] * r_c[j]
    combine(weighted, rows[:p], d_alpha)
    for i in range(m):
        d_alpha[i] += base[i]
    for r in range(n_rows):
        small_rhs[r] = dot(E[r], r_c, p) - 0.5 * price_rhs[r]
    if q > p:
        small_rhs[n_rows] = -r_c[p]
    _solve_bordered(matrix, border, solved, small, d_alpha, small_rhs)
    correlate(rows[:p], d_alpha, d_c)
    for j in range(p):
        d_c[j] -= r_c[j]
    for r in range(n_rows):
        d_lam[r] = small_rhs[r]
    return small_rhs[n_rows] if q > p else 0.0


@jit
def _targets(
    rows, sample, room, shares, lam, slack, c, margins, n_forced, R, H, target, kappa,
    second, d_sample, d_shares, d_c, d_lam, d_slack, e, base, price_rhs,
):  # fmt: skip
    """Right-hand sides; the d_ arrays hold the predictor and receive the targets.

    ``second`` scales the second-order terms of z c and c^2: those grow with the square
    of the step, so they are corrected for the step the predictor could take.
    """
    p = n_forced + shares.shape[1]
    lift = np.zeros(rows.shape[0])
    for r in range(lam.shape[0]):
        d_slack[r] = kappa * target - lam[r] * slack[r] - d_lam[r] * d_slack[r]
        price_rhs[r] = d_slack[r] / lam[r]
    for j in range(shares.shape[1]):
        f = n_forced + j
        z, s, g = shares[Z, j], shares[S, j], shares[G, j]
        d_z = d_shares[Z, j]
        residual = s + price_of(R, lam, j) - c[f] ** 2 - g - second * d_c[f] ** 2
        d_shares[S, j] = kappa * target - s * (1.0 - z) + d_shares[S, j] * d_z
        d_shares[G, j] = kappa * target - g * z - d_shares[G, j] * d_z
        e[j] = d_shares[G, j] / z - d_shares[S, j] / (1.0 - z) - residual
        lift[f] = second * d_z * d_c[f] + c[f] * e[j] / H[j]
        for r in range(lam.shape[0]):
            price_rhs[r] += R[r, j] * e[j] / H[j]
    if p > n_forced:
        combine(lift, rows, base)
    else:
        clear(base)
    for i in range(room.shape[0]):
        alpha, lower, upper = sample[ALPHA, i], sample[LOWER, i], sample[UPPER, i]
        d_alpha = d_sample[ALPHA, i]
        t_lower = target - alpha * lower - d_alpha * d_sample[LOWER, i]
        t_upper = target - room[i] * upper + d_alpha * d_sample[UPPER, i]
        d_sample[LOWER, i] = t_lower
        d_sample[UPPER, i] = t_upper
        residual = margins[i] - 1.0 - lower + upper
        base[i] = t_lower / alpha - t_upper / room[i] - residual - base[i]


@jit
def _complete_step(
    sample, room, shares, c, n_forced, R, H, e, d_sample, d_shares, d_c, d_lam, d_slack
):
    """Changes of all eliminated variables, from those of alpha, c and the prices."""
    for i in range(room.shape[0]):
        change = d_sample[ALPHA, i]
        d_sample[LOWER, i] -= sample[LOWER, i] * change
        d_sample[LOWER, i] /= sample[ALPHA, i]
        d_sample[UPPER, i] += sample[UPPER, i] * change
        d_sample[UPPER, i] /= room[i]
    for j in range(shares.shape[1]):
        f = n_forced + j
        z = shares[Z, j]
        d_z = (e[j] + 2.0 * c[f] * d_c[f] - price_of(R, d_lam, j)) / H[j]
        d_shares[Z, j] = d_z
        d_shares[S, j] = (d_shares[S, j] + shares[S, j] * d_z) / (1.0 - z)
        d_shares[G, j] = (d_shares[G, j] - shares[G, j] * d_z) / z
    for r in range(R.shape[0]):
        d_slack[r] = -dot(R[r], d_shares[Z], R.shape[1])


@jit
def _longest(sample, room, shares, lam, slack, d_sample, d_shares, d_lam, d_slack):
    """Step to the boundary of the positive orthant."""
    step = longest_step(room, d_sample[ALPHA], -1.0)
    for row in range(3):
        step = min(step, longest_step(sample[row], d_sample[row], 1.0))
        if shares.shape[1] > 0:
            step = min(step, longest_step(shares[row], d_shares[row], 1.0))
    for j in range(shares.shape[1]):
        if d_shares[Z, j] > 0.0:
            step = min(step, (1.0 - shares[Z, j]) / d_shares[Z, j])
    step = min(step, longest_step(lam, d_lam, 1.0))
    return min(step, longest_step(slack, d_slack, 1.0))


@jit
def interior_point(rows, y, C, n_forced, R, h, tol, cutoff, warm_w):
    """Solve the SVM or its relaxation on the given rows (see the module's text).

    Parameters
    ----------
    rows : array (q, m)
        Signed features, forced ones first, then the intercept row if there is one.
    y, C : arrays (m,)
        Labels and positive weights.
    n_forced : int
        Number of features with z = 1.
    R, h : arrays (r, free), (r,)
        Budget rows ``R z <= h``, positive; the first is all ones. No rows for an SVM.
    tol, cutoff : float
        Stop at this relative gap, or once the dual value exceeds the cutoff.
    warm_w : array (q,) or (0,)
        For an SVM: weights (and intercept) to start from.

    Returns
    -------
    alpha, z, w, primal, dual, iterations
        ``w`` has the intercept last if there is one.
    """
    q, m = rows.shape
    n_rows, free = R.shape
    p = n_forced + free
    by_feature = q <= m
    order = q if by_feature else m
    n_border = n_rows if by_feature else n_rows + q - p
    columns = transpose(rows[:p]) if not by_feature else rows[:0]

    sample = np.empty((3, m))
    d_sample = np.zeros((3, m))
    shares = np.zeros((3, free))
    d_shares = np.zeros((3, free))
    lam = np.ones(n_rows)
    d_lam = np.zeros(n_rows)
    slack = np.empty(n_rows)
    d_slack = np.zeros(n_rows)
    d_c = np.zeros(p)
    c_alpha = np.empty(q)
    r_c = np.empty(q)
    w = np.empty(q)
    margins = np.empty(m)
    room = np.empty(m)
    theta = np.empty(m)
    base = np.empty(m)
    balanced = np.empty(m)
    H = np.empty(free)
    e = np.empty(free)
    omega = np.ones(p)
    E = np.zeros((n_rows, p))
    matrix = np.empty((order, order))
    border = np.empty((n_border, order))
    small = np.empty((n_border, n_border))
    price_rhs = np.empty(n_rows)

    share = 1.0
    for r in range(n_rows):
        share = min(share, 0.9 * h[r] / total(R[r]))
    for j in range(free):
        shares[Z, j] = share
    mu = total(C) / m
    b = 0.0
    if warm_w.shape[0] == q and free == 0:
        c = warm_w.copy()
        mu *= WARM_MU
    else:
        c = _ray_start(rows, y, C, share, n_forced, p)
    for j in range(p):
        w[j] = c[j] if j < n_forced else share * c[j]
    if q > p:
        c[p] = 0.0
        w[p] = 0.0
        combine(w, rows, margins)
        b = best_intercept(margins * y, y, C)
        w[p] = b
    combine(w, rows, margins)
    _central_samples(margins, C, mu, sample)
    # Until alpha has found its scale z stays uniform: a plain SVM, linear in c.
    released = free == 0
    kappa = 0.0

    best_alpha = np.zeros(m)
    best_z = shares[Z].copy()
    best_w = w.copy()
    best_primal = np.inf
    best_dual = -np.inf
    best_gap = np.inf
    best_mu = np.inf
    stalled = 0
    iterations = 0
    refine = False
    expected_off = np.inf
    while True:
        for j in range(p):
            w[j] = c[j] if j < n_forced else shares[Z, j - n_forced] * c[j]
        if q > p:
            w[p] = b
        combine(w, rows, margins)
        primal = 0.5 * dot(w, c, p) + hinge_sum(margins, C)
        if primal < best_primal:
            best_primal = primal
            copy_to(w, best_w)
            copy_to(shares[Z], best_z)
        # Judge alpha after the repair of y alpha = 0, not before.
        copy_to(sample[ALPHA], balanced)
        if q > p:
            balance(balanced, y)
        correlate(rows, balanced, c_alpha)
        dual = _dual_value(balanced, c_alpha, n_forced, R, h, lam, 0.0)
        if dual > best_dual:
            best_dual = dual
            copy_to(balanced, best_alpha)
        gap = best_primal - best_dual
        if gap <= tol * abs(best_primal) or best_dual > cutoff:
            break
        if not released:
            uniform = _dual_value(balanced, c_alpha, n_forced, R, h, lam, share)
            if primal - uniform <= RELEASE_GAP * primal or iterations >= 20:
                released = True
                kappa = _central_shares(c, n_forced, R, h, shares, lam) / mu
                continue

        for i in range(m):
            room[i] = C[i] - sample[ALPHA, i]
        for r in range(n_rows):
            slack[r] = h[r] - dot(R[r], shares[Z], free)
        mu = _mean_product(
            sample, room, shares, lam, slack, kappa, 0.0,
            d_sample, d_shares, d_lam, d_slack,
        )  # fmt: skip
        stalled = stalled + 1 if gap > 0.9 * best_gap and mu > 0.9 * best_mu else 0
        if stalled >= PATIENCE or iterations >= MAX_ITERATIONS or not mu < np.inf:
            break
        best_gap = min(gap, best_gap)
        best_mu = min(mu, best_mu)
        iterations += 1

        correlate(rows, sample[ALPHA], c_alpha)
        off = 0.0
        size = 0.0
        for j in range(q):
            r_c[j] = c[j] - c_alpha[j]
        for j in range(p):
            off = max(off, abs(r_c[j]))
            size = max(size, abs(c[j]))
        # More than the last step should have left: its solves lost digits.
        refine = refine or off > max(2.0 * expected_off, REFINE_ABOVE * size)
        _scalings(sample, room, shares, c, n_forced, R, released, theta, H, omega, E)
        if by_feature:
            _factor_by_feature(rows, theta, omega, E, matrix, border)
        else:
            _factor_by_sample(rows, columns, y, theta, omega, E, matrix, border)
        solved = border.copy()
        for r in range(n_border):
            cholesky_solve(matrix, solved[r])
        _border_matrix(
            border, solved, R, shares, lam, slack, H, omega, by_feature, small
        )

        for row in range(3):
            clear(d_sample[row])
            clear(d_shares[row])
        clear(d_c)
        clear(d_lam)
        clear(d_slack)
        sigma = 0.0
        second = 0.0
        step = 0.0
        d_b = 0.0
        for phase in range(2):
            _targets(
                rows, sample, room, shares, lam, slack, c, margins, n_forced, R, H,
                sigma * mu, kappa, second, d_sample, d_shares, d_c, d_lam, d_slack,
                e, base, price_rhs,
            )  # fmt: skip
            if by_feature:
                d_b = _step_by_feature(
                    rows, theta, omega, E, matrix, border, solved, small, base, r_c,
                    price_rhs, refine, d_sample[ALPHA], d_c, d_lam,
                )  # fmt: skip
            else:
                d_b = _step_by_sample(
                    rows, omega, E, matrix, border, solved, small, base, r_c,
                    price_rhs, d_sample[ALPHA], d_c, d_lam,
                )  # fmt: skip
            _complete_step(
                sample, room, shares, c, n_forced, R, H, e,
                d_sample, d_shares, d_c, d_lam, d_slack,
            )  # fmt: skip
            step = _longest(
                sample, room, shares, lam, slack, d_sample, d_shares, d_lam, d_slack
            )
            if phase == 0:
                second = min(1.0, step)
                ahead = _mean_product(
                    sample, room, shares, lam, slack, kappa, second,
                    d_sample, d_shares, d_lam, d_slack,
                )  # fmt: skip
                sigma = (ahead / mu) ** 3
        step = min(1.0, STEP_TO_BOUNDARY * step)
        b += step * d_b
        expected_off = (1.0 - step) * off
        advance(c, d_c, step)
        advance(lam, d_lam, step)
        for row in range(3):
            advance(sample[row], d_sample[row], step)
            advance(shares[row], d_shares[row], step)
    return best_alpha, best_z, best_w, best_primal, best_dual, iterations
