"""Statement: the problem of a certificate, and the check of the user's data."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .columns import PLAIN, FeatureColumns, in_words
from .reading import require
from .scaling import ColumnScaling, checked_scaling
from .table import LARGEST_VALUE, DataMatrix, SparseColumns, read_table

# Numbers outside these limits are rejected, and data beyond ``LARGEST_VALUE``: within
# them nothing overflows, and error bounds cover any underflow.
WEIGHTS = (1e-30, 1e30)
COSTS = (1e-50, 1e50)
# Columns with at most one nonzero entry in this number are hashed by entry; of the
# others, at most so many entries are hashed at a time.
SPARSE, AT_ONCE = 8, 2**18


@dataclass(frozen=True)
class Statement:
    """The problem of a certificate.

    Attributes
    ----------
    n_samples, n_features : int
    max_features : int
    weights : ndarray of shape (n_samples,)
        C times the sample weights.
    costs : ndarray of shape (n_features,)
    max_cost : float
        Infinite without a cost budget. Sums may exceed it by a relative 1e-9 because
        of rounding.
    include, exclude : ndarrays of int
    fit_intercept : bool
    columns : FeatureColumns
        The columns of X that each feature consists of, and the signs of their weights.
    n_classes : int
        With more than two, the objective is the sum of those of an SVM for each class
        against all others, which share the weights, the features and their budgets.
    scaling : ColumnScaling or None
        The units of the columns, if the problem is not about X as it is.
    """

    n_samples: int
    n_features: int
    max_features: int
    weights: np.ndarray
    costs: np.ndarray
    max_cost: float
    include: np.ndarray
    exclude: np.ndarray
    fit_intercept: bool
    columns: FeatureColumns = PLAIN
    n_classes: int = 2
    scaling: ColumnScaling | None = None

    @property
    def n_machines(self) -> int:
        """Number of SVMs in the objective."""
        return self.n_classes if self.n_classes > 2 else 1

    @property
    def n_columns(self) -> int:
        """Number of columns of X."""
        groups = self.columns.groups
        return self.n_features if groups is None else groups.size

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> Statement:
        """The checked problem of a certificate."""
        weights, costs = arrays["weights"], arrays["costs"]
        n = costs.size
        require(are_within(weights[weights != 0], WEIGHTS), "bad weights")
        require(are_within(costs, COSTS), "bad costs")
        # Comparisons with NaN are false.
        require(float(arrays["max_cost"]) >= 0, "bad max_cost")
        require(int(arrays["max_features"]) >= 0, "bad max_features")
        for name in ("include", "exclude", "selected"):
            require(is_increasing_within(arrays[name], n), f"bad features in {name}")
        both = np.intersect1d(arrays["include"], arrays["exclude"])
        require(both.size == 0, "include and exclude overlap")
        return cls(
            weights.size, n, min(int(arrays["max_features"]), n), weights, costs,
            float(arrays["max_cost"]), arrays["include"], arrays["exclude"],
            bool(arrays["fit_intercept"]), FeatureColumns.of_file(arrays, n),
            _n_classes(arrays), ColumnScaling.of_file(arrays),
        )  # fmt: skip

    def __str__(self) -> str:
        n_used = np.count_nonzero(self.weights)
        of_all = f" of {self.n_samples:,}" if n_used < self.n_samples else ""
        parts = [f"{n_used:,}{of_all} samples"]
        if self.n_machines > 1:
            parts.append(
                f"one against the rest with {self.n_classes:,} classes and a shared "
                "budget"
            )
        kind = "features"
        if self.n_columns != self.n_features:
            kind = f"feature groups of {self.n_columns:,} columns"
        parts += [
            f"at most {self.max_features:,} of {self.n_features:,} {kind}",
            loss_in_words(self.weights),
            "intercept" if self.fit_intercept else "no intercept",
        ]
        if np.isfinite(self.max_cost):
            limit = _exact(self.max_cost)
            parts.append(f"costs {_range(self.costs)}, at most {limit} in total")
        for word, features in (("with", self.include), ("without", self.exclude)):
            if features.size:
                plural = "s" * (features.size > 1)
                columns = self._columns_of(features)
                parts.append(f"{word} feature{plural} {_listed(features)}{columns}")
        parts += self.columns.groups_in_words() + self.columns.signs_in_words()
        if self.scaling is not None:
            parts.append(str(self.scaling))
        return ", ".join(parts)

    def _columns_of(self, features: np.ndarray) -> str:
        """The columns of some features, unless they have the same numbers."""
        if self.n_columns == self.n_features:
            return ""
        return f" (columns {in_words(np.sort(self.columns.of(features)))})"

    def checked(
        self,
        expected: Mapping[str, Any],
        data: np.ndarray | DataMatrix,
        y: Any,
        refit_weights: np.ndarray | None = None,
    ) -> Statement:
        """The problem, compared with the parameters that the user expects.

        ``data`` are those of the user, before they are scaled. The scaling of the
        result says what was checked about it.
        """
        self._check(dict(expected), y, refit_weights)
        return replace(self, scaling=checked_scaling(self.scaling, expected, data))

    def _check(
        self, expected: dict[str, Any], y: Any, refit_weights: np.ndarray | None
    ) -> None:
        self.columns.compare(expected, self.n_columns)
        for name in ("scaling", "feature_groups", "signs"):
            expected.pop(name, None)
        C, refit_C = expected.pop("C", None), expected.pop("refit_C", None)
        weights = {
            name: value
            for name in ("sample_weight", "class_weight")
            if (value := expected.pop(name, None)) is not None
        }
        factors = _factors(y, **weights) if weights else None
        names = " or ".join(weights)
        self._check_weights("C", self.weights, C, factors, names)
        if refit_C is not None:
            require(
                refit_weights is not None,
                "it proves nothing about a refit, but "
                f"refit_C={_short(refit_C)} is expected",
            )
        if refit_weights is not None:
            self._check_weights("refit_C", refit_weights, refit_C, factors, names)
        for name, value in expected.items():
            if name not in _CONVERTERS:
                raise TypeError(f"verify() has no parameter {name!r}.")
            stored = getattr(self, name)
            require(
                np.array_equal(_CONVERTERS[name](self, value), stored),
                f"it is for another problem: {name} is {_short(stored)}, not "
                f"{_short(value)}",
            )

    def _check_weights(
        self,
        name: str,
        weights: np.ndarray,
        C: Any,
        factors: np.ndarray | None,
        names: str,
    ) -> None:
        if C is None and factors is None:
            return
        if C is None:
            # The C of the file, which is printed.
            assert factors is not None
            is_used = factors > 0
            ratios = weights[is_used] / factors[is_used]
            require(
                np.array_equal(is_used, weights > 0)
                and np.allclose(ratios, ratios[:1], rtol=1e-12, atol=0.0),
                f"it is for another problem: {name} is {_short(weights)}, no multiple "
                f"of {names}, which makes {_short(factors)}",
            )
            return
        products = np.multiply(C, 1.0 if factors is None else factors)
        expected = np.broadcast_to(products, self.n_samples)
        parameters = name if factors is None else f"{name} or {names}"
        require(
            np.array_equal(expected, weights),
            f"it is for another problem: {parameters} is {_short(weights)}, not "
            f"{_short(expected)}",
        )


def _factors(y: Any, sample_weight: Any = 1.0, class_weight: Any = None) -> np.ndarray:
    """Sample weights times class weights, with the rounding of a fit."""
    labels, classes = np.unique(np.asarray(y), return_inverse=True)
    weights = np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), classes.size)
    if class_weight is None:
        return weights
    if isinstance(class_weight, Mapping):
        strange = [label for label in class_weight if label not in labels]
        if strange:
            raise ValueError(f"class_weight has {strange[0]!r}, which y has not.")
        by_class = [float(class_weight.get(label, 1.0)) for label in labels.tolist()]
        return weights * np.array(by_class)[classes]
    if class_weight != "balanced":
        raise ValueError(
            f"class_weight must be a mapping, 'balanced' or None, got {class_weight!r}."
        )
    counts = np.bincount(classes[weights > 0], minlength=labels.size)
    return weights * (counts.sum() / (labels.size * counts.astype(float)))[classes]


def _n_classes(arrays: Mapping[str, np.ndarray]) -> int:
    """The checked number of classes."""
    if "n_classes" not in arrays:
        return 2
    number = int(arrays["n_classes"])
    require(number >= 3, f"n_classes is {number}, but must be 3 or more")
    for name in ("intercepts", "refit_intercepts"):
        length = arrays.get(name, arrays["intercepts"]).size
        require(length == number, f"{name} has {length:,} of {number:,} classes")
    for name in ("intercept", "refit_intercept"):
        is_zero = name not in arrays or float(arrays[name]) == 0.0
        require(is_zero, f"{name} is not 0, but each class has its own")
    require("signs" not in arrays, "signs are for two classes only")
    return number


def intercepts_of(arrays: Mapping[str, np.ndarray], prefix: str = "") -> np.ndarray:
    """The intercepts of all machines."""
    several = "intercepts" in arrays
    return np.atleast_1d(arrays[f"{prefix}intercept{'s' * several}"])


def loss_in_words(weights: np.ndarray) -> str:
    """The C of a problem, with or without sample weights."""
    positive = weights[weights > 0]
    if (positive == positive[0]).all():
        return f"C = {_exact(positive[0])}"
    return f"C times sample weights {_range(positive)}"


def _features(statement: Statement, value: Any) -> np.ndarray:
    return np.unique(np.asarray(list(value), dtype=np.int64))


def _costs(statement: Statement, value: Any) -> np.ndarray:
    # None means that there is no cost budget.
    if value is None:
        return statement.costs if np.isinf(statement.max_cost) else np.empty(0)
    return np.asarray(value, dtype=np.float64)


# Converts the parameters of a fit to the form in certificates.
_CONVERTERS: dict[str, Callable[[Statement, Any], Any]] = {
    "max_features": lambda statement, value: (
        statement.n_features if value is None else min(value, statement.n_features)
    ),
    "costs": _costs,
    "max_cost": lambda _, value: np.inf if value is None else value,
    "include": _features,
    "exclude": _features,
    "fit_intercept": lambda _, value: bool(value),
}


def are_within(values: np.ndarray, limits: tuple[float, float]) -> bool:
    """Whether all values are within limits; NaN is not."""
    return bool(((values >= limits[0]) & (values <= limits[1])).all())


def is_increasing_within(values: np.ndarray, end: int) -> bool:
    """Whether the values are distinct features in increasing order."""
    return bool(
        (values[1:] > values[:-1]).all()
        and (values.size == 0 or (values[0] >= 0 and values[-1] < end))
    )


def _short(value: Any) -> str:
    values = np.unique(np.asarray(value))
    if values.size == 1 and values.dtype.kind == "f":
        return _exact(values[0])
    if values.size == 1:
        return f"{values[0]}"
    text = _listed(values) if values.dtype.kind in "iufb" else str(value)
    return f"[{text}]"


def _exact(value: float) -> str:
    """All digits, but 1 for 1.0."""
    return repr(float(value)).removesuffix(".0")


def _range(values: np.ndarray) -> str:
    return f"{_exact(values.min())} to {_exact(values.max())}"


def _listed(values: np.ndarray) -> str:
    shown = ", ".join(_exact(value) for value in values[:8])
    return shown + (f" and {values.size - 8:,} more" if values.size > 8 else "")


# --- Data ----------------------------------------------------------------------------


def check_data(X: Any, y: Any) -> tuple[np.ndarray | DataMatrix, np.ndarray]:
    """X in double precision, or in blocks, and the classes as 0, 1, ... by label."""
    if np.ma.isMaskedArray(X) or np.ma.isMaskedArray(y):
        raise ValueError("X and y must not be masked; fill or drop masked values.")
    data = read_table(X)
    labels = np.asarray(y)
    if len(data.shape) != 2 or labels.shape != data.shape[:1]:
        raise ValueError(
            f"X must be 2D and y have one label per row, got shapes {data.shape} "
            f"and {labels.shape}."
        )
    # NaN is not equal to itself, and would be a class.
    if (labels != labels).any():
        raise ValueError("y must not have NaN; drop samples without a label.")
    names, classes = np.unique(labels, return_inverse=True)
    if names.size < 2:
        raise ValueError(f"y must have two classes or more, got {names.size}.")
    check_limits(data)
    return data, classes


def check_limits(data: np.ndarray | DataMatrix) -> None:
    """Reject data with which something could overflow."""
    for block in data.parts() if isinstance(data, DataMatrix) else [data]:
        values = block.values if isinstance(block, SparseColumns) else block
        # Comparisons with NaN are false.
        require(
            (np.abs(values) <= LARGEST_VALUE).all(),
            f"X has NaN or values beyond {LARGEST_VALUE:g}, which certificates do not "
            "cover",
        )


def fingerprint(
    blocks: np.ndarray | Iterable[np.ndarray | SparseColumns], labels: np.ndarray
) -> str:
    """SHA-256 of the signed features and the labels.

    Equal numbers have equal fingerprints, in sparse and dense form: -0.0 and entries
    that are stored but zero count as 0.0.

    Parameters
    ----------
    blocks : ndarray, or iterable of ndarrays or SparseColumns
        The columns of X in order, all or some at a time, times the labels; arrays have
        a row for each column. For several classes they are not multiplied.
    labels : ndarray
        -1 or 1 for each sample, or for several classes their numbers 0, 1, ...
    """
    labels = np.ascontiguousarray(labels, dtype="<f8")
    columns = ColumnDigests(labels.size)
    for block in [blocks] if isinstance(blocks, np.ndarray) else blocks:
        columns.update(block)
    digest = hashlib.sha256(labels.size.to_bytes(8, "little"))
    for part in columns.parts:
        digest.update(part.digest())
    digest.update(labels.data)
    return digest.hexdigest()


class ColumnDigests:
    """SHA-256 of columns, in four parts.

    The parts are the number of entries other than zero of each column, as integers of
    64 bits; all entries of the columns in which more than an eighth are not zero, as
    doubles; of the other columns, the rows of the entries that are not zero, as
    integers, and their values, as doubles. Everything is little-endian and in order.
    """

    def __init__(self, n_samples: int):
        self._n_samples = n_samples
        self.parts = [hashlib.sha256() for _ in range(4)]

    def update(self, block: np.ndarray | SparseColumns) -> None:
        """Add the next columns."""
        if isinstance(block, SparseColumns):
            for part in block.split(AT_ONCE):
                self._add_sparse(part.without_zeros())
            return
        # Some rows at a time, because a copy of all could be too large.
        step = max(1, AT_ONCE // self._n_samples)
        for start in range(0, len(block), step):
            self._add_dense(block[start : start + step])

    def _add_dense(self, block: np.ndarray) -> None:
        nonzero = block != 0
        if nonzero.all():
            self._count(np.full(len(block), self._n_samples))
            self.parts[1].update(np.ascontiguousarray(block, dtype="<f8").data)
            return
        is_full = self._count(np.count_nonzero(nonzero, axis=1))
        self._add_full(block if is_full.all() else block[is_full])
        sparse, positions = block[~is_full], np.flatnonzero(nonzero[~is_full])
        self._add_entries(positions % self._n_samples, sparse.ravel()[positions])

    def _add_sparse(self, columns: SparseColumns) -> None:
        count = np.diff(columns.starts)
        is_full = self._count(count)
        for j in np.flatnonzero(is_full).tolist():
            entries = slice(columns.starts[j], columns.starts[j + 1])
            column = np.zeros((1, self._n_samples))
            column[0, columns.rows[entries]] = columns.values[entries]
            self._add_full(column)
        mask = np.repeat(~is_full, count)
        self._add_entries(columns.rows[mask], columns.values[mask])

    def _count(self, count: np.ndarray) -> np.ndarray:
        """Add the numbers of entries; return a mask of columns to hash in full."""
        self.parts[0].update(count.astype("<i8").data)
        return SPARSE * count > self._n_samples

    def _add_full(self, columns: np.ndarray) -> None:
        # The sum of -0.0 and 0.0 is 0.0.
        self.parts[1].update(np.add(columns, 0.0, dtype="<f8", order="C").data)

    def _add_entries(self, rows: np.ndarray, values: np.ndarray) -> None:
        self.parts[2].update(rows.astype("<i8").data)
        self.parts[3].update(np.ascontiguousarray(values, dtype="<f8").data)
