"""The tree of a certificate, and the bounds of its leaves, fixings and refit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .arithmetic import U, centred, length_bound, sum_of
from .listing import Listed, check_starts
from .points import Machines, StoredPoints
from .reading import check_objective, check_proved, require, within_rounding
from .statement import (
    WEIGHTS,
    Statement,
    are_within,
    intercepts_of,
    is_increasing_within,
)
from .table import SparseColumns

# Sums of costs may exceed max_cost by this fraction because of rounding.
COST_SLACK = 1e-9
# Larger prices could overflow when multiplied by a cost.
LARGEST_PRICE = 1e250
# Maximum number of entries of dual points and their squares in the cache.
CACHE_SIZE = 2**22


class ProofData:
    """The samples of positive weight, and the data that bounds depend on.

    With free intercepts, products with dual points do not depend on the means of the
    features: then rows are centred, which keeps the error bounds of the products small.
    Rows of large data come in blocks, and are centred each time they are read. Sparse
    data are neither centred nor made dense, except for accurate products.
    """

    def __init__(self, statement: Statement, machines: Machines, C: np.ndarray):
        self.statement, self.machines, self.C = statement, machines, C
        self.budget = statement.max_cost * (1 + COST_SLACK) * (1 + 8 * U)
        rows = machines.rows
        self._rows = [rows] if isinstance(rows, np.ndarray) else rows
        self._sparse: tuple[SparseColumns, np.ndarray] | None = None
        if isinstance(rows, np.ndarray) or rows.sparse is None:
            useless = np.concatenate([self._useless(block) for block in self._rows])
        else:
            sparse = rows.sparse.without_zeros()
            self._sparse = sparse, sparse.length_bounds()
            useless = np.diff(sparse.starts) == 0
            if statement.fit_intercept:
                useless |= sparse.are_constant(C.size)
        self.free = statement.columns.any(~useless)
        self.free[statement.include] = False
        self.free[statement.exclude] = False
        self.A: np.ndarray | None = None
        if isinstance(rows, np.ndarray):
            self.A, self.norms = self._centred(rows)

    def _useless(self, rows: np.ndarray) -> np.ndarray:
        """Mask of the columns that cannot improve any solution."""
        useless = np.logical_not(rows.any(axis=1))
        if self.statement.fit_intercept:
            # A constant column can be replaced by the intercept.
            useless |= (rows == rows[:, :1]).all(axis=1)
        return useless

    def _centred(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows as used in products, and bounds of their norms."""
        A = centred(rows) if self.statement.fit_intercept else rows
        return A, length_bound(A)

    def squares(self, alpha: np.ndarray, accurate: bool) -> np.ndarray:
        """Upper bounds of ``q_j`` for all features: sums of admitted ``c_j^2``."""
        columns, squares = self.statement.columns, self.machines.squares
        if self.A is not None:
            return columns.sums(
                squares(self.A, self.norms, alpha, accurate, columns.sides())
            )
        if self._sparse is not None and not accurate:
            sparse, norms = self._sparse
            return columns.sums(squares(sparse, norms, alpha, False, columns.sides()))
        parts, start = [], 0
        for block in self._rows:
            sides = columns.sides(slice(start, start := start + len(block)))
            parts.append(squares(*self._centred(block), alpha, accurate, sides))
        return columns.sums(np.concatenate(parts))

    def point(self, alpha: np.ndarray) -> np.ndarray:
        """The exactly feasible dual point near a point of all machines in turn."""
        return self.machines.point(alpha, self.C, self.statement.fit_intercept)

    def left_to_spend(self, forced: list[int]) -> float:
        """The cost budget that the forced features leave, rounded up."""
        if np.isinf(self.budget):
            return np.inf
        spent = sum_of(self.statement.costs[forced])
        return (self.budget - spent) + 8 * U * (self.budget + spent)


class _Part:
    """A dual point at a node, with bounds of its supports."""

    def __init__(
        self,
        data: ProofData,
        alpha: np.ndarray,
        squares: np.ndarray,
        forced: list[int],
        free: np.ndarray,
        price: float,
    ):
        self.k = data.statement.max_features - len(forced)
        self.budget = data.left_to_spend(forced)
        self.is_empty = self.k < 0 or self.budget < 0
        self.costs, self.squares = data.statement.costs, squares
        self.price = price if np.isfinite(self.budget) else 0.0
        self.total = alpha.sum()  # exact: see ``repair``
        # Only these can be chosen, so only these are in the penalty.
        self.affordable = free & (self.costs <= self.budget)
        worth = np.sort(np.maximum(self._worth(np.flatnonzero(self.affordable)), 0.0))
        self.largest = worth[::-1][: max(self.k, 0)]
        self.following = worth[-self.k - 1] if 0 <= self.k < worth.size else 0.0
        charge = self.budget * self.price if self.price > 0.0 else 0.0
        self.penalty = sum_of([charge, *squares[forced], *self.largest])
        self.penalty *= 1 + 8 * U

    def _worth(self, features: np.ndarray) -> np.ndarray:
        """The squares of features less the price of their costs, rounded up."""
        square = self.squares[features]
        charge = self.price * self.costs[features] * (1 - 4 * U)
        worth = square - charge
        return worth + 4 * U * np.abs(worth)

    def _bound(self, penalty: float) -> float:
        value = self.total - 0.5 * penalty
        value -= 8 * U * (self.total + self.penalty)
        require(not math.isnan(value), "a bound is NaN")
        # No objective is negative.
        return max(0.0, float(value))

    def bound(self) -> float:
        """Bound of all supports of the node."""
        return np.inf if self.is_empty else self._bound(self.penalty)

    def bound_without(self, fixings: np.ndarray) -> float:
        """Bound of the supports that violate at least one of the fixings."""
        if self.is_empty:
            return np.inf
        smallest = np.inf
        out = ~fixings[fixings < 0]
        out = out[self.costs[out] <= self.budget]
        if self.k > 0 and out.size:
            # Such a feature replaces the last one that was chosen.
            last = self.largest[-1] if self.largest.size == self.k else 0.0
            loss = last - float(self._worth(out).max())
            smallest = self._bound(self.penalty - max(loss, 0.0))
        inside = fixings[fixings >= 0]
        if inside.size:
            # The next feature replaces it; if it was not chosen, nothing changes.
            could_choose = self.affordable[inside]
            worth = np.where(could_choose, np.maximum(self._worth(inside), 0.0), 0.0)
            loss = float(worth.min()) - self.following
            smallest = min(smallest, self._bound(self.penalty - max(loss, 0.0)))
        return smallest


class ProofTree:
    """The nodes, their fixings and their dual points.

    Products with the data are quick where these prove what is claimed, and accurate
    elsewhere; bounds are valid either way.
    """

    def __init__(
        self, data: ProofData, arrays: Mapping[str, np.ndarray], listed: Listed
    ):
        self.data = data
        self.listed = listed
        self.points = StoredPoints(arrays, np.tile(data.C, data.machines.count))
        self.fixings = arrays["fixing"]
        self.fixing_start = arrays["fixing_start"]
        check_starts(self.fixing_start, self.fixings.size, "fixing_start")
        self.feature, self.inside = arrays["feature"], arrays["inside"]
        self.point, self.price = arrays["point"], arrays["price"]
        self.fixing_point = arrays["fixing_point"]
        self.fixing_price = arrays["fixing_price"]
        # Comparisons with NaN are false.
        for price in (self.price, self.fixing_price):
            require(((price >= 0) & (price < LARGEST_PRICE)).all(), "bad price")
        m, n = data.machines.signs.size, data.statement.n_features
        require(
            ((self.fixings >= -n) & (self.fixings < n)).all(), "bad features in fixing"
        )
        self.children = _children(arrays["parent"])
        listed.allow(self.point.size)
        self.n_leaves = 0
        # Smallest bound of leaves that are neither listed sets nor subsets of one.
        self.threshold = np.inf
        # The bound that each node must prove, and that of nodes outside the list.
        self._claim = within_rounding(arrays["lower_bound"])
        threshold = within_rounding(arrays.get("threshold", -np.inf))
        self._strict_claim = max(self._claim, threshold)
        # The last dual points in use: neighbours in the tree often share one.
        self._cache: dict[tuple[int, bool], tuple[np.ndarray, np.ndarray]] = {}
        self._cache_length = max(1, CACHE_SIZE // (m + n))

    def smallest_bound(self) -> float:
        """Smallest bound of all leaves and fixings; also checks the tree."""
        smallest = np.inf
        self.forced = self.data.statement.include.tolist()
        self.free = self.data.free.copy()
        # Nodes to enter and, as ~node, to leave: only one path is in memory at a time.
        agenda = [0]
        trail: list[tuple[int, np.ndarray]] = []
        while agenda:
            node = agenda.pop()
            if node < 0:
                n_forced, decided = trail.pop()
                del self.forced[n_forced:]
                self.free[decided] = True
                continue
            n_forced = len(self.forced)
            if node > 0 and self.inside[node]:
                self.forced.append(int(self.feature[node]))
            fixings = self._fixings(node)
            bound = self._fix(node, fixings)
            smallest, self.threshold = min(smallest, bound), min(self.threshold, bound)
            decided = np.where(fixings >= 0, fixings, ~fixings)
            children = self.children[node]
            if children[0] < 0:
                self.n_leaves += 1
                smallest = min(smallest, self._leaf(node))
            else:
                decided = np.append(decided, self._split(node, children))
                self.free[decided] = False
            agenda.append(~node)
            trail.append((n_forced, decided))
            agenda.extend(child for child in children.tolist() if child >= 0)
        return smallest

    def _leaf(self, node: int) -> float:
        """The bound of a leaf, which lowers the threshold unless the leaf is listed."""
        dual = int(self.point[node]), float(self.price[node])
        bound = self._bound(_Part.bound, dual, self._claim)
        # A bound above the threshold does not lower it, listed or not.
        if bound < self.threshold and not self._is_listed(self._part(dual)):
            unlisted = self._bound(_Part.bound, dual, self._strict_claim)
            self.threshold = min(self.threshold, unlisted)
        return bound

    def _bound(
        self,
        bound_of: Callable[[_Part], float],
        dual: tuple[int, float],
        claim: float,
    ) -> float:
        """A bound from quick products, or from accurate ones if it must prove more."""
        bound = bound_of(self._part(dual))
        if bound < claim:
            bound = max(bound, bound_of(self._part(dual, accurate=True)))
            if bound < claim:
                # Nothing saves the claim: quick products do for all other nodes.
                self._claim = self._strict_claim = -np.inf
        return bound

    def _is_listed(self, part: _Part) -> bool:
        """Whether all supports of a leaf are subsets of one listed set."""
        choice = np.flatnonzero(part.affordable).tolist() if part.k > 0 else []
        # No listed set has more features than the budget.
        return len(choice) <= part.k and self.listed.hold([*self.forced, *choice])

    def _fix(self, node: int, fixings: np.ndarray) -> float:
        """Apply the fixings of a node; return a bound of the supports they exclude."""
        if fixings.size == 0:
            return np.inf
        dual = int(self.fixing_point[node]), float(self.fixing_price[node])
        bound = self._bound(
            lambda part: part.bound_without(fixings), dual, self._strict_claim
        )
        self.forced += fixings[fixings >= 0].tolist()
        self.free[np.where(fixings >= 0, fixings, ~fixings)] = False
        return bound

    def _fixings(self, node: int) -> np.ndarray:
        fixings = self.fixings[self.fixing_start[node] : self.fixing_start[node + 1]]
        features = np.where(fixings >= 0, fixings, ~fixings)
        require(
            self.free[features].all() and np.unique(features).size == features.size,
            f"node {node} fixes a feature that is already decided",
        )
        return fixings

    def _split(self, node: int, children: np.ndarray) -> int:
        """The feature on which the children of a node differ."""
        first, second = children.tolist()
        covers = (
            second >= 0
            and self.feature[first] == self.feature[second]
            and self.inside[first] != self.inside[second]
        )
        require(covers, f"the children of node {node} do not cover it")
        feature = int(self.feature[first])
        require(
            0 <= feature < self.free.size and self.free[feature],
            f"node {node} is split on a feature that is already decided",
        )
        return feature

    def _part(self, dual: tuple[int, float], accurate: bool = False) -> _Part:
        """A dual point and a price at the present node."""
        point, price = dual
        require(0 <= point < len(self.points), f"there is no dual point {point}")
        alpha, squares = self._dual_point(point, accurate)
        return _Part(self.data, alpha, squares, self.forced, self.free, price)

    def _dual_point(self, point: int, accurate: bool) -> tuple[np.ndarray, np.ndarray]:
        """The repaired point and its squares, from the cache if they are there."""
        entry = self._cache.pop((point, accurate), None)
        if entry is None:
            alpha = self.data.point(self.points[point])
            entry = alpha, self.data.squares(alpha, accurate)
            if len(self._cache) == self._cache_length:
                # The entry that was not used for the longest time.
                del self._cache[next(iter(self._cache))]
        self._cache[point, accurate] = entry
        return entry


def _children(parent: np.ndarray) -> np.ndarray:
    """The two children of each node, -1 where there are none."""
    require(parent[0] == -1, "there is no root")
    nodes = np.arange(1, parent.size)
    above = parent[1:]
    require(((above >= 0) & (above < nodes)).all(), "a node comes before its parent")
    counts = np.bincount(above, minlength=parent.size)
    require((counts <= 2).all(), "a node has more than two children")
    children = np.full((parent.size, 2), -1)
    order = np.argsort(above, kind="stable")
    # The second of two neighbours with the same parent goes to the second column.
    sorted_above = above[order]
    second = np.diff(sorted_above, prepend=-1) == 0
    children[sorted_above, second.astype(np.int64)] = nodes[order]
    return children


# --- The refit of a certificate: the SVM on the selected features, with another C -----
#
# Features are selected with one C, and their weights may be computed with another. The
# SVM on fixed features is convex, so a single dual point proves its bound.


@dataclass(frozen=True)
class VerifiedRefit:
    """The bounds of the SVM on the selected features, with the C of the refit.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        The C of the refit times the sample weights.
    objective : float
        Upper bound of the optimum of the SVM on the selected features: the recomputed
        objective of the weights.
    lower_bound : float
        Lower bound of that optimum.
    gap : float
        ``(objective - lower_bound) / objective``.
    """

    weights: np.ndarray
    objective: float
    lower_bound: float
    gap: float


def check_refit(
    arrays: Mapping[str, np.ndarray],
    statement: Statement,
    machines: Machines,
    objective_of: Callable[..., float],
) -> VerifiedRefit:
    """Recompute both bounds of the refit, and compare with the claims.

    ``objective_of`` takes C, features, weights and intercepts; it checks the budgets.
    """
    weights = arrays["refit_weights"]
    is_used = statement.weights > 0
    C = weights[is_used]
    require(
        np.array_equal(weights > 0, is_used) and are_within(C, WEIGHTS),
        "bad refit_weights",
    )
    features = np.union1d(arrays["selected"], statement.include).astype(np.int64)
    columns = statement.columns.of(features)
    require(
        arrays["refit_coef"].size == columns.size * machines.count,
        "refit_coef has another length than the features selected or included",
    )
    objective = objective_of(
        C, features, arrays["refit_coef"], intercepts_of(arrays, "refit_")
    )
    bound = _refit_bound(arrays, statement, machines, C, columns)
    check_objective("refit_objective", arrays, objective)
    check_proved("refit_lower_bound", arrays, bound)
    # Cannot happen if this package is right; if it is not, nothing is proved.
    require(
        bound <= objective,
        f"the bound {bound!r} of the refit exceeds its objective {objective!r}",
    )
    gap = (objective - bound) / objective if objective > 0 else 0.0
    return VerifiedRefit(weights, objective, bound, gap)


def _refit_bound(
    arrays: Mapping[str, np.ndarray],
    statement: Statement,
    machines: Machines,
    C: np.ndarray,
    columns: np.ndarray,
) -> float:
    """``1'alpha - 1/2 ||A alpha||^2``, rounded down, or zero if that is larger.

    Only the side of a product that its sign admits counts.
    """
    samples, values = arrays["refit_sample"], arrays["refit_alpha"]
    require(is_increasing_within(samples, machines.signs.size), "bad refit_sample")
    require((values >= 0).all(), "refit_alpha has negative entries")
    alpha = np.zeros(machines.signs.size)
    alpha[samples] = values
    alpha = machines.point(alpha, C, statement.fit_intercept)
    rows, sides = machines.rows[columns], statement.columns.sides(columns)
    A = centred(rows) if statement.fit_intercept else rows
    squares = machines.squares(A, length_bound(A), alpha, True, sides)
    penalty = sum_of(squares) * (1 + 8 * U)
    total = alpha.sum()  # exact: see ``repair``
    value = total - 0.5 * penalty
    value -= 8 * U * (total + penalty)
    require(not np.isnan(value), "a bound is NaN")
    return max(0.0, float(value))
