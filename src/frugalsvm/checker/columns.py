"""Columns: groups of them that count as one feature, and the signs of their weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .arithmetic import sum_slack
from .reading import reject, require

# Maximum number of columns or groups that are listed in words.
SHOWN = 8


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The columns of each feature, and the signs that their weights may have.

    Attributes
    ----------
    groups : ndarray of int, or None
        For each column of X, the feature that it belongs to. Features are numbered in
        the order of their first columns. None if each column is a feature.
    signs : ndarray of int, or None
        For each column of X: 1 if its weight may not be negative, -1 if it may not be
        positive, 0 if it is free. None if all are free.
    """

    groups: np.ndarray | None = None
    signs: np.ndarray | None = None

    @classmethod
    def of_file(
        cls, arrays: Mapping[str, np.ndarray], n_features: int
    ) -> FeatureColumns:
        """The checked sections of a certificate."""
        groups, signs = arrays.get("groups"), arrays.get("signs")
        if groups is not None:
            _check_groups(groups, n_features)
        if signs is not None:
            require(np.isin(signs, (-1, 0, 1)).all(), "signs are not all -1, 0 or 1")
        return cls(groups, signs)

    @cached_property
    def _order(self) -> np.ndarray:
        """The columns of the first feature, then those of the second, and so on."""
        return np.argsort(self.groups, kind="stable")  # type: ignore[arg-type]

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.bincount(self.groups)  # type: ignore[arg-type]

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum(self._sizes) - self._sizes

    def count(self, features: np.ndarray) -> np.ndarray:
        """The number of columns of each of some features."""
        if self.groups is None:
            return np.ones(features.size, dtype=np.int64)
        return self._sizes[features]

    def of(self, features: np.ndarray) -> np.ndarray:
        """The columns of some features, one feature after the other."""
        if self.groups is None:
            return features
        sizes = self._sizes[features]
        skipped = np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = np.repeat(self._starts[features], sizes)
        return self._order[first + np.arange(skipped.size) - skipped]

    def sides(self, columns: Any = slice(None)) -> np.ndarray | None:
        """The signs of some columns; None if all are free."""
        return None if self.signs is None else self.signs[columns]

    def any(self, marks: np.ndarray) -> np.ndarray:
        """Which features have a column with a mark."""
        if self.groups is None:
            return marks
        marked = np.zeros(self._sizes.size, dtype=bool)
        marked[self.groups[marks]] = True
        return marked

    def sums(self, squares: np.ndarray) -> np.ndarray:
        """Upper bounds of the sums over the columns of each feature."""
        if self.groups is None or not squares.size:
            return squares
        sums = np.add.reduceat(squares[self._order], self._starts)
        return sums * sum_slack(self._sizes)

    def check_weights(self, columns: np.ndarray, coef: np.ndarray) -> None:
        """Reject weights of a sign that the problem does not admit."""
        if self.signs is None:
            return
        wrong = columns[coef * self.signs[columns] < 0]
        if wrong.size:
            is_below = self.signs[wrong[0]] > 0
            side = "negative" if is_below else "positive"
            reject(f"the weight of column {wrong[0]} is {side}, but must not be")

    def compare(self, expected: Mapping[str, Any], n_columns: int) -> None:
        """Reject feature groups and signs other than those that the user expects."""
        if "feature_groups" in expected:
            expected_groups = _numbered(expected["feature_groups"], n_columns)
            groups = np.arange(n_columns) if self.groups is None else self.groups
            for j in np.flatnonzero(groups != expected_groups)[:1].tolist():
                difference = _difference(groups, expected_groups, j)
                reject(f"it is for another problem: {difference}")
        if "signs" in expected:
            expected_signs = _signs(expected["signs"], n_columns)
            signs = np.zeros(n_columns) if self.signs is None else self.signs
            for j in np.flatnonzero(signs != expected_signs)[:1].tolist():
                reject(
                    f"it is for another problem: the weight of column {j} is "
                    f"{_LIMITS[int(signs[j])]} in it, expected "
                    f"{_LIMITS[int(expected_signs[j])]}"
                )

    def groups_in_words(self) -> list[str]:
        """A description of the features of several columns, if there are any."""
        if self.groups is None:
            return []
        several = np.flatnonzero(self._sizes > 1)
        parts = [
            f"{g} ({'columns ' * (t == 0)}{in_words(self.of(several[t : t + 1]))})"
            for t, g in enumerate(several[:SHOWN].tolist())
        ]
        if not parts:
            return []
        n_more = several.size - len(parts)
        text = ", ".join(parts) + (f" and {n_more:,} more" if n_more else "")
        return [f"feature group{'s' * (several.size > 1)} {text}"]

    def signs_in_words(self) -> list[str]:
        """Descriptions of the weights that are limited in sign."""
        if self.signs is None:
            return []
        limited = [(s, np.flatnonzero(self.signs == s)) for s in (1, -1)]
        return [
            f"weight{'s' * (columns.size > 1)} of column{'s' * (columns.size > 1)} "
            f"{in_words(columns)} {_LIMITS[s]}"
            for s, columns in limited
            if columns.size
        ]


# Each column is a feature, and its weight is free.
PLAIN = FeatureColumns()
_LIMITS = {0: "free", 1: "not negative", -1: "not positive"}


def in_words(columns: np.ndarray) -> str:
    """The first of some increasing numbers, with runs as ranges."""
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    parts = []
    for run in runs[:SHOWN]:
        if run.size > 2:
            parts.append(f"{run[0]} to {run[-1]}")
        else:
            parts += map(str, run.tolist())
    n_more = sum(run.size for run in runs[SHOWN:])
    return ", ".join(parts) + (f" and {n_more:,} more" if n_more else "")


def _check_groups(groups: np.ndarray, n_features: int) -> None:
    """Check that the features are numbered in the order of their first columns."""
    require(
        ((groups >= 0) & (groups < n_features)).all(),
        f"groups has numbers other than 0 to {n_features - 1}",
    )
    empty = n_features - np.unique(groups).size
    require(not empty, f"{empty:,} of {n_features:,} features have no column in groups")
    _, first = np.unique(groups, return_index=True)
    require(
        (first[1:] > first[:-1]).all(),
        "groups are not numbered in the order of their first columns",
    )


def _numbered(labels: Any, n_columns: int) -> np.ndarray:
    """The user's labels as numbers of features."""
    if labels is None:
        return np.arange(n_columns)
    values = np.asarray(labels)
    if values.shape != (n_columns,):
        raise ValueError(
            f"feature_groups must be an array of one label per column of X "
            f"({n_columns:,}), got {type(labels).__name__} of shape {values.shape}."
        )
    number: dict[Any, int] = {}
    labels = values.tolist()
    return np.array([number.setdefault(label, len(number)) for label in labels])


def _signs(signs: Any, n_columns: int) -> np.ndarray:
    """The user's signs."""
    if signs is None:
        return np.zeros(n_columns)
    values = np.asarray(signs)
    if values.shape != (n_columns,):
        raise ValueError(
            f"signs must be an array of -1, 0 or 1 for each column of X "
            f"({n_columns:,}), got {type(signs).__name__} of shape {values.shape}."
        )
    if not np.isin(values, (-1, 0, 1)).all():
        raise ValueError("signs must be -1, 0 or 1.")
    return values


def _difference(groups: np.ndarray, expected: np.ndarray, j: int) -> str:
    """The difference of two groupings of columns, at the first column that differs.

    Both are numbered in the order of first columns, so that at least one of them has an
    earlier column in the same feature.
    """
    before = np.flatnonzero(groups[:j] == groups[j])
    if before.size:
        return f"columns {before[0]} and {j} are one feature in it, expected two"
    before = np.flatnonzero(expected[:j] == expected[j])
    return f"columns {before[0]} and {j} are two features in it, expected one"
