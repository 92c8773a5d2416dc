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

from ._jit import jit, jit_inline
from .bounds import dual_bound
from .central_path import (
    ALPHA,
    Z,
    central_samples,
    central_shares,
    longest_common_step,
    mean_product,
    ray_start,
)
from .hinge import balance, best_intercept, hinge_sum
from .linalg import (
    advance,
    cholesky_solve,
    clear,
    combine,
    copy_to,
    correlate,
    dot,
    top_sum,
    total,
    transpose,
)
from .newton import (
    border_matrix,
    complete_step,
    factor_by_feature,
    factor_by_sample,
    price_of,
    scalings,
    step_by_feature,
    step_by_sample,
    targets,
)
from .rows import margins_of, restrict

# Fraction of the way to the boundary that a step may go.
STEP_TO_BOUNDARY = 0.99
# Iterations without progress before giving up, and in all.
PATIENCE = 12
MAX_ITERATIONS = 150
# Up to this order the choice of matrix is not a question of speed.
SMALL_ORDER = 150
# z is released once the SVM with uniform z is solved to this relative gap.
RELEASE_GAP = 0.3
# ... with complementarity products of z that sum to at least this part of the value.
RELEASE_SHARE = 0.2
# c - A alpha above this fraction of c asks for refined solves.
REFINE_ABOVE = 1e-9


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


@jit_inline
def interior_point(
    A, norms, all_y, all_C, intercept, costs, node_free, budget, features, side, R, h,
    tol, cutoff, warm_w, unit, proportional, stop,
):  # fmt: skip
    """Solve the SVM or its relaxation on some features and samples, and judge it.

    Compiled as a part of ``rounds.solve_tasks``, its only caller.

    Parameters
    ----------
    A : array (n, m)
        Signed features, ``y_i x_ij``.
    norms : array (n,) or (0,)
        Upper bounds of the row norms; if there are none, nothing is judged.
    all_y, all_C : arrays (m,)
        Labels and positive weights.
    intercept : bool
        Whether a free intercept is fitted.
    costs, node_free, budget : array (n,), integer array, float
        Costs, all free features of the node and their budget, to judge by.
    features : integer array
        The features to solve on, forced ones first; there are R.shape[1] free ones.
    side : array (m,)
        0 for the samples to solve on; the others keep alpha = C (1) or alpha = 0 (-1).
        If these cannot be balanced, all samples are solved on, and all sides set to 0.
    R, h : arrays (r, free), (r,)
        Budget rows ``R z <= h``, positive; the first is all ones. No rows for an SVM.
    tol, cutoff : float
        Stop at this relative gap, or once the dual value exceeds the cutoff.
    warm_w : array or (0,)
        For an SVM: weights (and intercept) to start from.
    unit : float
        Start at the barrier ``unit mean(C)``.
    proportional : bool
        Centre the products of sample i in proportion to C_i, or all alike.
    stop : array (1,)
        Ends with the best found so far once it is not zero: another thread sets it.

    Returns
    -------
    alpha, dual, squares, bound
        Dual point of all samples and its value on these features. If judged, alpha is
        repaired and bound is valid for the node; squares bound all ``c_j^2``.
    z, w, primal, margins, value
        Primal point, ``w`` with the intercept last if there is one, its value on these
        samples, and the margins and value of all samples.
    means, iterations, price
        Means of the features: ``w`` belongs to centred ones; the price of the cost
        budget behind the bound.
    """
    n_forced = features.shape[0] - R.shape[1]
    rows, offset, means, samples, y, C, alpha, mass = restrict(
        A, features, side, all_y, all_C, intercept
    )
    q, m = rows.shape
    n_rows, free = R.shape
    p = n_forced + free
    # The feature-space matrix keeps more digits when features differ in scale.
    by_feature = q <= max(m, SMALL_ORDER)
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
    inverse = np.empty((2, m))
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
    mean_C = total(C) / m
    weight = np.ones(m)
    if proportional:
        for i in range(m):
            weight[i] = C[i] / mean_C
    b = 0.0
    if warm_w.shape[0] == q and free == 0:
        c = warm_w.copy()
    else:
        c = ray_start(rows, y, C, share, n_forced, p, offset)
    for j in range(p):
        w[j] = c[j] if j < n_forced else share * c[j]
    if q > p:
        c[p] = 0.0
        w[p] = 0.0
        combine(w, rows, margins)
        b = best_intercept(margins * y, y, C)
        w[p] = b
    combine(w, rows, margins)
    mu = unit * mean_C
    central_samples(margins, C, mu, weight, sample)
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
        # The loss of a sample left out is taken as linear: alpha_i (1 - margin_i).
        primal = 0.5 * dot(w, c, p) + hinge_sum(margins, C) + mass - dot(w, offset, q)
        if primal < best_primal:
            best_primal = primal
            copy_to(w, best_w)
            copy_to(shares[Z], best_z)
        # Judge alpha after the repair of y alpha = 0, not before.
        copy_to(sample[ALPHA], balanced)
        if q > p:
            balance(balanced, y, offset[p])
        correlate(rows, balanced, c_alpha)
        advance(c_alpha, offset, 1.0)
        dual = mass + _dual_value(balanced, c_alpha, n_forced, R, h, lam, 0.0)
        if dual > best_dual:
            best_dual = dual
            copy_to(balanced, best_alpha)
        gap = best_primal - best_dual
        if gap <= tol * abs(best_primal) or best_dual > cutoff or stop[0] != 0:
            break
        if not released:
            uniform = _dual_value(balanced, c_alpha, n_forced, R, h, lam, share)
            uniform += mass
            if primal - uniform <= RELEASE_GAP * primal or iterations >= 20:
                released = True
                least = RELEASE_SHARE * primal / free
                kappa = central_shares(c, n_forced, R, h, least, shares, lam) / mu
                continue

        for i in range(m):
            room[i] = C[i] - sample[ALPHA, i]
        for r in range(n_rows):
            slack[r] = h[r] - dot(R[r], shares[Z], free)
        mu = mean_product(
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
        advance(c_alpha, offset, 1.0)
        off = 0.0
        size = 0.0
        for j in range(q):
            r_c[j] = c[j] - c_alpha[j]
        for j in range(p):
            off = max(off, abs(r_c[j]))
            size = max(size, abs(c[j]))
        # More than the last step should have left: its solves lost digits.
        refine = refine or off > max(2.0 * expected_off, REFINE_ABOVE * size)
        scalings(
            sample, room, shares, c, n_forced, R, released, inverse, theta, H, omega, E
        )
        if by_feature:
            factor_by_feature(rows, theta, omega, E, matrix, border, stop)
        else:
            factor_by_sample(rows, columns, y, theta, omega, E, matrix, border, stop)
        if stop[0] != 0:
            # The factorisation may be unfinished.
            break
        solved = border.copy()
        for r in range(n_border):
            cholesky_solve(matrix, solved[r])
        border_matrix(
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
            targets(
                rows, weight, sample, room, inverse, shares, lam, slack, c, margins,
                n_forced, R, H, sigma * mu, kappa, second, d_sample, d_shares, d_c,
                d_lam, d_slack, e, base, price_rhs,
            )  # fmt: skip
            if by_feature:
                d_b = step_by_feature(
                    rows, theta, omega, E, matrix, border, solved, small, base, r_c,
                    price_rhs, refine, d_sample[ALPHA], d_c, d_lam,
                )  # fmt: skip
            else:
                d_b = step_by_sample(
                    rows, omega, E, matrix, border, solved, small, base, r_c,
                    price_rhs, d_sample[ALPHA], d_c, d_lam,
                )  # fmt: skip
            complete_step(
                sample, inverse, shares, c, n_forced, R, H, e,
                d_sample, d_shares, d_c, d_lam, d_slack,
            )  # fmt: skip
            step = longest_common_step(
                sample, inverse, shares, lam, slack, d_sample, d_shares, d_lam, d_slack
            )
            if phase == 0:
                second = min(1.0, step)
                ahead = mean_product(
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
    for i in range(m):
        alpha[samples[i]] = best_alpha[i]
    squares = np.empty(0)
    bound = -np.inf
    price = 0.0
    if norms.shape[0] > 0:
        bound, alpha, squares, price = dual_bound(
            A, norms, all_y, all_C, intercept, costs, features[:n_forced], node_free,
            int(h[0] + 0.5) if n_rows > 0 else 0, budget, alpha,
        )  # fmt: skip
    margins = np.empty(all_y.shape[0])
    margins_of(A, features, best_w, means, all_y, margins)
    quadratic = 0.0
    for j in range(p):
        share = 1.0 if j < n_forced else best_z[j - n_forced]
        quadratic += best_w[j] * best_w[j] / share
    value = 0.5 * quadratic + hinge_sum(margins, all_C)
    return (
        alpha, best_dual, squares, bound, best_z, best_w, best_primal, margins, value,
        means, iterations, price,
    )  # fmt: skip
