"""Prepared columns: how numbers and categories become features."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..output.portable.categories import MISSING_WORDS, Spelling, missing_words
from ..output.portable.text import LARGEST_VALUE
from .columns import Column, Numbers, Texts
from .errors import TableError
from .formats import NumberFormat
from .kinds import NUMBER

# Positions of strings that are not a category.
_MISSING, _UNKNOWN = -1, -2


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: one feature.

    Attributes
    ----------
    name : str
    fill : float or None
        Replacement for a missing value; None if a missing value is an error.
    format : NumberFormat or None
        How its numbers are written in text tables; None if that was not stored.
    """

    name: str
    fill: float | None = None
    format: NumberFormat | None = None

    def features(self) -> list[str]:
        """Names of its features."""
        return [self.name]

    def values(self, column: Column, rows: Any) -> list[np.ndarray]:
        """Values of its features for some rows of the column."""
        if isinstance(column, Texts):
            if not column.levels:
                values = np.full(len(column), np.nan)[rows]
            else:
                raise TableError(self._not_a_number(column))
        else:
            assert isinstance(column, Numbers)
            values = column.values[rows]
        # As in exported models; comparisons with NaN are false.
        known = np.abs(values) <= LARGEST_VALUE
        if not known.all():
            if self.fill is None:
                raise TableError(self._not_known(values, known))
            values = np.where(known, values, self.fill)
        return [values]

    def _not_known(self, values: np.ndarray, known: np.ndarray) -> str:
        large = ~known & ~np.isnan(values)
        if large.any():
            return (
                f"column {self.name!r} has the value {values[large][0]:g}; infinite "
                f"values, and values beyond {LARGEST_VALUE:g}, count as missing. Drop "
                "these rows, or fit with --impute median."
            )
        return _gap(self.name, int((~known).sum()))

    def _not_a_number(self, column: Texts) -> str:
        wrong = next((one for one in column.levels if not _is_number(one)), "")
        place = column.levels.index(wrong) if wrong else 0
        row = int(np.flatnonzero(column.codes == place)[0])
        return (
            f"column {self.name!r} must hold numbers, but row {row + 1:,} has "
            f"{column.levels[place]!r}."
        )


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: a 0/1 feature for each.

    If there are two categories, only the second one has a feature.

    Attributes
    ----------
    name : str
    levels : tuple of str
    fill : str or None
    words : tuple of str
        Its strings that mean a missing value in other columns: in a typed table, NA may
        be Namibia.
    """

    name: str
    levels: tuple[str, ...]
    fill: str | None = None
    words: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The categories that have a feature."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    def features(self) -> list[str]:
        """Names of its features."""
        return [f"{self.name}={level}" for level in self.shown]

    def values(self, column: Column, rows: Any) -> Iterator[np.ndarray]:
        """Values of its features for some rows of the column."""
        texts = _as_texts(column)
        places = self._places(texts)[texts.codes[rows]]
        missing = places == _MISSING
        if missing.any() and self.fill is None:
            raise TableError(_gap(self.name, int(missing.sum())))
        first = len(self.levels) - len(self.shown)
        for k, level in enumerate(self.shown, first):
            hit = places == k
            if level == self.fill:
                hit |= missing
            yield hit.astype(np.float64)

    def unknown(self, column: Column) -> dict[str, int]:
        """Values unknown to the preparation, with their row counts."""
        texts = _as_texts(column)
        counts = np.bincount(texts.codes[texts.codes >= 0], minlength=len(texts.levels))
        strange = (self._places(texts)[:-1] == _UNKNOWN) & (counts > 0)
        return {texts.levels[k]: int(counts[k]) for k in np.flatnonzero(strange)}

    def _places(self, texts: Texts) -> np.ndarray:
        """The position of each string in the categories; the last one is missing."""
        spelling = Spelling(self.levels)
        place = {spelling.key(one): k for k, one in enumerate(self.levels)}
        missing = missing_words((*self.levels, *self.words))
        return np.array(
            [
                place.get(spelling.key(one), _MISSING if one in missing else _UNKNOWN)
                for one in texts.levels
            ]
            + [_MISSING]
        )


PreparedColumn = NumberColumn | CategoryColumn


def learned(
    name: str, kind: str, column: Column, rows: Any, impute: bool
) -> PreparedColumn:
    """The preparation of a column, learned from some of its rows."""
    if kind == NUMBER:
        assert isinstance(column, Numbers)
        known = column.values[rows]
        known = known[~np.isnan(known)]
        return NumberColumn(name, _median(known) if impute else None, column.format)
    texts = _as_texts(column)
    codes = texts.codes[rows]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts.levels))
    levels = tuple(texts.levels[k] for k in np.flatnonzero(counts))
    fill = texts.levels[int(counts.argmax())] if impute and levels else None
    words = tuple(one for one in texts.levels if one in MISSING_WORDS)
    return CategoryColumn(name, levels, fill, words)


def _median(known: np.ndarray) -> float:
    return float(np.median(known)) if known.size else 0.0


def _as_texts(column: Column) -> Texts:
    """A column as categories; the number 1.0 becomes "1"."""
    if isinstance(column, Texts):
        return column
    assert isinstance(column, Numbers)
    known, codes = np.unique(column.values, return_inverse=True)
    n_known = int((~np.isnan(known)).sum())
    names = [f"{value:.15g}" for value in known[:n_known].tolist()]
    order = np.argsort(names) if names else np.empty(0, dtype=int)
    place = np.full(known.size + 1, -1, np.int32)
    place[order] = np.arange(n_known)
    return Texts(place[codes].astype(np.int32), [names[k] for k in order])


def _gap(name: str, n: int) -> str:
    return (
        f"column {name!r} has {n:,} missing value{'s' * (n > 1)}; fill them in, or fit "
        "with --impute median."
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
