"""Problem: the data and constraints of FS-SVM, validated once and then immutable.

min 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i (w x_i + b))
s.t. ||w||_0 <= max_features,  sum_{w_j != 0} cost_j <= max_cost,
     w_j = 0 for excluded features; included features count against both budgets
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from functools import cached_property
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike

from .checker import objective_bound
from .engine.native import NativeEngine
from .engine.region import Region
from .kernels.bounds import row_norm_bounds, varying_rows
from .kernels.data import NEVER, Data

# Costs are sums of floats: a budget of 0.3 must admit 0.1 + 0.2. Bounds hold for what
# costs a little more, so that no rounding of a sum can make them wrong.
COST_SLACK, BOUND_SLACK = 0.999e-9, 1e-9
# What is left of a budget is rounded up by this part of it.
LEFT_SLACK = 1e-12
# Beyond these limits squares and sums could overflow, and bounds would prove nothing.
LARGEST_VALUE = 1e50
WEIGHTS = (1e-30, 1e30)
COSTS = (1e-50, 1e50)
# Features whose spread is below this part of their size are shifted to their mean.
SMALL_SPREAD = 0.01


class Problem:
    """An instance of FS-SVM.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Dense real data of at most 1e50 in absolute value. They are not scaled.
    y : array-like of shape (n_samples,)
        Labels in {-1, +1}; both must occur.
    C : float, default=1.0
        Weight of the hinge loss.
    sample_weight : array-like of shape (n_samples,), default=None
        Factors of C, sample by sample. Samples of weight zero are dropped; otherwise
        C times the weight is to lie between 1e-30 and 1e30.
    max_features : int, default=None
        Most features that may be used; None for no limit.
    feature_costs : array-like of shape (n_features,), default=None
        Positive cost of each feature, between 1e-50 and 1e50.
    max_cost : float, default=None
        Most that the used features may cost together; needs ``feature_costs``.
    include, exclude : iterables of int, default=()
        Features that are always selected (and count against the budgets), and features
        that never are.
    fit_intercept : bool, default=True
        Whether the intercept b is free or zero.
    overwrite_X : bool, default=False
        Whether X may be overwritten, which saves the memory of a copy if it is an array
        of doubles in Fortran order and no sample has weight zero.

    Attributes
    ----------
    A : ndarray of shape (n_features, n_kept)
        Signed data, ``A[j, i] = y_i (X_ij - shift_j)``, one row per feature.
    shift : ndarray of shape (n_features,)
        The mean of features that vary little compared to it, 0 for all others and
        without an intercept. A free intercept makes solutions and dual points blind to
        shifts, but rounding errors are not.
    y, C : ndarrays of shape (n_kept,)
        Labels and loss weights of the samples that were kept.
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        C: float = 1.0,
        sample_weight: ArrayLike | None = None,
        max_features: int | None = None,
        feature_costs: ArrayLike | None = None,
        max_cost: float | None = None,
        include: Iterable[int] = (),
        exclude: Iterable[int] = (),
        fit_intercept: bool = True,
        overwrite_X: bool = False,
    ):
        data = _check_data(X)
        labels = _check_labels(y, data.shape[0])
        weights = _check_weights(C, sample_weight, data.shape[0])
        # All samples' weights, those of weight zero included; C has the others only.
        self.weights = _freeze(weights)
        self._sample_weight = None if sample_weight is None else np.array(sample_weight)
        kept = weights > 0
        if np.unique(labels[kept]).size < 2:
            raise ValueError(
                "y has only one class among the samples of positive weight; a "
                "classifier needs samples of both classes with sample_weight > 0."
            )
        if not kept.all():
            data, labels, weights = data[kept], labels[kept], weights[kept]
        n = data.shape[1]
        # Never what belongs to somebody else.
        in_place = overwrite_X and data is X and data.flags.f_contiguous
        out = data.T if in_place and data.flags.writeable else None
        A = np.multiply(data.T, labels, out=out, order="C")
        self.y = _freeze(labels)
        self.C = _freeze(np.array(weights))
        self.fit_intercept = bool(fit_intercept)
        self.shift = np.zeros(n)
        self._unshifted: dict[int, np.ndarray] = {}
        if self.fit_intercept:
            self.shift, self._unshifted = _shift_rows(A, self.y)
        self.A = _freeze(A)
        self.max_features = _check_max_features(max_features, n)
        self.costs, self.max_cost = _check_costs(feature_costs, max_cost, n)
        self._has_unit_costs = feature_costs is None
        self.include = check_indices("include", include, n)
        self.exclude = check_indices("exclude", exclude, n)
        self.stop_flag, self.is_watched = NEVER, False
        self._check_sets()

    def _check_sets(self) -> None:
        both = np.intersect1d(self.include, self.exclude)
        if both.size:
            raise ValueError(
                f"include and exclude overlap in feature(s) {both.tolist()}; remove "
                "them from one of the two."
            )
        if self.include.size > self.max_features:
            raise ValueError(
                f"include has {self.include.size} features but max_features is "
                f"{self.max_features}; raise max_features or include fewer."
            )
        price = self.costs[self.include].sum()
        if not price <= self.cost_budget:
            raise ValueError(
                f"the features in include cost {price:g} but max_cost is "
                f"{self.max_cost:g}; raise max_cost or include fewer."
            )

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.A.shape[0]

    @property
    def n_samples(self) -> int:
        """Number of samples of positive weight."""
        return self.A.shape[1]

    @property
    def cost_budget(self) -> float:
        """``max_cost`` with an allowance for rounding in sums of costs."""
        return self.max_cost * (1.0 + COST_SLACK)

    @cached_property
    def norms(self) -> np.ndarray:
        """Upper bounds of the Euclidean norms of the rows of A."""
        return _freeze(row_norm_bounds(self.A))

    @cached_property
    def candidates(self) -> np.ndarray:
        """Features that may be chosen freely, in increasing order.

        Constant features are left out when there is an intercept: they cannot improve
        any solution, so leaving them out changes neither optimum nor bounds.
        """
        allowed = np.ones(self.n_features, dtype=bool)
        allowed[self.include] = False
        allowed[self.exclude] = False
        allowed &= self.norms > 0
        if self.fit_intercept:
            allowed &= varying_rows(self.A, self.y)
        return _freeze(np.flatnonzero(allowed))

    @property
    def engine(self) -> NativeEngine:
        """Who answers for the data."""
        return NativeEngine(
            Data(
                self.A, self.norms, self.y, self.C, self.fit_intercept, self.costs,
                self.stop_flag,
            )
        )  # fmt: skip

    def watching(self, flag: np.ndarray) -> Problem:
        """The same problem; compiled code that works on it ends when a flag is set.

        ``flag`` is an array of one byte that another thread sets.
        """
        other = self._copy()
        other.stop_flag, other.is_watched = flag, True
        return other

    def with_budget(
        self, max_features: int | None, max_cost: float | None = None
    ) -> Problem:
        """The same problem with other budgets; the data are shared.

        ``max_cost`` needs feature costs; None keeps the present one.
        """
        other = self._copy()
        other.max_features = _check_max_features(max_features, self.n_features)
        if max_cost is not None:
            costs = None if self._has_unit_costs else self.costs
            _, other.max_cost = _check_costs(costs, max_cost, self.n_features)
        other._check_sets()
        return other

    def with_C(self, C: float) -> Problem:
        """The same problem with another weight of the loss; the data are shared."""
        other = self._copy()
        weights = _check_weights(C, self._sample_weight, self.weights.size)
        other.weights = _freeze(weights)
        other.C = _freeze(np.array(weights[weights > 0]))
        return other

    def _copy(self) -> Problem:
        # Whatever is computed once is shared.
        _ = self.norms, self.candidates
        return copy.copy(self)

    def root_region(self) -> Region:
        """The region of all supports: only include and exclude are decided."""
        budget = self.max_cost * (1.0 + BOUND_SLACK)
        left = budget
        if np.isfinite(budget):
            spent = self.costs[self.include].sum()
            # Rounded up, so that the bound cannot profit from the subtraction.
            left = (budget - spent) + LEFT_SLACK * (budget + spent)
        return Region(
            # Copies: kernels are compiled once more for read-only arrays.
            np.array(self.include),
            np.array(self.candidates),
            int(self.max_features - self.include.size),
            float(left),
        )

    def restrict(self, features: np.ndarray) -> Problem:
        """The problem on some of the features, numbered anew in the given order.

        ``features`` must be free of duplicates and hold all included features. Only
        their rows of the data are copied, and nothing is validated again.
        """
        small = object.__new__(Problem)
        small.A = _freeze(self.engine.gather(features))
        small.shift = self.shift[features]
        small._unshifted = {
            t: self._unshifted[j]
            for t, j in enumerate(features.tolist())
            if j in self._unshifted
        }
        small.y, small.C, small.weights = self.y, self.C, self.weights
        small._sample_weight = self._sample_weight
        small._has_unit_costs = self._has_unit_costs
        small.stop_flag, small.is_watched = self.stop_flag, self.is_watched
        small.fit_intercept = self.fit_intercept
        small.max_features = min(self.max_features, small.n_features)
        small.costs = _freeze(self.costs[features])
        small.max_cost = self.max_cost
        small.include = _freeze(np.flatnonzero(np.isin(features, self.include)))
        small.exclude = _freeze(np.flatnonzero(np.isin(features, self.exclude)))
        # Known already for all features, and costly where there are many samples.
        small.norms = _freeze(self.norms[features])
        return small

    def requiring(self, feature: int) -> Problem:
        """The problem with one more included feature."""
        other = self.restrict(np.arange(self.n_features))
        other.include = _freeze(np.union1d(self.include, [feature]))
        other._check_sets()
        return other

    def admits(self, support: np.ndarray) -> bool:
        """Whether a set of features satisfies all constraints."""
        support = np.asarray(support)
        return bool(
            support.size <= self.max_features
            and self.costs[support].sum() <= self.cost_budget
            and np.isin(self.include, support).all()
            and not np.isin(support, self.exclude).any()
        )

    def dual_bound(self, alpha: np.ndarray) -> float:
        """Lower bound of the problem's optimum, valid for any vector ``alpha``.

        The point is repaired to satisfy the dual constraints exactly, and all roundings
        go against the bound. A poor point gives a poor bound, never a wrong one.
        """
        point = np.ascontiguousarray(alpha, dtype=np.float64)
        if point.shape != (self.n_samples,):
            raise ValueError(
                f"alpha must have one entry per sample of positive weight "
                f"({self.n_samples}), got shape {point.shape}."
            )
        return float(self.engine.bound(self.root_region(), point).bound)

    def signed_rows(self, features: np.ndarray | None = None) -> np.ndarray:
        """``y_i X_ij`` of some features, or of all, as they were given."""
        rows = self.A if features is None else self.A[features]
        if not self._unshifted:
            return rows
        rows = np.array(rows)
        chosen = range(self.n_features) if features is None else features.tolist()
        for t, j in enumerate(chosen):
            if j in self._unshifted:
                rows[t] = self._unshifted[j]
        return rows

    def unshifted_intercept(self, coef: np.ndarray, intercept: float) -> float:
        """The intercept that belongs to X, given that which belongs to A."""
        used = np.flatnonzero(coef * self.shift)
        return math.fsum([intercept, *(-coef[used] * self.shift[used])])

    def margins(self, coef: np.ndarray, intercept: float) -> np.ndarray:
        """``y_i (w x_i + b)``, with ``coef`` for all features of X."""
        used = np.flatnonzero(coef)
        if not self._unshifted:
            return self.engine.margins(used, coef[used], intercept)
        return coef[used] @ self.signed_rows(used) + intercept * self.y

    def objective(self, coef: np.ndarray, intercept: float) -> float:
        """Objective of FS-SVM, rounded up, with ``coef`` for all features of X."""
        used = np.flatnonzero(coef)
        rows = self.signed_rows(used)
        return objective_bound(rows, self.y, self.C, coef[used], float(intercept))


def _shift_rows(
    A: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, dict[int, np.ndarray]]:
    """Shift rows of small spread in place; the shifts, and those rows as they were."""
    shift = np.zeros(A.shape[0])
    before = {}
    size = np.maximum(-A.min(axis=1), A.max(axis=1))
    means = (A @ y) / y.size
    # A large mean is necessary for a small spread, and quick to see.
    for j in np.flatnonzero(np.abs(means) > (1 - SMALL_SPREAD) * size):
        values = A[j] * y
        # A constant feature has exactly its value as mean.
        mean = values[0] + (values - values[0]).mean()
        if np.abs(values - mean).max() <= SMALL_SPREAD * abs(mean):
            shift[j], before[int(j)] = mean, A[j].copy()
            A[j] = (values - mean) * y
    return _freeze(shift), before


def _freeze(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _check_data(X: ArrayLike) -> np.ndarray:
    check_unmasked("X", X)
    if hasattr(X, "toarray"):
        raise ValueError(
            f"X is a sparse matrix ({type(X).__name__}), and the data must be dense; "
            "give X.toarray() if that fits into memory."
        )
    if hasattr(X, "dtype") and np.iscomplexobj(X):
        raise ValueError("X has complex numbers; give real ones.")
    try:
        data = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must be numeric: {str(error).rstrip('.')}. Encode text and categories "
            "as numbers first."
        ) from error
    if data.ndim != 2 or 0 in data.shape:
        raise ValueError(
            f"X must be a table with at least one row and one column, got shape "
            f"{data.shape}."
        )
    # Without an array of their size: there may be many.
    low, high = float(data.min()), float(data.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        row, column = np.argwhere(~np.isfinite(data))[0]
        raise ValueError(
            f"X contains {data[row, column]} (first at row {row}, column {column}); "
            "impute or drop NaN and infinite values first."
        )
    if max(-low, high) > LARGEST_VALUE:
        raise ValueError(
            f"X contains values up to {max(-low, high):g}, more than "
            f"{LARGEST_VALUE:g}; rescale the features first, for instance by "
            "sklearn.preprocessing.StandardScaler."
        )
    return data


def check_unmasked(name: str, array: ArrayLike) -> None:
    """Refuse masked arrays: their gaps would silently be taken for numbers."""
    if np.ma.isMaskedArray(array):
        raise ValueError(
            f"{name} is a masked array; fill or drop what is masked first "
            "(numpy.ma.filled, or a scikit-learn imputer)."
        )


def _numbers(name: str, values: ArrayLike) -> np.ndarray:
    """A copy of values as an array of doubles."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must hold numbers: {str(error).rstrip('.')}."
        ) from error


def _check_labels(y: ArrayLike, n_samples: int) -> np.ndarray:
    check_unmasked("y", y)
    labels = _numbers("y", y)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"y must have one label per row of X ({n_samples}), got shape "
            f"{labels.shape}."
        )
    if not np.isin(labels, (-1.0, 1.0)).all():
        wrong = labels[~np.isin(labels, (-1.0, 1.0))][0]
        raise ValueError(
            f"y must be -1 or +1, got {wrong:g}; FrugalSVC encodes other labels."
        )
    return labels


def _check_weights(C: float, sample_weight: ArrayLike | None, m: int) -> np.ndarray:
    if not (isinstance(C, Real) and 0 < float(C) < np.inf):
        raise ValueError(f"C must be a positive finite number, got {C!r}.")
    if sample_weight is None:
        return _check_range(np.full(m, float(C)), np.ones(m, dtype=bool))
    check_unmasked("sample_weight", sample_weight)
    weights = _numbers("sample_weight", sample_weight)
    if weights.shape != (m,):
        raise ValueError(
            f"sample_weight must have one entry per row of X ({m}), got shape "
            f"{weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(
            f"sample_weight must be finite and not negative, got {wrong:g}; use 0 to "
            "leave a sample out."
        )
    return _check_range(float(C) * weights, weights > 0)


def _check_range(weights: np.ndarray, kept: np.ndarray) -> np.ndarray:
    low, high = WEIGHTS
    wrong = weights[kept & ~((weights >= low) & (weights <= high))]
    if wrong.size:
        raise ValueError(
            f"C times sample_weight must lie between {low:g} and {high:g}, or be 0 to "
            f"leave a sample out; got {wrong[0]:g}. Rescale X instead: scaling it by s "
            "is like scaling C by 1/s^2."
        )
    return weights


def _check_max_features(max_features: int | None, n: int) -> int:
    if max_features is None:
        return n
    if not isinstance(max_features, Integral) or isinstance(max_features, bool):
        raise TypeError(
            f"max_features must be an integer or None, got {max_features!r} of type "
            f"{type(max_features).__name__}."
        )
    if max_features < 0:
        raise ValueError(
            f"max_features must be at least 0, got {max_features}; 0 gives a constant "
            "classifier."
        )
    return min(int(max_features), n)


def _check_costs(
    feature_costs: ArrayLike | None, max_cost: float | None, n: int
) -> tuple[np.ndarray, float]:
    if feature_costs is None:
        if max_cost is not None:
            raise ValueError(
                f"max_cost={max_cost!r} needs feature_costs: give the cost of each of "
                f"the {n} features."
            )
        return _freeze(np.ones(n)), np.inf
    check_unmasked("feature_costs", feature_costs)
    costs = _numbers("feature_costs", feature_costs)
    if costs.shape != (n,):
        raise ValueError(
            f"feature_costs must have one entry per feature ({n}), got shape "
            f"{costs.shape}."
        )
    if not np.isfinite(costs).all() or (costs <= 0).any():
        j = int(np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))[0])
        raise ValueError(
            f"feature_costs must be positive and finite, got {costs[j]:g} for feature "
            f"{j}; put features that are free in include, or give them a small cost."
        )
    if costs.min() < COSTS[0] or costs.max() > COSTS[1]:
        raise ValueError(
            f"feature_costs must lie between {COSTS[0]:g} and {COSTS[1]:g}, got "
            f"{costs.min():g} to {costs.max():g}; divide them and max_cost by a common "
            "factor."
        )
    if max_cost is None:
        return _freeze(costs), np.inf
    if not (isinstance(max_cost, Real) and float(max_cost) >= 0):
        raise ValueError(f"max_cost must be a number >= 0, got {max_cost!r}.")
    return _freeze(costs), float(max_cost)


def check_indices(name: str, indices: Iterable[int], n: int) -> np.ndarray:
    """Feature indices in increasing order, each once; ``name`` is for the errors."""
    values = list(indices)
    for value in values:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} must hold feature indices, got {value!r}.")
        if not 0 <= value < n:
            raise ValueError(
                f"{name} has feature {value}, but features are numbered 0 to {n - 1}."
            )
    return _freeze(np.unique(np.array(values, dtype=np.int64)))
