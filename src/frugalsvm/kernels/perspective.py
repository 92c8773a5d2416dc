"""The relaxation DSCoP of a node, exact for any number of features and samples.

It is solved by rounds on a part of the features and samples (``rounds``). A child node
begins with what mattered at its parent, its ``Focus``.
"""

from typing import NamedTuple

import numpy as np

from .bounds import bound_and_price, dual_bound, repair_dual
from .rounds import LARGE_PART
from .tasks import Task, answer

# Up to this many free features are solved in one piece.
SMALL_WORKING_SET = 300
# Size of the first working set otherwise.
FIRST_WORKING_SET = 150
# Rounds between two looks at the clock.
ROUNDS_AT_A_TIME = 3
# Working sets only grow after a few rounds, so that there is always an end before this.
MAX_CALLS = 1000


class Node(NamedTuple):
    """What is decided and what is left to decide.

    ``k`` and ``budget`` are left for the free features; ``budget`` may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float


class Focus(NamedTuple):
    """The features and samples that mattered at a node.

    ``side`` is 0 for active samples, -1 for those taken to have alpha = 0 and +1 for
    those taken to have alpha = C.
    """

    features: np.ndarray
    side: np.ndarray


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


def node_bound(data, node, alpha):
    """Valid bound of a node from any dual point, repaired alpha, squares and price."""
    return dual_bound(
        data.A, data.norms, data.y, data.C, data.intercept, data.costs, node.forced,
        node.free, node.k, node.budget, alpha,
    )  # fmt: skip


def node_bound_unclipped(data, node, found):
    """The bound of an answer, below zero if it is."""
    return bound_and_price(
        found.alpha, found.squares, node.forced, node.free, node.k, data.costs,
        node.budget,
    )[0]  # fmt: skip


def fits(costs, node):
    """Whether all free features fit the budgets, so that nothing is left to decide."""
    return node.free.shape[0] <= node.k and (
        np.isinf(node.budget) or costs[node.free].sum() <= node.budget
    )


def affordable(costs, node):
    """The node without the features that cost more than its budget."""
    if np.isinf(node.budget):
        return node
    return node._replace(free=node.free[costs[node.free] <= node.budget])


def decided(costs, node):
    """The node with its free features forced in if all fit, or else as it is."""
    if node.k > 0 and not fits(costs, node):
        return node
    # Nothing is left to decide: the SVM on the features of the node.
    chosen = node.free if node.k > 0 else node.free[:0]
    forced = np.concatenate([node.forced, chosen])
    return Node(forced, node.free[:0], 0, node.budget)


def node_task(data, node, focus, tol, fine_tol, cutoff, max_rounds):
    """The task of relaxing a node whose free features are affordable."""
    working, side = _first_part(data, node, focus)
    rough = focus is None and working.shape[0] < node.free.shape[0]
    return Task(
        node.forced, node.free, node.k, node.budget, working, side, tol, fine_tol,
        cutoff, max_rounds, rough,
    )  # fmt: skip


def _first_part(data, node, focus):
    """The features and samples to begin with."""
    free, k = node.free, node.k
    side = np.zeros(data.y.shape[0], dtype=np.int8) if focus is None else focus.side
    if free.shape[0] <= max(SMALL_WORKING_SET, 4 * k):
        return free, side
    if focus is None:
        size = max(FIRST_WORKING_SET, 2 * k)
        return _first_working_set(data, free, size), side
    inside = np.zeros(data.A.shape[0], dtype=bool)
    inside[focus.features] = True
    working = free[inside[free]]
    usable = k < working.shape[0] <= LARGE_PART * free.shape[0]
    return (working if usable else free), side


def _first_working_set(data, free, size):
    """The features most correlated with the balanced labels."""
    alpha = repair_dual(0.5 * data.C, data.y, data.C, True)
    scores = np.abs(data.A @ alpha)[free]
    return free[np.argsort(-scores, kind="stable")[:size]]


def _best_on_ray(data, node, found):
    """The answer at its dual point or, if that is better, at a fraction of it.

    With T the sum of alpha and P the penalty, ``LB(t alpha) = t T - t^2 P / 2`` is
    largest at t = T / P. Only points far from optimal have T < P.
    """
    total = found.alpha.sum()
    penalty = 2.0 * (total - node_bound_unclipped(data, node, found))
    if not 0.0 < total < penalty < np.inf:
        return found
    bound, alpha, squares, price = node_bound(
        data, node, (total / penalty) * found.alpha
    )
    if bound <= found.bound:
        return found
    return found._replace(bound=bound, alpha=alpha, squares=squares, price=price)


def perspective(
    data, node, tol=1e-6, cutoff=np.inf, should_stop=None
) -> NodeRelaxation:
    """Solve DSCoP at a node.

    Parameters
    ----------
    data : Data
    node : Node
        Forced and free features and the budget left for the latter.
    tol : float
        Relative gap between primal value and bound.
    cutoff : float
        Stop once the bound exceeds this value.
    should_stop : callable, optional
        Asked between rounds; the bound holds whatever it says.

    Returns
    -------
    NodeRelaxation
    """
    node = decided(data.costs, affordable(data.costs, node))
    task = node_task(data, node, None, tol, tol, cutoff, ROUNDS_AT_A_TIME)
    found = best = answer(data, [task])[0]
    rounds, iterations = found.rounds, found.iterations
    for _ in range(MAX_CALLS):
        done = found.finished or best.bound > cutoff
        done |= found.primal - best.bound <= tol * abs(found.primal)
        if done or (should_stop is not None and should_stop()):
            break
        task = task.continued(found)
        found = answer(data, [task])[0]
        rounds += found.rounds
        iterations += found.iterations
        if found.bound > best.bound:
            best = found
    best = _best_on_ray(data, node, best)
    w = np.zeros(data.A.shape[0])
    w[np.concatenate([node.forced, node.free])] = found.w
    return NodeRelaxation(
        best.bound, found.primal, best.alpha, best.squares, found.z, w, rounds,
        iterations,
    )  # fmt: skip
