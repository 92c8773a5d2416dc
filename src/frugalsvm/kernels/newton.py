"""The Newton step of the interior point: scalings, factorisation, right-hand sides.

With ``H = s / (1 - z) + g / z``, ``omega = z + 2 c^2 / H``, ``theta`` the inverse of
``lower / alpha + upper / (C - alpha)`` and ``E = R c / H``, eliminating all but
``du = z dc + c dz`` leaves

    (1 / omega + A theta A') du + (E / omega)' dlam = A theta base - r_c

and eliminating all but dalpha leaves

    (1 / theta + A' omega A) dalpha - (A' E)' dlam + y db = base + A' omega r_c

each bordered by the budget prices (and b). Feature costs make the border two rows wide.
"""

import numpy as np

from ._jit import jit
from .central_path import ALPHA, LOWER, UPPER, G, S, Z
from .linalg import (
    cholesky,
    cholesky_solve,
    clear,
    combine,
    correlate,
    dot,
    solve_small,
    weighted_gram,
)


@jit
def price_of(R, lam, j):
    """``(R' lam)_j``: what the budgets charge for feature j."""
    price = 0.0
    for r in range(R.shape[0]):
        price += R[r, j] * lam[r]
    return price


@jit
def scalings(
    sample, room, shares, c, n_forced, R, released, inverse, theta, H, omega, E
):
    """Inverses and diagonal scalings of the Newton system at the current point."""
    for i in range(room.shape[0]):
        inverse[0, i] = 1.0 / sample[ALPHA, i]
        inverse[1, i] = 1.0 / room[i]
        theta[i] = 1.0 / (
            sample[LOWER, i] * inverse[0, i] + sample[UPPER, i] * inverse[1, i]
        )
    for j in range(shares.shape[1]):
        f = n_forced + j
        z = shares[Z, j]
        H[j] = shares[S, j] / (1.0 - z) + shares[G, j] / z if released else np.inf
        omega[f] = z + 2.0 * c[f] ** 2 / H[j]
        for r in range(R.shape[0]):
            E[r, f] = c[f] * R[r, j] / H[j]


@jit
def factor_by_feature(rows, theta, omega, E, matrix, border, stop):
    """``1 / omega + A theta A'`` and the border ``E / omega`` of the budget rows."""
    weighted_gram(rows, theta, matrix, stop)
    p = omega.shape[0]
    for j in range(p):
        matrix[j, j] += 1.0 / omega[j]
        for r in range(E.shape[0]):
            border[r, j] = E[r, j] / omega[j]
    for r in range(E.shape[0]):
        for j in range(p, rows.shape[0]):
            border[r, j] = 0.0
    cholesky(matrix, stop)


@jit
def factor_by_sample(rows, columns, y, theta, omega, E, matrix, border, stop):
    """``1 / theta + A' omega A`` and the border ``-A' E`` and y."""
    p = omega.shape[0]
    weighted_gram(columns, omega, matrix, stop)
    for i in range(theta.shape[0]):
        matrix[i, i] += 1.0 / theta[i]
    for r in range(E.shape[0]):
        combine(E[r], rows[:p], border[r])
        for i in range(theta.shape[0]):
            border[r, i] = -border[r, i]
    if rows.shape[0] > p:
        for i in range(theta.shape[0]):
            border[E.shape[0], i] = y[i]
    cholesky(matrix, stop)


@jit
def border_matrix(border, solved, R, shares, lam, slack, H, omega, by_feature, small):
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
def step_by_feature(
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
def step_by_sample(
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
def targets(
    rows, weight, sample, room, inverse, shares, lam, slack, c, margins, n_forced, R, H,
    target, kappa, second, d_sample, d_shares, d_c, d_lam, d_slack, e, base, price_rhs,
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
        goal = target * weight[i]
        t_lower = goal - alpha * lower - d_alpha * d_sample[LOWER, i]
        t_upper = goal - room[i] * upper + d_alpha * d_sample[UPPER, i]
        d_sample[LOWER, i] = t_lower
        d_sample[UPPER, i] = t_upper
        residual = margins[i] - 1.0 - lower + upper
        pull = t_lower * inverse[0, i] - t_upper * inverse[1, i]
        base[i] = pull - residual - base[i]


@jit
def complete_step(
    sample, inverse, shares, c, n_forced, R, H, e, d_sample, d_shares, d_c, d_lam,
    d_slack,
):  # fmt: skip
    """Changes of all eliminated variables, from those of alpha, c and the prices."""
    for i in range(inverse.shape[1]):
        change = d_sample[ALPHA, i]
        d_sample[LOWER, i] -= sample[LOWER, i] * change
        d_sample[LOWER, i] *= inverse[0, i]
        d_sample[UPPER, i] += sample[UPPER, i] * change
        d_sample[UPPER, i] *= inverse[1, i]
    for j in range(shares.shape[1]):
        f = n_forced + j
        z = shares[Z, j]
        d_z = (e[j] + 2.0 * c[f] * d_c[f] - price_of(R, d_lam, j)) / H[j]
        d_shares[Z, j] = d_z
        d_shares[S, j] = (d_shares[S, j] + shares[S, j] * d_z) / (1.0 - z)
        d_shares[G, j] = (d_shares[G, j] - shares[G, j] * d_z) / z
    for r in range(R.shape[0]):
        d_slack[r] = -dot(R[r], d_shares[Z], R.shape[1])
