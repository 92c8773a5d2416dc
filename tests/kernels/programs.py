"""Random programs for the interior point."""

from itertools import pairwise

import numpy as np

from frugalsvm.kernels.program import Program
from frugalsvm.kernels.rows import Rows


def program_of(
    n_forced=2, n_rows=1, free=5, m=40, intercept=True, seed=0, sizes=None,
    signed=False, n_machines=1,
):  # fmt: skip
    """A program with some forced and, if there are budgets, some free features.

    ``sizes`` are the numbers of columns of the free features, 1 by default. Columns
    take turns in belonging to one of the machines.
    """
    rng = np.random.default_rng(seed)
    free = free if n_rows > 0 else 0
    sizes = np.ones(free, dtype=np.int64) if sizes is None else np.array(sizes)[:free]
    starts = n_forced + np.append(0, np.cumsum(sizes)).astype(np.int64)
    p = int(starts[-1])
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    A = rng.normal(size=(p, m)) * y
    A[0] += 0.5
    blocks = [np.ones(m)]
    nowhere = np.empty(0, dtype=np.int64)
    machines, first = nowhere, np.array([0, m])
    if n_machines > 1:
        # Of different sizes, with both labels.
        first = np.linspace(0.0, 1.0, n_machines + 1) ** 0.7 * m
        first = first.round().astype(np.int64)
        machines = np.arange(p) % n_machines
        blocks = [(np.arange(m) >= a) & (np.arange(m) < b) for a, b in pairwise(first)]
        A = A * np.array(blocks)[machines]
    dense = np.vstack([A, *(y * block for block in blocks)]) if intercept else A
    if n_machines > 1:
        machines = np.append(machines, np.arange(len(dense) - p))
        dense = _at_their_own_samples(dense, machines, first)
    offset = np.zeros(dense.shape[0])
    R = np.vstack([np.ones(free), rng.uniform(1, 2, free)])[:n_rows]
    h = np.array([0.4 * free, 0.5 * free])[:n_rows]
    C = rng.uniform(1, 2, m)
    rows = Rows(dense, nowhere, nowhere, np.empty(0), np.zeros(p), y, machines, first)
    signs = rng.integers(-1, 2, p).astype(float) if signed else np.empty(0)
    return Program(rows, offset, 0.0, y, C, R, h, n_forced, p, starts, signs)


def _at_their_own_samples(dense, machines, first):
    """The rows without the samples of other machines, and zeros behind the others."""
    own = np.zeros((len(dense), np.diff(first).max()))
    for row, whole, k in zip(own, dense, machines, strict=True):
        row[: first[k + 1] - first[k]] = whole[first[k] : first[k + 1]]
    return own


def whole_rows(rows):
    """The rows at all samples: those of a machine are zero at the samples of others."""
    if rows.machines.size == 0:
        return rows.dense
    whole = np.zeros((len(rows.dense), rows.y.size))
    for row, own, k in zip(whole, rows.dense, rows.machines, strict=True):
        start, end = rows.first[k], rows.first[k + 1]
        row[start:end] = own[: end - start]
    return whole
