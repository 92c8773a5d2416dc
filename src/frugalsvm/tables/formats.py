"""How numbers are written in a text table, decided column by column.

``1.234`` is one and a bit in one country and more than a thousand in the next. A column
is read with decimal points and with decimal commas at once, as long as its cells admit
both. What only one way of reading admits is decided; what two admit with different
values is decided by nobody but the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

DECIMALS = (".", ",")
# What may group thousands, and the characters that look alike.
GROUPS = {".": ".", ",": ",", " ": " \u00a0\u202f", "'": "'\u2019"}
NO_GROUPS = ""
_SIGNS = {".": "points", ",": "commas", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : {".", ","} or None
        None if there were whole numbers only, which tell nothing of it.
    thousands : {".", ",", " ", "'"} or None
        What groups thousands; None if nothing does.
    """

    decimal: str | None = "."
    thousands: str | None = None

    def __str__(self) -> str:
        parts = [] if self.decimal is None else [f"decimal {_SIGNS[self.decimal]}"]
        if self.thousands is not None:
            parts.append(f"{_SIGNS[self.thousands]} in thousands")
        return " and ".join(parts) or "whole numbers"

    @property
    def example(self) -> str:
        """A number that is written so."""
        fraction = "" if self.decimal is None else f"{self.decimal}5"
        return f"1{self.thousands or ''}234{fraction}"


# As every program writes numbers, and where all of them are whole.
PLAIN, WHOLE = NumberFormat(), NumberFormat(None)


@dataclass(frozen=True)
class FormatRule:
    """What is known of a column's format before it is read.

    Attributes
    ----------
    decimal : {".", ","} or None
        None if that is open.
    thousands : str or None
        None if that is open, ``""`` if nothing groups thousands.
    is_number : bool
        Whether a text that is no number is an error: then the column is known to have
        numbers.
    """

    decimal: str | None = None
    thousands: str | None = None
    is_number: bool = False

    def __post_init__(self) -> None:
        if self.decimal is None and self.thousands in DECIMALS:
            # One sign cannot be both.
            object.__setattr__(self, "decimal", "," if self.thousands == "." else ".")

    @classmethod
    def of(cls, known: NumberFormat) -> FormatRule:
        """The rule for a column whose format was decided before."""
        groups = known.thousands or NO_GROUPS
        return cls(known.decimal, None if known.decimal is None else groups, True)

    @property
    def excludes_plain(self) -> bool:
        """Whether what looks like a plain number, 1.234, is none, or another one."""
        return self.decimal == ","

    def __str__(self) -> str:
        return str(NumberFormat(self.decimal, self.thousands or None))


# Everything is left to the cells.
OPEN = FormatRule()


@dataclass(frozen=True)
class FormatRules:
    """What is known of the formats of a file.

    Attributes
    ----------
    file : FormatRule
        Of all columns that have no rule of their own.
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
        With decimal points and with decimal commas; empty if it cannot be read.
    """

    row: int
    text: str
    values: tuple[float, ...] = ()


class Readings:
    """The numbers of a column of texts, read with points and with commas.

    Parameters
    ----------
    rule : FormatRule, default=OPEN
        What is known before.
    """

    def __init__(self, rule: FormatRule = OPEN):
        self.rule = rule
        self.doubt: Doubt | None = None
        self._size = 0
        signs = DECIMALS if rule.decimal is None else (rule.decimal,)
        self._all = [_Reading(sign, rule.thousands) for sign in signs]
        self._possible = self._all

    def add(self, texts: Any, codes: np.ndarray) -> bool:
        """Take some more cells; False if the column is not one of numbers.

        Parameters
        ----------
        texts : Series of str
            All different.
        codes : ndarray of int
            For each cell the place of its text, -1 where it is missing.
        """
        possible = []
        for one in self._possible:
            values = one.values(texts)
            if values is not None:
                one.pieces.append(np.append(values, np.nan)[codes])
                possible.append(one)
        self._possible = possible
        if not possible:
            self._note_misfit(texts, codes)
        elif len(possible) == 2 and self.doubt is None:
            self._note_difference(texts, codes)
        self._size += codes.size
        return bool(possible)

    def add_whole(self, values: np.ndarray) -> None:
        """Take cells that are whole numbers, or missing."""
        for one in self._possible:
            one.pieces.append(values)
        self._size += values.size

    @property
    def are_numbers(self) -> bool:
        """Whether all cells so far are numbers."""
        return bool(self._possible)

    @property
    def only_format(self) -> NumberFormat | None:
        """The format, if the cells admit but one."""
        return self._possible[0].format if len(self._possible) == 1 else None

    def _note_misfit(self, texts: Any, codes: np.ndarray) -> None:
        """Remember the first cell that is no number, or not one like the others."""
        fits = np.array([one.admits(texts) for one in self._all])
        by_cell = np.pad(fits, ((0, 0), (0, 1)), constant_values=True)[:, codes]
        wrong = ~by_cell.any(axis=0)
        if not wrong.any():
            first = int(np.argmax(codes >= 0))
            wrong = ~by_cell[int(np.argmax(by_cell[:, first]))]
        row = int(np.argmax(wrong)) if wrong.any() else int(np.argmax(codes >= 0))
        self.doubt = Doubt(self._size + row, str(texts.iloc[codes[row]]))

    def _note_difference(self, texts: Any, codes: np.ndarray) -> None:
        """Remember the first cell that two readings take for different numbers."""
        first, second = (one.pieces[-1] for one in self._all)
        # NaN, where cells are missing, differs from NaN.
        differs = (first != second) & (codes >= 0)
        if differs.any():
            row = int(np.argmax(differs))
            values = float(first[row]), float(second[row])
            self.doubt = Doubt(self._size + row, str(texts.iloc[codes[row]]), values)

    def decide(self, plain_by_default: bool) -> NumberFormat | None:
        """The format; None if the cells admit two with different numbers.

        Parameters
        ----------
        plain_by_default : bool
            Whether ``1.234`` is a plain number where nothing tells.
        """
        if len(self._possible) == 1:
            return self._possible[0].format
        points = self._possible[0]
        if self.doubt is None:
            return NumberFormat(None, points.thousands)
        return PLAIN if plain_by_default and points.thousands is None else None

    def numbers(self, found: NumberFormat) -> np.ndarray:
        """The values of all cells in a format."""
        signs = [one.decimal for one in self._possible]
        place = signs.index(found.decimal) if found.decimal in signs else 0
        return np.concatenate(self._possible[place].pieces)


class _Reading:
    """The numbers of a column, if they have a certain decimal sign."""

    def __init__(self, decimal: str, thousands: str | None):
        self.decimal = decimal
        self.thousands: str | None = None
        self.pieces: list[np.ndarray] = []
        self._others: Sequence[str] = [one for one in GROUPS if one != decimal]
        if thousands is not None:
            self._others = [one for one in self._others if one == thousands]

    @property
    def format(self) -> NumberFormat:
        return NumberFormat(self.decimal, self.thousands)

    def admits(self, texts: Any) -> np.ndarray:
        """Which texts are numbers with this sign, whatever groups thousands."""
        each = [_fits(texts, self.decimal, one) for one in (None, *self._others)]
        return np.logical_or.reduce(each)

    def values(self, texts: Any) -> np.ndarray | None:
        """The numbers; None if not all texts are some."""
        fits = _fits(texts, self.decimal, self.thousands).all()
        return self._converted(texts) if fits or self._find_groups(texts) else None

    def _find_groups(self, texts: Any) -> bool:
        """Find out what groups thousands, unless that is known."""
        if self.thousands is not None:
            return False
        for one in self._others:
            if _fits(texts, self.decimal, one).all():
                self.thousands = one
                return True
        return False

    def _converted(self, texts: Any) -> np.ndarray:
        if self.thousands is not None:
            groups = f"[{GROUPS[self.thousands]}]"
            texts = texts.str.replace(groups, "", regex=True)
        if self.decimal == ",":
            texts = texts.str.replace(",", ".", regex=False)
        return texts.astype(object).to_numpy().astype(np.float64)


def _fits(texts: Any, decimal: str, thousands: str | None) -> np.ndarray:
    """Which texts are numbers of a format."""
    found = texts.str.fullmatch(_pattern(decimal, thousands))
    return found.to_numpy(dtype=bool)


@cache
def _pattern(decimal: str, thousands: str | None) -> str:
    """A regular expression for numbers of a format; thousands may be left ungrouped."""
    sign = re.escape(decimal)
    plain = f"(?:[0-9]+(?:{sign}[0-9]*)?|{sign}[0-9]+)(?:[eE][-+]?[0-9]+)?"
    if thousands is None:
        return f"[-+]?{plain}"
    # No group begins with a zero: 0.125 is no number of thousands.
    group = f"[{GROUPS[thousands]}]"
    grouped = f"[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+(?:{sign}[0-9]*)?"
    return f"[-+]?(?:{plain}|{grouped})"


def are_all_numbers(texts: Sequence[str]) -> bool:
    """Whether each text is a number in some format, if not all in the same."""
    return all(any(re.fullmatch(one, text) for one in _any()) for text in texts)


@cache
def _any() -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(_pattern(sign, group))
        for sign in DECIMALS
        for group in (None, *GROUPS)
        if group != sign
    )


def tells_points(values: np.ndarray) -> bool:
    """Whether numbers with a point cannot have been thousands: 0.5, 2.0625, 1234.5."""
    known = np.abs(values[np.isfinite(values)])
    thousandths = known * 1000
    return bool(
        ((known > 0) & (known < 1)).any()
        or ((known >= 1000) & (known != np.round(known))).any()
        or (np.abs(thousandths - np.round(thousandths)) > 1e-6 * thousandths).any()
    )
