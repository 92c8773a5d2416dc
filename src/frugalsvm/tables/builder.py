"""ColumnBuilder: builds a column of a text table chunk by chunk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from ..export.categories import MISSING_WORDS, STRIPPED
from .columns import Texts, in_order
from .formats import (
    OPEN,
    FormatRule,
    Readings,
    are_whole,
    may_be_dates,
    may_be_numbers,
    tells_points,
)

MISSING = frozenset(MISSING_WORDS)
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
# Number of cells up to which Python is faster than pandas.
N_FEW = 1000


class Kind(Enum):
    """What a column appears to be so far."""

    EMPTY = "empty"
    # Numbers in the usual format of programs.
    PLAIN = "plain"
    # Strings that are numbers in another format.
    WRITTEN = "written"
    TEXT = "text"
    # Numbers and strings; the column must be read again as text.
    MIXED = "mixed"


class ColumnBuilder:
    """Builds a column chunk by chunk.

    Parameters
    ----------
    rule : FormatRule, default=OPEN
        What is known about its numbers.
    is_text : bool, default=False
        Whether cells are strings, and are to be kept as such.
    missing : frozenset of str, default=MISSING
        Strings that mean a missing value.

    Attributes
    ----------
    kind : Kind
    size : int
        Rows so far.
    may_have_points : bool
        Whether plain numbers may have points.
    """

    def __init__(
        self,
        rule: FormatRule = OPEN,
        is_text: bool = False,
        missing: frozenset[str] = MISSING,
    ):
        self.kind = Kind.EMPTY
        self.size = 0
        self.may_have_points = False
        self._rule, self._is_text, self._missing = rule, is_text, missing
        self._numbers: list[np.ndarray] = []
        # Those of chunks with points.
        self._pointed: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._place: dict[str | None, int] = {}

    # What few columns need is computed on demand: a table may be wide.

    @cached_property
    def readings(self) -> Readings:
        """The readings of numbers in another format."""
        return Readings(self._rule)

    @cached_property
    def tells_points(self) -> bool:
        """Whether points of plain numbers are certainly decimal points."""
        return any(map(tells_points, self._pointed))

    @cached_property
    def are_whole(self) -> bool:
        """Whether all plain numbers are whole."""
        return all(map(are_whole, self._numbers))

    @property
    def may_have_zeros(self) -> bool:
        """Whether plain numbers may be written with a point and trailing zeros."""
        return self.may_have_points and self.are_whole

    @cached_property
    def may_be_dates(self) -> bool:
        """Whether all plain numbers may be months or times."""
        return all(map(may_be_dates, self._numbers))

    def add(self, series: Any) -> None:
        """Add a chunk, as read by pandas."""
        dtype = series.dtype.kind
        if self.kind is Kind.MIXED or dtype == "b":
            self.kind = Kind.MIXED
        elif dtype in "iuf":
            self._add_numbers(series.to_numpy(dtype=np.float64), dtype == "f")
        else:
            self._add_texts(series)
        self.size += len(series)

    def _add_numbers(self, values: np.ndarray, may_have_points: bool) -> None:
        if may_have_points and np.isnan(values).all():
            self._add_gaps(values.size)
        elif self.kind in (Kind.EMPTY, Kind.PLAIN):
            self.kind = Kind.PLAIN
            self._numbers.append(values)
            if may_have_points:
                self.may_have_points = True
                self._pointed.append(values)
        elif self.kind is Kind.WRITTEN and not may_have_points:
            self.readings.add_whole(values)
        else:
            self.kind = Kind.MIXED

    def _add_gaps(self, n: int) -> None:
        if self.kind is Kind.TEXT:
            self._codes.append(np.full(n, -1, np.int32))
        elif self.kind is Kind.WRITTEN:
            self.readings.add_whole(np.full(n, np.nan))
        else:
            self._numbers.append(np.full(n, np.nan))

    def _add_texts(self, series: Any) -> None:
        codes, found = _distinct(series)
        if not all(isinstance(one, str) for one in found):
            self.kind = Kind.MIXED
            return
        codes, texts = _without_blanks(
            codes, found, self._missing, self._rule.is_number
        )
        if not texts:
            self._add_gaps(codes.size)
        elif self.kind is Kind.TEXT:
            self._keep(texts, codes)
        elif self._are_numbers(texts, codes):
            self.kind = Kind.WRITTEN
        elif self.kind is Kind.EMPTY:
            self._begin_texts(texts, codes)
        else:
            self.kind = Kind.MIXED

    def _are_numbers(self, texts: list[str], codes: np.ndarray) -> bool:
        """Whether strings are numbers, like those so far."""
        if self._is_text or self.may_have_points or not may_be_numbers(texts):
            return False
        for values in self._numbers:
            self.readings.add_whole(values)
        self._numbers = []
        return self.readings.add(texts, codes)

    def _begin_texts(self, texts: list[str], codes: np.ndarray) -> None:
        self.kind = Kind.TEXT
        # Chunks without any value look like numbers.
        self._codes.append(np.full(self.size, -1, np.int32))
        self._keep(texts, codes)

    def _keep(self, texts: list[str], codes: np.ndarray) -> None:
        places = [self._place.setdefault(one, len(self._place)) for one in texts]
        self._codes.append(np.array([*places, -1], np.int32)[codes])

    def numbers(self) -> np.ndarray:
        """The plain numbers."""
        return np.concatenate(self._numbers)

    def texts(self) -> Texts:
        """The strings."""
        return in_order(np.concatenate(self._codes), list(self._place))


def _distinct(series: Any) -> tuple[np.ndarray, Sequence[Any]]:
    """The code of each cell, -1 if it is empty, and the distinct cells."""
    from pandas import factorize

    if len(series) > N_FEW:
        return factorize(series)
    # For few cells this takes a tenth of the time.
    place: dict[Any, int] = {}
    codes = [
        -1 if one != one else place.setdefault(one, len(place))
        for one in series.tolist()
    ]
    return np.array(codes, np.int32), list(place)


def _without_blanks(
    codes: np.ndarray, found: Sequence[str], missing: frozenset[str], are_numbers: bool
) -> tuple[np.ndarray, list[str]]:
    """Stripped and unique strings, without those that mean a missing value.

    Infinite numbers are missing, too.
    """
    place: dict[str, int] = {}
    new = [
        -1
        if text in missing or (are_numbers and _INFINITE.fullmatch(text))
        else place.setdefault(text, len(place))
        for text in (one.strip(STRIPPED) for one in found)
    ]
    return np.array([*new, -1])[codes], list(place)
