"""The matrix of the Newton step: scalings, elimination, factorisation.

With ``H = s / (1 - z) + g / z``, ``Omega = z v' + 2 v^2 / H``, ``theta`` the inverse of
``lower / alpha + upper / (C - alpha)`` and ``E = R v / H``, eliminating all but
``du = z dv + v dz`` leaves

    (1 / Omega + A theta A') du + (E / Omega)' dlam = A theta base - r_c

and eliminating all but dalpha leaves

    (1 / theta + A' Omega A) dalpha - (A' E)' dlam + y db = base + A' Omega r_c

each bordered by the budget prices (and b). Feature costs make the border two rows wide.

For a feature of several columns Omega is the matrix ``omega + bend v v'`` with diagonal
``omega = z v'`` and ``bend = 2 / H``. By the formula of Sherman and Morrison its
inverse is ``1 / omega - bend shrink (v / omega) (v / omega)'`` with ``shrink`` the
inverse of ``1 + bend sum(v^2 / omega)``. For all others, omega is Omega.

Several machines are one system, since their rows have no sample in common. The first
matrix then has a block for each, and only the terms of Sherman and Morrison couple
them: see ``machine_blocks``.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .linalg import (
    add,
    cholesky,
    cholesky_solve,
    copy_to,
    dot,
    fill,
    filled,
    new_matrix,
    new_vector,
    solve_small,
    transpose,
    weighted_gram,
)
from .machine_blocks import (
    MachineBlocks,
    factor_blocks,
    new_blocks,
    no_blocks,
    solve_blocks,
)
from .rows import combine_rows, gram_of_rows

# Up to this order the choice of matrix hardly affects the speed.
SMALL_ORDER = 150


class SampleScaling(NamedTuple):
    """``C - alpha``, the inverses of alpha and of that, and theta."""

    room: np.ndarray
    per_alpha: np.ndarray
    per_room: np.ndarray
    theta: np.ndarray


class FeatureScaling(NamedTuple):
    """H of the free features, omega and E of all columns, bend, shrink and remainder.

    A feature of one column has no bend, and its shrink (one number for each column) is
    1. ``remainder`` is ``1 - 2 v' (1 / Omega) v / H``.
    """

    H: np.ndarray
    omega: np.ndarray
    E: np.ndarray
    bend: np.ndarray
    shrink: np.ndarray
    remainder: np.ndarray


class Scaling(NamedTuple):
    """The parts of the matrix of the Newton system."""

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
        The matrix, and after factorisation its Cholesky factor. Empty if there are
        blocks.
    blocks : MachineBlocks
        Factorised instead of the matrix, with several machines and if du is left.
    border, solved : arrays (n_border, order)
        Rows of the budgets (and of y of each machine, if dalpha is left), and the
        solutions for them.
    small : array (n_border, n_border)
        Schur complement for the multipliers of the border.
    du, x : arrays (q,)
        Scratch for du and for a right-hand side of it.
    t : array (n_border,)
        The multipliers of the border.
    """

    by_feature: bool
    columns: np.ndarray
    weights: np.ndarray
    matrix: np.ndarray
    blocks: MachineBlocks
    border: np.ndarray
    solved: np.ndarray
    small: np.ndarray
    du: np.ndarray
    x: np.ndarray
    t: np.ndarray


@jit_new
def new_scaling(program):
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
        new_vector(free),
        filled(p, 1.0),
        E,
        filled(free, 0.0),
        filled(p, 1.0),
        new_vector(free),
    )
    return Scaling(samples, features)


@jit_new
def new_system(program, by_feature):
    """A system whose arrays are not set."""
    q, m = program.offset.shape[0], program.y.shape[0]
    p = program.n_columns
    order = q if by_feature else m
    n_border = program.h.shape[0] if by_feature else program.h.shape[0] + q - p
    columns = new_matrix(0, 0) if by_feature else _new_columns(program)
    in_blocks = by_feature and program.rows.machines.shape[0] > 0
    blocks = new_blocks(program) if in_blocks else no_blocks()
    size = 0 if in_blocks else order
    return System(
        by_feature, columns, new_vector(columns.shape[1]), new_matrix(size, size),
        blocks, new_matrix(n_border, order), new_matrix(n_border, order),
        new_matrix(n_border, n_border), new_vector(q), new_vector(q),
        new_vector(n_border),
    )  # fmt: skip


@jit
def has_several(starts, j):
    """Whether a free feature has several columns."""
    return starts[j + 1] - starts[j] > 1


@jit
def any_has_several(starts):
    """Whether any free feature has several columns."""
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


@jit
def is_by_feature(program):
    """Whether the feature-space matrix is the one to factorise.

    It keeps more digits when features differ in scale. With several machines it is
    factorised block by block, and that of the samples as a whole: the work is
    proportional to ``count order^3`` and to ``(count samples)^3``.
    """
    count = program.rows.first.shape[0] - 1
    order, samples = program.offset.shape[0] // count, program.y.shape[0] // count
    return order <= max(count ** (2.0 / 3.0) * samples, SMALL_ORDER)


@jit
def price_of(R, lam, j):
    """``(R' lam)_j``: the total price of feature j."""
    price = 0.0
    for r in range(R.shape[0]):
        price += R[r, j] * lam[r]
    return price


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
    H, omega, E, bend, shrink, remainder = scaling
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
            remainder[j] = 1.0 / (1.0 + bend[j] * length)
            fill(shrink[first : starts[j + 1]], remainder[j])
        else:
            plain = z * slope[first]
            omega[first] = plain + 2.0 * v[first] ** 2 / H[j]
            remainder[j] = plain / omega[first]
        for f in range(first, starts[j + 1]):
            for r in range(R.shape[0]):
                E[r, f] = v[f] * R[r, j] / H[j]


@jit
def factorise(program, choice, v, scaling, system, stop):
    """Form and factorise the matrix, and solve for its border.

    Incomplete if the flag ``stop`` is set.
    """
    theta, features = scaling.samples.theta, scaling.features
    if system.by_feature:
        _form_by_feature(program, v, theta, features, system, stop)
    else:
        _form_by_sample(program, v, theta, features, system, stop)
    if system.blocks.rows.shape[0] == 0:
        cholesky(system.matrix, stop)
    for r in range(system.border.shape[0]):
        copy_to(system.border[r], system.solved[r])
        solve_system(system, system.solved[r])
    _form_small(program.R, choice, features, system)


@jit
def solve_system(system, rhs):
    """Overwrite a right-hand side by the solution for the factorised matrix."""
    if system.blocks.rows.shape[0] > 0:
        solve_blocks(system.blocks, rhs)
    else:
        cholesky_solve(system.matrix, rhs)


@jit
def _form_by_feature(program, v, theta, scaling, system, stop):
    """``1 / Omega + A theta A'`` and the border ``E / Omega`` of the budget rows."""
    matrix, border, omega = system.matrix, system.border, scaling.omega
    if system.blocks.rows.shape[0] > 0:
        factor_blocks(program, v, theta, scaling, system.blocks, stop)
    else:
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
            factor = scaling.bend[j] * scaling.remainder[j]
            for f in range(starts[j], starts[j + 1]):
                row_factor = factor * v[f] / omega[f]
                for e in range(starts[j], f + 1):
                    matrix[f, e] -= row_factor * v[e] / omega[e]


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
            ratio *= scaling.remainder[j]
        coupling += ratio
    return coupling


@jit
def solve_bordered(system, rhs, small_rhs):
    """Solve ``matrix x + border' t = rhs`` with ``small t = small_rhs + border x0``."""
    solve_system(system, rhs)
    for r in range(small_rhs.shape[0]):
        small_rhs[r] += dot(system.border[r], rhs, rhs.shape[0])
    solve_small(system.small, small_rhs)
    for r in range(small_rhs.shape[0]):
        add(rhs, system.solved[r], -small_rhs[r])
