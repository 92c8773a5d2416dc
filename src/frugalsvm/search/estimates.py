"""Estimates of the objective after an addition or an exchange.

They are of second order, on a smoothed problem.

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

If a row j of the support goes as well, both changes together make a quadratic in two
unknowns, whose maximum knows whether the one feature can stand for the other:
``q_jk = a_j' P a_k`` is entry j of ``K^-1 G theta a_k``, and
``q_jj = 1 - (K^-1)_jj``.

A rough solution is such a point, and takes a few iterations only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.problem import Problem

# Relative gap of the rough solution: far enough from the boundary to be smooth.
ROUGH_TOL = 0.2
# What it costs, as a part of an accurate one.
ROUGH_PART = 0.5
# What a model costs beside it, in units of work; mostly calls of small functions.
MODEL_WORK = 3.5e5
# The barrier is this much heavier than the gap of the rough solution says.
SMOOTHING = 4.0
# The gap is taken to be at least this part of the objective.
LEAST_GAP = 1e-3
# How close alpha may come to its bounds, as a part of C.
MARGIN = 1e-9
# Samples whose theta is below this part of the largest do not move, and are left out if
# no more than a part of all move.
LEAST_THETA, MOST_MOVING = 1e-6, 0.5
# For exchanges: relative gap of the rough solution, and the one that the barrier
# belongs to. At most, and times the samples for each weight: where these are few, fine
# differences matter.
MOST_ROUGH, ROUGHNESS = 0.3, 0.04
# Features of the largest prices, whose estimates are worth the work, and of those that
# may come in an exchange.
SHORTLIST, EXCHANGED = 400, 200


class QuadraticModel(NamedTuple):
    """The quadratic model at a rough solution, seen by some features.

    Attributes
    ----------
    features : array (q,)
    c : array (q,)
        Their products with alpha.
    curvatures : array (q,)
        Their ``q_k``.
    own_c : array (p,)
        Products of the features of the support with alpha.
    inverse : array (p,)
        Diagonal of the inverse of K, for the features of the support.
    shared : array (p, q)
        ``q_jk = a_j' P a_k``, j in the support.
    """

    features: np.ndarray
    c: np.ndarray
    curvatures: np.ndarray
    own_c: np.ndarray
    inverse: np.ndarray
    shared: np.ndarray


def addition_gains(
    problem: Problem, support: np.ndarray, features: np.ndarray
) -> np.ndarray:
    """By how much the objective may be expected to fall with each of the features.

    Features beyond the shortlist gain next to nothing, in the order of their prices.
    """
    rough = problem.engine.solve_svm(support, tol=ROUGH_TOL)
    products = problem.engine.products(rough.alpha)
    prices = products[features] ** 2
    gains = np.finfo(float).eps * prices
    short = _shortlist(prices, SHORTLIST)
    gap = max(rough.primal - rough.dual, LEAST_GAP * rough.primal)
    theta = _theta(problem.C, rough.alpha, SMOOTHING * gap)
    model = _model(problem, support, features[short], products, theta)
    gains[short] = 0.5 * prices[short] / (1.0 + model.curvatures)
    return gains


def exchange_losses(
    problem: Problem, support: np.ndarray, features: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """By how much the objective may be expected to rise with each exchange.

    Returns
    -------
    features : array (q,)
        Those of the largest prices.
    losses : array (p, q)
        For each feature of the support that goes and each of those that comes.
    """
    roughness = min(MOST_ROUGH, ROUGHNESS * problem.n_samples / max(support.size, 1))
    rough = problem.engine.solve_svm(support, tol=roughness)
    products = problem.engine.products(rough.alpha)
    short = _shortlist(products[features] ** 2, EXCHANGED)
    theta = _theta(problem.C, rough.alpha, roughness * rough.primal)
    model = _model(problem, support, features[short], products, theta)
    own, coming = model.own_c[:, np.newaxis], model.c
    rest, more = -model.inverse[:, np.newaxis], 1.0 + model.curvatures
    determinant = rest * more - model.shared**2
    change = own**2 * more - 2.0 * own * coming * model.shared + coming**2 * rest
    return model.features, -0.5 * change / determinant


def _shortlist(prices: np.ndarray, count: int) -> np.ndarray:
    """Where the largest prices are."""
    if prices.size <= count:
        return np.arange(prices.size)
    return np.argpartition(-prices, count)[:count]


def _model(
    problem: Problem,
    support: np.ndarray,
    features: np.ndarray,
    products: np.ndarray,
    theta: np.ndarray,
) -> QuadraticModel:
    engine = problem.engine
    rows, own = engine.gather(features), engine.gather(support)
    if problem.fit_intercept:
        own = np.vstack([own, problem.y])
    moving = np.flatnonzero(theta > LEAST_THETA * theta.max(initial=0.0))
    if moving.size < MOST_MOVING * theta.size:
        rows, own = np.take(rows, moving, axis=1), np.take(own, moving, axis=1)
        theta = theta[moving]
    scaled = own * theta
    K = scaled @ own.T
    diagonal = np.arange(K.shape[0])
    # The tiny part keeps the row of y positive where all samples are at their bounds.
    K[diagonal, diagonal] *= 1.0 + 1e-12
    K[diagonal, diagonal] += np.finfo(float).tiny
    K[diagonal[: support.size], diagonal[: support.size]] += 1.0
    inverse = np.linalg.inv(K)
    seen = scaled @ rows.T
    answer = inverse @ seen
    free = (rows * rows) @ theta - np.einsum("ij,ij->j", seen, answer)
    return QuadraticModel(
        features,
        products[features],
        np.maximum(free, 0.0),
        products[support],
        inverse.diagonal()[: support.size],
        answer[: support.size],
    )


def _theta(C: np.ndarray, alpha: np.ndarray, gap: float) -> np.ndarray:
    """Inverse curvature of the barrier that belongs to a gap, by sample."""
    tau = gap / (2 * C.size)
    if tau <= 0.0:
        return np.zeros(C.size)
    alpha = np.clip(alpha, MARGIN * C, (1.0 - MARGIN) * C)
    room = C - alpha
    return (alpha * room) ** 2 / (tau * (alpha**2 + room**2))
