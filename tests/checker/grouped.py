"""Problems with feature groups and signs, and proofs of them made without the solver.

Every support is solved by Clarabel as the SVM with sign constraints that it is. The
proof is a tree whose leaves have one largest support each, with the dual optimum of it.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import clarabel
import numpy as np

from frugalsvm.checker import FORMAT, fingerprint, objective_bound
from tests.campaign.layout import packed_points
from tests.checker.forging import sealed
from tests.reference import _solve


class SignedSVM(NamedTuple):
    """The SVM on the columns of a support; weights in the order of the columns."""

    value: float
    w: np.ndarray
    b: float
    alpha: np.ndarray


def signed_svm(X, y, C, signs, intercept=True, tol=1e-11):
    """The SVM with weights limited in sign, by Clarabel."""
    m, n = X.shape
    column = y[:, None] if intercept else np.zeros((m, 0))
    width = n + column.shape[1]
    limited = np.flatnonzero(signs)
    bounds = np.zeros((limited.size, width + m))
    bounds[np.arange(limited.size), limited] = -signs[limited]
    A = np.vstack(
        [
            np.hstack([-y[:, None] * X, -column, -np.eye(m)]),
            np.hstack([np.zeros((m, width)), -np.eye(m)]),
            bounds,
        ]
    )
    squares = np.concatenate([np.ones(n), np.zeros(width - n + m)])
    q = np.concatenate([np.zeros(width), C])
    b = np.concatenate([-np.ones(m), np.zeros(m + limited.size)])
    cones = [clarabel.NonnegativeConeT(b.size)]
    found = _solve(squares, q, A, b, cones, tol)
    w = np.array(found.x[:n])
    w[w * signs < 0] = 0.0
    alpha = np.maximum(found.z[:m], 0.0)
    return SignedSVM(found.obj_val, w, float(found.x[n]) if intercept else 0.0, alpha)


@dataclass(frozen=True, eq=False)
class Grouped:
    """A problem as it is stated; ``C`` has one weight per sample, all positive."""

    X: np.ndarray
    y: np.ndarray
    C: np.ndarray
    groups: np.ndarray
    signs: np.ndarray
    max_features: int
    costs: np.ndarray
    max_cost: float
    include: np.ndarray
    exclude: np.ndarray
    intercept: bool

    @property
    def n_features(self):
        return self.costs.size

    def columns(self, features):
        """The columns of features, one feature after the other."""
        parts = [np.flatnonzero(self.groups == g) for g in features]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def admits(self, support):
        cost = self.costs[list(support)].sum()
        return len(support) <= self.max_features and cost <= self.max_cost

    def is_useful(self, feature):
        """Whether one of its columns is not constant; others cannot be split on."""
        columns = self.X[:, self.columns([feature])]
        return bool((columns != columns[:1]).any())

    def svm(self, support):
        columns = self.columns(support)
        return signed_svm(
            self.X[:, columns], self.y, self.C, self.signs[columns], self.intercept
        )

    @cached_property
    def free(self):
        given = {*self.include.tolist(), *self.exclude.tolist()}
        return [g for g in range(self.n_features) if g not in given]

    @cached_property
    def values(self):
        """The optimum of every admitted support, by enumeration."""
        given = self.include.tolist()
        supports = [
            tuple(sorted([*given, *extra]))
            for size in range(len(self.free) + 1)
            for extra in combinations(self.free, size)
        ]
        return {s: self.svm(s).value for s in supports if self.admits(s)}

    @cached_property
    def best(self):
        return min(self.values, key=self.values.get)

    @property
    def optimum(self):
        return self.values[self.best]

    def solution(self, support):
        """A support, its weights, intercept and objective, as arrays of a file."""
        svm = self.svm(support)
        columns = self.columns(support)
        rows = (self.X[:, columns] * self.y[:, None]).T
        return {
            "selected": np.array(support, dtype=np.int64),
            "coef": svm.w,
            "intercept": np.array(svm.b),
            "objective": np.array(
                objective_bound(rows, self.y, self.C, svm.w, svm.b)
            ),
        }  # fmt: skip

    def certificate(self, **changes):
        """A proof that is as tight as the dual points of Clarabel."""
        tree = _Tree(self)
        arrays = {
            "format": np.array(FORMAT),
            "fingerprint": np.array(
                fingerprint((self.X * self.y[:, None]).T, self.y)
            ),
            "weights": self.C, "fit_intercept": np.array(self.intercept),
            "max_features": np.array(self.max_features), "costs": self.costs,
            "max_cost": np.array(self.max_cost), "include": self.include,
            "exclude": self.exclude, **self.solution(self.best),
            "lower_bound": np.array(self.optimum * (1 - 1e-6)),
            "groups": self.groups, "signs": self.signs, **tree.arrays(self.C),
        }  # fmt: skip
        return sealed(arrays, **changes)

    def arguments(self):
        """The arguments of ``Problem`` after the data."""
        unlimited = np.isinf(self.max_cost)
        return {
            "C": 1.0, "sample_weight": self.C, "max_features": self.max_features,
            "feature_costs": self.costs,
            "max_cost": None if unlimited else self.max_cost,
            "include": self.include, "exclude": self.exclude,
            "fit_intercept": self.intercept, "feature_groups": self.groups,
            "signs": self.signs,
        }  # fmt: skip

    def expected(self):
        """What a user who knows the problem passes to ``verify``."""
        return {
            "C": 1.0, "sample_weight": self.C, "max_features": self.max_features,
            "costs": self.costs, "max_cost": self.max_cost, "include": self.include,
            "exclude": self.exclude, "fit_intercept": self.intercept,
            "feature_groups": [f"group {g}" for g in self.groups],
            "signs": self.signs,
        }  # fmt: skip


class _Tree:
    """Split until every leaf has one largest support."""

    def __init__(self, problem):
        self.problem = problem
        self.nodes, self.points = [], []
        free = [g for g in problem.free if problem.is_useful(g)]
        self._grow(-1, -1, True, tuple(problem.include.tolist()), free)

    def _grow(self, parent, feature, inside, forced, free):
        at = len(self.nodes)
        self.nodes.append([parent, feature, inside, -1])
        free = [g for g in free if self.problem.admits((*forced, g))]
        if self.problem.admits((*forced, *free)):
            support = tuple(sorted((*forced, *free)))
            self.nodes[at][3] = len(self.points)
            self.points.append(self.problem.svm(support).alpha)
            return
        split, *rest = free
        self._grow(at, split, True, (*forced, split), rest)
        self._grow(at, split, False, forced, rest)

    def arrays(self, C):
        parent, feature, inside, point = zip(*self.nodes, strict=True)
        n = len(self.nodes)
        return {
            "parent": np.array(parent), "feature": np.array(feature),
            "inside": np.array(inside), "point": np.array(point),
            "price": np.zeros(n), "fixing_point": np.full(n, -1),
            "fixing_price": np.zeros(n), "fixing_start": np.zeros(n + 1, dtype=int),
            "fixing": np.empty(0, dtype=int),
            **packed_points(np.reshape(self.points, (-1, C.size)), C),
        }  # fmt: skip


def in_order(labels):
    """Numbers of groups in the order of their first columns."""
    number = {}
    return np.array([number.setdefault(one, len(number)) for one in labels.tolist()])


def random_groups(rng, n_columns):
    """The group of each column; neighbours are not always together."""
    return in_order(rng.integers(0, max(2, n_columns - 2), n_columns))


def random_grouped(seed):
    """A small problem with groups and signs, some costs and forced features."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(8, 15)), int(rng.integers(3, 8))
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(m, n)) + 0.4 * y[:, None] * rng.normal(size=n)
    groups = random_groups(rng, n)
    n_features = int(groups.max()) + 1
    order = rng.permutation(n_features)
    costs, max_cost = np.ones(n_features), np.inf
    if rng.random() < 0.3:
        costs = rng.choice([0.5, 1.0, 2.0], n_features)
        max_cost = float(rng.choice([2.0, 3.0]))
    include = exclude = order[:0]
    if n_features > 2:
        include = order[: int(rng.random() < 0.3)]
        exclude = order[n_features - int(rng.random() < 0.3) :]
    return Grouped(
        X, y, rng.choice([0.1, 0.5, 2.0], m), groups, rng.choice([-1, 0, 0, 1], n),
        int(rng.integers(1, n_features + 1)), costs, max_cost, include, exclude,
        bool(rng.random() < 0.7),
    )  # fmt: skip


def four_groups():
    """Four features of seven columns, two of whose weights are limited in sign."""
    rng = np.random.default_rng(8)
    y = np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(30, 7)) + 0.5 * y[:, None] * [1, 1, -1, 0, 1, -1, 0.5]
    return Grouped(
        X, y, np.ones(30), np.array([0, 0, 1, 0, 2, 2, 3]),
        np.array([1, 0, 1, 0, 0, -1, 0]), 2, np.ones(4), np.inf,
        np.empty(0, dtype=int), np.empty(0, dtype=int), True,
    )  # fmt: skip
