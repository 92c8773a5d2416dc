"""The Newton matrix of several machines, block by block.

    M = B - U F U',   B = 1 / omega + A theta A',   U_j = v / omega on feature j

B has a block for each machine, of the same order for all, since machines have the same
features; F holds ``bend rest`` of the free features. With L the Cholesky factors of the
blocks, ``X = L^-1 U F^1/2`` and S the factor of ``I - X' X``,

    M^-1 = L'^-1 (I + X (I - X' X)^-1 X') L^-1

so that the work is proportional to the number of machines, and not to its cube.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import fill, new_indices, new_matrix, new_vector
from .linalg import cholesky, cholesky_solve, dot, weighted_gram


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
        ``I - X' X``, and after factorisation S.
    own : array (n_machines, order)
        Scratch for a right-hand side, block by block.
    shared : array (free,)
        Scratch for what couples them.
    """

    rows: np.ndarray
    factors: np.ndarray
    couplings: np.ndarray
    middle: np.ndarray
    own: np.ndarray
    shared: np.ndarray


@jit_new
def _new_table(height, width):
    """An uninitialised matrix of indices."""
    return np.empty((height, width), dtype=np.int64)


@jit_new
def no_blocks():
    """There is one machine."""
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
        rows, new_matrix(count * order, order), new_matrix(count * free, order),
        new_matrix(free, free), new_matrix(count, order), new_vector(free),
    )  # fmt: skip


@jit_new
def factor_blocks(program, v, theta, scaling, blocks, stop):
    """Form and factorise the blocks and what couples them.

    Unfinished if the flag ``stop`` is set.
    """
    count, order = blocks.rows.shape
    for k in range(count):
        factor = blocks.factors[k * order : (k + 1) * order]
        _form_block(program, theta, scaling.omega, k, blocks.rows[k], factor, stop)
        cholesky(factor, stop)
    _couple(program, v, scaling, blocks)
    free = blocks.middle.shape[0]
    if free > 0:
        _form_middle(blocks, stop)
        cholesky(blocks.middle, stop)


@jit_new
def _form_block(program, theta, omega, machine, rows, out, stop):
    """The block of a machine, in the lower triangle of ``out``."""
    start, end = program.rows.first[machine], program.rows.first[machine + 1]
    own = new_matrix(rows.shape[0], end - start)
    for s in range(rows.shape[0]):
        row, target = program.rows.dense[rows[s]], own[s]
        for i in range(end - start):
            target[i] = row[i]
    weighted_gram(own, theta[start:end], out, stop)
    for s in range(rows.shape[0]):
        if rows[s] < omega.shape[0]:
            out[s, s] += 1.0 / omega[rows[s]]


@jit_new
def _couple(program, v, scaling, blocks):
    """``X' = F^1/2 U' L'^-1``, machine by machine."""
    count, order = blocks.rows.shape
    starts, free = program.starts, blocks.middle.shape[0]
    place = new_indices(program.rows.machines.shape[0])
    for k in range(count):
        for s in range(order):
            place[blocks.rows[k, s]] = s
    for t in range(blocks.couplings.shape[0]):
        fill(blocks.couplings[t], 0.0)
    for j in range(free):
        root = np.sqrt(scaling.bend[j] * scaling.rest[j])
        for f in range(starts[j], starts[j + 1]):
            row = blocks.couplings[program.rows.machines[f] * free + j]
            row[place[f]] = root * v[f] / scaling.omega[f]
    for k in range(count):
        factor = blocks.factors[k * order : (k + 1) * order]
        for j in range(free):
            _forwards(factor, blocks.couplings[k * free + j])


@jit_new
def _form_middle(blocks, stop):
    """``I - X' X`` in the lower triangle."""
    count, order = blocks.rows.shape
    free = blocks.middle.shape[0]
    part, ones = new_matrix(free, free), new_vector(order)
    fill(ones, 1.0)
    for j in range(free):
        fill(blocks.middle[j], 0.0)
        blocks.middle[j, j] = 1.0
    for k in range(count):
        own = blocks.couplings[k * free : (k + 1) * free]
        weighted_gram(own, ones, part, stop)
        for j in range(free):
            for i in range(j + 1):
                blocks.middle[j, i] -= part[j, i]


@jit
def _forwards(factor, x):
    """Overwrite x by its product with the inverse of a lower triangular matrix."""
    for i in range(factor.shape[0]):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]


@jit
def _backwards(factor, x):
    """The same with the transposed inverse."""
    for i in range(factor.shape[0] - 1, -1, -1):
        x[i] /= factor[i, i]
        value = x[i]
        for j in range(i):
            x[j] -= value * factor[i, j]


@jit
def solve_blocks(blocks, rhs):
    """Overwrite a right-hand side by the solution."""
    count, order = blocks.rows.shape
    shared, own, free = blocks.shared, blocks.own, blocks.middle.shape[0]
    fill(shared, 0.0)
    for k in range(count):
        for s in range(order):
            own[k, s] = rhs[blocks.rows[k, s]]
        _forwards(blocks.factors[k * order : (k + 1) * order], own[k])
        for j in range(free):
            shared[j] += dot(blocks.couplings[k * free + j], own[k], order)
    if free > 0:
        cholesky_solve(blocks.middle, shared)
    for k in range(count):
        for j in range(free):
            row = blocks.couplings[k * free + j]
            for s in range(order):
                own[k, s] += shared[j] * row[s]
        _backwards(blocks.factors[k * order : (k + 1) * order], own[k])
        for s in range(order):
            rhs[blocks.rows[k, s]] = own[k, s]
