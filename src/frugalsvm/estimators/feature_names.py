"""Features by index, by name or by mask, and costs aligned by name."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..run.words import close_names, listed


class FeatureNames:
    """The columns of a table, to which features and costs refer.

    Parameters
    ----------
    names : array of str or None
        Names of the columns, if they have any.
    n_features : int
    """

    def __init__(self, names: np.ndarray | None, n_features: int):
        self._names = names
        self._n = n_features
        columns = [] if names is None else list(names)
        self._positions = {name: j for j, name in enumerate(columns)}
        self._ambiguous = {name for name, n in Counter(columns).items() if n > 1}

    @classmethod
    def of(cls, X: Any) -> FeatureNames:
        """The columns of an unchecked table, with names if it has any."""
        columns = getattr(X, "columns", None)
        if columns is not None:
            names = np.array([str(name) for name in columns], dtype=object)
            return cls(names, names.size)
        try:
            shape = getattr(X, "shape", None) or np.shape(X)
        except ValueError:
            # Nested lists of different lengths.
            shape = ()
        # Anything that is not a table is refused later.
        return cls(None, int(shape[1]) if len(shape) == 2 else 0)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self._n

    @property
    def has_names(self) -> bool:
        """Whether the columns have names."""
        return self._names is not None

    @property
    def names(self) -> list[str]:
        """Names of all features: x0, x1, ... if they have none."""
        if self._names is None:
            return [f"x{j}" for j in range(self._n)]
        return [str(name) for name in self._names]

    def has(self, name: str) -> bool:
        """Whether a column has this name."""
        return name in self._positions

    def position(self, name: str) -> int | None:
        """The index of the only column of this name; None if there is none."""
        return None if name in self._ambiguous else self._positions.get(name)

    def indices(self, parameter: str, features: Any) -> np.ndarray:
        """Indices of features given as indices, names, a boolean mask or None.

        ``parameter`` is the name used in errors.
        """
        if features is None:
            return np.empty(0, dtype=np.int64)
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise ValueError(
                f"{parameter} must be a list of feature indices or names, or a boolean "
                f"mask, got {features!r}."
            )
        features = features if hasattr(features, "__len__") else list(features)
        # As objects, since anything but a mask may be ragged.
        mask = as_array(features)
        if mask.dtype == bool and mask.size:
            aligned = self.aligned(parameter, features)
            mask = mask if aligned is None else np.array(aligned)
            if mask.shape != (self._n,):
                raise ValueError(
                    f"{parameter} is a boolean mask of shape {mask.shape}, but X has "
                    f"{self._n} features; give one entry for each."
                )
            return np.flatnonzero(mask)
        indices = [self.index(parameter, feature) for feature in features]
        return np.array(indices, dtype=np.int64)

    def costs(self, feature_costs: Any) -> Any:
        """Costs in the order of the columns: by name, if they have names."""
        aligned = self.aligned("feature_costs", feature_costs)
        return feature_costs if aligned is None else aligned

    def aligned(self, parameter: str, values: Any) -> list[Any] | None:
        """Values with names in the order of the columns; None if they have none."""
        by_name = named(parameter, values)
        if by_name is None:
            return None
        if self._names is None:
            raise ValueError(
                f"{parameter} has names, but "
                + self._why_no_names("give one entry per column, in their order")
            )
        for name in by_name:
            if name not in self._positions:
                raise ValueError(self._unknown(parameter, name))
        missing = [name for name in self._names if name not in by_name]
        if missing:
            raise ValueError(
                f"{parameter} has no entry for {listed(missing, quoted=True)}; give "
                f"one for each of the {self._n} columns."
            )
        return [by_name[name] for name in self._names]

    def index(self, parameter: str, feature: Any) -> int:
        """The index of a column, given by index or by name."""
        if isinstance(feature, str):
            if feature not in self._positions:
                raise ValueError(self._unknown(parameter, feature))
            if feature in self._ambiguous:
                raise ValueError(
                    f"{parameter} has feature {feature!r}, but X has several columns "
                    "of that name; give indices."
                )
            return self._positions[feature]
        if not isinstance(feature, (int, np.integer)) or isinstance(feature, bool):
            raise ValueError(
                f"{parameter} must hold feature indices or names, got {feature!r}."
            )
        if not 0 <= feature < self._n:
            raise ValueError(
                f"{parameter} has feature {feature}, but X has {self._n} features "
                f"(0 to {self._n - 1})."
            )
        return int(feature)

    def _unknown(self, parameter: str, name: Any) -> str:
        """The error message for an unknown name."""
        start = f"{parameter} has unknown feature {name!r}; "
        if self._names is None:
            return start + self._why_no_names("give indices")
        close = close_names(str(name), map(str, self._names))
        if close:
            return start + f"did you mean {listed(close, quoted=True)}?"
        return start + f"the columns are {listed(list(self._names), quoted=True)}."

    def _why_no_names(self, instead: str) -> str:
        return (
            f"X has no column names. {instead.capitalize()}, or fit a data frame; in a "
            'pipeline, set_output(transform="pandas") keeps the names.'
        )


def warn_without_limit(
    feature_costs: Any, max_cost: float | None, stacklevel: int
) -> None:
    """Warn of costs without a limit; ``stacklevel`` is relative to this function."""
    if feature_costs is not None and max_cost is None:
        warnings.warn(
            "feature_costs without max_cost limits nothing; set max_cost.",
            UserWarning,
            stacklevel=stacklevel,
        )


def as_array(values: Any) -> np.ndarray:
    """Values as an array; of objects if they have no common type."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(0, dtype=object)


def named(parameter: str, values: Any) -> dict[Any, Any] | None:
    """Values by name, if they have names, as in a mapping or a Series."""
    if isinstance(values, Mapping):
        return dict(values)
    index = getattr(values, "index", None)
    if index is None or callable(index) or np.ndim(values) != 1:
        return None
    if all(isinstance(name, str) for name in index):
        if len(set(index)) < len(index):
            raise ValueError(
                f"{parameter} has two entries with the same name; give one per column."
            )
        return dict(zip(index, values, strict=True))
    return None
