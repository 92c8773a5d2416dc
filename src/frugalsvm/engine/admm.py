"""ADMM for the relaxations of many nodes at a time, by products with few matrices.

The relaxation of a region, with A the signed data and k features still to choose,

    min 1/2 sum_j w_j^2 / z_j + C sum_i max(0, 1 - s_i),    s = A'w + b y,
    0 <= z <= 1,  sum z = k over the free features,  z = 1 at the forced ones

is split into the linear equation, a least-squares problem whose matrix is the same for
all regions, and the rest, which falls into samples and features. A step for N regions
is two products of N rows with matrices that are made once; all else is done entry by
entry.

Iterations are Douglas-Rachford steps on ``state``, one row for each region: the weights
plus their multipliers (n entries), the margins plus theirs (m), and the scale at which
z is cut (one). They are in single precision: nothing here is part of a proof. The dual
point that comes out is valid for any state once it is repaired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

SINGLE = np.float32
# Limits of the scales.
LEAST_SCALE, LARGEST_SCALE = 1e-6, 1e8
# Forced features: large enough that z = 1 at any scale that occurs.
FORCED = 1e12


class StepMatrices(NamedTuple):
    """The matrices of the steps, for some features of a problem.

    Attributes
    ----------
    backward : array (n + m, n)
        From targets of weights and margins to the weights that are nearest.
    forward : array (n + 1, m)
        From weights, and the product of targets with ``y``, to margins.
    y : array (m,)
        Labels; zero without an intercept.
    lowest : array (m,)
        The smallest multipliers of the margins, ``-C / penalty``.
    penalty : float
    """

    backward: np.ndarray
    forward: np.ndarray
    y: np.ndarray
    lowest: np.ndarray
    penalty: float


class BatchRegions(NamedTuple):
    """What the regions of a batch decide, one row for each.

    Attributes
    ----------
    free, forced : arrays (N, n)
        1 for these features, else 0; forced features have ``FORCED``.
    total : array (N, 1)
        The number of features with all that are forced.
    """

    free: np.ndarray
    forced: np.ndarray
    total: np.ndarray


def make_system(
    rows: np.ndarray, y: np.ndarray, C: np.ndarray, intercept: bool, penalty: float
) -> StepMatrices:
    """The system for some signed rows."""
    n, m = rows.shape
    labels = y if intercept else np.zeros(m)
    centred = rows - np.outer(rows @ (labels / m), labels)
    try:
        inverse = np.linalg.inv(np.eye(n) + penalty * centred @ centred.T)
    except np.linalg.LinAlgError:
        # So large that the identity is lost: no state will be finite.
        inverse = np.full((n, n), np.nan)
    backward = np.vstack([inverse, penalty * (inverse @ centred).T])
    forward = np.vstack([centred, labels / m])
    lowest = -C / penalty
    return StepMatrices(
        backward.astype(SINGLE),
        forward.astype(SINGLE),
        labels.astype(SINGLE),
        lowest.astype(SINGLE),
        penalty,
    )


def iterate(
    system: StepMatrices,
    choice: BatchRegions,
    state: np.ndarray,
    steps: int,
    tries: int,
    over: float,
    should_stop: Callable[[], bool],
) -> tuple[np.ndarray, np.ndarray]:
    """Change the states by some steps; return their z and their dual points.

    ``tries`` is the number of Newton steps for the first scales, ``over`` the factor of
    over-relaxation. The dual points are within their box, up to rounding, but not
    balanced.
    """
    n = choice.free.shape[1]
    p, q, scale = state[:, :n], state[:, n:-1], state[:, -1:]
    targets = np.empty_like(state[:, :-1])
    weights = np.empty_like(state[:, : n + 1])
    for _ in range(steps):
        if should_stop():
            break
        chosen = _chosen(system, choice, p, scale, tries)
        tries = 1
        v = _multipliers(system, q)
        s = q - v
        targets[:, :n] = 2.0 * chosen - p
        targets[:, n:] = s - v
        weights[:, :n] = targets @ system.backward
        weights[:, n] = targets[:, n:] @ system.y
        p += over * (weights[:, :n] - chosen)
        q += over * (weights @ system.forward - s)
    z = _cut(_sizes(choice, p) * scale)
    return z, -system.penalty * _multipliers(system, q)


def _multipliers(system: StepMatrices, q: np.ndarray) -> np.ndarray:
    """The multipliers of the margins, divided by the penalty."""
    return np.maximum(np.clip(q - 1.0, None, 0.0), system.lowest)


def _sizes(choice: BatchRegions, p: np.ndarray) -> np.ndarray:
    sizes = np.abs(p)
    sizes *= choice.free
    sizes += choice.forced
    return sizes


def _cut(scaled: np.ndarray) -> np.ndarray:
    scaled -= 1.0
    return np.clip(scaled, 0.0, 1.0)


def _chosen(
    system: StepMatrices,
    choice: BatchRegions,
    p: np.ndarray,
    scale: np.ndarray,
    tries: int,
) -> np.ndarray:
    """The weights nearest to p in the sense of the k-support norm; updates the scale.

    They are ``p z / (1 + z)`` with ``z = clip(scale |p| - 1, 0, 1)`` of the given sum.
    The scale is found by Newton steps; in one iteration it moves little.
    """
    sizes = _sizes(choice, p)
    for _ in range(tries):
        z = _cut(sizes * scale)
        lacking = choice.total - np.sum(z, axis=1, keepdims=True)
        between = (z > 0.0) & (z < 1.0)
        slope = np.sum(sizes * between, axis=1, keepdims=True)
        # Without a slope, all z are at their limits: go up or down quickly.
        guess = np.where(
            slope > 0.0, lacking / np.clip(slope, 1e-30, None), lacking * scale
        )
        scale += np.maximum(np.minimum(guess, scale), -0.5 * scale)
        scale[...] = np.clip(scale, LEAST_SCALE, LARGEST_SCALE)
    z = _cut(sizes * scale)
    chosen = p * z
    z += 1.0
    chosen /= z
    return chosen
