"""The Newton step of the interior point: residuals, scaling, factorisation, step.

With ``H = s / (1 - z) + g / z``, ``Omega = z v' + 2 v^2 / H``, ``theta`` the inverse of
``lower / alpha + upper / (C - alpha)`` and ``E = R v / H``, eliminating all but
``du = z dv + v dz`` leaves

    (1 / Omega + A theta A') du + (E / Omega)' dlam = A theta base - r_c

and eliminating all but dalpha leaves

    (1 / theta + A' Omega A) dalpha - (A' E)' dlam + y db = base + A' Omega r_c

each bordered by the budget prices (and b). Feature costs make the border two rows wide.
Several machines are one system: their rows have no sample in common.

For a feature of several columns Omega is the matrix ``omega + bend v v'`` with diagonal
``omega = z v'`` and ``bend = 2 / H``. By the formula of Sherman and Morrison its
inverse is ``1 / omega - bend shrink (v / omega) (v / omega)'`` with ``shrink`` the
inverse of ``1 + bend sum(v^2 / omega)``. For all others, omega is Omega.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .admitted import worth
from .arrays import copy_to, fill, filled, new_matrix, new_vector
from .linalg import (
    add,
    cholesky,
    cholesky_solve,
    dot,
    solve_small,
    transpose,
    weighted_gram,
)
from .rows import combine_rows, correlate_rows, gram_of_rows

# Up to this order the choice of matrix hardly affects the speed.
SMALL_ORDER = 150
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


class SampleScaling(NamedTuple):
    """``C - alpha``, the inverses of alpha and of that, and theta."""

    room: np.ndarray
    per_alpha: np.ndarray
    per_room: np.ndarray
    theta: np.ndarray


class FeatureScaling(NamedTuple):
    """H of the free features, omega and E of all columns, bend, shrink and rest.

    A feature of one column has no bend, and its shrink (one number for each column) is
    1. ``rest`` is ``1 - 2 v' (1 / Omega) v / H``.
    """

    H: np.ndarray
    omega: np.ndarray
    E: np.ndarray
    bend: np.ndarray
    shrink: np.ndarray
    rest: np.ndarray


class Scaling(NamedTuple):
    """What the matrix of the Newton system consists of."""

    samples: SampleScaling
    features: FeatureScaling


class System(NamedTuple):
    """The Newton system after elimination, by feature or by sample.

    Attributes
    ----------
    by_feature : bool
        Whether du is left, or dalpha.
    columns : array (m, p + number of features of several columns)
        If it is dalpha: transposed rows, and for features of several columns ``A' v``.
    weights : array
        Omega of the columns, and bend of these features.
    matrix : array (order, order)
        The matrix, and after factorisation its Cholesky factor.
    border, solved : arrays (n_border, order)
        Rows of the budgets (and of y of each machine, if dalpha is left), and the
        solutions for them.
    small : array (n_border, n_border)
        What is left for the multipliers of the border.
    du, x : arrays (q,)
        Scratch for du and for a right-hand side of it.
    t : array (n_border,)
        Those multipliers.
    """

    by_feature: bool
    columns: np.ndarray
    weights: np.ndarray
    matrix: np.ndarray
    border: np.ndarray
    solved: np.ndarray
    small: np.ndarray
    du: np.ndarray
    x: np.ndarray
    t: np.ndarray


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
    return Newton(
        _new_residuals(program), _new_scaling(program),
        _new_system(program, is_by_feature(program)), _new_right_hand_side(program),
    )  # fmt: skip


@jit_new
def _new_residuals(program):
    q, m = program.offset.shape[0], program.y.shape[0]
    return Residuals(new_vector(q), new_vector(m), new_vector(program.R.shape[1]))


@jit_new
def _new_scaling(program):
    """Scalings, set for forced features only: they have no H, and omega is the slope.

    No bend is set either.
    """
    m, p = program.y.shape[0], program.n_columns
    n_rows, free = program.R.shape
    E = new_matrix(n_rows, p)
    for r in range(n_rows):
        fill(E[r], 0.0)
    samples = SampleScaling(new_vector(m), new_vector(m), new_vector(m), new_vector(m))
    features = FeatureScaling(
        new_vector(free), filled(p, 1.0), E, filled(free, 0.0), filled(p, 1.0),
        new_vector(free),
    )  # fmt: skip
    return Scaling(samples, features)


@jit_new
def _new_system(program, by_feature):
    q, m = program.offset.shape[0], program.y.shape[0]
    p = program.n_columns
    order = q if by_feature else m
    n_border = program.h.shape[0] if by_feature else program.h.shape[0] + q - p
    columns = new_matrix(0, 0) if by_feature else _new_columns(program)
    return System(
        by_feature, columns, new_vector(columns.shape[1]), new_matrix(order, order),
        new_matrix(n_border, order), new_matrix(n_border, order),
        new_matrix(n_border, n_border), new_vector(q), new_vector(q),
        new_vector(n_border),
    )  # fmt: skip


@jit
def has_several(starts, j):
    """Whether a free feature has several columns."""
    return starts[j + 1] - starts[j] > 1


@jit
def any_has_several(starts):
    """Whether there is such a feature."""
    n_features = starts.shape[0] - 1
    return starts[n_features] - starts[0] > n_features


@jit_new
def _new_columns(program):
    """Transposed rows, and room for a column for each feature of several columns."""
    p, starts = program.n_columns, program.starts
    extra = 0
    for j in range(starts.shape[0] - 1):
        extra += has_several(starts, j)
    rows = program.rows
    if extra == 0 and rows.machines.shape[0] == 0:
        return transpose(rows.dense[:p])
    columns = new_matrix(program.y.shape[0], p + extra)
    for i in range(columns.shape[0]):
        fill(columns[i], 0.0)
    for f in range(p):
        k = rows.machines[f] if rows.machines.shape[0] > 0 else 0
        for i in range(rows.first[k], rows.first[k + 1]):
            columns[i, f] = rows.dense[f, i - rows.first[k]]
    return columns


@jit_new
def _new_right_hand_side(program):
    n_rows, free = program.R.shape
    m = program.y.shape[0]
    return RightHandSide(new_vector(m), new_vector(free), new_vector(n_rows))


@jit
def is_by_feature(program):
    """Whether the feature-space matrix is the one to factorise.

    It keeps more digits when features differ in scale.
    """
    q, m = program.offset.shape[0], program.y.shape[0]
    return q <= max(m, SMALL_ORDER)


@jit
def price_of(R, lam, j):
    """``(R' lam)_j``: the total price of feature j."""
    price = 0.0
    for r in range(R.shape[0]):
        price += R[r, j] * lam[r]
    return price


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
        own = worth(admitted, starts[j], starts[j + 1])
        residual[j] = charged - own - choice.g[j]


@jit
def scale(program, point, admitted, released, scaling):
    """Slacks and scalings at a point; z is fixed until it is released."""
    R, h, choice = program.R, program.h, point.choice
    for r in range(h.shape[0]):
        choice.slack[r] = h[r] - dot(R[r], choice.z, R.shape[1])
    _scale_samples(program.C, point.samples, scaling.samples)
    _scale_features(program, choice, admitted, released, scaling.features)


@jit
def _scale_samples(C, samples, scaling):
    alpha, lower, upper = samples
    room, per_alpha, per_room, theta = scaling
    for i in range(C.shape[0]):
        room[i] = C[i] - alpha[i]
        per_alpha[i] = 1.0 / alpha[i]
        per_room[i] = 1.0 / room[i]
        theta[i] = 1.0 / (lower[i] * per_alpha[i] + upper[i] * per_room[i])


@jit
def _scale_features(program, choice, admitted, released, scaling):
    R, starts = program.R, program.starts
    H, omega, E, bend, shrink, rest = scaling
    v, slope = admitted.v, admitted.slope
    copy_to(slope[: program.n_forced], omega)
    for j in range(R.shape[1]):
        z, first = choice.z[j], starts[j]
        H[j] = choice.s[j] / (1.0 - z) + choice.g[j] / z if released else np.inf
        if has_several(starts, j):
            bend[j], length = 2.0 / H[j], 0.0
            for f in range(first, starts[j + 1]):
                omega[f] = z * slope[f]
                length += v[f] * v[f] / omega[f]
            rest[j] = 1.0 / (1.0 + bend[j] * length)
            fill(shrink[first : starts[j + 1]], rest[j])
        else:
            own = z * slope[first]
            omega[first] = own + 2.0 * v[first] ** 2 / H[j]
            rest[j] = own / omega[first]
        for f in range(first, starts[j + 1]):
            for r in range(R.shape[0]):
                E[r, f] = v[f] * R[r, j] / H[j]


@jit
def factorise(program, point, v, newton, stop):
    """Form and factorise the matrix, and solve for its border.

    Incomplete if the flag ``stop`` is set.
    """
    scaling, system, choice = newton.scaling, newton.system, point.choice
    theta, features = scaling.samples.theta, scaling.features
    if system.by_feature:
        _form_by_feature(program, v, theta, features, system, stop)
    else:
        _form_by_sample(program, v, theta, features, system, stop)
    cholesky(system.matrix, stop)
    for r in range(system.border.shape[0]):
        copy_to(system.border[r], system.solved[r])
        cholesky_solve(system.matrix, system.solved[r])
    _form_small(program.R, choice, features, system)


@jit
def _form_by_feature(program, v, theta, scaling, system, stop):
    """``1 / Omega + A theta A'`` and the border ``E / Omega`` of the budget rows."""
    matrix, border, omega = system.matrix, system.border, scaling.omega
    gram_of_rows(program.rows, theta, matrix, stop)
    for f in range(omega.shape[0]):
        matrix[f, f] += 1.0 / omega[f]
    _subtract_bends(program.starts, v, scaling, matrix)
    for r in range(border.shape[0]):
        fill(border[r], 0.0)
        for f in range(omega.shape[0]):
            border[r, f] = scaling.E[r, f] / omega[f] * scaling.shrink[f]


@jit
def _subtract_bends(starts, v, scaling, matrix):
    """Complete ``1 / Omega`` of features of several columns."""
    omega = scaling.omega
    for j in range(starts.shape[0] - 1 if any_has_several(starts) else 0):
        if has_several(starts, j):
            factor = scaling.bend[j] * scaling.rest[j]
            for f in range(starts[j], starts[j + 1]):
                own = factor * v[f] / omega[f]
                for e in range(starts[j], f + 1):
                    matrix[f, e] -= own * v[e] / omega[e]


@jit
def _extend_columns(program, v, scaling, system):
    """Set the weights of columns, and the columns of features that have several."""
    p, starts, at = program.n_columns, program.starts, program.n_columns
    copy_to(scaling.omega, system.weights)
    if system.weights.shape[0] == p:
        return
    for j in range(starts.shape[0] - 1):
        if has_several(starts, j):
            system.weights[at] = scaling.bend[j]
            for i in range(system.columns.shape[0]):
                value = 0.0
                for f in range(starts[j], starts[j + 1]):
                    value += v[f] * system.columns[i, f]
                system.columns[i, at] = value
            at += 1


@jit
def _form_by_sample(program, v, theta, scaling, system, stop):
    """``1 / theta + A' Omega A`` and the border ``-A' E`` and y."""
    matrix, border, E = system.matrix, system.border, scaling.E
    rows, y = program.rows, program.y
    _extend_columns(program, v, scaling, system)
    weighted_gram(system.columns, system.weights, matrix, stop)
    for i in range(theta.shape[0]):
        matrix[i, i] += 1.0 / theta[i]
    for r in range(E.shape[0]):
        combine_rows(E[r], rows, border[r])
        for i in range(border.shape[1]):
            border[r, i] = -border[r, i]
    for r in range(E.shape[0], border.shape[0]):
        k = r - E.shape[0]
        start, end = rows.first[k], rows.first[k + 1]
        fill(border[r], 0.0)
        copy_to(y[start:end], border[r, start:end])


@jit
def _form_small(R, choice, scaling, system):
    """Schur complement of the bordered unknowns: budget prices and perhaps b."""
    border, small = system.border, system.small
    for r in range(border.shape[0]):
        for q in range(border.shape[0]):
            small[r, q] = dot(border[r], system.solved[q], border.shape[1])
    for r in range(R.shape[0]):
        for q in range(R.shape[0]):
            coupling = choice.slack[r] / choice.lam[r] if r == q else 0.0
            coupling += _coupling(R[r], R[q], scaling, system.by_feature)
            small[r, q] += 0.5 * coupling if system.by_feature else -0.5 * coupling


@jit
def _coupling(row, other, scaling, by_feature):
    """The entry of two budget rows that elimination causes."""
    coupling = 0.0
    for j in range(scaling.H.shape[0]):
        ratio = row[j] * other[j] / scaling.H[j]
        if by_feature:
            ratio *= scaling.rest[j]
        coupling += ratio
    return coupling


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
        point.samples, residuals.alpha, scaling.samples, weight, tau, rhs.base,
        step.samples,
    )  # fmt: skip
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
def _solve_bordered(system, rhs, small_rhs):
    """Solve ``matrix x + border' t = rhs`` with ``small t = small_rhs + border x0``."""
    cholesky_solve(system.matrix, rhs)
    for r in range(small_rhs.shape[0]):
        small_rhs[r] += dot(system.border[r], rhs, rhs.shape[0])
    solve_small(system.small, small_rhs)
    for r in range(small_rhs.shape[0]):
        add(rhs, system.solved[r], -small_rhs[r])


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
            seen = 0.0
            for f in range(starts[j], starts[j + 1]):
                seen += v[f] * d_c[f]
            seen *= scaling.bend[j] * scaling.rest[j]
            for f in range(starts[j], starts[j + 1]):
                d_c[f] -= seen * v[f] / scaling.omega[f]


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
        _solve_bordered(system, x, t)
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
    _solve_bordered(system, d_alpha, t)
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
