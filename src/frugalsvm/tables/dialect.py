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

from ..export import MISSING_WORDS, STRIPPED
from ..run import different
from .columns import TableError, Texts, listed, sorted_texts
from .formats import (
    OPEN,
    FormatRule,
    Readings,
    are_whole,
    has_decimal_points,
    look_like_dates,
    look_like_numbers,
)

# If two fit equally well, the first is used: numbers and names may contain commas.
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
# Number of rows that the guess is based on.
N_ROWS = 200
# A first line that tells Excel the separator.
_SEPARATOR_LINE = re.compile(r'"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK_LINES = re.compile(r"(?: *(?:\r\n|\n|\r))*")
_ANY_NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """The separator and the header line of a text table.

    Attributes
    ----------
    separator : str
    names : list of str
        Column names; all different.
    remarks : list of str
        Remarks for the user.
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
    declared = _SEPARATOR_LINE.match(sample)
    start = _BLANK_LINES.match(sample, declared.end() if declared else 0)
    assert start is not None
    table = sample[start.end() :]
    if declared is None:
        separator, rows = _separator(table, is_whole)
    else:
        separator, rows = declared[1], _rows(table, declared[1], is_whole)
    remarks = []
    if separator != ",":
        remarks.append(f"cells are separated by {SEPARATORS[separator]}")
    names, renamed = unique_names(rows[0], source)
    n_blank = len(_LINE_END.findall(start[0]))
    n_skipped = int(declared is not None) + n_blank + 1
    return Dialect(separator, names, remarks + renamed, n_skipped)


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
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows = list(islice((row for row in reader if row), N_ROWS + 1))
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
    repeated = [name for name, n in counts.items() if n > 1]
    if repeated:
        remarks.append(
            f"{listed(repeated)} appear{'s' * (len(repeated) == 1)} more than once in "
            "the header line: renamed 'name (2)' and so on"
        )
    return different(filled), remarks


# --- Columns of a text table, built chunk by chunk ------------------------------------

MISSING = frozenset(MISSING_WORDS)
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)


class Kind(Enum):
    """The contents of a column, as far as it has been read."""

    EMPTY = "empty"
    # Numbers in the usual format of programs.
    PLAIN = "plain"
    # Strings that are numbers in another format.
    FORMATTED = "formatted"
    TEXT = "text"
    # Numbers and strings; the column must be read again as text.
    MIXED = "mixed"


class ColumnBuilder:
    """Builds a column chunk by chunk.

    Parameters
    ----------
    rule : FormatRule, default=OPEN
        The formats that its numbers may have.
    is_text : bool, default=False
        Whether cells are strings that must not become numbers.
    missing : frozenset of str, default=MISSING
        Strings that mean a missing value.

    Attributes
    ----------
    kind : Kind
    size : int
        Number of rows so far.
    has_floats : bool
        Whether pandas read some numbers as floats, so that they may have points.
    """

    def __init__(
        self,
        rule: FormatRule = OPEN,
        is_text: bool = False,
        missing: frozenset[str] = MISSING,
    ):
        self.kind = Kind.EMPTY
        self.size = 0
        self.has_floats = False
        self._rule, self._is_text, self._missing = rule, is_text, missing
        self._numbers: list[np.ndarray] = []
        self._floats: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._code_of: dict[str | None, int] = {}

    # Few columns need the following, and a table may be wide: it is computed on demand.

    @cached_property
    def readings(self) -> Readings:
        """The readings of numbers in another format."""
        return Readings(self._rule)

    @cached_property
    def has_decimal_points(self) -> bool:
        """Whether points of plain numbers are certainly decimal points."""
        return any(map(has_decimal_points, self._floats))

    @cached_property
    def are_whole(self) -> bool:
        """Whether all plain numbers are whole."""
        return all(map(are_whole, self._numbers))

    @cached_property
    def look_like_dates(self) -> bool:
        """Whether all plain numbers may be months or times."""
        return all(map(look_like_dates, self._numbers))

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

    def _add_numbers(self, values: np.ndarray, are_floats: bool) -> None:
        if are_floats and np.isnan(values).all():
            self._add_gaps(values.size)
        elif self.kind in (Kind.EMPTY, Kind.PLAIN):
            self.kind = Kind.PLAIN
            self._numbers.append(values)
            if are_floats:
                self.has_floats = True
                self._floats.append(values)
        elif self.kind is Kind.FORMATTED and not are_floats:
            self.readings.add_whole(values)
        else:
            self.kind = Kind.MIXED

    def _add_gaps(self, n: int) -> None:
        if self.kind is Kind.TEXT:
            self._codes.append(np.full(n, -1, np.int32))
        elif self.kind is Kind.FORMATTED:
            self.readings.add_whole(np.full(n, np.nan))
        else:
            self._numbers.append(np.full(n, np.nan))

    def _add_texts(self, series: Any) -> None:
        codes, cells = _distinct(series)
        if not all(isinstance(cell, str) for cell in cells):
            self.kind = Kind.MIXED
            return
        codes, texts = _without_blanks(
            codes, cells, self._missing, self._rule.is_number
        )
        if not texts:
            self._add_gaps(codes.size)
        elif self.kind is Kind.TEXT:
            self._append(texts, codes)
        elif self._are_numbers(texts, codes):
            self.kind = Kind.FORMATTED
        elif self.kind is Kind.EMPTY:
            self.kind = Kind.TEXT
            # Chunks without any value look like numbers.
            self._codes.append(np.full(self.size, -1, np.int32))
            self._append(texts, codes)
        else:
            self.kind = Kind.MIXED

    def _are_numbers(self, texts: list[str], codes: np.ndarray) -> bool:
        """Whether strings are numbers, like the cells so far."""
        if self._is_text or self.has_floats or not look_like_numbers(texts):
            return False
        for values in self._numbers:
            self.readings.add_whole(values)
        self._numbers = []
        return self.readings.add(texts, codes)

    def _append(self, texts: list[str], codes: np.ndarray) -> None:
        code_of = self._code_of
        new_codes = [code_of.setdefault(text, len(code_of)) for text in texts]
        self._codes.append(np.array([*new_codes, -1], np.int32)[codes])

    def numbers(self) -> np.ndarray:
        """The plain numbers."""
        return np.concatenate(self._numbers)

    def texts(self) -> Texts:
        """The strings."""
        return sorted_texts(np.concatenate(self._codes), list(self._code_of))


def _distinct(series: Any) -> tuple[np.ndarray, Sequence[Any]]:
    """The code of each cell, -1 if it is empty, and the distinct cells."""
    from pandas import factorize

    if len(series) > 1000:
        return factorize(series)
    # For few cells this takes a tenth of the time.
    code_of: dict[Any, int] = {}
    codes = [
        -1 if cell != cell else code_of.setdefault(cell, len(code_of))
        for cell in series.tolist()
    ]
    return np.array(codes, np.int32), list(code_of)


def _without_blanks(
    codes: np.ndarray, cells: Sequence[str], missing: frozenset[str], are_numbers: bool
) -> tuple[np.ndarray, list[str]]:
    """Stripped and unique strings, without those that mean a missing value.

    Infinite numbers count as missing.
    """
    code_of: dict[str, int] = {}
    new_codes = [
        -1
        if text in missing or (are_numbers and _INFINITE.fullmatch(text))
        else code_of.setdefault(text, len(code_of))
        for text in (cell.strip(STRIPPED) for cell in cells)
    ]
    return np.array([*new_codes, -1])[codes], list(code_of)
