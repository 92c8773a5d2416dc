"""The Newton step of the interior point: residuals, right-hand sides, the step.

Its matrix is in ``newton_system``.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .data import worth
from .linalg import add, copy_to, dot, fill, new_vector
from .newton_system import (
    Scaling,
    System,
    any_has_several,
    has_several,
    is_by_feature,
    new_scaling,
    new_system,
    price_of,
    solve_bordered,
)
from .rows import combine_rows, correlate_rows

# Solves of one system when digits are being lost, the first included.
REFINED_SOLVES = 3


class Residuals(NamedTuple):
    """By how much a point violates the linear conditions.

    Attributes
    ----------
    c : array (q,)
        ``c - A alpha``; the last entries, if there are intercepts, are ``-y alpha``.
    alpha : array (m,)
        ``A'(z v) + b y - lower + upper - 1``.
    z : array (free,)
        ``s + R' lam - q - g``.
    """

    c: np.ndarray
    alpha: np.ndarray
    z: np.ndarray


class RightHandSide(NamedTuple):
    """Right-hand sides after elimination: ``base`` above, ``e`` and budget prices."""

    base: np.ndarray
    e: np.ndarray
    prices: np.ndarray


class Newton(NamedTuple):
    """All that a Newton step is computed from."""

    residuals: Residuals
    scaling: Scaling
    system: System
    rhs: RightHandSide


@jit_new
def new_newton(program):
    """The arrays of a Newton step, not set."""
    q, m = program.offset.shape[0], program.y.shape[0]
    n_rows, free = program.R.shape
    return Newton(
        Residuals(new_vector(q), new_vector(m), new_vector(free)),
        new_scaling(program),
        new_system(program, is_by_feature(program)),
        RightHandSide(new_vector(m), new_vector(free), new_vector(n_rows)),
    )


@jit
def find_residuals(program, point, admitted, margins, residuals):
    """Residuals of a point, given its margins ``A'(z v) + b y``."""
    c, p = point.c, program.n_columns
    correlate_rows(program.rows, point.samples.alpha, residuals.c)
    add(residuals.c, program.offset, 1.0)
    for j in range(residuals.c.shape[0]):
        residuals.c[j] = (c[j] if j < p else 0.0) - residuals.c[j]
    lower, upper = point.samples.lower, point.samples.upper
    for i in range(margins.shape[0]):
        residuals.alpha[i] = margins[i] - 1.0 - lower[i] + upper[i]
    _find_choice_residuals(program, point.choice, admitted, residuals.z)


@jit
def _find_choice_residuals(program, choice, admitted, residual):
    R, starts = program.R, program.starts
    for j in range(R.shape[1]):
        charged = choice.s[j] + price_of(R, choice.lam, j)
        value = worth(admitted, starts[j], starts[j + 1])
        residual[j] = charged - value - choice.g[j]


@jit
def newton_step(
    program, point, admitted, newton, weight, tau, kappa, second, refine, step
):
    """Overwrite a predictor by the step to the central path at tau.

    The predictor, zero for none, gives the second-order terms. Those of z v and q are
    scaled by ``second``: they grow with the square of the step, so they are corrected
    for the step that the predictor could take.
    """
    residuals, scaling, system, rhs = newton
    R, choice, H = program.R, point.choice, scaling.features.H
    lift = step.c
    _aim_choice(
        program, choice, admitted, residuals.z, H, tau, kappa, second, rhs, step.choice,
        lift,
    )  # fmt: skip
    if R.shape[1] > 0 or program.signs.shape[0] > 0:
        combine_rows(lift, program.rows, rhs.base)
    else:
        fill(rhs.base, 0.0)
    _aim_samples(
        point.samples,
        residuals.alpha,
        scaling.samples,
        weight,
        tau,
        rhs.base,
        step.samples,
    )
    if system.by_feature:
        _solve_by_feature(
            program, admitted.v, scaling, system, rhs, residuals.c, refine, step
        )
    else:
        _solve_by_sample(program, admitted.v, scaling, system, rhs, residuals.c, step)
    _complete_samples(point.samples, scaling.samples, step.samples)
    _complete_choice(program, choice, admitted.v, H, rhs.e, step.choice, step.c)


@jit
def _aim_choice(
    program, choice, admitted, residual, H, tau, kappa, second, rhs, step, d_c
):
    """Right-hand sides e and prices; multipliers receive residuals of products.

    ``d_c`` receives the contribution of second-order terms, e and a lower barrier of
    signs to ``z v``.
    """
    R, starts, target = program.R, program.starts, kappa * tau
    e, prices, v, slope = rhs.e, rhs.prices, admitted.v, admitted.slope
    # Without signs there is nothing that the barrier moves.
    drift = tau - admitted.barrier[0]
    fill(d_c[: program.n_forced], 0.0)
    for f in range(min(program.n_forced, admitted.v_rate.shape[0])):
        d_c[f] = drift * admitted.v_rate[f]
    for r in range(R.shape[0]):
        lam, slack = choice.lam[r], choice.slack[r]
        step.slack[r] = target - lam * slack - step.lam[r] * step.slack[r]
        prices[r] = step.slack[r] / lam
    for j in range(R.shape[1]):
        z, d_z = choice.z[j], step.z[j]
        step.s[j] = target - choice.s[j] * (1.0 - z) + step.s[j] * d_z
        step.g[j] = target - choice.g[j] * z - step.g[j] * d_z
        missing = residual[j]
        for f in range(starts[j], starts[j + 1]):
            missing -= second * slope[f] * d_c[f] ** 2
        for f in range(starts[j], min(starts[j + 1], admitted.q_rate.shape[0])):
            missing -= drift * admitted.q_rate[f]
        e[j] = step.g[j] / z - step.s[j] / (1.0 - z) - missing
        for f in range(starts[j], starts[j + 1]):
            d_c[f] = second * d_z * slope[f] * d_c[f] + v[f] * e[j] / H[j]
        for f in range(starts[j], min(starts[j + 1], admitted.v_rate.shape[0])):
            d_c[f] += z * drift * admitted.v_rate[f]
        for r in range(R.shape[0]):
            prices[r] += R[r, j] * e[j] / H[j]


@jit
def _aim_samples(samples, residual, scaling, weight, tau, base, step):
    """Right-hand side of the samples; multipliers receive residuals of products."""
    for i in range(base.shape[0]):
        change = step.alpha[i]
        goal = tau * weight[i]
        lower = goal - samples.alpha[i] * samples.lower[i] - change * step.lower[i]
        upper = goal - scaling.room[i] * samples.upper[i] + change * step.upper[i]
        step.lower[i] = lower
        step.upper[i] = upper
        pull = lower * scaling.per_alpha[i] - upper * scaling.per_room[i]
        base[i] = pull - residual[i] - base[i]


@jit
def _back_to_samples(rows, base, theta, du, d_alpha):
    """``d_alpha = theta (base - A' du)``."""
    combine_rows(du, rows, d_alpha)
    for i in range(theta.shape[0]):
        d_alpha[i] = theta[i] * (base[i] - d_alpha[i])


@jit
def _back_to_features(starts, v, scaling, du, d_lam, d_c):
    """``d_c = (du + E' d_lam) / Omega``."""
    for f in range(d_c.shape[0]):
        change = du[f]
        for r in range(d_lam.shape[0]):
            change += scaling.E[r, f] * d_lam[r]
        d_c[f] = change / scaling.omega[f]
    for j in range(starts.shape[0] - 1 if any_has_several(starts) else 0):
        if has_several(starts, j):
            _shrink_along(
                v, scaling.omega, starts[j], starts[j + 1], scaling.remainder[j], d_c
            )


@jit
def _shrink_along(v, omega, start, stop, factor, d_c):
    """Multiply the part of ``d_c`` that is parallel to v / omega by ``factor``.

    It is taken out twice, since what remains of it after the first time would be
    divided by H, which may be tiny, when the step of z is computed.
    """
    length = 0.0
    for f in range(start, stop):
        length += v[f] * v[f] / omega[f]
    if length == 0.0:
        return
    taken = 0.0
    for _ in range(2):
        part = 0.0
        for f in range(start, stop):
            part += v[f] * d_c[f]
        part /= length
        taken += part
        for f in range(start, stop):
            d_c[f] -= part * v[f] / omega[f]
    for f in range(start, stop):
        d_c[f] += factor * taken * v[f] / omega[f]


@jit
def _solve_by_feature(program, v, scaling, system, rhs, r_c, refine, step):
    """Step of alpha, c, lam and b through the feature-space matrix."""
    rows, starts = program.rows, program.starts
    theta, d_alpha, d_lam = scaling.samples.theta, step.samples.alpha, step.choice.lam
    du, x, t, d_c = system.du, system.x, system.t, step.c
    for i in range(theta.shape[0]):
        d_alpha[i] = theta[i] * rhs.base[i]
    fill(du, 0.0)
    fill(d_lam, 0.0)
    fill(d_c, 0.0)
    for attempt in range(REFINED_SOLVES if refine else 1):
        # First  A theta base - r_c,  then the residual of  A dalpha - dc = r_c.
        correlate_rows(rows, d_alpha, x)
        add(x, r_c, -1.0)
        add(x, d_c, -1.0)
        for r in range(t.shape[0]):
            t[r] = 0.5 * rhs.prices[r] if attempt == 0 else 0.0
        solve_bordered(system, x, t)
        add(du, x, 1.0)
        add(d_lam, t, 1.0)
        _back_to_samples(rows, rhs.base, theta, du, d_alpha)
        _back_to_features(starts, v, scaling.features, du, d_lam, d_c)
    copy_to(du[d_c.shape[0] :], step.b)


@jit
def _solve_by_sample(program, v, scaling, system, rhs, r_c, step):
    """Step of alpha, c, lam and b through the sample-space matrix."""
    rows, starts = program.rows, program.starts
    omega, E, t = scaling.features.omega, scaling.features.E, system.t
    d_alpha, d_lam, d_c, p = step.samples.alpha, step.choice.lam, step.c, omega.shape[0]
    n_rows = d_lam.shape[0]
    for f in range(p):
        d_c[f] = omega[f] * r_c[f]
    for j in range(starts.shape[0] - 1 if any_has_several(starts) else 0):
        if has_several(starts, j):
            seen = 0.0
            for f in range(starts[j], starts[j + 1]):
                seen += v[f] * r_c[f]
            seen *= scaling.features.bend[j]
            for f in range(starts[j], starts[j + 1]):
                d_c[f] += seen * v[f]
    combine_rows(d_c, rows, d_alpha)
    add(d_alpha, rhs.base, 1.0)
    for r in range(t.shape[0]):
        t[r] = -r_c[p + r - n_rows]
        if r < n_rows:
            t[r] = dot(E[r], r_c, p) - 0.5 * rhs.prices[r]
    solve_bordered(system, d_alpha, t)
    correlate_rows(rows, d_alpha, d_c)
    add(d_c, r_c[:p], -1.0)
    copy_to(t[:n_rows], d_lam)
    copy_to(t[n_rows:], step.b)


@jit
def _complete_samples(samples, scaling, step):
    """Steps of the multipliers of alpha, from the residuals of their products."""
    for i in range(step.alpha.shape[0]):
        change = step.alpha[i]
        lower = step.lower[i] - samples.lower[i] * change
        upper = step.upper[i] + samples.upper[i] * change
        step.lower[i] = lower * scaling.per_alpha[i]
        step.upper[i] = upper * scaling.per_room[i]


@jit
def _complete_choice(program, choice, v, H, e, step, d_c):
    """Steps of z, its multipliers and the slacks."""
    R, starts = program.R, program.starts
    for j in range(R.shape[1]):
        z, seen = choice.z[j], 0.0
        for f in range(starts[j], starts[j + 1]):
            seen += v[f] * d_c[f]
        d_z = (e[j] + 2.0 * seen - price_of(R, step.lam, j)) / H[j]
        step.z[j] = d_z
        step.s[j] = (step.s[j] + choice.s[j] * d_z) / (1.0 - z)
        step.g[j] = (step.g[j] - choice.g[j] * d_z) / z
    for r in range(R.shape[0]):
        step.slack[r] = -dot(R[r], step.z, R.shape[1])
