"""Estimates of the objective after an addition or an exchange.

They are of second order, on a smoothed problem.

The price ``c_j^2`` of a feature at the optimal dual point gives the initial rate at
which the objective falls when the feature is added, not the total decrease. With few
samples, the features with the largest prices are seldom those that help most.

At a point of the central path, with a barrier of weight tau on ``0 <= alpha <= C``, the
dual is smooth: its Hessian on ``y'alpha = 0`` is ``-(1/theta + A_S'A_S)``, and
``theta`` the inverse of ``tau / alpha^2 + tau / (C - alpha)^2``. One more row ``a_j``
takes ``1/2 c_j^2 / (1 + q_j)`` from the maximum of its quadratic model, where
``q_j = a_j' P a_j`` and P is the inverse of that Hessian on the plane. With the rows of
the support and y in G, ``P = theta - theta G' K^-1 G theta`` and
``K = G theta G' + diag(1, ..., 1, 0)``.

If row j of the support is removed as well, both changes together give a quadratic in
two unknowns, whose maximum reflects whether one feature can replace the other: ``q_jk =
a_j' P a_k`` is entry j of ``K^-1 G theta a_k``, and ``q_jj = 1 - (K^-1)_jj``.

A rough solution is such a point and takes only a few iterations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.problem import Problem
from .parameters import SearchParameters

# Cost of the rough solution, as a fraction of that of an accurate one.
ROUGH_FRACTION = 0.5
# Additional cost of a model in units of work; mostly calls of small functions.
MODEL_WORK = 3.5e5
# Minimum distance of alpha from its bounds, as a fraction of C.
MARGIN = 1e-9


class QuadraticModel(NamedTuple):
    """The quadratic model at a rough solution, for some features.

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
    """Expected decrease of the objective after adding each of the features.

    Features beyond the shortlist get tiny gains, in the order of their prices.
    """
    parameters = problem.parameters(SearchParameters).estimates
    rough = problem.engine.solve_svm(support, tol=parameters.rough_tol)
    products = problem.engine.products(rough.alpha)
    prices = products[features] ** 2
    gains = np.finfo(float).eps * prices
    short = _shortlist(prices, parameters.estimated)
    gap = max(rough.primal - rough.dual, parameters.min_gap * rough.primal)
    theta = _theta(problem.C, rough.alpha, parameters.smoothing * gap)
    model = _model(problem, support, features[short], products, theta)
    gains[short] = 0.5 * prices[short] / (1.0 + model.curvatures)
    return gains


def exchange_losses(
    problem: Problem,
    support: np.ndarray,
    features: np.ndarray,
    twins: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Expected increase of the objective for each exchange.

    Returns
    -------
    features : array (q,)
        The features with the largest prices, and the given twins among them all.
    losses : array (p, q)
        For each leaving feature of the support and each entering feature.
    """
    parameters = problem.parameters(SearchParameters).estimates
    roughness = min(
        parameters.max_roughness,
        parameters.roughness_rate * problem.n_samples / max(support.size, 1),
    )
    rough = problem.engine.solve_svm(support, tol=roughness)
    products = problem.engine.products(rough.alpha)
    short = _shortlist(products[features] ** 2, parameters.exchanged)
    if twins is not None and features.size > short.size:
        also = np.flatnonzero(np.isin(features, twins))
        short = np.concatenate([short, np.setdiff1d(also, short)])
    theta = _theta(problem.C, rough.alpha, roughness * rough.primal)
    model = _model(problem, support, features[short], products, theta)
    own, coming = model.own_c[:, np.newaxis], model.c
    rest, more = -model.inverse[:, np.newaxis], 1.0 + model.curvatures
    determinant = rest * more - model.shared**2
    change = own**2 * more - 2.0 * own * coming * model.shared + coming**2 * rest
    return model.features, -0.5 * change / determinant


def _shortlist(prices: np.ndarray, count: int) -> np.ndarray:
    """The positions of the largest prices."""
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
    engine, parameters = problem.engine, problem.parameters(SearchParameters).estimates
    rows, own = engine.signed_rows(features), engine.signed_rows(support)
    if problem.fit_intercept:
        own = np.vstack([own, problem.y])
    moving = np.flatnonzero(theta > parameters.min_theta * theta.max(initial=0.0))
    if moving.size < parameters.max_moving * theta.size:
        rows, own = np.take(rows, moving, axis=1), np.take(own, moving, axis=1)
        theta = theta[moving]
    scaled = own * theta
    K = scaled @ own.T
    diagonal = np.arange(K.shape[0])
    # The tiny term keeps the row of y positive if all samples are at their bounds.
    K[diagonal, diagonal] *= 1.0 + 1e-12
    K[diagonal, diagonal] += np.finfo(float).tiny
    K[diagonal[: support.size], diagonal[: support.size]] += 1.0
    inverse = np.linalg.inv(K)
    seen = scaled @ rows.T
    shared = inverse @ seen
    free = (rows * rows) @ theta - np.einsum("ij,ij->j", seen, shared)
    return QuadraticModel(
        features,
        products[features],
        np.maximum(free, 0.0),
        products[support],
        inverse.diagonal()[: support.size],
        shared[: support.size],
    )


def _theta(C: np.ndarray, alpha: np.ndarray, gap: float) -> np.ndarray:
    """Inverse curvature of the barrier for a gap, by sample."""
    tau = gap / (2 * C.size)
    if tau <= 0.0:
        return np.zeros(C.size)
    alpha = np.clip(alpha, MARGIN * C, (1.0 - MARGIN) * C)
    room = C - alpha
    return (alpha * room) ** 2 / (tau * (alpha**2 + room**2))
