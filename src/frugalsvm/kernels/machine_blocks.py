"""The Newton matrix of several machines, block by block.

    M = B - U F U',   B = 1 / omega + A theta A',   U_j = v / omega on feature j

B has a block for each machine, of the same order for all, since machines have the same
features; F holds ``bend remainder`` of the free features. With L the Cholesky factors
of the blocks, ``X = L^-1 U F^1/2`` and ``S = I - X' X``,

    M^-1 = L'^-1 (I + X S^-1 X') L^-1

so that the work is proportional to the number of machines, and not to its cube. Near
the optimum X' X is close to I, and the difference would lose its digits. The same
matrix is the sum

    S = remainder + F^1/2 V' T V F^1/2,   T = 1 / omega B^-1 A theta A'

with ``V = omega U``: ``1 - F U' omega U`` is ``remainder``, and T is the difference of
omega and B^-1, divided by omega on both sides.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .linalg import (
    cholesky,
    cholesky_solve,
    copy_to,
    dot,
    fill,
    filled,
    new_indices,
    new_matrix,
    new_vector,
    weighted_gram,
)


class MachineBlocks(NamedTuple):
    """The factorised blocks.

    Attributes
    ----------
    rows : integer array (n_machines, order)
        The rows of the program in each block; empty if there are no blocks.
    factors : array (n_machines * order, order)
        The blocks, and after factorisation L, one below the other.
    couplings : array (n_machines * free, order)
        X', likewise.
    middle : array (free, free)
        S, and after factorisation its Cholesky factor.
    parts : array (n_machines, order)
        Scratch for a right-hand side, block by block.
    shared : array (free,)
        Scratch for the free features, which couple the blocks.
    """

    rows: np.ndarray
    factors: np.ndarray
    couplings: np.ndarray
    middle: np.ndarray
    parts: np.ndarray
    shared: np.ndarray


@jit_new
def _new_table(height, width):
    """An uninitialised matrix of indices."""
    return np.empty((height, width), dtype=np.int64)


@jit_new
def no_blocks():
    """No blocks: there is one machine."""
    nothing = new_matrix(0, 0)
    return MachineBlocks(
        _new_table(0, 0), nothing, nothing, nothing, nothing, new_vector(0)
    )


@jit_new
def new_blocks(program):
    """The arrays of the blocks; only their rows are set."""
    machines, free = program.rows.machines, program.R.shape[1]
    count = program.rows.first.shape[0] - 1
    order = machines.shape[0] // count
    rows, sizes = _new_table(count, order), new_indices(count)
    fill(sizes, 0)
    for t in range(machines.shape[0]):
        k = machines[t]
        rows[k, sizes[k]] = t
        sizes[k] += 1
    return MachineBlocks(
        rows,
        new_matrix(count * order, order),
        new_matrix(count * free, order),
        new_matrix(free, free),
        new_matrix(count, order),
        new_vector(free),
    )


@jit_new
def factor_blocks(program, v, theta, scaling, blocks, stop):
    """Form and factorise the blocks and their couplings.

    Unfinished if the flag ``stop`` is set.
    """
    count, order = blocks.rows.shape
    free = blocks.middle.shape[0]
    owners, roots = _owners(program), new_vector(free)
    for j in range(free):
        roots[j] = np.sqrt(scaling.bend[j] * scaling.remainder[j])
        fill(blocks.middle[j], 0.0)
        blocks.middle[j, j] = scaling.remainder[j]
    gram = new_matrix(order, order)
    for k in range(count):
        factor = blocks.factors[k * order : (k + 1) * order]
        _form_gram(program, theta, k, blocks.rows[k], gram, stop)
        _form_block(gram, scaling.omega, blocks.rows[k], factor)
        cholesky(factor, stop)
        if stop[0] != 0:
            return
        share = _shares(v, scaling.omega, owners, roots, blocks.rows[k])
        couplings = blocks.couplings[k * free : (k + 1) * free]
        _couple(factor, share, owners, blocks.rows[k], couplings)
        _add_middle(
            factor, gram, share, scaling.omega, owners, blocks.rows[k], blocks.middle
        )
    if free > 0:
        cholesky(blocks.middle, stop)


@jit_new
def _owners(program):
    """The free feature of each row of the program, -1 for all others."""
    owners = new_indices(program.rows.machines.shape[0])
    fill(owners, -1)
    for j in range(program.R.shape[1]):
        for f in range(program.starts[j], program.starts[j + 1]):
            owners[f] = j
    return owners


@jit_new
def _form_gram(program, theta, machine, rows, out, stop):
    """``A theta A'`` of a machine."""
    start, end = program.rows.first[machine], program.rows.first[machine + 1]
    machine_rows = new_matrix(rows.shape[0], end - start)
    for s in range(rows.shape[0]):
        row, target = program.rows.dense[rows[s]], machine_rows[s]
        for i in range(end - start):
            target[i] = row[i]
    weighted_gram(machine_rows, theta[start:end], out, stop)
    for s in range(rows.shape[0]):
        for t in range(s):
            out[t, s] = out[s, t]


@jit
def _form_block(gram, omega, rows, out):
    """The block of a machine."""
    for s in range(rows.shape[0]):
        copy_to(gram[s], out[s])
        if rows[s] < omega.shape[0]:
            out[s, s] += 1.0 / omega[rows[s]]


@jit_new
def _shares(v, omega, owners, roots, rows):
    """The entries of ``U F^1/2`` in the rows of a machine, each in one column."""
    share = filled(rows.shape[0], 0.0)
    for s in range(rows.shape[0]):
        f = rows[s]
        if owners[f] >= 0:
            share[s] = roots[owners[f]] * v[f] / omega[f]
    return share


@jit
def _couple(factor, share, owners, rows, couplings):
    """Set the part of X' of a machine."""
    for j in range(couplings.shape[0]):
        fill(couplings[j], 0.0)
    for s in range(rows.shape[0]):
        if owners[rows[s]] >= 0:
            couplings[owners[rows[s]], s] = share[s]
    for j in range(couplings.shape[0]):
        _forwards(factor, couplings[j])


@jit_new
def _add_middle(factor, gram, share, omega, owners, rows, middle):
    """Add the part of S of a machine to the lower triangle."""
    order, solved = rows.shape[0], new_vector(rows.shape[0])
    for j in range(middle.shape[0]):
        fill(solved, 0.0)
        for s in range(order):
            if owners[rows[s]] == j:
                weight = share[s] * omega[rows[s]]
                for t in range(order):
                    solved[t] += weight * gram[s, t]
        cholesky_solve(factor, solved)
        for s in range(order):
            i = owners[rows[s]]
            if 0 <= i <= j:
                middle[j, i] += share[s] * solved[s]


@jit
def _forwards(factor, x):
    """Overwrite x by its product with the inverse of a lower triangular matrix."""
    for i in range(factor.shape[0]):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]


@jit
def _backwards(factor, x):
    """Overwrite x by its product with the inverse of the transposed matrix."""
    for i in range(factor.shape[0] - 1, -1, -1):
        x[i] /= factor[i, i]
        value = x[i]
        for j in range(i):
            x[j] -= value * factor[i, j]


@jit
def solve_blocks(blocks, rhs):
    """Overwrite a right-hand side by the solution."""
    count, order = blocks.rows.shape
    shared, parts, free = blocks.shared, blocks.parts, blocks.middle.shape[0]
    fill(shared, 0.0)
    for k in range(count):
        for s in range(order):
            parts[k, s] = rhs[blocks.rows[k, s]]
        _forwards(blocks.factors[k * order : (k + 1) * order], parts[k])
        for j in range(free):
            shared[j] += dot(blocks.couplings[k * free + j], parts[k], order)
    if free > 0:
        cholesky_solve(blocks.middle, shared)
    for k in range(count):
        for j in range(free):
            row = blocks.couplings[k * free + j]
            for s in range(order):
                parts[k, s] += shared[j] * row[s]
        _backwards(blocks.factors[k * order : (k + 1) * order], parts[k])
        for s in range(order):
            rhs[blocks.rows[k, s]] = parts[k, s]
