"""Prepared columns: how numbers and categories become features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..export.lookups import (
    LARGEST_VALUE,
    MISSING_WORDS,
    OTHER,
    OWN_LEVEL,
    Spelling,
    missing_words,
    named,
)
from .columns import (
    INDICATOR,
    LEAST_SHARE,
    REFUSE,
    Column,
    Numbers,
    Table,
    TableError,
    Texts,
)
from .formats import NumberFormat
from .kinds import NUMBER

# Positions of strings that are not a category.
_MISSING, _UNKNOWN = -1, -2


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers: a feature, and perhaps one that says where it has gaps.

    Attributes
    ----------
    name : str
    fill : float or None
        Replacement for a missing value; None if a missing value is an error.
    format : NumberFormat or None
        How its numbers are written in text tables; None if that was not stored.
    n_gaps : int
        Missing values in the rows that it was learned from.
    has_indicator : bool
        Whether its second feature is 1 where a value is missing, otherwise 0.
    code_of : str or None
        The variable that it is a category of, with a column of 0 and 1 for each.
    """

    name: str
    fill: float | None = None
    format: NumberFormat | None = None
    n_gaps: int = 0
    has_indicator: bool = False
    code_of: str | None = None

    @property
    def variable(self) -> str:
        """What counts as one feature: the column, or the variable of a category."""
        return self.name if self.code_of is None else self.code_of

    @property
    def has_categories(self) -> bool:
        """Whether its feature is a category."""
        return self.code_of is not None

    @property
    def category(self) -> str | None:
        """The category that it stands for, if it does."""
        if self.code_of is None:
            return None
        return self.name.split(f"{self.code_of}_", 1)[-1]

    def features(self) -> list[str]:
        """Names of its features."""
        return [self.name, *[f"{self.name} missing"] * self.has_indicator]

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
        known = _are_known(values)
        if not known.all():
            if self.fill is None:
                raise TableError(self._not_known(values, known))
            values = np.where(known, values, self.fill)
        return [values, *[1.0 - known] * self.has_indicator]

    def gaps(self, column: Column) -> np.ndarray:
        """Mask of the rows without a value."""
        if isinstance(column, Numbers):
            return ~_are_known(column.values)
        return column.missing

    def why_not_learned(self, column: Column) -> str:
        """How this differs from what is learned from a column; empty if it does not."""
        if not isinstance(column, Numbers):
            return ""
        known = column.values[~column.missing]
        n_gaps = len(column) - known.size
        if n_gaps == self.n_gaps and (n_gaps == 0 or self.fill == _median(known)):
            return ""
        return _other_gaps(n_gaps, _median(known))

    def _not_known(self, values: np.ndarray, known: np.ndarray) -> str:
        large = ~known & ~np.isnan(values)
        if large.any():
            return (
                f"column {self.name!r} has the value {values[large][0]:g}; infinite "
                f"values, and values beyond {LARGEST_VALUE:g}, count as missing. Drop "
                "these rows, or fit with --missing indicator."
            )
        return _gap(self.name, ~known)

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
        The category of a missing value; None if a missing value is an error.
    words : tuple of str
        Its strings that mean a missing value in other columns: in a typed table, NA may
        be Namibia.
    n_gaps : int
        Missing values in the rows that it was learned from.
    has_other : bool
        Whether one of the categories stands for all texts that are no other one.
    """

    name: str
    levels: tuple[str, ...]
    fill: str | None = None
    words: tuple[str, ...] = ()
    n_gaps: int = 0
    has_other: bool = False

    @property
    def variable(self) -> str:
        """What counts as one feature: the column."""
        return self.name

    @property
    def has_categories(self) -> bool:
        """Whether its features are categories."""
        return True

    @property
    def shown(self) -> tuple[str, ...]:
        """The categories that have a feature."""
        return self.levels[1:] if len(self.levels) == 2 else self.levels

    def features(self) -> list[str]:
        """Names of its features."""
        return [f"{self.name}={level}" for level in self.shown]

    def values(self, column: Column, rows: Any) -> Iterator[np.ndarray]:
        """Values of its features for some rows of the column."""
        texts = as_texts(column)
        places = self._places(texts)[texts.codes[rows]]
        missing = places == _MISSING
        if missing.any() and self.fill is None:
            raise TableError(_gap(self.name, missing))
        first = len(self.levels) - len(self.shown)
        for k, level in enumerate(self.shown, first):
            hit = places == k
            if level == self.fill:
                hit |= missing
            yield hit.astype(np.float64)

    def gaps(self, column: Column) -> np.ndarray:
        """Mask of the rows without a value."""
        texts = as_texts(column)
        return self._places(texts)[texts.codes] == _MISSING

    def present(self, column: Column) -> set[str]:
        """The categories that occur in a column."""
        texts = as_texts(column)
        places = set(self._places(texts)[texts.codes].tolist())
        found = {self.levels[k] for k in places if k >= 0}
        return found | {self.fill or ""} if _MISSING in places else found

    def unknown(self, column: Column) -> dict[str, np.ndarray]:
        """The rows of each value that is unknown to the preparation."""
        texts = as_texts(column)
        return rows_of_levels(texts, self._places(texts)[:-1] == _UNKNOWN)

    def why_not_learned(self, column: Column) -> str:
        """How this differs from what is learned from a column; empty if it does not."""
        strange = self.unknown(column)
        if strange:
            return f"{next(iter(strange))!r} is none of the categories"
        texts = as_texts(column)
        places = self._places(texts)[:-1]
        counts = np.bincount(texts.codes[texts.codes >= 0], minlength=places.size)
        known = places >= 0
        rows = np.bincount(places[known], counts[known], len(self.levels)).tolist()
        n_gaps = len(texts) - int(sum(rows))
        is_top = known & (counts == counts[known].max(initial=0))
        top = sorted({self.levels[k] for k in places[is_top].tolist()})
        fills = {OWN_LEVEL, *top}
        if n_gaps != self.n_gaps or (n_gaps > 0 and self.fill not in fills):
            return _other_gaps(n_gaps, " or ".join(top))
        kept = dict(zip(self.levels, rows, strict=True))
        for name in (OTHER, OWN_LEVEL):
            kept.pop(name, None)
        merged = {
            texts.levels[k]: int(counts[k])
            for k in np.flatnonzero(known).tolist()
            if self.has_other and self.levels[places[k]] == OTHER != texts.levels[k]
        }
        if not kept or not merged:
            return ""
        rare = min(kept, key=lambda one: kept[one])
        frequent = max(merged, key=lambda one: merged[one])
        if merged[frequent] >= kept[rare]:
            return f"{frequent!r} is merged with others, but the rarer {rare!r} is not"
        return ""

    def merged(self, column: Column) -> list[str]:
        """The texts that are no category of their own."""
        texts = as_texts(column)
        other = self.levels.index(OTHER) if self.has_other else _UNKNOWN
        places = self._places(texts)[:-1]
        return [texts.levels[k] for k in np.flatnonzero(places == other).tolist()]

    def _places(self, texts: Texts) -> np.ndarray:
        """The position of each string in the categories; the last one is missing."""
        spelling = Spelling(named(self.levels))
        place = {spelling.key(one): k for k, one in enumerate(self.levels)}
        missing = missing_words((*self.levels, *self.words))
        strange = self.levels.index(OTHER) if self.has_other else _UNKNOWN
        return np.array(
            [
                place.get(spelling.key(one), _MISSING if one in missing else strange)
                for one in texts.levels
            ]
            + [_MISSING]
        )


PreparedColumn = NumberColumn | CategoryColumn


def learned(
    name: str,
    kind: str,
    column: Column,
    rows: Any,
    missing: str,
    min_level: int,
    code_of: str | None = None,
) -> PreparedColumn:
    """The preparation of a column, learned from some of its rows.

    ``missing`` is one of the modes in ``gaps``; categories in fewer than ``min_level``
    rows are merged, if there are two or more of them.
    """
    if kind == NUMBER:
        assert isinstance(column, Numbers)
        return _learned_number(name, column, rows, missing, code_of)
    return _learned_category(name, as_texts(column), rows, missing, min_level)


def check_code(columns: Sequence[PreparedColumn], table: Table) -> None:
    """Raise an error if columns should be the categories of a variable but are not."""
    coded = [
        column
        for column in columns
        if isinstance(column, NumberColumn) and column.code_of is not None
    ]
    if not coded:
        return
    values = [one.values(table.columns[one.name], slice(None))[0] for one in coded]
    are_flags = all(((x == 0) | (x == 1)).all() for x in values)
    if not are_flags or (np.sum(values, axis=0) != 1).any():
        raise TableError(
            f"the columns of {coded[0].variable!r} are no categories in "
            f"{table.source}: in each row one of them must be 1, and the others 0."
        )


def _learned_number(
    name: str, column: Numbers, rows: Any, missing: str, code_of: str | None
) -> NumberColumn:
    values = column.values[rows]
    known = values[~np.isnan(values)]
    n_gaps = values.size - known.size
    return NumberColumn(
        name,
        None if missing == REFUSE else _median(known),
        column.format,
        n_gaps,
        missing == INDICATOR and n_gaps > 0 and n_gaps >= LEAST_SHARE * values.size,
        code_of,
    )


def _learned_category(
    name: str, texts: Texts, rows: Any, missing: str, min_level: int
) -> CategoryColumn:
    codes = texts.codes[rows]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts.levels))
    there = np.flatnonzero(counts)
    has_other = int((counts[there] < min_level).sum()) > 1
    kept = there[counts[there] >= min_level] if has_other else there
    levels = [texts.levels[k] for k in kept]
    most = texts.levels[int(counts.argmax())] if there.size else None
    if has_other:
        levels = _with_last(levels, OTHER)
    n_gaps = int((codes < 0).sum())
    fill = None
    if missing == INDICATOR and n_gaps:
        fill = OWN_LEVEL
        levels = _with_last(levels, OWN_LEVEL)
    elif missing != REFUSE:
        fill = OTHER if most is not None and most not in levels else most
    words = tuple(one for one in texts.levels if one in MISSING_WORDS)
    return CategoryColumn(name, tuple(levels), fill, words, n_gaps, has_other)


def _with_last(levels: list[str], last: str) -> list[str]:
    """Categories with another one, so that it has the feature if there are two."""
    return [*(one for one in levels if one != last), last]


def _are_known(values: np.ndarray) -> np.ndarray:
    """Mask of the values that do not count as missing, as in exported models."""
    # Comparisons with NaN are false.
    return np.abs(values) <= LARGEST_VALUE


def _median(known: np.ndarray) -> float:
    return float(np.median(known)) if known.size else 0.0


def as_texts(column: Column) -> Texts:
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


def rows_of_levels(texts: Texts, wanted: np.ndarray) -> dict[str, np.ndarray]:
    """The rows of each level in a mask of levels, if it has any."""
    rows: dict[str, list[int]] = {}
    for row in np.flatnonzero(np.append(wanted, False)[texts.codes]).tolist():
        rows.setdefault(texts.levels[texts.codes[row]], []).append(row)
    return {name: np.array(rows[name]) for name in sorted(rows)}


def _other_gaps(n_gaps: int, fill: Any) -> str:
    return f"it has {n_gaps:,} missing values, to be replaced by {fill!r} if at all"


def _gap(name: str, missing: np.ndarray) -> str:
    n, first = int(missing.sum()), int(np.flatnonzero(missing)[0])
    where = f"the first one in row {first + 1:,}" if n > 1 else f"in row {first + 1:,}"
    return (
        f"column {name!r} has {n:,} missing value{'s' * (n > 1)} ({where}); fill "
        f"{'them' if n > 1 else 'it'} in, or fit with --missing indicator."
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


# --- Means and scales by which features become standardised ---------------------------
#
# A number has variance 1. So have the categories of a column together: with a scale of
# its own for each, a column of many categories would be cheaper than one of few, and a
# rare category cheaper than a frequent one.

# Tolerance for means of 0 and variances of 1.
STANDARD_TOL = 1e-9
# Rounding error of a mean, as a fraction of it.
MEAN_ROUNDING = 2.0**-51


def moments(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation; the scale is 1 for constant values."""
    mean = float(values.mean())
    # Adding the mean of the differences corrects the rounding error.
    mean += float((values - mean).mean())
    scale = math.sqrt(float(np.mean((values - mean) ** 2)))
    if not (values != values[0]).any() or not scale > 0:
        return float(values[0]), 1.0
    return mean, scale


def common_scale(shares: Iterable[float]) -> float:
    """The scale of categories with these shares of the rows; 1 if they are constant."""
    return math.sqrt(sum(share * (1.0 - share) for share in shares)) or 1.0


def deviation(
    features: Iterable[np.ndarray],
    means: Sequence[float],
    scales: Sequence[float],
    have_common: bool,
) -> float:
    """How far the features of a column are from mean 0 and variance 1.

    With ``have_common`` they have a common scale, and variance 1 together. Constant
    features have a scale of 1. A mean may be off by a rounding error of its own.
    """
    offs, variances = [0.0], []
    for values, mean, scale in zip(features, means, scales, strict=True):
        standard = (values - mean) / scale
        off = float(standard.mean())
        offs.append(abs(off) - MEAN_ROUNDING * abs(mean) / scale)
        variances.append(float(np.mean((standard - off) ** 2)))
        if not have_common and not (values != values[0]).any():
            variances[-1] = scale
    if have_common:
        variances = [sum(variances) or scales[0]]
        offs += [abs(scale / scales[0] - 1.0) for scale in scales]
    # Unlike the maximum of Python, NaN if a number is.
    return float(np.max([*offs, *(abs(one - 1.0) for one in variances)]))
