"""Columns: the parts of features, and the signs that their weights may have.

A feature is what counts against the budget: a column of X, or a group of columns such
as the levels of a categorical variable. A column with a sign contributes to the dual
only as far as its product with alpha has that sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..kernels.data import NO_COLUMNS, NO_SIGNS


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of each feature, and their signs.

    Attributes
    ----------
    starts : integer array (n_features + 1,)
        Where the columns of each feature begin in ``numbers``.
    numbers : integer array (n_columns,)
        The columns of the first feature, then those of the second, and so on.
    signs : array of int8 (n_columns,)
        For column j of X: 1 if its weight may not be negative, -1 if it may not be
        positive, 0 if it is free.
    """

    starts: np.ndarray
    numbers: np.ndarray
    signs: np.ndarray

    @classmethod
    def single(cls, n_columns: int) -> Columns:
        """Every column is a feature, and its weight is free."""
        return cls.of_groups(
            np.arange(n_columns), np.zeros(n_columns, dtype=np.int8), n_columns
        )

    @classmethod
    def of_groups(
        cls, groups: np.ndarray, signs: np.ndarray, n_features: int
    ) -> Columns:
        """Columns by the number of the feature that each belongs to."""
        sizes = np.bincount(groups, minlength=n_features)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        numbers = np.argsort(groups, kind="stable").astype(np.int64)
        for array in (starts, numbers, signs):
            array.setflags(write=False)
        return cls(starts, numbers, signs)

    @cached_property
    def n_features(self) -> int:
        """Number of features."""
        return self.starts.size - 1

    @cached_property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.numbers.size

    @cached_property
    def has_groups(self) -> bool:
        """Whether a feature has several columns."""
        return self.n_features < self.n_columns

    @cached_property
    def has_signs(self) -> bool:
        """Whether a weight is limited in sign."""
        return bool(self.signs.any())

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column is a feature of its own and every weight free."""
        return not (self.has_groups or self.has_signs)

    @cached_property
    def in_kernels(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Starts, numbers and signs, empty if there are none: see ``kernels.data``."""
        grouped = (self.starts, self.numbers) if self.has_groups else (NO_COLUMNS,) * 2
        return *grouped, self.signs if self.has_signs else NO_SIGNS

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of columns of each feature."""
        return np.diff(self.starts)

    @cached_property
    def groups(self) -> np.ndarray:
        """The feature that each column belongs to."""
        groups = np.empty(self.n_columns, dtype=np.int64)
        groups[self.numbers] = np.repeat(np.arange(self.n_features), self.sizes)
        return groups

    def of(self, features: np.ndarray) -> np.ndarray:
        """The columns of some features, one feature after the other."""
        if not self.has_groups:
            return features
        sizes = self.sizes[features]
        ends = np.cumsum(sizes)
        within = np.arange(sizes.sum()) - np.repeat(ends - sizes, sizes)
        return self.numbers[np.repeat(self.starts[features], sizes) + within]

    def owners(self, features: np.ndarray) -> np.ndarray:
        """The features that the columns of some features belong to."""
        if not self.has_groups:
            return features
        return np.repeat(features, self.sizes[features])

    def lengths(self, features: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The length of the weights of each feature, given those of all of them."""
        if not self.has_groups:
            return np.abs(w)
        sizes = self.sizes[features]
        return np.sqrt(np.add.reduceat(w * w, np.cumsum(sizes) - sizes))

    def count(self, *features: np.ndarray) -> int:
        """Number of columns of some features."""
        if not self.has_groups:
            return sum(map(len, features))
        return sum(int(self.sizes[subset].sum()) for subset in features)

    def restrict(self, features: np.ndarray) -> Columns:
        """Some features, whose columns are numbered in the order of ``of``."""
        sizes = self.sizes[features]
        return Columns.of_groups(
            np.repeat(np.arange(len(sizes)), sizes),
            np.array(self.signs[self.of(features)]),
            len(sizes),
        )

    def admitted(self, c: np.ndarray) -> np.ndarray:
        """Products of columns with alpha, zero where the sign does not admit them."""
        if not self.has_signs:
            return c
        return np.where(c * self.signs < 0.0, 0.0, c)

    def squares(self, c: np.ndarray) -> np.ndarray:
        """The worth of features, given the products of all columns with alpha."""
        return self.sums(self.admitted(c) ** 2)

    def norms(self, c: np.ndarray) -> np.ndarray:
        """The square roots of ``squares``."""
        if not self.has_groups:
            return np.abs(self.admitted(c))
        return np.sqrt(self.squares(c))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sums over the columns of each feature."""
        if not self.has_groups:
            return values
        return np.add.reduceat(values[self.numbers], self.starts[:-1])

    def repeated(self, times: int) -> Columns:
        """The columns of several machines, which share the features.

        Those of the first machine come first. A feature has its columns in all of them.
        """
        return Columns.of_groups(
            np.tile(self.groups, times), np.tile(self.signs, times), self.n_features
        )

    def in_repeated(self, features: np.ndarray, times: int) -> np.ndarray:
        """Positions of columns of features among those of the ``repeated`` columns.

        One row for each machine.
        """
        sizes = self.sizes[features]
        first = np.cumsum(sizes) - sizes
        within = np.arange(sizes.sum()) - np.repeat(first, sizes)
        starts = np.repeat(times * first, sizes) + within
        return starts + np.arange(times)[:, np.newaxis] * np.repeat(sizes, sizes)

    def used(self, coef: np.ndarray) -> np.ndarray:
        """The features with a weight that is not zero."""
        return np.unique(self.groups[np.flatnonzero(coef)])


# --- Partial sorting ------------------------------------------------------------------

# Up to this many values, sorting all of them is as quick.
SORTED_UP_TO = 1000


def smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Positions of the smallest values in increasing order, with stable ties.

    The same as ``np.argsort(values, kind="stable")[:count]``.
    """
    if values.shape[0] <= SORTED_UP_TO or count >= values.shape[0] or count < 1:
        return np.argsort(values, kind="stable")[:count]
    limit = np.partition(values, count - 1)[count - 1]
    if np.isnan(limit):
        return np.argsort(values, kind="stable")[:count]
    near = np.flatnonzero(values <= limit)
    return near[np.argsort(values[near], kind="stable")[:count]]
