"""The relaxation DSCoP of a node, exact for any number of features.

At the optimum most features have z = 0, so a working set is solved, all features are
priced by one product with the data, the violated ones join, and so on until the dual
bound over *all* features meets the primal value of the working set.
"""

from typing import NamedTuple

import numpy as np

from .bounds import bound_and_price, repair_dual, square_bounds
from .interior_point import solve_convex
from .support_svm import stack_rows, support_svm

# Up to this many free features are solved in one piece.
SMALL_WORKING_SET = 300
# Size of the first working set otherwise; rounds after which nothing is dropped again.
FIRST_WORKING_SET = 150
DROP_ROUNDS = 8
# First rounds only have to find the right features.
ROUGH_TOL = 1e-2


class Node(NamedTuple):
    """What is decided and what is left to decide.

    ``k`` and ``budget`` are left for the free features; ``budget`` may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float


class NodeRelaxation(NamedTuple):
    """Solution of a node's relaxation.

    ``alpha`` is repaired and ``bound`` holds in floating point; ``z`` and ``w`` belong
    to all features, ``squares`` are upper bounds of ``c_j^2`` for all features.
    """

    bound: float
    primal: float
    alpha: np.ndarray
    squares: np.ndarray
    z: np.ndarray
    w: np.ndarray
    rounds: int
    iterations: int


def node_bound(A, norms, y, C, intercept, costs, node, alpha):
    """Valid bound of a node from any dual point: (bound, repaired alpha, squares)."""
    alpha = repair_dual(alpha, y, C, intercept)
    squares = square_bounds(A @ alpha, norms, alpha)
    bound, _ = bound_and_price(
        alpha, squares, node.forced, node.free, node.k, costs, node.budget
    )
    return bound, alpha, squares


def _first_working_set(A, y, C, free, size):
    """The features most correlated with the balanced labels."""
    alpha = repair_dual(0.5 * C, y, C, True)
    scores = np.abs(A @ alpha)[free]
    return free[np.argsort(-scores, kind="stable")[:size]]


def _budget_rows(costs, node, features):
    rows = [np.ones(features.shape[0])]
    limits = [float(node.k)]
    if np.isfinite(node.budget):
        rows.append(costs[features])
        limits.append(node.budget)
    return np.array(rows), np.array(limits)


def _everything_fits(costs, node, features):
    return features.shape[0] <= node.k and (
        np.isinf(node.budget) or costs[features].sum() <= node.budget
    )


def _solve_on(A, y, C, intercept, costs, node, working, tol, cutoff):
    """Relaxation restricted to the working set: alpha, z, w, primal, iterations."""
    n_forced = node.forced.shape[0]
    features = np.concatenate([node.forced, working])
    z = np.zeros(A.shape[0])
    w = np.zeros(A.shape[0])
    z[node.forced] = 1.0
    if node.k == 0 or _everything_fits(costs, node, working):
        if node.k == 0:
            features = node.forced
        z[features] = 1.0
        w[features], _, alpha, primal, _ = support_svm(
            A, features, y, C, intercept, tol, cutoff
        )
        return alpha, z, w, primal, 0
    stacked, _ = stack_rows(A, features, y, intercept)
    R, h = _budget_rows(costs, node, working)
    alpha, shares, weights, primal, _, iterations = solve_convex(
        stacked, y, C, n_forced, R, h, tol, cutoff
    )
    z[working] = shares
    w[features] = weights[: features.shape[0]]
    return alpha, z, w, primal, iterations


def _price(value, costs, node):
    """Value of the last feature that the budgets admit when filled greedily."""
    order = np.argsort(-value, kind="stable")[: node.k]
    if np.isfinite(node.budget):
        order = order[np.cumsum(costs[order]) <= node.budget]
    return value[order[-1]] if order.size else np.max(value)


def _next_working_set(squares, costs, node, working, may_drop):
    """Keep what is worth nearly the price, and add the most valuable of the others."""
    value = squares if np.isinf(node.budget) else squares / costs
    price = _price(value[working], costs[working], node)
    kept = working[value[working] > 0.7 * price] if may_drop else working
    inside = np.zeros(squares.shape[0], dtype=bool)
    inside[working] = True
    outside = node.free[~inside[node.free]]
    outside = outside[value[outside] > price]
    new = outside[np.argsort(-value[outside], kind="stable")[: max(50, kept.size)]]
    # When half of everything is violated the working set is the whole set.
    crowded = 2 * outside.size > node.free.size
    return np.concatenate([kept, new]), new.size, crowded


def perspective(
    A, norms, y, C, intercept, costs, node, tol=1e-6, cutoff=np.inf, should_stop=None
) -> NodeRelaxation:
    """Solve DSCoP at a node.

    Parameters
    ----------
    A : array (n, m)
        Signed features, ``y_i x_ij``.
    norms : array (n,)
        Upper bounds of the row norms, see ``row_norm_bounds``.
    y, C : arrays (m,)
        Labels in {-1, +1} and positive weights.
    intercept : bool
        Whether a free intercept is fitted.
    costs : array (n,)
        Feature costs; only used when the node's budget is finite.
    node : Node
        Forced and free features and the budget left for the latter.
    tol : float
        Relative gap between primal value and bound.
    cutoff : float
        Stop once the bound exceeds this value.
    should_stop : callable, optional
        Asked after each round.

    Returns
    -------
    NodeRelaxation
    """
    if np.isfinite(node.budget):
        node = node._replace(free=node.free[costs[node.free] <= node.budget])
    free = node.free
    whole = free.shape[0] <= max(SMALL_WORKING_SET, 4 * node.k)
    working = free
    if not whole:
        size = max(FIRST_WORKING_SET, 2 * node.k)
        working = _first_working_set(A, y, C, free, size)
    rounds = 0
    total_iterations = 0
    best_bound = -np.inf
    round_tol = tol if whole else ROUGH_TOL
    while True:
        rounds += 1
        # The bound over all features can only be lower, so the cutoff waits for it.
        alpha, z, w, primal, iterations = _solve_on(
            A, y, C, intercept, costs, node, working, 0.5 * round_tol,
            cutoff if whole else np.inf,
        )  # fmt: skip
        total_iterations += iterations
        bound, alpha, squares = node_bound(
            A, norms, y, C, intercept, costs, node, alpha
        )
        if bound > best_bound:
            best_bound, best_alpha, best_squares = bound, alpha, squares
        if primal - best_bound <= tol * abs(primal) or best_bound > cutoff or whole:
            break
        if should_stop is not None and should_stop():
            break
        working, n_new, crowded = _next_working_set(
            squares, costs, node, working, rounds <= DROP_ROUNDS
        )
        if n_new == 0 and round_tol <= tol:
            break
        if n_new == 0 or primal - best_bound <= 0.05 * abs(primal):
            round_tol = tol
        if crowded or working.shape[0] > 0.7 * free.shape[0]:
            working, whole, round_tol = free, True, tol
    return NodeRelaxation(
        best_bound, primal, best_alpha, best_squares, z, w, rounds, total_iterations
    )
