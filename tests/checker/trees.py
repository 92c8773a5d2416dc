"""Random proofs with fixings, and what they prove, computed independently.

The reference represents a node by its forced and its free features. It bounds a set of
supports by the definition: required features, and the best of those that may be added.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np

from tests.campaign.layout import packed_points
from tests.checker.forging import sealed, single_root
from tests.checker.grouped import in_order


def priced_bound(total, squares, required, optional, k, costs, budget, price):
    """The bound of supports with all ``required`` and at most k ``optional``."""
    if k < 0 or budget < 0:
        return np.inf
    if budget == np.inf:
        price, budget = 0, 0
    worth = [max(0, squares[j] - price * costs[j]) for j in optional]
    penalty = budget * price + sum(squares[j] for j in required)
    return max(0, total - (penalty + sum(sorted(worth, reverse=True)[:k])) / 2)


def enumerated_bound(total, squares, forced, free, k, costs, budget, violates):
    """The smallest value over all supports of a node that violate a fixing."""
    values = []
    for size in range(max(k, -1) + 1):
        for extra in combinations(free, size):
            if sum(costs[j] for j in extra) <= budget and violates(set(extra)):
                penalty = sum(squares[j] for j in (*forced, *extra))
                values.append(max(0, total - penalty / 2))
    return min(values, default=np.inf)


class RandomTree:
    """Data with an intercept or without, a tree over its features and dual points.

    If it is grouped, features have several columns each, some limited in sign.
    """

    def __init__(self, seed, grouped=False):
        rng = self.rng = np.random.default_rng(seed)
        m, n = self.m, self.n = int(rng.integers(4, 8)), int(rng.integers(2, 6))
        self.y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
        self.X = rng.normal(size=(m, n)) * 0.7
        self.grouped = grouped
        self.groups, self.signs = np.arange(n), np.zeros(n, dtype=np.int64)
        if grouped:
            extra = rng.integers(0, n, int(rng.integers(0, 5)))
            self.groups = in_order(rng.permutation(np.concatenate([range(n), extra])))
            self.signs = rng.choice([-1, 0, 1], self.groups.size)
            self.X = rng.normal(size=(m, self.groups.size)) * 0.5
        self.intercept = bool(rng.random() < 0.5)
        self.costs = rng.choice([0.5, 1.0, 1.5, 4.0], n)
        self.max_cost = float(rng.choice([np.inf, 2.5, 4.5]))
        self.max_features = int(rng.integers(1, n + 1))
        roles = rng.choice(["free"] * 6 + ["include", "exclude"], n)
        self.include = np.flatnonzero(roles == "include")
        self.exclude = np.flatnonzero(roles == "exclude")
        if self.include.size > self.max_features or self._spent(self.include) < 0:
            roles[self.include] = "free"
            self.include = self.include[:0]
        self.points = rng.uniform(0.05, 0.6, (int(rng.integers(1, 3)), m))
        # Each point balances the classes, so that repairing hardly changes it.
        self.points[:, 1::2] *= (
            self.points[:, ::2].sum(axis=1) / self.points[:, 1::2].sum(axis=1)
        )[:, None]
        self.points /= np.maximum(self.points.max(axis=1), 1.0)[:, None]
        self.nodes, self.fixings, self.bound, self.n_leaves = [], [], np.inf, 0
        free = set(np.flatnonzero(roles == "free").tolist())
        self._grow(-1, -1, True, self.include.tolist(), free, 0)

    def _spent(self, features):
        return self.max_cost * (1 + 1e-9) - self.costs[features].sum()

    def _point(self):
        index = int(self.rng.integers(len(self.points)))
        alpha = self.points[index]
        rows = self.X - self.X.mean(axis=0) * self.intercept
        products = (self.y * alpha) @ rows
        squares = [
            sum(v * v for v, s in zip(products[self.groups == g],
                                      self.signs[self.groups == g], strict=True)
                if s * v >= 0)
            for g in range(self.n)
        ]  # fmt: skip
        squares = np.array(squares, dtype=float)
        return index, alpha.sum(), squares, float(self.rng.choice([0.0, 0.05, 0.3]))

    def _grow(self, parent, feature, inside, forced, free, depth):
        node = len(self.nodes)
        forced = forced + ([feature] if node and inside else [])
        fixed = []
        if free and self.rng.random() < 0.5:
            size = int(self.rng.integers(1, len(free) + 1))
            fixed = self.rng.choice(sorted(free), min(size, 2), replace=False).tolist()
            fixed = [j if self.rng.random() < 0.5 else ~j for j in fixed]
        point, fixing_point = self._point(), self._point()
        self.nodes.append([parent, feature, inside, point, fixing_point])
        self.fixings.append(fixed)
        if fixed:
            self._fix(fixing_point, forced, free, fixed)
            forced = forced + [j for j in fixed if j >= 0]
            free = free - {j if j >= 0 else ~j for j in fixed}
        if free and depth < 3 and self.rng.random() < 0.7:
            split = int(self.rng.choice(sorted(free)))
            self.nodes[node][3] = (-1, 0.0, None, point[3])
            for side in self.rng.permutation([True, False]):
                self._grow(node, split, bool(side), forced, free - {split}, depth + 1)
        else:
            self.n_leaves += 1
            self._take(point, forced, free, [], set())

    def _fix(self, point, forced, free, fixed):
        for j in fixed:
            if j >= 0:
                self._take(point, forced, free, [], {j})
            elif self.costs[~j] <= self._spent(forced):
                self._take(point, forced, free, [~j], set())

    def _take(self, point, forced, free, required, without):
        """Bound the supports with ``required`` free features and without some."""
        _, total, squares, price = point
        budget = self._spent(forced)
        k = self.max_features - len(forced)
        optional = [j for j in free - without if self.costs[j] <= budget]
        optional = [j for j in optional if j not in required]
        if np.isinf(budget):
            price = 0.0
        # A required feature pays its price like any other.
        squares_less = squares.copy()
        squares_less[required] -= price * self.costs[required]
        value = priced_bound(
            total, squares_less, [*forced, *required], optional, k - len(required),
            self.costs, budget, price,
        )  # fmt: skip
        self.bound = min(self.bound, value)

    def certificate(self):
        parent, feature, inside, point, fixing = zip(*self.nodes, strict=True)
        starts = np.cumsum([0] + [len(fixed) for fixed in self.fixings])
        fixings = [j for fixed in self.fixings for j in fixed]
        sections = {"groups": self.groups, "signs": self.signs}
        return sealed(
            single_root(self.X, self.y, np.ones(self.m)),
            **(sections if self.grouped else {}),
            fit_intercept=np.array(self.intercept), costs=self.costs,
            max_features=np.array(self.max_features), max_cost=np.array(self.max_cost),
            include=self.include, exclude=self.exclude,
            parent=np.array(parent), feature=np.array(feature),
            inside=np.array(inside), point=np.array([p[0] for p in point]),
            price=np.array([p[3] for p in point]),
            fixing_point=np.array([p[0] for p in fixing]),
            fixing_price=np.array([p[3] for p in fixing]),
            fixing_start=starts, fixing=np.array(fixings, dtype=np.int64),
            **packed_points(self.points, np.ones(self.m)),
        )  # fmt: skip


def exact(values):
    """Numbers as fractions."""
    return [Fraction(float(value)) for value in values]


def labels(m):
    """Alternating labels."""
    return np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
