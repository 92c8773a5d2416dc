"""Random programs for the interior point."""

import numpy as np

from frugalsvm.kernels.program import Program
from frugalsvm.kernels.rows import Rows


def program_of(
    n_forced=2, n_rows=1, free=5, m=40, intercept=True, seed=0, sizes=None, signed=False
):
    """A program with some forced and, if there are budgets, some free features.

    ``sizes`` are the numbers of columns of the free features, 1 by default.
    """
    rng = np.random.default_rng(seed)
    free = free if n_rows > 0 else 0
    sizes = np.ones(free, dtype=np.int64) if sizes is None else np.array(sizes)[:free]
    starts = n_forced + np.append(0, np.cumsum(sizes)).astype(np.int64)
    p = int(starts[-1])
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    A = rng.normal(size=(p, m)) * y
    A[0] += 0.5
    dense = np.vstack([A, y]) if intercept else A
    offset = np.zeros(dense.shape[0])
    R = np.vstack([np.ones(free), rng.uniform(1, 2, free)])[:n_rows]
    h = np.array([0.4 * free, 0.5 * free])[:n_rows]
    C = rng.uniform(1, 2, m)
    nowhere = np.empty(0, dtype=np.int64)
    first = np.array([0, m])
    rows = Rows(dense, nowhere, nowhere, np.empty(0), np.zeros(p), y, nowhere, first)
    signs = rng.integers(-1, 2, p).astype(float) if signed else np.empty(0)
    return Program(rows, offset, 0.0, y, C, R, h, n_forced, p, starts, signs)
