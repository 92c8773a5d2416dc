"""Points of a scorecard: for the ranges of a feature, or for the values of a group."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np

NONE = "any other value"


class Ranges(NamedTuple):
    """The ranges of a feature and their points.

    Attributes
    ----------
    name : str
    unit : str or None
    limits : tuple of float
        Where one range ends and the next begins; a value on a limit belongs to the
        range above it.
    points : tuple of int
        One more than there are limits.
    is_flag : bool
        Whether the feature is 0 or 1, which are shown as no and yes.
    """

    name: str
    unit: str | None
    limits: tuple[float, ...]
    points: tuple[int, ...]
    is_flag: bool = False

    def of(self, values: np.ndarray) -> np.ndarray:
        """Points of values."""
        place = np.searchsorted(self.limits, values, side="right")
        return np.array(self.points, dtype=np.int64)[place]

    def of_table(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Points of rows, given the values of all features by name."""
        return self.of(table[self.name])

    def words(self) -> list[str]:
        """The ranges in words."""
        if not self.limits:
            return ["any"]
        if self.is_flag:
            return ["no", "yes"]
        texts = [_short(limit) for limit in self.limits]
        between = [f"{a} to below {b}" for a, b in pairwise(texts)]
        return [f"below {texts[0]}", *between, f"{texts[-1]} or more"]


class Values(NamedTuple):
    """The values of a categorical variable and their points.

    Attributes
    ----------
    name : str
        Of the group.
    features : tuple of str
        The 0/1 features that stand for the values.
    points : tuple of int
        One for each of them, and one for rows in which all are 0. Those of values that
        no row has may be negative, so that such a row keeps its place.
    """

    name: str
    features: tuple[str, ...]
    points: tuple[int, ...]

    @property
    def unit(self) -> None:
        """Values have no unit of measurement."""
        return

    def of_table(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Points of rows, given the values of all features by name."""
        return np.array(self.points, dtype=np.int64)[places(self.features, table)]

    def words(self) -> list[str]:
        """The values in words."""
        starts = [f"{self.name}{sign}" for sign in "=_"]
        own = []
        for feature in self.features:
            start = next((one for one in starts if feature.startswith(one)), "")
            own.append(feature.removeprefix(start) or feature)
        return [*own, NONE]


def places(features: tuple[str, ...], table: Mapping[str, np.ndarray]) -> np.ndarray:
    """Which of some 0/1 features is 1 in each row; their number if none is."""
    high = np.array([table[name] > 0.5 for name in features])
    return np.where(high.any(axis=0), high.argmax(axis=0), len(features))


def are_values(features: tuple[str, ...], table: Mapping[str, np.ndarray]) -> bool:
    """Whether features are 0 or 1, and at most one of them is 1 in each row."""
    columns = np.array([table[name] for name in features])
    return bool(np.isin(columns, (0.0, 1.0)).all() and (columns.sum(axis=0) <= 1).all())


def _short(limit: float) -> str:
    """The shortest exact text of a number."""
    text = f"{limit:g}"
    return text if float(text) == limit else repr(limit)
