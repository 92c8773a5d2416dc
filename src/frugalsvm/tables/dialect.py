"""Dialect: the separator and the column names of a text table.

It is guessed from the first lines; remarks on the table report the guess.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from ..export.lookups import MISSING_WORDS, STRIPPED
from ..run.words import different
from .columns import TableError, Texts, in_order, listed
from .formats import (
    OPEN,
    FormatRule,
    Readings,
    are_whole,
    may_be_dates,
    may_be_numbers,
    tells_points,
)

# If two fit equally well, the first is used: commas may be in numbers or names.
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
# Number of rows that a guess is based on.
N_ROWS = 200
# The line that tells Excel the separator.
TOLD = re.compile(r'"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK_LINES = re.compile(r"(?: *(?:\r\n|\n|\r))*")
_ANY_NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    separator : str
    names : list of str
        Column names; all different.
    remarks : list of str
        What the user should know.
    skipped : int
        Lines before the first row, including the header line.
    """

    separator: str
    names: list[str]
    remarks: list[str]
    skipped: int


def guess(sample: str, source: str, is_whole: bool) -> Dialect:
    """The dialect of a table that begins with a sample.

    Parameters
    ----------
    sample : str
    source : str
        Name of the file, for errors.
    is_whole : bool
        Whether the sample is the whole file; otherwise its last line may be cut.
    """
    if not sample.strip():
        raise TableError(f"{source} is empty; it needs a header line and some rows.")
    told = TOLD.match(sample)
    start = _BLANK_LINES.match(sample, told.end() if told else 0)
    assert start is not None
    rest = sample[start.end() :]
    if told is None:
        separator, rows = _separator(rest, is_whole)
    else:
        separator, rows = told[1], _rows(rest, told[1], is_whole)
    remarks = []
    if separator != ",":
        remarks.append(f"cells are separated by {SEPARATORS[separator]}")
    names, renamed = unique_names(rows[0], source)
    remarks += renamed
    n_blank = len(_LINE_END.findall(start[0]))
    return Dialect(separator, names, remarks, int(told is not None) + n_blank + 1)


def _separator(sample: str, is_whole: bool) -> tuple[str, list[list[str]]]:
    """The separator that makes all rows equally long, and the first rows."""
    best = (",", _rows(sample, ",", is_whole))
    best_score = (0.0, 1)
    for separator in SEPARATORS:
        rows = _rows(sample, separator, is_whole)
        width = len(rows[0])
        if width < 2:
            continue
        same = sum(len(row) == width for row in rows) / len(rows)
        if (same, width) > best_score:
            best, best_score = (separator, rows), (same, width)
    return best


def _rows(sample: str, separator: str, is_whole: bool) -> list[list[str]]:
    # str.splitlines would break lines at more than line feeds.
    lines = io.StringIO(sample, newline="")
    # Cells may be as long as the sample.
    limit = csv.field_size_limit(max(len(sample), 2**17))
    try:
        # A row is a list of cells; blank lines have none.
        read = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows = list(islice((row for row in read if row), N_ROWS + 1))
    except csv.Error:
        return [[sample.split("\n", 1)[0]]]
    finally:
        csv.field_size_limit(limit)
    if len(rows) > 1 and len(rows) <= N_ROWS and not is_whole:
        rows.pop()
    return rows or [[""]]


def unique_names(header: list[str], source: str) -> tuple[list[str], list[str]]:
    """Unique names for all columns, and remarks on those that were changed."""
    header = [name.strip(STRIPPED) for name in header]
    if all(_ANY_NUMBER.fullmatch(name) for name in header if name) and any(header):
        raise TableError(
            f"the first line of {source} has only numbers ({listed(header[:3])} ...); "
            "it must be a header line with the column names."
        )
    remarks = []
    filled = [name or f"column {j + 1}" for j, name in enumerate(header)]
    n_empty = sum(not name for name in header)
    if n_empty:
        remarks.append(
            f"{n_empty} column{'s' * (n_empty > 1)} without a name: renamed 'column N'"
        )
    counts = Counter(filled)
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        remarks.append(
            f"{listed(twice)} appear{'s' * (len(twice) == 1)} more than once in the "
            "header line: renamed 'name (2)' and so on"
        )
    return different(filled), remarks


# --- ColumnBuilder: builds a column of a text table chunk by chunk --------------------

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
