"""Arithmetic with directed rounding: dual points, squares, objectives.

All numbers are within the limits of ``statement``, so nothing overflows, and ``TINY``
covers any underflow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

# Unit roundoff of double precision.
U = 2.0**-53
# More than the total underflow of a sum, and negligible.
TINY = 1e-300
# Splits a double into two halves of 26 bits.
_SPLITTER = 2.0**27 + 1.0
# Number of products computed accurately at a time.
_BLOCK = 2**18
# The grid of dual points is no finer than this.
_FINEST = -1000


def sum_of(terms: Iterable[float]) -> float:
    """The sum, rounded once; infinite if it overflows on the way."""
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf


def sum_slack(n_terms: Any) -> Any:
    """The factor that makes sums of nonnegative numbers, in any order, upper bounds.

    A single number is its own sum.
    """
    return np.where(n_terms > 1, 1.0 + 2 * (n_terms + 8) * U, 1.0)[()]


# --- Dual points ---------------------------------------------------------------------


def repair(
    alpha: np.ndarray, signs: np.ndarray, C: np.ndarray, balance: bool
) -> np.ndarray:
    """The point on a grid with exact sums, feasible in exact arithmetic.

    Points of several machines are rows, and so are their signs: they share a grid on
    which the sum of all entries is exact, but each row is balanced by itself.

    Entries are clipped to C and rounded down to multiples of a power of two so large
    that sums of all of them have fewer than 53 bits. Then, to balance the classes, the
    heavier one is lowered: in proportion, rounded down, and the rest is taken from the
    first entries.
    """
    alpha = np.minimum(alpha, C)
    largest = float(alpha.max(initial=0.0))
    if largest == 0.0:
        return alpha
    _, exponent = math.frexp(largest)
    grid = math.ldexp(1.0, max(exponent + alpha.size.bit_length() - 52, _FINEST))
    steps = np.floor(alpha / grid).astype(np.int64)
    if balance:
        # Rows of two dimensions are views.
        for row, labels in zip(np.atleast_2d(steps), np.atleast_2d(signs), strict=True):
            excess = int(row[labels > 0].sum() - row[labels < 0].sum())
            heavy = np.flatnonzero(labels == np.sign(excess))
            row[heavy] = _take_away(row[heavy], abs(excess))
    return steps * grid


def _take_away(steps: np.ndarray, excess: int) -> np.ndarray:
    """Lower the entries by ``excess`` in total, in proportion where possible."""
    if excess == 0:
        return steps
    share = excess / int(steps.sum())
    part = np.minimum(steps, (steps * share).astype(np.int64))
    # No more than the excess in total.
    part = np.diff(np.minimum(np.cumsum(part), excess), prepend=0)
    remaining = steps - part
    before = np.cumsum(remaining) - remaining
    return remaining - np.clip(excess - part.sum() - before, 0, remaining)


def centred(rows: np.ndarray) -> np.ndarray:
    """Rows without their means: products with balanced points are the same."""
    # One rounding error per entry; constant features become exactly zero.
    first = rows[:, :1]
    return rows - (first + (rows - first).mean(axis=1, keepdims=True))


def length_bound(values: np.ndarray) -> np.ndarray:
    """Upper bounds of the Euclidean norms of rows (or of one vector)."""
    largest = np.abs(values).max(axis=-1, initial=0.0)
    scale = np.where(largest > 0.0, largest, 1.0)
    squares = ((values / scale[..., None]) ** 2).sum(axis=-1)
    slack = 1.0 + 2 * (values.shape[-1] + 8) * U
    return np.where(largest > 0.0, largest * np.sqrt(squares) * slack + TINY, 0.0)


def square_bounds(
    A: Any,
    norms: np.ndarray,
    alpha: np.ndarray,
    accurate: bool,
    sides: np.ndarray | None = None,
) -> np.ndarray:
    """Upper bounds of the exact ``c_j^2`` for ``c = A alpha``.

    A has rows of numbers, or is a ``SparseColumns`` if the product need not be
    accurate. Each entry may have a rounding error. The product may be summed in any
    order; ``accurate`` products have smaller error bounds, but take about twenty times
    as long. Where ``sides`` is 1 or -1, the bound is of ``max(0, c_j)^2`` or ``min(0,
    c_j)^2``, and zero if c_j is certainly on the other side.
    """
    m = alpha.size
    if accurate:
        c = _accurate_product(A, alpha)
        gamma = 2 * U + 8 * (m + 4.0) ** 2 * U**2
    else:
        c = A @ alpha
        gamma = (m + 4) * U / (1.0 - (m + 4) * U)
    doubt = gamma * norms * length_bound(alpha)
    size = np.abs(c) + doubt + TINY
    if sides is not None:
        # Rounded up before anything is subtracted from it.
        reach = c * sides + (doubt * (1 + 16 * U) + TINY)
        size = np.where(sides == 0, size, np.maximum(reach, 0.0))
    squares = (size * (1 + 8 * U)) ** 2 * (1 + 4 * U) + TINY
    # The size is never zero without sides. What is NaN stays NaN.
    return squares if sides is None else np.where(size == 0.0, 0.0, squares)


def _accurate_product(A: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """``A @ alpha`` as if in twice the precision, then rounded."""
    c = np.empty(A.shape[0])
    step = max(1, _BLOCK // alpha.size)
    for start in range(0, c.size, step):
        high, low = _multiply(A[start : start + step], alpha)
        low = low.sum(axis=1)
        while high.shape[1] > 1:
            half = high.shape[1] // 2
            unpaired = high[:, 2 * half :]
            high, error = _add(high[:, :half], high[:, half : 2 * half])
            high = np.hstack([high, unpaired])
            low += error.sum(axis=1)
        c[start : start + step] = high[:, 0] + low
    return c


# --- Objectives ----------------------------------------------------------------------


def objective_bound(
    rows: np.ndarray, signs: np.ndarray, C: np.ndarray, w: np.ndarray, b: float
) -> float:
    """Upper bound of ``1/2 ||w||^2 + sum C max(0, 1 - w rows - b signs)``.

    Margins are summed as if in twice the precision (products and sums with their
    errors, after Ogita, Rump and Oishi), everything else is rounded up: the value has
    15 correct digits even if as many cancel. Weights of zero do not change it. Infinite
    or NaN on overflow.
    """
    nonzero = np.flatnonzero(w)
    if nonzero.size < w.size:
        rows, w = rows[nonzero], w[nonzero]
    with np.errstate(all="ignore"):
        high, low = _add(np.ones(C.size), -b * signs)
        size = np.full(C.size, 1.0 + abs(b))
        for row, weight in zip(rows, w, strict=True):
            product, error = _multiply(row, np.array(-weight))
            high, carry = _add(high, product)
            low += carry + error
            size += np.abs(product)
        excess = high + low
        doubt = 4.0 * (w.size + 4.0) ** 2 * U**2 * size + TINY
        losses = np.maximum(0.0, excess + 4 * U * np.abs(excess) + doubt)
        terms = np.concatenate([0.5 * w * w, C * losses]) * (1 + 4 * U) + TINY
    return sum_of(terms) * (1 + 4 * U)


def _add(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded sum and its error."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


def _multiply(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded product and its error."""
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = a_high * b_high - product
    return product, a_low * b_low + (error + a_high * b_low + a_low * b_high)


def _split(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high
