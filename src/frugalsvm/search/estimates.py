"""Estimates of the objective after an addition: second order, on a smoothed problem.

The price ``c_j^2`` of a feature at the optimal dual point says how fast the objective
begins to fall when the feature is added, not how far it will. Where samples are few,
the features of the largest prices are seldom those that help most.

At a point of the central path, with a barrier of weight tau on ``0 <= alpha <= C``, the
dual is smooth: its Hessian on ``y'alpha = 0`` is ``-(1/theta + A_S'A_S)``, and
``theta`` the inverse of ``tau / alpha^2 + tau / (C - alpha)^2``. One more row ``a_j``
takes ``1/2 c_j^2 / (1 + q_j)`` from the maximum of its quadratic model, where
``q_j = a_j' P a_j`` and P is the inverse of that Hessian on the plane. With the rows of
the support and y in G, ``P = theta - theta G' K^-1 G theta`` and
``K = G theta G' + diag(1, ..., 1, 0)``.

A rough solution is such a point, and takes a few iterations only.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ..engine.protocol import SupportSVM
from ..problem import Problem

# Relative gap of the rough solution: far enough from the boundary to be smooth.
ROUGH_TOL = 0.2
# What it costs, as a part of an accurate one.
ROUGH_PART = 0.5
# The barrier is this much heavier than the gap of the rough solution says.
SMOOTHING = 4.0
# The gap is taken to be at least this part of the objective.
LEAST_GAP = 1e-3
# How close alpha may come to its bounds, as a part of C.
MARGIN = 1e-9
# Features of the largest prices, whose estimates are worth the work.
SHORTLIST = 400


def addition_gains(
    problem: Problem, support: np.ndarray, features: np.ndarray
) -> np.ndarray:
    """By how much the objective may be expected to fall with each of the features.

    Features beyond the shortlist gain next to nothing, in the order of their prices.
    """
    engine = problem.engine
    rough = engine.solve_svm(support, tol=ROUGH_TOL)
    prices = engine.products(rough.alpha)[features] ** 2
    gains = np.finfo(float).eps * prices
    short = np.arange(features.size)
    if features.size > SHORTLIST:
        short = np.argpartition(-prices, SHORTLIST)[:SHORTLIST]
    curvatures = _curvatures(problem, support, rough, features[short])
    gains[short] = 0.5 * prices[short] / (1.0 + curvatures)
    return gains


def _curvatures(
    problem: Problem, support: np.ndarray, rough: SupportSVM, features: np.ndarray
) -> np.ndarray:
    """The ``q_j`` of some features."""
    engine = problem.engine
    theta = _theta(problem.C, rough)
    rows = engine.gather(features)
    own = engine.gather(support)
    if problem.fit_intercept:
        own = np.vstack([own, problem.y])
    scaled = own * theta
    K = scaled @ own.T
    diagonal = np.arange(K.shape[0])
    # The tiny part keeps the row of y positive where all samples are at their bounds.
    K[diagonal, diagonal] *= 1.0 + 1e-12
    K[diagonal, diagonal] += np.finfo(float).tiny
    K[diagonal[: support.size], diagonal[: support.size]] += 1.0
    factor = np.linalg.cholesky(K)
    known = solve_triangular(
        factor, scaled @ rows.T, lower=True, overwrite_b=True, check_finite=False
    )
    free = np.einsum("ij,ij,j->i", rows, rows, theta)
    return np.maximum(free - np.einsum("ij,ij->j", known, known), 0.0)


def _theta(C: np.ndarray, rough: SupportSVM) -> np.ndarray:
    """Inverse curvature of the barrier at a rough solution, by sample."""
    gap = max(rough.primal - rough.dual, LEAST_GAP * rough.primal)
    tau = SMOOTHING * gap / (2 * C.size)
    alpha = np.clip(rough.alpha, MARGIN * C, (1.0 - MARGIN) * C)
    room = C - alpha
    if tau <= 0.0:
        return np.zeros(C.size)
    return (alpha * room) ** 2 / (tau * (alpha**2 + room**2))
