"""ColumnBuilder: builds a column of a text table chunk by chunk."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from ..output.portable.categories import MISSING_WORDS, STRIPPED
from .columns import Texts, in_order
from .formats import (
    OPEN,
    FormatRule,
    Readings,
    are_whole,
    may_be_dates,
    tells_points,
)


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

    Attributes
    ----------
    kind : Kind
    size : int
        Rows so far.
    may_have_points, tells_points, may_be_dates : bool
        For plain numbers: whether they may have points, whether these are certainly
        decimal points, and whether all numbers may be months or times.
    readings : Readings
        The readings of numbers in another format.
    """

    def __init__(self, rule: FormatRule = OPEN, is_text: bool = False):
        self.kind = Kind.EMPTY
        self.size = 0
        self.tells_points, self.may_have_points = False, False
        self.may_be_dates, self._is_whole = True, True
        self.readings = Readings(rule)
        self._is_text = is_text
        self._numbers: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._place: dict[str | None, int] = {}

    @property
    def may_have_zeros(self) -> bool:
        """Whether plain numbers may be written with a point and trailing zeros."""
        return self.may_have_points and self._is_whole

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
        if np.isnan(values).all():
            self._add_gaps(values.size)
        elif self.kind in (Kind.EMPTY, Kind.PLAIN):
            self.kind = Kind.PLAIN
            self._numbers.append(values)
            if may_have_points:
                self.may_have_points = True
                self.tells_points = self.tells_points or tells_points(values)
            self.may_be_dates = self.may_be_dates and may_be_dates(values)
            self._is_whole = self._is_whole and are_whole(values)
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
        from pandas import Series, factorize

        codes, found = factorize(series)
        if not all(isinstance(one, str) for one in found):
            self.kind = Kind.MIXED
            return
        codes, found = _without_blanks(codes, Series(found))
        if found.empty:
            self._add_gaps(codes.size)
        elif self.kind is Kind.TEXT:
            self._keep(found, codes)
        elif self._are_numbers(found, codes):
            self.kind = Kind.WRITTEN
        elif self.kind is Kind.EMPTY:
            self._begin_texts(found, codes)
        else:
            self.kind = Kind.MIXED

    def _are_numbers(self, found: Any, codes: np.ndarray) -> bool:
        """Whether strings are numbers, like those so far."""
        if self._is_text or self.may_have_points:
            return False
        for values in self._numbers:
            self.readings.add_whole(values)
        self._numbers = []
        return self.readings.add(found.tolist(), codes)

    def _begin_texts(self, found: Any, codes: np.ndarray) -> None:
        self.kind = Kind.TEXT
        # Chunks without any value look like numbers.
        self._codes.append(np.full(self.size, -1, np.int32))
        self._keep(found, codes)

    def _keep(self, found: Any, codes: np.ndarray) -> None:
        places = [self._place.setdefault(one, len(self._place)) for one in found]
        self._codes.append(np.array([*places, -1], np.int32)[codes])

    def numbers(self) -> np.ndarray:
        """The plain numbers."""
        return np.concatenate(self._numbers)

    def texts(self) -> Texts:
        """The strings."""
        return in_order(np.concatenate(self._codes), list(self._place))


def _without_blanks(codes: np.ndarray, found: Any) -> tuple[np.ndarray, Any]:
    """Stripped and unique strings, without those that mean a missing value."""
    from pandas import Series, factorize

    if found.empty:
        return codes, found
    stripped = found.str.strip(STRIPPED)
    places, left = factorize(stripped.mask(stripped.isin(MISSING_WORDS)))
    return np.append(places, -1)[codes], Series(left)
