"""Validation of data, labels, weights, budgets and indices.

Every error names the problem, the value and a remedy.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .array_sources import Property, check_values
from .sources import check_room, is_sparse

# Beyond these limits squares and sums could overflow, and bounds would prove nothing.
WEIGHTS = (1e-30, 1e30)
COSTS = (1e-50, 1e50)


def freeze(array: np.ndarray) -> np.ndarray:
    """The array, made read-only."""
    array.setflags(write=False)
    return array


def check_shape(X: Any) -> Any:
    """Check that data used in place are a table of real numbers."""
    _check_real(X)
    _check_table(X.shape)
    if is_sparse(X) and X.dtype.kind not in "fiub":
        raise ValueError(
            f"X is a sparse matrix of type {X.dtype}; give one of real numbers, such "
            "as X.astype(float)."
        )
    return X


def _check_real(X: Any) -> None:
    check_unmasked("X", X)
    if hasattr(X, "dtype") and np.iscomplexobj(X):
        raise ValueError("X has complex numbers; it must be real.")


def _check_table(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            f"X must be a table with at least one row and one column, got shape "
            f"{shape}."
        )


def check_data(X: ArrayLike) -> np.ndarray:
    """A table of finite numbers, of its own type if the kernels can read that."""
    _check_real(X)
    # Numeric tables are not converted: they may be large.
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.dtype.itemsize <= 8:
        data = np.asarray(X)
    else:
        data = _doubles(X)
    _check_table(data.shape)

    def first(predicate: Property) -> tuple[int, int, float]:
        row, column = np.argwhere(predicate(data))[0]
        return int(row), int(column), data[row, column]

    # Without a temporary array of the same size: it may be large.
    check_values(float(data.min()), float(data.max()), first)
    return data


def _doubles(X: ArrayLike) -> np.ndarray:
    if isinstance(X, np.ndarray) and X.dtype != np.float64:
        check_room(
            8.0 * X.size, f"X {X.shape} in double precision", "give fewer samples."
        )
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must be numeric: {str(error).rstrip('.')}. Encode text and categories "
            "as numbers first."
        ) from error


def check_unmasked(name: str, array: ArrayLike) -> None:
    """Refuse masked arrays: masked values would silently count as numbers."""
    if np.ma.isMaskedArray(array):
        raise ValueError(
            f"{name} is a masked array; fill or drop masked values first "
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


def check_labels(y: ArrayLike, n_samples: int) -> np.ndarray:
    """Labels -1 and +1, one for each sample, or for each of several machines.

    A single column becomes a vector.
    """
    check_unmasked("y", y)
    labels = _numbers("y", y)
    if labels.shape[:1] != (n_samples,) or labels.ndim > 2 or 0 in labels.shape:
        raise ValueError(
            f"y must have one label per row of X ({n_samples}), got shape "
            f"{labels.shape}."
        )
    if not np.isin(labels, (-1.0, 1.0)).all():
        wrong = labels[~np.isin(labels, (-1.0, 1.0))][0]
        raise ValueError(
            f"y must be -1 or +1, got {wrong:g}; FrugalSVC encodes other labels."
        )
    return labels.ravel() if labels.shape[1:] == (1,) else labels


def check_weights(C: float, sample_weight: ArrayLike | None, m: int) -> np.ndarray:
    """C times the weights of the samples."""
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
            "drop a sample."
        )
    return _check_range(float(C) * weights, weights > 0)


def _check_range(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    low, high = WEIGHTS
    wrong = weights[mask & ~((weights >= low) & (weights <= high))]
    if wrong.size:
        raise ValueError(
            f"C times sample_weight must lie between {low:g} and {high:g}, or be 0 to "
            f"drop a sample; got {wrong[0]:g}. Rescale X instead: scaling it by s "
            "is like scaling C by 1/s^2."
        )
    return weights


def check_max_features(max_features: int | None, n: int) -> int:
    """The budget of features, at most n."""
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


def check_costs(
    feature_costs: ArrayLike | None, max_cost: float | None, n: int
) -> tuple[np.ndarray, float]:
    """Costs of the features (1 by default), and their budget."""
    if feature_costs is None:
        if max_cost is not None:
            raise ValueError(
                f"max_cost={max_cost!r} needs feature_costs: give the cost of each of "
                f"the {n} features."
            )
        return freeze(np.ones(n)), np.inf
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
        return freeze(costs), np.inf
    if not (isinstance(max_cost, Real) and float(max_cost) >= 0):
        raise ValueError(f"max_cost must be a number >= 0, got {max_cost!r}.")
    return freeze(costs), float(max_cost)


def check_indices(name: str, indices: Iterable[int], n: int) -> np.ndarray:
    """Distinct feature indices in increasing order; ``name`` is for errors."""
    values = list(indices)
    for value in values:
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} must hold feature indices, got {value!r}.")
        if not 0 <= value < n:
            raise ValueError(
                f"{name} has feature {value}, but features are numbered 0 to {n - 1}."
            )
    return freeze(np.unique(np.array(values, dtype=np.int64)))


def check_groups(
    feature_groups: ArrayLike | None, n_columns: int
) -> tuple[np.ndarray, int]:
    """The feature of each column, numbered as they first occur, and their number."""
    if feature_groups is None:
        return np.arange(n_columns), n_columns
    check_unmasked("feature_groups", feature_groups)
    labels = np.asarray(feature_groups)
    if labels.shape != (n_columns,):
        raise ValueError(
            f"feature_groups must have one label per column of X ({n_columns}), got "
            f"shape {labels.shape}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            "feature_groups has a label that is not finite; give every column the "
            "name or number of its group."
        )
    numbers = {label: t for t, label in enumerate(dict.fromkeys(labels.tolist()))}
    groups = np.array([numbers[label] for label in labels.tolist()], dtype=np.int64)
    return groups, len(numbers)


def check_signs(signs: ArrayLike | None, n_columns: int) -> np.ndarray:
    """The sign of each weight: -1, 0 (free) or 1."""
    if signs is None:
        return np.zeros(n_columns, dtype=np.int8)
    check_unmasked("signs", signs)
    values = _numbers("signs", signs)
    if values.shape != (n_columns,):
        raise ValueError(
            f"signs must have one entry per column of X ({n_columns}), got shape "
            f"{values.shape}."
        )
    if not np.isin(values, (-1.0, 0.0, 1.0)).all():
        wrong = values[~np.isin(values, (-1.0, 0.0, 1.0))][0]
        raise ValueError(
            f"signs must be 1 (weight not negative), -1 (not positive) or 0 (free), "
            f"got {wrong:g}."
        )
    return values.astype(np.int8)
