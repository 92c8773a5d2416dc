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
    """What features consist of, and which weights are limited in sign.

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
        """How many columns each of some features has."""
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
        found = np.zeros(self._sizes.size, dtype=bool)
        found[self.groups[marks]] = True
        return found

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

    def agree(self, expected: Mapping[str, Any], n_columns: int) -> None:
        """Compare with the feature groups and signs that the user expects."""
        if "feature_groups" in expected:
            wanted = _numbered(expected["feature_groups"], n_columns)
            own = np.arange(n_columns) if self.groups is None else self.groups
            off = np.flatnonzero(own != wanted)
            if off.size:
                difference = _first_difference(own, wanted, int(off[0]))
                reject(f"it is for another problem: {difference}")
        if "signs" in expected:
            wanted = _signs(expected["signs"], n_columns)
            own = np.zeros(n_columns) if self.signs is None else self.signs
            off = np.flatnonzero(own != wanted)
            if off.size:
                at = int(off[0])
                told, hoped = _LIMITS[int(own[at])], _LIMITS[int(wanted[at])]
                reject(
                    f"it is for another problem: the weight of column {at} is {told} "
                    f"in it, expected {hoped}"
                )

    # --- in words --------------------------------------------------------------------

    def groups_in_words(self) -> list[str]:
        """The features of several columns."""
        if self.groups is None:
            return []
        several = np.flatnonzero(self._sizes > 1)
        parts = [
            f"{g} ({'columns ' * (t == 0)}{in_words(self.of(several[t : t + 1]))})"
            for t, g in enumerate(several[:SHOWN].tolist())
        ]
        if not parts:
            return []
        rest = several.size - len(parts)
        text = ", ".join(parts) + (f" and {rest:,} more" if rest else "")
        return [f"feature group{'s' * (several.size > 1)} {text}"]

    def signs_in_words(self) -> list[str]:
        """The weights that are limited in sign."""
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
    """Numbers in increasing order, neighbours as ranges, no more than a few."""
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    parts = []
    for run in runs[:SHOWN]:
        if run.size > 2:
            parts.append(f"{run[0]} to {run[-1]}")
        else:
            parts += map(str, run.tolist())
    rest = sum(run.size for run in runs[SHOWN:])
    return ", ".join(parts) + (f" and {rest:,} more" if rest else "")


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
    return np.array([number.setdefault(one, len(number)) for one in values.tolist()])


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


def _first_difference(own: np.ndarray, wanted: np.ndarray, at: int) -> str:
    """How two ways to group columns differ, at the first column where they do.

    Both are numbered in the order of first columns, so that at least one of them has an
    earlier column in the same feature.
    """
    before = np.flatnonzero(own[:at] == own[at])
    if before.size:
        return f"columns {before[0]} and {at} are one feature in it, expected two"
    before = np.flatnonzero(wanted[:at] == wanted[at])
    return f"columns {before[0]} and {at} are two features in it, expected one"
