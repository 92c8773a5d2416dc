"""Problems with several classes, and proofs of them made without the solver.

Each class has an SVM against the rest, all on the same features. For a given support
they are independent, and Clarabel solves them one by one.
"""

from dataclasses import dataclass

import numpy as np

from frugalsvm.checker import FORMAT, fingerprint, objective_bound
from tests.campaign.layout import packed_points
from tests.checker.forging import EMPTY, sealed
from tests.checker.grouped import (
    Grouped,
    SignedSVM,
    _Tree,
    random_groups,
    signed_svm,
)


@dataclass(frozen=True, eq=False)
class Several(Grouped):
    """A problem whose ``y`` has the numbers of the classes; no weight has a sign."""

    @property
    def n_classes(self):
        return int(self.y.max()) + 1

    def labels(self):
        """The labels -1 and 1 of each SVM."""
        return [np.where(self.y == k, 1.0, -1.0) for k in range(self.n_classes)]

    def is_useful(self, feature):
        """A constant column is of no use only if there are intercepts."""
        columns = self.X[:, self.columns([feature])]
        rest = columns != columns[:1] if self.intercept else columns
        return bool(rest.any())

    def svm(self, support, factor=1.0):
        """All SVMs on a support: their sum, and their weights one after the other."""
        X = self.X[:, self.columns(support)]
        free, C = np.zeros(X.shape[1]), factor * self.C
        each = [signed_svm(X, s, C, free, self.intercept) for s in self.labels()]
        values, w, b, alpha = zip(*each, strict=True)
        return SignedSVM(
            sum(values), np.concatenate(w), np.array(b), np.concatenate(alpha)
        )

    def objective(self, support, svm, factor=1.0):
        X, weights = self.X[:, self.columns(support)], np.split(svm.w, self.n_classes)
        each = zip(self.labels(), weights, svm.b, strict=True)
        return sum(
            objective_bound((X * s[:, None]).T, s, factor * self.C, w, b)
            for s, w, b in each
        )

    def solution(self, support):
        svm = self.svm(support)
        return {
            "selected": np.array(support, dtype=np.int64),
            "coef": svm.w, "intercept": np.array(0.0), "intercepts": svm.b,
            "objective": np.array(self.objective(support, svm)),
        }  # fmt: skip

    def mark(self):
        return np.array(fingerprint(self.X.T, self.y.astype(float)))

    def certificate(self, **changes):
        tree = _Tree(self)
        arrays = {
            "format": np.array(FORMAT), "fingerprint": self.mark(), "weights": self.C,
            "fit_intercept": np.array(self.intercept),
            "max_features": np.array(self.max_features), "costs": self.costs,
            "max_cost": np.array(self.max_cost), "include": self.include,
            "exclude": self.exclude, **self.solution(self.best),
            "n_classes": np.array(self.n_classes), "groups": self.groups,
            "lower_bound": np.array(self.optimum * (1 - 1e-6)),
            **tree.arrays(np.tile(self.C, self.n_classes)),
        }  # fmt: skip
        return sealed(arrays, **changes)

    def with_list(self, arrays, supports, threshold=-1e300):
        """The same proof with some sets of features that are listed."""
        each = [self.svm(support) for support in supports]
        return sealed(
            arrays, threshold=np.array(threshold),
            listed_start=np.cumsum([0, *map(len, supports)]),
            listed_feature=np.array([g for s in supports for g in s], dtype=int),
            listed_coef=np.concatenate([np.empty(0), *(svm.w for svm in each)]),
            listed_intercept=np.concatenate([np.empty(0), *(svm.b for svm in each)]),
        )  # fmt: skip

    def with_refit(self, arrays, factor):
        """The same proof with weights for another C, and the optimum of these."""
        support = np.union1d(arrays["selected"], self.include).astype(int)
        svm = self.svm(support, factor)
        return svm.value, sealed(
            arrays, refit_weights=factor * self.C, refit_coef=svm.w,
            refit_intercept=np.array(0.0), refit_intercepts=svm.b,
            refit_objective=np.array(self.objective(support, svm, factor)),
            refit_lower_bound=np.array(svm.value * (1 - 1e-6)),
            refit_sample=np.arange(svm.alpha.size), refit_alpha=svm.alpha,
        )  # fmt: skip

    def root(self, alpha, **changes):
        """A root that is a leaf, with one dual point and the solution w = 0, b = 0."""
        none = np.zeros(self.n_classes)
        arrays = {
            "format": np.array(FORMAT), "fingerprint": self.mark(), "weights": self.C,
            "fit_intercept": np.array(self.intercept),
            "max_features": np.array(self.max_features), "costs": self.costs,
            "max_cost": np.array(self.max_cost), "include": self.include,
            "exclude": self.exclude, "selected": EMPTY, "coef": np.empty(0),
            "intercept": np.array(0.0), "intercepts": none,
            "n_classes": np.array(self.n_classes), "groups": self.groups,
            "objective": np.array(self.C.sum() * self.n_classes),
            "lower_bound": np.array(-1e300), "parent": np.array([-1]),
            "feature": np.array([-1]), "inside": np.array([True]),
            "point": np.array([0]), "price": np.zeros(1),
            "fixing_point": np.array([-1]), "fixing_price": np.zeros(1),
            "fixing_start": np.array([0, 0]), "fixing": EMPTY,
            **packed_points(
                np.reshape(alpha, (1, -1)), np.tile(self.C, self.n_classes)
            ),
        }  # fmt: skip
        return sealed(arrays, **changes)


def random_several(seed):
    """A small problem with three or four classes, some groups, costs and givens."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(3, 5))
    m, n = int(rng.integers(9, 15)), int(rng.integers(3, 6))
    y = rng.permutation(np.arange(m) % n_classes)
    X = rng.normal(size=(m, n)) + rng.normal(size=(n_classes, n))[y]
    groups = random_groups(rng, n) if rng.random() < 0.5 else np.arange(n)
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
    return Several(
        X, y, rng.choice([0.1, 0.5, 2.0], m), groups, np.zeros(n, dtype=int),
        int(rng.integers(1, n_features + 1)), costs, max_cost, include, exclude,
        bool(rng.random() < 0.7),
    )  # fmt: skip


def three_classes():
    """Thirty samples of three classes, five features, two of which may be used."""
    rng = np.random.default_rng(5)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 5))
    X[:, 0] += 1.5 * (y == 0)
    X[:, 3] += 1.5 * (y == 1) - (y == 2)
    return Several(
        X, y, np.ones(30), np.arange(5), np.zeros(5, dtype=int), 2, np.ones(5), np.inf,
        EMPTY, EMPTY, True,
    )  # fmt: skip


def plain(arrays):
    """The same file without groups of columns."""
    return sealed({name: value for name, value in arrays.items() if name != "groups"})
