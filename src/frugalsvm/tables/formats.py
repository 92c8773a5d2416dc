"""Number formats of a text table, decided column by column.

``1.234`` is a little more than one in some countries and more than a thousand in
others. A column is read both with decimal points and with decimal commas, as long as
its cells allow both. If only one reading remains, it is used; if two remain with
different values, only the user can decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

DECIMALS = (".", ",")
# Thousands separators, and characters that look like them.
GROUPS = {".": ".", ",": ",", " ": " \u00a0\u202f", "'": "'\u2019"}
NO_GROUPS = ""
# Number of strings of a column that are inspected first.
N_LOOKED_AT = 1000
_SIGNS = {".": "points", ",": "commas", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True)
class NumberFormat:
    """The format in which the numbers of a column are written.

    Attributes
    ----------
    decimal : {".", ","} or None
        None if all numbers were whole, so that it is unknown.
    thousands : {".", ",", " ", "'"} or None
        Thousands separator; None if there is none.
    """

    decimal: str | None = "."
    thousands: str | None = None

    def __str__(self) -> str:
        parts = [] if self.decimal is None else [f"decimal {_SIGNS[self.decimal]}"]
        if self.thousands is not None:
            parts.append(f"{_SIGNS[self.thousands]} between thousands")
        return " and ".join(parts) or "whole numbers"

    @property
    def example(self) -> str:
        """A number in this format."""
        fraction = "" if self.decimal is None else f"{self.decimal}5"
        return f"1{self.thousands or ''}234{fraction}"


# The usual format of programs, and that of columns with only whole numbers.
PLAIN, WHOLE = NumberFormat(), NumberFormat(None)


@dataclass(frozen=True)
class FormatRule:
    """The formats that the numbers of a column may have, set before it is read.

    Attributes
    ----------
    decimal : {".", ","} or None
        None if it is open.
    thousands : str or None
        None if it is open, ``""`` if there is no thousands separator.
    is_number : bool
        Whether the column is known to be numeric, so that other text is an error.
    was_whole : bool
        Whether all numbers of an earlier table were whole, so that 1.234 may also be
        whole.
    """

    decimal: str | None = None
    thousands: str | None = None
    is_number: bool = False
    was_whole: bool = False

    def __post_init__(self) -> None:
        if self.decimal is None and self.thousands in DECIMALS:
            # One character cannot be both separators.
            object.__setattr__(self, "decimal", "," if self.thousands == "." else ".")

    @classmethod
    def of(cls, format: NumberFormat) -> FormatRule:
        """The rule for a column whose format is already decided."""
        if format.decimal is None:
            return cls(is_number=True, was_whole=True)
        return cls(format.decimal, format.thousands or NO_GROUPS, True)

    @property
    def excludes_plain(self) -> bool:
        """Whether 1.234, say, cannot be read as a plain number."""
        return self.decimal == ","

    def __str__(self) -> str:
        return str(NumberFormat(self.decimal, self.thousands or None))


# The cells decide.
OPEN = FormatRule()


@dataclass(frozen=True)
class FormatRules:
    """The rules for the number formats of a file.

    Attributes
    ----------
    file : FormatRule
        The rule for all columns that are not in ``columns``.
    columns : mapping from names to FormatRule
    """

    file: FormatRule = OPEN
    columns: Mapping[str, FormatRule] = field(default_factory=dict)

    def __getitem__(self, name: str) -> FormatRule:
        return self.columns.get(name, self.file)


ALL_OPEN = FormatRules()


class Doubt(NamedTuple):
    """A cell that can be read in two ways, or not at all.

    Attributes
    ----------
    row : int
        Counted from 0.
    text : str
    values : tuple of float
        Its values with decimal points and with decimal commas; empty if it cannot be
        read.
    """

    row: int
    text: str
    values: tuple[float, ...] = ()


class Readings:
    """The numbers of a text column, read with decimal points and decimal commas.

    Parameters
    ----------
    rule : FormatRule, default=OPEN
        The formats that are allowed.
    """

    def __init__(self, rule: FormatRule = OPEN):
        self.rule = rule
        self.doubt: Doubt | None = None
        self._size = 0
        # Whether all strings look like dates, and whether some certainly are.
        self._look_like_dates, self._has_dates = True, False
        self._thousands = _ThousandsEvidence()
        signs = DECIMALS if rule.decimal is None else (rule.decimal,)
        self._all = [_Reading(sign, rule.thousands) for sign in signs]
        self._possible = self._all

    def admits(self, texts: Sequence[str]) -> np.ndarray:
        """Which strings are numbers in any format that the rule allows."""
        return np.logical_or.reduce([reading.admits(texts) for reading in self._all])

    def add(self, texts: Sequence[str], codes: np.ndarray) -> bool:
        """Add more cells; returns False if the column is not numeric.

        Parameters
        ----------
        texts : sequence of str
            All different.
        codes : ndarray of int
            For each cell, the position of its text; -1 if it is missing.
        """
        possible = []
        for reading in self._possible:
            values = reading.values(texts)
            if values is not None:
                reading.pieces.append(np.append(values, np.nan)[codes])
                possible.append(reading)
        self._possible = possible
        self._note_dates(texts)
        self._thousands.add(texts)
        if not possible:
            self._note_misfit(texts, codes)
        elif len(possible) == 2 and self.doubt is None:
            self._note_difference(texts, codes)
        self._size += codes.size
        return bool(possible)

    def add_whole(self, values: np.ndarray) -> None:
        """Add cells that are whole numbers or missing."""
        for reading in self._possible:
            reading.pieces.append(values)
        self._size += values.size

    @property
    def are_numbers(self) -> bool:
        """Whether all cells so far are numbers."""
        return bool(self._possible)

    @property
    def only_format(self) -> NumberFormat | None:
        """The format, if the cells allow only one."""
        return self._possible[0].format if len(self._possible) == 1 else None

    def _note_dates(self, texts: Sequence[str]) -> None:
        if self._look_like_dates:
            self._look_like_dates = bool(_matches(_DATE, texts).all())
            has = self._look_like_dates and bool(_matches(_SURE_DATE, texts).any())
            self._has_dates = self._has_dates or has

    @property
    def look_like_dates(self) -> bool:
        """Whether all strings may be months, days or times: 06.2019, 14.05, 11.45."""
        return self._look_like_dates and self._size > 0

    @property
    def are_dates(self) -> bool:
        """Whether they cannot be numbers written by a program: 06.2019, 01.05."""
        return self.look_like_dates and self._has_dates

    def _note_misfit(self, texts: Sequence[str], codes: np.ndarray) -> None:
        """Remember the first cell that is not a number like the others."""
        fits = np.array([reading.admits(texts) for reading in self._all])
        by_cell = np.pad(fits, ((0, 0), (0, 1)), constant_values=True)[:, codes]
        wrong = ~by_cell.any(axis=0)
        if not wrong.any():
            first = int(np.argmax(codes >= 0))
            wrong = ~by_cell[int(np.argmax(by_cell[:, first]))]
        row = int(np.argmax(wrong)) if wrong.any() else int(np.argmax(codes >= 0))
        self.doubt = Doubt(self._size + row, texts[codes[row]])

    def _note_difference(self, texts: Sequence[str], codes: np.ndarray) -> None:
        """Remember the first cell that has different values in the two readings."""
        first, second = (reading.pieces[-1] for reading in self._all)
        # NaN, where cells are missing, differs from NaN.
        differs = (first != second) & (codes >= 0)
        if differs.any():
            row = int(np.argmax(differs))
            values = float(first[row]), float(second[row])
            self.doubt = Doubt(self._size + row, texts[codes[row]], values)

    def decide(self, plain_by_default: bool) -> NumberFormat | None:
        """The format; None if the cells allow two with different numbers.

        Parameters
        ----------
        plain_by_default : bool
            Whether ``1.234`` is a plain number if nothing else decides.
        """
        if len(self._possible) == 1:
            return self._possible[0].format
        points = self._possible[0]
        if self.doubt is None:
            return NumberFormat(None, points.thousands)
        is_plain = plain_by_default and not self._thousands.are_likely
        return PLAIN if is_plain and points.thousands is None else None

    def numbers(self, format: NumberFormat) -> np.ndarray:
        """The values of all cells in a format."""
        signs = [reading.decimal for reading in self._possible]
        index = signs.index(format.decimal) if format.decimal in signs else 0
        return np.concatenate(self._possible[index].pieces)


class _ThousandsEvidence:
    """Evidence on whether points are decimal or thousands separators."""

    def __init__(self) -> None:
        self._have_three, self._has_zero, self._has_none = True, False, False

    def add(self, texts: Sequence[str]) -> None:
        """Add more strings."""
        if self._have_three:
            pointed = [text for text in texts if "." in text]
            self._has_none |= len(pointed) < len(texts)
            self._have_three = bool(_matches(_THREE_DIGITS, pointed).all())
            self._has_zero |= any(text.endswith("0") for text in pointed)

    @property
    def are_likely(self) -> bool:
        """Whether points are likely to be thousands separators: 750 beside 12.400.

        As decimals, programs write either all numbers with three digits, or none with a
        trailing zero.
        """
        return self._have_three and self._has_zero and self._has_none


class _Reading:
    """The numbers of a column, read with one decimal separator."""

    def __init__(self, decimal: str, thousands: str | None):
        self.decimal = decimal
        self.thousands: str | None = None
        self.pieces: list[np.ndarray] = []
        # The thousands separators that the column may have.
        self._groups: Sequence[str] = [group for group in GROUPS if group != decimal]
        if thousands is not None:
            self._groups = [group for group in self._groups if group == thousands]

    @property
    def format(self) -> NumberFormat:
        return NumberFormat(self.decimal, self.thousands)

    def admits(self, texts: Sequence[str]) -> np.ndarray:
        """Which strings are numbers with this separator and any thousands separator."""
        each = [_fits(texts, self.decimal, group) for group in (None, *self._groups)]
        return np.logical_or.reduce(each)

    def values(self, texts: Sequence[str]) -> np.ndarray | None:
        """The numbers; None unless all strings are numbers."""
        if not _fits(texts, self.decimal, self.thousands).all():
            # Detect the thousands separator, unless an earlier chunk has one.
            groups = self._groups if self.thousands is None else ()
            for group in groups:
                if _fits(texts, self.decimal, group).all():
                    self.thousands = group
                    break
            else:
                return None
        signs = dict.fromkeys(GROUPS[self.thousands], "") if self.thousands else {}
        if self.decimal == ",":
            signs[","] = "."
        table = str.maketrans(signs)
        return np.array([float(text.translate(table)) for text in texts], np.float64)


def _fits(texts: Sequence[str], decimal: str, thousands: str | None) -> np.ndarray:
    """Which strings are numbers in a format."""
    return _matches(_pattern(decimal, thousands), texts)


def _matches(pattern: str, texts: Sequence[str]) -> np.ndarray:
    """Which strings match a regular expression in full."""
    fullmatch = re.compile(pattern).fullmatch
    matches = (fullmatch(text) is not None for text in texts)
    return np.fromiter(matches, bool, len(texts))


@cache
def _pattern(decimal: str, thousands: str | None) -> str:
    """A regular expression for numbers in a format; grouping thousands is optional."""
    sign = re.escape(decimal)
    plain = f"(?:[0-9]+(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][-+]?[0-9]+)?"
    if thousands is None:
        return f"[-+]?{plain}"
    # Grouped numbers do not begin with a zero: 0.125 has no thousands.
    group = f"[{GROUPS[thousands]}]"
    grouped = f"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+(?:{sign}[0-9]*)?"
    return f"[-+]?(?:{plain}|{grouped})"


# Day and month, time, month and year; and those that are certainly not numbers.
_DATE = (
    r"(?:0?[1-9]|[12][0-9]|3[01])\.(?:0[1-9]|1[0-2])"
    r"|(?:[01]?[0-9]|2[0-3])\.[0-5][0-9]"
    r"|(?:0?[1-9]|1[0-2])\.(?:19|20)[0-9]{2}"
)
_SURE_DATE = r"0[0-9]\.[0-9]+"
_THREE_DIGITS = r".*\.[0-9]{3}"
# 4,79 and 1.172,50, with or without a unit or currency, but not 1,250.
_FOREIGN = (
    r"[^0-9]{0,4}(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)"
    r",(?:[0-9]{1,2}|[0-9]{4,})[^0-9]{0,4}"
)


def have_commas(texts: Sequence[str]) -> bool:
    """Whether at least half of the strings look like numbers with decimal commas."""
    sample = texts[:N_LOOKED_AT]
    n = sum(re.fullmatch(_FOREIGN, text) is not None for text in sample)
    return 0 < len(sample) <= 2 * n


def look_like_numbers(texts: Sequence[str]) -> bool:
    """Whether the first strings are numbers, so that a closer look is worthwhile."""
    return are_all_numbers(texts[:N_LOOKED_AT])


def are_all_numbers(texts: Sequence[str]) -> bool:
    """Whether each string is a number in some format, not necessarily the same."""
    patterns = _patterns()
    return all(any(pattern.fullmatch(text) for pattern in patterns) for text in texts)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    """Regular expressions for numbers in all formats."""
    return tuple(
        re.compile(_pattern(sign, group))
        for sign in DECIMALS
        for group in (None, *GROUPS)
        if group != sign
    )


def are_whole(values: np.ndarray) -> bool:
    """Whether all numbers are whole, apart from missing ones."""
    observed = values[~np.isnan(values)]
    return bool((np.isfinite(observed) & (observed == np.round(observed))).all())


def look_like_dates(values: np.ndarray) -> bool:
    """Whether numbers may be months (06.2019), days or times."""
    observed = values[~np.isnan(values)]
    if not np.isfinite(observed).all():
        return False
    first = np.floor(observed)
    fractions = np.round((observed - first) * 10_000)
    is_month = (first >= 1) & (first <= 12) & (fractions >= 1900) & (fractions < 2100)
    is_day_or_time = (first >= 0) & (first <= 31) & (fractions < 6000)
    is_day_or_time &= fractions % 100 == 0
    return bool((is_month | is_day_or_time).all())


def has_decimal_points(values: np.ndarray) -> bool:
    """Whether the points cannot be thousands separators: 0.5, 2.0625, 1234.5."""
    observed = np.abs(values[np.isfinite(values)])
    if ((observed > 0) & (observed < 1)).any():
        return True
    # Larger numbers have no thousandths, and would overflow.
    thousandths = observed[observed < 1e15] * 1000
    return not look_like_dates(values) and bool(
        ((observed >= 1000) & (observed != np.round(observed))).any()
        or (np.abs(thousandths - np.round(thousandths)) > 1e-6 * thousandths).any()
    )
