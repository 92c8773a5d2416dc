"""Arrays, small dense linear algebra and random numbers for all kernels.

Every matrix is C-contiguous with one row per feature, so the inner loops run along
samples. Small matrices use plain loops (symmetric, no call overhead); large ones BLAS.
Explicit loops are preferred to array expressions: they compile several times faster.
"""

from __future__ import annotations

import numpy as np

from ._jit import jit, jit_new

# Numba compiles ``np.empty`` again for every type of argument; here it is compiled once
# for each kind of array that kernels use.


@jit_new
def new_vector(size):
    """An uninitialised vector."""
    return np.empty(size)


@jit_new
def new_matrix(height, width):
    """An uninitialised matrix."""
    return np.empty((height, width))


@jit_new
def new_indices(size):
    """An uninitialised array of indices."""
    return np.empty(size, dtype=np.int64)


@jit_new
def new_marks(size):
    """A small number for each feature or sample, all zero."""
    marks = np.empty(size, dtype=np.int8)
    for t in range(size):
        marks[t] = 0
    return marks


@jit
def fill(x, value):
    """Set all entries to a value."""
    for i in range(x.shape[0]):
        x[i] = value


@jit_new
def filled(size, value):
    """A vector with all entries equal."""
    vector = new_vector(size)
    fill(vector, value)
    return vector


@jit
def copy_to(source, target):
    """``target[: len(source)] = source``."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@jit_new
def part(array, start, size):
    """A copy of some indices, ``array[start : start + size]``."""
    copied = new_indices(size)
    for t in range(size):
        copied[t] = array[start + t]
    return copied


@jit_new
def join(first, second):
    """The concatenation of two arrays of indices."""
    both = new_indices(first.shape[0] + second.shape[0])
    copy_to(first, both)
    copy_to(second, both[first.shape[0] :])
    return both


# --- Linear algebra -------------------------------------------------------------------

# Up to this order a hand-written symmetric loop beats a BLAS call.
LOOPS_UP_TO = 48
# Block size of the large products and of the Cholesky factorisation.
BLOCK = 48
# Rows longer than this are multiplied in chunks, which stay in the cache.
LONG, CHUNK = 16384, 4096
# A pivot below this fraction of its diagonal entry is numerically zero.
PIVOT_TOL = 1e-15
# Dividing by this makes the component of a zero pivot vanish from the solution.
HUGE_PIVOT = 1e100


@jit
def dot(x, y, n):
    """Inner product of the first ``n`` entries."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@jit
def total(x):
    """Sum of the entries."""
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    return result


@jit
def add(x, change, factor):
    """``x += factor * change``."""
    for i in range(change.shape[0]):
        x[i] += factor * change[i]


@jit_new
def kth_largest(values, k):
    """The ``k``-th largest value (1 <= k <= len), by splitting around pivots."""
    work = values.copy()
    size = work.shape[0]
    pivot = work[0]
    # Every pass drops the pivot.
    for _ in range(values.shape[0]):
        a, b, c = work[0], work[size // 2], work[size - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        above = 0
        equal = 0
        for i in range(size):
            above += work[i] > pivot
            equal += work[i] == pivot
        if above < k <= above + equal:
            return pivot
        keep_above = k <= above
        if not keep_above:
            k -= above + equal
        n_next = 0
        for i in range(size):
            if (work[i] > pivot) if keep_above else (work[i] < pivot):
                work[n_next] = work[i]
                n_next += 1
        if n_next == 0:
            # Only with NaN among the values.
            return pivot
        size = n_next
    return pivot


@jit_new
def top_sum(values, k):
    """Sum of the ``k`` largest values."""
    if k >= values.shape[0]:
        return total(values)
    if k <= 0:
        return 0.0
    threshold = kth_largest(values, k)
    result = 0.0
    above = 0
    for i in range(values.shape[0]):
        if values[i] > threshold:
            result += values[i]
            above += 1
    return result + (k - above) * threshold


@jit
def combine(weights, rows, out):
    """``out = weights @ rows``: one value per sample."""
    p, m = rows.shape
    for i in range(m):
        out[i] = 0.0
    j = 0
    while j + 4 <= p:
        # Four rows at a time: ``out`` is read and written a quarter as often.
        a, b, c, d = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for i in range(m):
            out[i] += (
                a * rows[j, i]
                + b * rows[j + 1, i]
                + c * rows[j + 2, i]
                + d * rows[j + 3, i]
            )
        j += 4
    while j < p:
        a = weights[j]
        for i in range(m):
            out[i] += a * rows[j, i]
        j += 1


@jit
def correlate(rows, values, out):
    """``out = rows @ values``: one value per feature."""
    p, m = rows.shape
    for j in range(p):
        out[j] = dot(rows[j], values, m)


@jit_new
def product(A, B):
    """``A @ B.T`` by BLAS."""
    return np.dot(A, B.T)


@jit_new
def weighted_gram(rows, weights, out, stop):
    """Write ``rows @ diag(weights) @ rows.T`` into the lower triangle of ``out``.

    Unfinished if the flag ``stop`` is set.
    """
    p, m = rows.shape
    if m > LONG:
        _long_gram(rows, weights, out, stop)
        return
    if p <= LOOPS_UP_TO:
        scaled = new_vector(m)
        for j in range(p):
            for i in range(m):
                scaled[i] = rows[j, i] * weights[i]
            for k in range(j + 1):
                out[j, k] = dot(scaled, rows[k], m)
        return
    for start in range(0, p, BLOCK):
        if stop[0] != 0:
            return
        end = min(start + BLOCK, p)
        scaled_rows = new_matrix(end - start, m)
        for j in range(start, end):
            for i in range(m):
                scaled_rows[j - start, i] = rows[j, i] * weights[i]
        block = product(scaled_rows, rows[:end])
        for j in range(start, end):
            for k in range(j + 1):
                out[j, k] = block[j - start, k]


@jit_new
def _long_gram(rows, weights, out, stop):
    """``weighted_gram`` in chunks of the samples."""
    p, m = rows.shape
    for j in range(p):
        for k in range(j + 1):
            out[j, k] = 0.0
    part, scaled = new_matrix(p, CHUNK), new_matrix(p, CHUNK)
    for start in range(0, m, CHUNK):
        if stop[0] != 0:
            return
        width = min(CHUNK, m - start)
        for j in range(p):
            for i in range(width):
                part[j, i] = rows[j, start + i]
                scaled[j, i] = rows[j, start + i] * weights[start + i]
            for i in range(width, CHUNK):
                part[j, i] = scaled[j, i] = 0.0
        _add_gram(scaled, part, out)


@jit_new
def _add_gram(scaled, rows, out):
    """Add ``scaled @ rows.T`` to the lower triangle of ``out``."""
    p, width = scaled.shape
    if p <= LOOPS_UP_TO:
        for j in range(p):
            for k in range(j + 1):
                out[j, k] += dot(scaled[j], rows[k], width)
        return
    for start in range(0, p, BLOCK):
        end = min(start + BLOCK, p)
        block = product(scaled[start:end], rows[:end])
        for j in range(start, end):
            for k in range(j + 1):
                out[j, k] += block[j - start, k]


@jit
def _factor_panel(matrix, diagonal, start, end):
    """Unblocked Cholesky of columns ``start:end``, for the rows from ``start`` on."""
    order = matrix.shape[0]
    for j in range(start, end):
        row = matrix[j, start:j]
        width = j - start
        pivot = matrix[j, j] - dot(row, row, width)
        if pivot <= PIVOT_TOL * diagonal[j]:
            pivot = HUGE_PIVOT
        root = np.sqrt(pivot)
        matrix[j, j] = root
        inverse = 1.0 / root
        for i in range(j + 1, order):
            value = matrix[i, j] - dot(matrix[i, start:j], row, width)
            matrix[i, j] = value * inverse


@jit_new
def cholesky(matrix, stop):
    """Factor the lower triangle in place; numerically zero pivots are neutralised.

    Unfinished if the flag ``stop`` is set.
    """
    order = matrix.shape[0]
    diagonal = new_vector(order)
    for j in range(order):
        diagonal[j] = matrix[j, j]
    for start in range(0, order, BLOCK):
        end = min(start + BLOCK, order)
        _factor_panel(matrix, diagonal, start, end)
        if end == order or stop[0] != 0:
            break
        panel = new_matrix(order - end, end - start)
        for i in range(end, order):
            for k in range(start, end):
                panel[i - end, k - start] = matrix[i, k]
        for top in range(end, order, BLOCK):
            bottom = min(top + BLOCK, order)
            update = product(panel[top - end : bottom - end], panel[: bottom - end])
            for i in range(top, bottom):
                for k in range(end, i + 1):
                    matrix[i, k] -= update[i - top, k - end]


@jit
def cholesky_solve(factor, rhs):
    """Overwrite ``rhs`` by the solution for the matrix factored in ``factor``."""
    order = factor.shape[0]
    for i in range(order):
        rhs[i] = (rhs[i] - dot(factor[i], rhs, i)) / factor[i, i]
    for i in range(order - 1, -1, -1):
        value = rhs[i] / factor[i, i]
        rhs[i] = value
        for j in range(i):
            rhs[j] -= value * factor[i, j]


@jit_new
def solve_small(matrix, rhs):
    """Gaussian elimination with partial pivoting, for a handful of unknowns."""
    a = matrix.copy()
    n = rhs.shape[0]
    for col in range(n):
        best = col
        for row in range(col + 1, n):
            if abs(a[row, col]) > abs(a[best, col]):
                best = row
        for k in range(n):
            a[col, k], a[best, k] = a[best, k], a[col, k]
        rhs[col], rhs[best] = rhs[best], rhs[col]
        for row in range(col + 1, n):
            factor = a[row, col] / a[col, col]
            for k in range(col, n):
                a[row, k] -= factor * a[col, k]
            rhs[row] -= factor * rhs[col]
    for row in range(n - 1, -1, -1):
        for k in range(row + 1, n):
            rhs[row] -= a[row, k] * rhs[k]
        rhs[row] /= a[row, row]


@jit_new
def transpose(rows):
    """A contiguous copy of ``rows.T``."""
    p, m = rows.shape
    columns = new_matrix(m, p)
    for j in range(p):
        for i in range(m):
            columns[i, j] = rows[j, i]
    return columns


# --- Random numbers, which depend only on the seed and not on the thread --------------

_ELEVEN, _THIRTEEN = np.uint64(11), np.uint64(13)
_SEVEN, _SEVENTEEN = np.uint64(7), np.uint64(17)


@jit
def draw(state):
    """A number in [0, 1), by Marsaglia's xorshift; the state must not be zero."""
    x = state[0]
    x ^= x << _THIRTEEN
    x ^= x >> _SEVEN
    x ^= x << _SEVENTEEN
    state[0] = x
    return (x >> _ELEVEN) * 2.0**-53
