"""Prepared columns: how numbers and categories become features."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..export import (
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
    """A column of numbers: a feature, and perhaps one that marks missing values.

    Attributes
    ----------
    name : str
    fill : float or None
        Replacement for a missing value; None if a missing value is an error.
    format : NumberFormat or None
        The format of its numbers in text tables; None if that was not stored.
    n_gaps : int
        Number of missing values in the rows that it was learned from.
    has_indicator : bool
        Whether it has a second feature, which is 1 where a value is missing, else 0.
    code_of : str or None
        The variable of which it is a category, with a column of 0 and 1 for each; None
        if it is a column of numbers.
    """

    name: str
    fill: float | None = None
    format: NumberFormat | None = None
    n_gaps: int = 0
    has_indicator: bool = False
    code_of: str | None = None

    @property
    def variable(self) -> str:
        """The name of the variable: of the column, or the one it is a category of."""
        return self.name if self.code_of is None else self.code_of

    @property
    def has_categories(self) -> bool:
        """Whether its feature is a category."""
        return self.code_of is not None

    @property
    def category(self) -> str | None:
        """The category that it stands for, if it is one of a variable."""
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
        observed = _are_observed(values)
        if not observed.all():
            if self.fill is None:
                raise TableError(self._missing_value(values, observed))
            values = np.where(observed, values, self.fill)
        return [values, *[1.0 - observed] * self.has_indicator]

    def gaps(self, column: Column) -> np.ndarray:
        """Mask of the rows without a value."""
        if isinstance(column, Numbers):
            return ~_are_observed(column.values)
        return column.missing

    def why_not_learned(self, column: Column) -> str:
        """The difference from a preparation learned from a column; empty if none."""
        if not isinstance(column, Numbers):
            return ""
        observed = column.values[~column.missing]
        n_gaps = len(column) - observed.size
        if n_gaps == self.n_gaps and (n_gaps == 0 or self.fill == _median(observed)):
            return ""
        return _other_gaps(n_gaps, _median(observed))

    def _missing_value(self, values: np.ndarray, observed: np.ndarray) -> str:
        large = ~observed & ~np.isnan(values)
        if large.any():
            return (
                f"column {self.name!r} has the value {values[large][0]:g}; infinite "
                f"values, and values beyond {LARGEST_VALUE:g}, count as missing. Drop "
                "these rows, or fit with --missing indicator."
            )
        return _missing_values(self.name, ~observed)

    def _not_a_number(self, column: Texts) -> str:
        wrong = next((level for level in column.levels if not _is_number(level)), "")
        code = column.levels.index(wrong) if wrong else 0
        row = int(np.flatnonzero(column.codes == code)[0])
        return (
            f"column {self.name!r} must hold numbers, but row {row + 1:,} has "
            f"{column.levels[code]!r}."
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
    not_missing : tuple of str
        Its strings that mean a missing value in other columns: in a typed table, NA may
        be Namibia.
    n_gaps : int
        Number of missing values in the rows that it was learned from.
    has_other : bool
        Whether one of the categories stands for all other texts.
    """

    name: str
    levels: tuple[str, ...]
    fill: str | None = None
    not_missing: tuple[str, ...] = ()
    n_gaps: int = 0
    has_other: bool = False

    @property
    def variable(self) -> str:
        """The name of the variable: of the column."""
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
        positions = self._positions(texts)[texts.codes[rows]]
        missing = positions == _MISSING
        if missing.any() and self.fill is None:
            raise TableError(_missing_values(self.name, missing))
        first = len(self.levels) - len(self.shown)
        for k, level in enumerate(self.shown, first):
            mask = positions == k
            if level == self.fill:
                mask |= missing
            yield mask.astype(np.float64)

    def gaps(self, column: Column) -> np.ndarray:
        """Mask of the rows without a value."""
        texts = as_texts(column)
        return self._positions(texts)[texts.codes] == _MISSING

    def present(self, column: Column) -> set[str]:
        """The categories that occur in a column."""
        texts = as_texts(column)
        positions = set(self._positions(texts)[texts.codes].tolist())
        levels = {self.levels[k] for k in positions if k >= 0}
        return levels | {self.fill or ""} if _MISSING in positions else levels

    def unknown(self, column: Column) -> dict[str, np.ndarray]:
        """The rows of each value that is unknown to the preparation."""
        texts = as_texts(column)
        return rows_of_levels(texts, self._positions(texts)[:-1] == _UNKNOWN)

    def why_not_learned(self, column: Column) -> str:
        """The difference from a preparation learned from a column; empty if none."""
        strange = self.unknown(column)
        if strange:
            return f"{next(iter(strange))!r} is none of the categories"
        texts = as_texts(column)
        positions = self._positions(texts)[:-1]
        counts = np.bincount(texts.codes[texts.codes >= 0], minlength=positions.size)
        is_level = positions >= 0
        rows = np.bincount(positions[is_level], counts[is_level], len(self.levels))
        n_gaps = len(texts) - int(rows.sum())
        is_top = is_level & (counts == counts[is_level].max(initial=0))
        top = sorted({self.levels[k] for k in positions[is_top].tolist()})
        fills = {OWN_LEVEL, *top}
        if n_gaps != self.n_gaps or (n_gaps > 0 and self.fill not in fills):
            return _other_gaps(n_gaps, " or ".join(top))
        separate = dict(zip(self.levels, rows.tolist(), strict=True))
        for name in (OTHER, OWN_LEVEL):
            separate.pop(name, None)
        merged = {
            texts.levels[k]: int(counts[k])
            for k in np.flatnonzero(is_level).tolist()
            if self.has_other and self.levels[positions[k]] == OTHER != texts.levels[k]
        }
        if not separate or not merged:
            return ""
        rare = min(separate, key=lambda level: separate[level])
        frequent = max(merged, key=lambda level: merged[level])
        if merged[frequent] >= separate[rare]:
            return f"{frequent!r} is merged with others, but the rarer {rare!r} is not"
        return ""

    def merged(self, column: Column) -> list[str]:
        """The texts that are no category of their own."""
        texts = as_texts(column)
        other = self.levels.index(OTHER) if self.has_other else _UNKNOWN
        positions = self._positions(texts)[:-1]
        return [texts.levels[k] for k in np.flatnonzero(positions == other).tolist()]

    def _positions(self, texts: Texts) -> np.ndarray:
        """The position of each string in the categories; the last entry is missing."""
        spelling = Spelling(named(self.levels))
        position = {spelling.key(level): k for k, level in enumerate(self.levels)}
        missing = missing_words((*self.levels, *self.not_missing))
        strange = self.levels.index(OTHER) if self.has_other else _UNKNOWN
        return np.array(
            [
                position.get(
                    spelling.key(text), _MISSING if text in missing else strange
                )
                for text in texts.levels
            ]
            + [_MISSING]
        )


PreparedColumn = NumberColumn | CategoryColumn


def learn_column(
    name: str,
    kind: str,
    column: Column,
    rows: Any,
    missing: str,
    min_level: int,
    code_of: str | None = None,
) -> PreparedColumn:
    """The preparation of a column, learned from some of its rows.

    ``missing`` is one of ``MODES``; categories in fewer than ``min_level`` rows are
    merged, if there are two or more of them.
    """
    if kind == NUMBER:
        assert isinstance(column, Numbers)
        return _learn_number(name, column, rows, missing, code_of)
    return _learn_category(name, as_texts(column), rows, missing, min_level)


def check_code(columns: Sequence[PreparedColumn], table: Table) -> None:
    """Raise an error if columns should be the categories of a variable but are not."""
    coded = [
        column
        for column in columns
        if isinstance(column, NumberColumn) and column.code_of is not None
    ]
    if not coded:
        return
    columns_of_values = [
        column.values(table.columns[column.name], slice(None))[0] for column in coded
    ]
    are_flags = all(((x == 0) | (x == 1)).all() for x in columns_of_values)
    if not are_flags or (np.sum(columns_of_values, axis=0) != 1).any():
        raise TableError(
            f"the columns of {coded[0].variable!r} are no categories in "
            f"{table.source}: in each row one of them must be 1, and the others 0."
        )


def _learn_number(
    name: str, column: Numbers, rows: Any, missing: str, code_of: str | None
) -> NumberColumn:
    values = column.values[rows]
    observed = values[~np.isnan(values)]
    n_gaps = values.size - observed.size
    return NumberColumn(
        name,
        None if missing == REFUSE else _median(observed),
        column.format,
        n_gaps,
        missing == INDICATOR and n_gaps > 0 and n_gaps >= LEAST_SHARE * values.size,
        code_of,
    )


def _learn_category(
    name: str, texts: Texts, rows: Any, missing: str, min_level: int
) -> CategoryColumn:
    codes = texts.codes[rows]
    counts = np.bincount(codes[codes >= 0], minlength=len(texts.levels))
    occurring = np.flatnonzero(counts)
    has_other = int((counts[occurring] < min_level).sum()) > 1
    separate = occurring[counts[occurring] >= min_level] if has_other else occurring
    levels = [texts.levels[k] for k in separate]
    most = texts.levels[int(counts.argmax())] if occurring.size else None
    if has_other:
        levels = _with_last(levels, OTHER)
    n_gaps = int((codes < 0).sum())
    fill = None
    if missing == INDICATOR and n_gaps:
        fill = OWN_LEVEL
        levels = _with_last(levels, OWN_LEVEL)
    elif missing != REFUSE:
        fill = OTHER if most is not None and most not in levels else most
    not_missing = tuple(level for level in texts.levels if level in MISSING_WORDS)
    return CategoryColumn(name, tuple(levels), fill, not_missing, n_gaps, has_other)


def _with_last(levels: list[str], last: str) -> list[str]:
    """Categories with another one, so that it has the feature if there are two."""
    return [*(level for level in levels if level != last), last]


def _are_observed(values: np.ndarray) -> np.ndarray:
    """Mask of the values that do not count as missing, as in exported models."""
    # Comparisons with NaN are false.
    return np.abs(values) <= LARGEST_VALUE


def _median(observed: np.ndarray) -> float:
    return float(np.median(observed)) if observed.size else 0.0


def as_texts(column: Column) -> Texts:
    """A column as categories; the number 1.0 becomes "1"."""
    if isinstance(column, Texts):
        return column
    assert isinstance(column, Numbers)
    distinct, codes = np.unique(column.values, return_inverse=True)
    names = [f"{value:.15g}" for value in distinct[~np.isnan(distinct)].tolist()]
    order = np.argsort(names) if names else np.empty(0, dtype=int)
    position = np.full(distinct.size + 1, -1, np.int32)
    position[order] = np.arange(len(names))
    return Texts(position[codes], [names[k] for k in order])


def rows_of_levels(texts: Texts, mask: np.ndarray) -> dict[str, np.ndarray]:
    """The rows of each level in a mask of levels, if it has any."""
    rows: dict[str, list[int]] = {}
    for row in np.flatnonzero(np.append(mask, False)[texts.codes]).tolist():
        rows.setdefault(texts.levels[texts.codes[row]], []).append(row)
    return {name: np.array(rows[name]) for name in sorted(rows)}


def _other_gaps(n_gaps: int, fill: Any) -> str:
    return f"it has {n_gaps:,} missing values, to be replaced by {fill!r} if at all"


def _missing_values(name: str, missing: np.ndarray) -> str:
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


# --- Means and scales -----------------------------------------------------------------
#
# A number has variance 1. So have the categories of a column together: with a scale for
# each category, a column of many would be cheaper than one of few, and a rare category
# cheaper than a frequent one.

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
    """The scale of categories with some shares of the rows; 1 if they are constant."""
    return math.sqrt(sum(share * (1.0 - share) for share in shares)) or 1.0


def deviation(
    features: Iterable[np.ndarray],
    means: Sequence[float],
    scales: Sequence[float],
    have_common: bool,
) -> float:
    """The largest deviation of the features of a column from mean 0 and variance 1.

    With ``have_common`` they have a common scale, and variance 1 together. Constant
    features have a scale of 1. A rounding error of each mean is allowed.
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
    # Unlike Python's maximum, this is NaN if a number is.
    return float(np.max([*offs, *(abs(variance - 1.0) for variance in variances)]))
