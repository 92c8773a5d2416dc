"""Fixing features at a node from its dual point and an upper bound.

Forcing a feature in, or out, changes the bound ``LB(alpha)`` of the node by a known
amount. Where the changed bound exceeds the objective of a known solution, no better
solution has the feature in, or out. With ``r_j = c_j^2 - mu cost_j`` and ``r_[k]`` the
k-th largest of their positive parts:

    LB + 1/2 (r_[k] - r_j)   > UB   =>   z_j = 0 in every better solution
    LB + 1/2 (r_j - r_[k+1]) > UB   =>   z_j = 1 in every better solution

All roundings go against the conclusion, so a fixing is as reliable as the bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit_strict, jit_strict_nogil, jit_strict_part
from .bounds import (
    affordable,
    bound_and_price,
    reduced_values,
    repair_machines,
    round_down,
    round_up,
    square_bounds,
)
from .linalg import copy_to, kth_largest, new_indices, new_marks, new_matrix, new_vector

FIXED_OUT, OPEN, FIXED_IN = -1, 0, 1


@jit_strict_part
def _half_gain(larger, smaller):
    """``1/2 max(0, larger - smaller)``, rounded down."""
    return 0.5 * max(0.0, round_down(larger - smaller))


@jit_strict_part
def screen(alpha, squares, forced, free, k, costs, budget, cutoff):
    """Decide free features of a node: FIXED_OUT, OPEN or FIXED_IN for each.

    Parameters are those of ``bound_and_price``, and the cutoff is the objective of a
    known solution. Decisions hold for all solutions that are strictly better.
    """
    decision = new_marks(free.shape[0])
    bound, mu = bound_and_price(alpha, squares, forced, free, k, costs, budget)
    values, prices = affordable(squares, free, costs, budget)
    reduced = reduced_values(values, prices, mu)
    kth = kth_largest(reduced, k) if 0 < k <= reduced.shape[0] else 0.0
    next_ = kth_largest(reduced, k + 1) if 0 < k < reduced.shape[0] else 0.0
    position = 0
    for t in range(free.shape[0]):
        j = free[t]
        if k == 0 or costs[j] > budget:
            decision[t] = FIXED_OUT
            continue
        # Value of the feature less its cost, rounded up; may be negative.
        worth = round_up(values[position] - mu * prices[position])
        worth = round_up(worth + 1e-15 * abs(mu * prices[position]))
        if round_down(bound + _half_gain(kth, worth)) > cutoff:
            decision[t] = FIXED_OUT
        elif round_down(bound + _half_gain(reduced[position], next_)) > cutoff:
            decision[t] = FIXED_IN
        position += 1
    return decision


# --- Bounds and screening of many regions, one after the other ------------------------
#
# Features are single columns without signs or costs, samples belong to one machine.


class RegionBatch(NamedTuple):
    """Several regions; those of region t are at ``starts[t] : starts[t + 1]``.

    Attributes
    ----------
    forced, free : integer arrays
        Features of all regions, concatenated.
    forced_starts, free_starts : integer arrays (count + 1,)
    k : integer array (count,)
    """

    forced: np.ndarray
    free: np.ndarray
    forced_starts: np.ndarray
    free_starts: np.ndarray
    k: np.ndarray


class BatchBounds(NamedTuple):
    """Bounds and screening of the regions of a batch.

    Attributes
    ----------
    bounds : array (count,)
        They may be negative.
    squares : array (count, n)
    decision : array
        Screening decisions at the positions of ``RegionBatch.free``.
    n_decided : integer array (count,)
    """

    bounds: np.ndarray
    squares: np.ndarray
    decision: np.ndarray
    n_decided: np.ndarray


@jit_strict_nogil
def repair_rows(points, y, C, intercept):
    """The feasible dual points near the rows of a matrix; see ``repair_dual``."""
    repaired = new_matrix(points.shape[0], points.shape[1])
    for t in range(points.shape[0]):
        copy_to(repair_machines(points[t], y, C, intercept, 1), repaired[t])
    return repaired


def bound_rows(data, points, products, regions, cutoffs):
    """Bounds, squares and screening of regions, from repaired points and products."""
    return BatchBounds(*_bound_rows(data, points, products, regions, cutoffs))


@jit_strict_nogil
def _bound_rows(data, points, products, regions, cutoffs):
    count = points.shape[0]
    batch = BatchBounds(
        new_vector(count),
        new_matrix(count, products.shape[1]),
        new_marks(regions.free.shape[0]),
        new_indices(count),
    )
    for t in range(count):
        start, end = regions.free_starts[t], regions.free_starts[t + 1]
        free = regions.free[start:end]
        forced = regions.forced[regions.forced_starts[t] : regions.forced_starts[t + 1]]
        squares, k = batch.squares[t], regions.k[t]
        upper = square_bounds(
            products[t], data.norms, points[t], data.starts, data.columns, data.signs
        )
        copy_to(upper, squares)
        bound, _ = bound_and_price(
            points[t], squares, forced, free, k, data.costs, np.inf
        )
        batch.bounds[t] = bound
        batch.n_decided[t] = 0
        if bound > cutoffs[t]:
            continue
        decided = screen(
            points[t], squares, forced, free, k, data.costs, np.inf, cutoffs[t]
        )
        copy_to(decided, batch.decision[start:end])
        for j in range(decided.shape[0]):
            batch.n_decided[t] += decided[j] != 0
    return batch.bounds, batch.squares, batch.decision, batch.n_decided


@jit_strict
def screen_region(alpha, squares, forced, free, k, costs, budget, cutoff):
    """``screen`` for calls from Python."""
    return screen(alpha, squares, forced, free, k, costs, budget, cutoff)
