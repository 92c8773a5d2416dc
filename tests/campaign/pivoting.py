"""Dual points of an SVM by block principal pivoting, in doubles and in integers.

The dual is a box-constrained program when the intercept is the weight of one more
feature, constant and huge, and a tiny ridge makes it strictly convex. Then exchanging
infeasible variables ends at its solution, by the rule of the least index at the latest.
A weight that is limited in sign adds a variable, the multiplier of that constraint.
"""

from __future__ import annotations

import math

import numpy as np

# The ridge is 2^-RIDGE_BITS / max C: so little changes the optimum, relatively.
RIDGE_BITS = 60
# In doubles: iterations, scale of the kernel, weight of the balance.
FLOAT_TURNS = 30
LARGEST_SCALE = 1e12
BALANCE = 1e4
# Exchanges of whole blocks without progress before the least index decides.
BLOCK_TURNS = 3
EXACT_TURNS = 2000


def float_point(X, y, C, intercept: bool, signs) -> tuple[np.ndarray, list[int]]:
    """A dual point, roughly optimal, and where its entries are: 0, 1 (free), 2 (C).

    The places of multipliers of signs come last.
    """
    m = y.size
    exponent = math.frexp(np.abs(X).max(initial=0.0) or 1.0)[1]
    Z = np.ldexp(X, -exponent) * y[:, None]
    top = C.max()
    bound = C / top
    limited = np.flatnonzero(signs)
    reach = bound @ np.abs(Z[:, limited]) + 1.0
    Z = np.vstack([Z, np.diag(signs)[limited]])
    bound, y = np.append(bound, reach), np.append(y, np.zeros(limited.size))
    gain = np.abs(y)
    bits = math.frexp(top)[1] + 2 * exponent
    scale = math.ldexp(top, 2 * exponent) if bits < 900 else math.inf
    capped = min(scale, LARGEST_SCALE)
    K = capped * (Z @ Z.T)
    H = K + BALANCE * max(1.0, K.max()) * np.outer(y, y) if intercept else K
    H = H + (1e-9 + 1e-14 * np.trace(H)) * np.eye(bound.size)
    share, state = _float_pivoting(H, bound, gain)
    if intercept and (state == 1).any() and scale == capped:
        share = _polished(K, y, bound, gain, share, state == 1)
    return np.minimum(share[:m] * top, C), state.tolist()


def _float_pivoting(H, bound, gain) -> tuple[np.ndarray, np.ndarray]:
    """Maximise ``gain'a - a'Ha/2`` over ``0 <= a <= bound``, if rounding permits."""
    state = np.ones(bound.size, dtype=int)
    best = (bound.size + 1, np.zeros(bound.size), state)
    for turn in range(FLOAT_TURNS):
        free = state == 1
        a = np.where(state == 2, bound, 0.0)
        if free.any():
            try:
                a[free] = np.linalg.solve(
                    H[np.ix_(free, free)], gain[free] - H[free] @ a
                )
            except np.linalg.LinAlgError:
                break
        slope = gain - H @ a
        down = (free & (a < 0)) | ((state == 2) & (slope < 0))
        up = (free & (a > bound)) | ((state == 0) & (slope > 0))
        wrong = np.flatnonzero(down | up)
        if wrong.size < best[0]:
            best = (wrong.size, np.clip(a, 0.0, bound), state.copy())
        if wrong.size == 0:
            break
        if turn > FLOAT_TURNS // 2:
            wrong = wrong[:1]
        state[wrong] += np.where(up[wrong], 1, -1)
    return best[1], best[2]


def _polished(K, y, bound, gain, share, free) -> np.ndarray:
    """The free entries once more, with the balance as an equation."""
    fixed = np.where(free, 0.0, share)
    system = np.block([[K[np.ix_(free, free)], y[free, None]], [y[None, free], 0.0]])
    right = np.append(gain[free] - K[free] @ fixed, -(y @ fixed))
    found = np.linalg.lstsq(system, right, rcond=1e-15)[0][:-1]
    polished = fixed.copy()
    polished[free] = found
    return np.clip(polished, 0.0, bound) if np.isfinite(found).all() else share


def exact_point(rows, y, c, p, q, state, intercept_bits, signs):
    """Numerators ``a``, their denominator D and the state of ``alpha = a / (D 2^q)``.

    ``rows`` are integers in units of 2^-p, ``c`` of 2^-q; the intercept's column lies
    this many bits above the data. None if there are too many iterations.
    """
    m = len(y)
    largest = max(c)
    ridge = 1 << max(0, 2 * p + q - RIDGE_BITS - largest.bit_length())
    H = [[y[i] * y[k] * sum(u * v for u, v in zip(rows[i], rows[k], strict=True))
          for k in range(m)] for i in range(m)]  # fmt: skip
    if intercept_bits is not None:
        size = max((abs(v) for row in rows for v in row), default=0).bit_length()
        # Above the data, above one, and above 1 / sqrt(C).
        height = max(size, p, p + (q - min(c).bit_length()) // 2) + intercept_bits
        for i in range(m):
            for k in range(m):
                H[i][k] += y[i] * y[k] << (2 * height)
    for i in range(m):
        H[i][i] += ridge
    limited = [j for j, sign in enumerate(signs) if sign]
    for t, j in enumerate(limited):
        column = [signs[j] * y[i] * rows[i][j] for i in range(m)]
        for i in range(m):
            H[i].append(column[i])
        H.append([*column, *(int(s == t) for s in range(len(limited)))])
    # No multiplier is larger than what it makes up for.
    reach = [
        1 + sum(abs(row[j]) * v for row, v in zip(rows, c, strict=True))
        for j in limited
    ]
    right = [1 << (2 * p + q)] * m + [0] * len(limited)
    found = _exact_pivoting(H, right, [*c, *reach], list(state))
    if found is None:
        return None
    a, D, state = found
    return a[:m], D, state


def _exact_pivoting(H, right, c, state):
    fewest, patience = len(c) + 1, BLOCK_TURNS
    for _ in range(EXACT_TURNS):
        a, D = _vertex(H, right, c, state)
        moves = _moves(H, right, c, state, a, D)
        if not moves:
            return a, D, state
        if len(moves) < fewest:
            fewest, patience = len(moves), BLOCK_TURNS
        elif patience > 0:
            patience -= 1
        else:
            moves = moves[:1]
        for i, step in moves:
            state[i] += step
    return None


def _vertex(H, right, c, state) -> tuple[list[int], int]:
    """The solution for given bounds: numerators and their common denominator."""
    m = len(c)
    free = [i for i in range(m) if state[i] == 1]
    top = [i for i in range(m) if state[i] == 2]
    rest = [right[i] - sum(H[i][k] * c[k] for k in top) for i in free]
    found, D = solve_positive([[H[i][k] for k in free] for i in free], rest)
    a = [c[i] * D if state[i] == 2 else 0 for i in range(m)]
    for i, value in zip(free, found, strict=True):
        a[i] = value
    return a, D


def _moves(H, right, c, state, a, D) -> list[tuple[int, int]]:
    """Which variables are on the wrong side, and where they go."""
    moves = []
    used = [k for k, value in enumerate(a) if value]
    for i, here in enumerate(state):
        if here == 1:
            step = -1 if a[i] < 0 else int(a[i] > c[i] * D)
        else:
            slope = right[i] * D - sum(H[i][k] * a[k] for k in used)
            step = int(slope > 0) if here == 0 else -int(slope < 0)
        if step:
            moves.append((i, step))
    return moves


def solve_positive(M: list[list[int]], right: list[int]) -> tuple[list[int], int]:
    """``M^-1 right`` of a positive definite M: numerators and determinant (Bareiss)."""
    rows = [[*row, r] for row, r in zip(M, right, strict=True)]
    size, before = len(rows), 1
    for k in range(size):
        pivot_row = rows[k]
        pivot = pivot_row[k]
        for i in range(size):
            if i != k:
                factor = rows[i][k]
                rows[i] = [0] * (k + 1) + [
                    (pivot * v - factor * u) // before
                    for v, u in zip(rows[i][k + 1 :], pivot_row[k + 1 :], strict=True)
                ]
        before = pivot
    return [row[-1] for row in rows], before
