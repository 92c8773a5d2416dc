"""A descent in the dual of all bound problems at once.

The bound of ``s w_j`` (s = +1 or -1) proved by a dual point alpha is

    phi(alpha) = s c_j + sqrt(2 (UB - LB_j)),
    LB_j = sum(alpha) - 1/2 [ c_j^2 + sum of the k - 1 largest c_l^2 of the others ]

with ``c = A alpha``. Each column of a matrix holds the point of one (j, s); An Adam
step on all columns costs two matrix products. Everything here is heuristic: the
resulting points are repaired and evaluated with directed rounding afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...problem.problem import Problem

STEPS = 80
# Length of the first step in units of the largest multiplier; it shrinks linearly.
FIRST_STEP = 0.05
MOMENTUM, SMOOTHING = 0.9, 0.99
# Columns per batch.
BATCH = 2048


def descend(
    problem: Problem,
    start: np.ndarray,
    upper_bound: float,
    k: int,
    should_stop: Callable[[], bool] = lambda: False,
    features: np.ndarray | None = None,
) -> np.ndarray:
    """Dual points, one per row, for the largest and smallest weight of each feature.

    ``features`` defaults to all that may be chosen. ``should_stop`` is called between
    steps; points from fewer steps prove weaker bounds.
    """
    node = problem.root_region()
    if k == 0 or node.free.size == 0:
        return np.empty((0, problem.n_samples))
    rows = np.concatenate([node.forced, node.free])
    wanted = node.free if features is None else np.intersect1d(features, node.free)
    targets = np.repeat(wanted, 2)
    signs = np.tile([1.0, -1.0], wanted.size)
    batches = [
        _descend_batch(
            problem, start, upper_bound, k, rows,
            targets[first : first + BATCH], signs[first : first + BATCH], should_stop,
        )
        for first in range(0, targets.size, BATCH)
        if not should_stop()
    ]  # fmt: skip
    return np.vstack(batches) if batches else np.empty((0, problem.n_samples))


def _descend_batch(
    problem: Problem,
    start: np.ndarray,
    upper_bound: float,
    k: int,
    rows: np.ndarray,
    targets: np.ndarray,
    signs: np.ndarray,
    should_stop: Callable[[], bool],
) -> np.ndarray:
    n_forced = problem.include.size
    others, own = problem.A[rows], problem.A[targets].T
    is_own = rows[:, None] == targets[None, :]
    C, y = problem.C[:, None], problem.y[:, None]
    # On separable data the multipliers are far below C.
    unit = start.max() if start.any() else problem.C.max()
    alpha = np.repeat(start[:, None], targets.size, axis=1)
    best, best_value = alpha.copy(), np.full(targets.size, np.inf)
    mean, square = np.zeros_like(alpha), np.zeros_like(alpha)
    for step in range(STEPS):
        if should_stop():
            break
        value, gradient = _value_and_gradient(
            alpha, others, own, is_own, n_forced, k, signs, upper_bound
        )
        better = value < best_value
        best_value[better] = value[better]
        best[:, better] = alpha[:, better]
        if problem.fit_intercept:
            gradient -= y * (y * gradient).mean(axis=0)
        mean += (1 - MOMENTUM) * (gradient - mean)
        square += (1 - SMOOTHING) * (gradient**2 - square)
        direction = mean / (1 - MOMENTUM ** (step + 1))
        scale = np.sqrt(square / (1 - SMOOTHING ** (step + 1))) + 1e-300
        length = FIRST_STEP * (1 - step / STEPS)
        alpha = np.clip(alpha - length * unit * direction / scale, 0.0, C)
        if problem.fit_intercept:
            alpha = _balance(alpha, problem.y > 0)
    return best.T


def _value_and_gradient(
    alpha: np.ndarray,
    others: np.ndarray,
    own: np.ndarray,
    is_own: np.ndarray,
    n_forced: int,
    k: int,
    signs: np.ndarray,
    upper_bound: float,
) -> tuple[np.ndarray, np.ndarray]:
    c = others @ alpha
    scores = c**2
    scores[:n_forced] = np.inf
    scores[is_own] = -1.0
    chosen = n_forced + k - 1
    if chosen == 0:
        c[:] = 0.0
    elif chosen < scores.shape[0]:
        threshold = np.partition(scores, -chosen, axis=0)[-chosen]
        c[scores < threshold] = 0.0
    c[is_own] = 0.0
    c_own = np.einsum("ij,ij->j", own, alpha)
    penalty = np.einsum("ij,ij->j", c, c) + c_own**2
    gap = upper_bound - alpha.sum(axis=0) + 0.5 * penalty
    radius = np.sqrt(2.0 * np.maximum(gap, 1e-12 * upper_bound)) + 1e-300
    gradient = (others.T @ c + own * c_own - 1.0) / radius + signs * own
    return signs * c_own + radius, gradient


def _balance(alpha: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Scale the heavier class of each column down to the weight of the lighter."""
    up, down = alpha[positive].sum(axis=0), alpha[~positive].sum(axis=0)
    lighter = np.minimum(up, down)
    factors = np.where(
        positive[:, None],
        lighter / np.maximum(up, 1e-300),
        lighter / np.maximum(down, 1e-300),
    )
    return alpha * factors
