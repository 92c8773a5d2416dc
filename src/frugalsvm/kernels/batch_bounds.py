"""Bounds and screening of many regions, one after the other.

Features are single columns without signs or costs, samples belong to one machine.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit_strict_nogil
from .arrays import copy_to, new_indices, new_marks, new_matrix, new_vector
from .bounds import bound_and_price, repair_machines, square_bounds
from .screening import screen


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
    """What is known of the regions of a batch.

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
    found = BatchBounds(
        new_vector(count), new_matrix(count, products.shape[1]),
        new_marks(regions.free.shape[0]), new_indices(count),
    )  # fmt: skip
    for t in range(count):
        start, end = regions.free_starts[t], regions.free_starts[t + 1]
        free = regions.free[start:end]
        forced = regions.forced[regions.forced_starts[t] : regions.forced_starts[t + 1]]
        squares, k = found.squares[t], regions.k[t]
        upper = square_bounds(
            products[t], data.norms, points[t], data.starts, data.columns, data.signs
        )
        copy_to(upper, squares)
        bound, _ = bound_and_price(
            points[t], squares, forced, free, k, data.costs, np.inf
        )
        found.bounds[t] = bound
        found.n_decided[t] = 0
        if bound > cutoffs[t]:
            continue
        decided = screen(
            points[t], squares, forced, free, k, data.costs, np.inf, cutoffs[t]
        )
        copy_to(decided, found.decision[start:end])
        for j in range(decided.shape[0]):
            found.n_decided[t] += decided[j] != 0
    return found.bounds, found.squares, found.decision, found.n_decided
