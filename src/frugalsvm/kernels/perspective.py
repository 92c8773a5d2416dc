"""The relaxation DSCoP of a node, exact for any number of features and samples.

At the optimum most features have z = 0, and most samples lie beyond the margin (alpha =
0) or inside it (alpha = C). So a working set of features and a set of active samples
are solved, the dual variables of the other samples staying where they are; then all
features are priced and all margins computed by one product with the data each, what was
left out wrongly joins, and so on until the dual bound over *all* features meets the
primal value over *all* samples. A child node begins with what mattered at its parent,
its ``Focus``.
"""

from typing import NamedTuple

import numpy as np

from .bounds import dual_bound, repair_dual
from .convex import Data, convex_steps, run
from .rows import far_sides

# Up to this many free features are solved in one piece.
SMALL_WORKING_SET = 300
# Size of the first working set otherwise; rounds after which nothing is dropped again.
FIRST_WORKING_SET = 150
DROP_ROUNDS = 8
# A working set beyond this part of the free features is replaced by all of them.
LARGE_PART = 0.7
# First rounds only have to find the right features.
ROUGH_TOL = 1e-2
# Features worth this part of the price stay in the working set.
NEARLY = 0.7
# ... and so much puts them into a focus: prices move from parent to child.
FOCUS_NEARLY = 0.6
# Active samples in a focus: so many per sample strictly between its bounds, and more.
ACTIVE_RATE, ACTIVE_EXTRA = 1.5, 50
# Freezing fewer than this part of the samples is not worth while.
LEAST_FROZEN = 0.3


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
    focus: Focus | None
    rounds: int
    iterations: int


def node_bound(A, norms, y, C, intercept, costs, node, alpha):
    """Valid bound of a node from any dual point: (bound, repaired alpha, squares)."""
    return dual_bound(
        A, norms, y, C, intercept, costs, node.forced, node.free, node.k, node.budget,
        alpha,
    )  # fmt: skip


def fits(costs, node):
    """Whether all free features fit the budgets, so that nothing is left to decide."""
    return node.free.shape[0] <= node.k and (
        np.isinf(node.budget) or costs[node.free].sum() <= node.budget
    )


def _first_working_set(A, y, C, free, size):
    """The features most correlated with the balanced labels."""
    alpha = repair_dual(0.5 * C, y, C, True)
    scores = np.abs(A @ alpha)[free]
    return free[np.argsort(-scores, kind="stable")[:size]]


_NO_BUDGET = np.empty((0, 0)), np.empty(0)


def _budget_rows(costs, node, features):
    if features.shape[0] == 0:
        return _NO_BUDGET
    rows = [np.ones(features.shape[0])]
    limits = [float(node.k)]
    if np.isfinite(node.budget):
        rows.append(costs[features])
        limits.append(node.budget)
    return np.array(rows), np.array(limits)


def _price(value, costs, node):
    """Value of the last feature that the budgets admit when filled greedily."""
    order = np.argsort(-value, kind="stable")[: node.k]
    if np.isfinite(node.budget):
        order = order[np.cumsum(costs[order]) <= node.budget]
    return value[order[-1]] if order.size else np.max(value)


class _Solver:
    """Rounds on a growing part of one node."""

    def __init__(self, data, node, focus):
        self.A, self.y, self.C, self.costs = data.A, data.y, data.C, data.costs
        self.node = node
        self.working, self.side = self._first_part(focus)
        self.rounds = 0
        self.iterations = 0
        self.bound = -np.inf

    @property
    def has_all_features(self):
        """Whether no feature is left out."""
        return self.working.shape[0] == self.node.free.shape[0]

    @property
    def has_all(self):
        """Whether neither features nor samples are left out."""
        return self.has_all_features and not self.side.any()

    def _first_part(self, focus):
        free, k = self.node.free, self.node.k
        if focus is None:
            side = np.zeros(self.y.shape[0], dtype=np.int8)
            if free.shape[0] <= max(SMALL_WORKING_SET, 4 * k):
                return free, side
            size = max(FIRST_WORKING_SET, 2 * k)
            return _first_working_set(self.A, self.y, self.C, free, size), side
        side = focus.side.copy()
        if free.shape[0] <= max(SMALL_WORKING_SET, 4 * k):
            return free, side
        inside = np.zeros(self.A.shape[0], dtype=bool)
        inside[focus.features] = True
        working = free[inside[free]]
        usable = k < working.shape[0] <= LARGE_PART * free.shape[0]
        return (working if usable else free), side

    def solve_part(self, tol, cutoff):
        """One round: solve on the part, and judge by all features and samples."""
        node = self.node
        features = np.concatenate((node.forced, self.working))
        R, h = _budget_rows(self.costs, node, self.working)
        found = yield from convex_steps(
            node.free, node.budget, features, self.side, R, h, tol, cutoff
        )
        self.rounds += 1
        self.iterations += found.iterations
        self.features, self.z, self.w = features, found.z, found.w[: features.shape[0]]
        self.squares, self.margins, self.primal = (
            found.squares,
            found.margins,
            found.value,
        )
        if found.bound > self.bound:
            self.bound, self.alpha = found.bound, found.alpha
            self.best_squares = found.squares

    def grow(self):
        """Let what was left out wrongly join; whether anything did."""
        wrong = (1.0 - self.margins) * self.side < 0.0
        self.side[wrong] = 0
        if np.count_nonzero(self.side) < LEAST_FROZEN * self.side.shape[0]:
            self.side[:] = 0
        n_new = 0
        if not self.has_all_features:
            n_new = self._grow_working_set()
        return n_new > 0 or wrong.any()

    def _values(self):
        """What features are worth, per unit of cost if costs are limited."""
        if np.isinf(self.node.budget):
            return self.squares
        return self.squares / self.costs

    def _grow_working_set(self):
        """Keep what is worth nearly the price, add the most valuable of the others."""
        node, working = self.node, self.working
        value = self._values()
        price = _price(value[working], self.costs[working], node)
        kept = working
        if self.rounds <= DROP_ROUNDS:
            kept = working[value[working] > NEARLY * price]
        inside = np.zeros(value.shape[0], dtype=bool)
        inside[working] = True
        outside = node.free[~inside[node.free]]
        outside = outside[value[outside] > price]
        new = outside[np.argsort(-value[outside], kind="stable")[: max(50, kept.size)]]
        self.working = np.concatenate([kept, new])
        # When half of everything is violated the working set is the whole set.
        crowded = 2 * outside.size > node.free.size
        if crowded or self.working.shape[0] > LARGE_PART * node.free.shape[0]:
            self.working = node.free
            return 1
        return new.size

    def focus(self):
        """What mattered here, for the children to start from."""
        free = self.node.free
        features = free
        if free.shape[0] > SMALL_WORKING_SET:
            value = self._values()[free]
            price = _price(value, self.costs[free], self.node)
            features = free[value > FOCUS_NEARLY * price]
        side = far_sides(
            self.alpha, self.C, self.margins, ACTIVE_RATE, ACTIVE_EXTRA, LEAST_FROZEN
        )
        return Focus(features, side)

    def relaxation(self, cutoff):
        """The solution in terms of all features; no focus if there are no children."""
        n = self.A.shape[0]
        z = np.zeros(n)
        w = np.zeros(n)
        z[self.node.forced] = 1.0
        z[self.working_of_solution] = self.z
        w[self.features] = self.w
        return NodeRelaxation(
            self.bound, self.primal, self.alpha, self.best_squares, z, w,
            self.focus() if self.bound <= cutoff else None, self.rounds,
            self.iterations,
        )  # fmt: skip

    @property
    def working_of_solution(self):
        """The free features among those last solved on."""
        return self.features[self.node.forced.shape[0] :]


def perspective_steps(
    data, node, tol=1e-6, cutoff=np.inf, should_stop=None, focus=None, max_rounds=np.inf
):
    """Solve DSCoP at a node: a generator of requests, see ``convex_steps``.

    Parameters
    ----------
    data : Data
        Signed features, norm bounds, labels, weights, intercept and feature costs.
    node : Node
        Forced and free features and the budget left for the latter.
    tol : float
        Relative gap between primal value and bound.
    cutoff : float
        Stop once the bound exceeds this value.
    should_stop : callable, optional
        Asked after each round.
    focus : Focus, optional
        What mattered at the parent of the node.
    max_rounds : int, optional
        Stop after so many rounds; the bound holds all the same.

    Returns
    -------
    NodeRelaxation
    """
    costs = data.costs
    if np.isfinite(node.budget):
        node = node._replace(free=node.free[costs[node.free] <= node.budget])
    if node.k == 0 or fits(costs, node):
        # Nothing is left to decide: the SVM on the features of the node.
        chosen = node.free if node.k > 0 else node.free[:0]
        forced = np.concatenate([node.forced, chosen])
        node = Node(forced, node.free[:0], 0, node.budget)
    solver = _Solver(data, node, focus)
    round_tol = tol if focus is not None or solver.has_all else ROUGH_TOL
    while True:
        # The bound over all features can only be lower than that over some.
        enough = cutoff if solver.has_all_features else np.inf
        had_all = solver.has_all
        yield from solver.solve_part(0.5 * round_tol, enough)
        gap = solver.primal - solver.bound
        if gap <= tol * abs(solver.primal) or solver.bound > cutoff:
            break
        if (had_all and round_tol <= tol) or solver.rounds >= max_rounds:
            break
        if should_stop is not None and should_stop():
            break
        grown = solver.grow()
        if not grown and round_tol <= tol:
            break
        if not grown or gap <= 0.05 * abs(solver.primal) or solver.has_all:
            round_tol = tol
    return solver.relaxation(cutoff)


def perspective(A, norms, y, C, intercept, costs, node, **options) -> NodeRelaxation:
    """Solve DSCoP at one node; options are those of ``perspective_steps``."""
    data = Data(A, norms, y, C, intercept, costs)
    return run(data, perspective_steps(data, node, **options))
