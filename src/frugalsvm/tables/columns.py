"""A table as read: its columns of numbers and text, and the errors in them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..export import STRIPPED
from ..run import words
from .formats import PLAIN, NumberFormat

# Maximum number of ambiguous columns that an error describes.
N_DOUBTS = 3
# Minimum number of columns of numbers for which samples in columns are suspected.
N_SAMPLES = 6


class TableError(ValueError):
    """A table that cannot be used; the message says why, and what to do."""


class WrongRequest(TableError):
    """A request that does not suit a table, which itself has no errors."""


class UnknownColumn(WrongRequest):
    """A requested column does not exist."""


def listed(names: Sequence[str]) -> str:
    """The first names in quotes, and how many more there are."""
    return words.listed(names, quoted=True)


def unknown_column(what: str, name: str, names: Sequence[str]) -> UnknownColumn:
    """The error for an unknown column name; ``what`` is the option that gave it."""
    folded = [column for column in names if column.casefold() == name.casefold()]
    close = folded or words.close_names(name, names)
    if close:
        hint = f"did you mean {listed(close)}?"
    else:
        hint = f"the columns are {listed(names)}."
    return UnknownColumn(f"{what}: no column {name!r}; {hint}")


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    values : ndarray of float
        NaN where a value is missing.
    format : NumberFormat
        The format in which they were written.
    """

    values: np.ndarray
    format: NumberFormat = PLAIN

    @property
    def missing(self) -> np.ndarray:
        """Mask of the rows without a value."""
        return np.isnan(self.values)

    def __len__(self) -> int:
        return self.values.size


class ColumnStore:
    """A temporary file for the columns of large tables, to save memory."""

    def __init__(self) -> None:
        # It has no name, and is deleted with the last column that refers to it.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._end = 0

    def put(self, values: np.ndarray, format: NumberFormat = PLAIN) -> StoredNumbers:
        """Store a column."""
        self._file.seek(self._end)
        self._file.write(np.ascontiguousarray(values, np.float64).data)
        column = StoredNumbers(self, self._end, values.size, format)
        self._end += 8 * values.size
        return column

    def get(self, start: int, size: int) -> np.ndarray:
        """Read a column."""
        self._file.seek(start)
        return np.frombuffer(self._file.read(8 * size))


class StoredNumbers(Numbers):
    """A column of numbers that is read from its store on each access.

    Parameters
    ----------
    store : ColumnStore
    start, size : int
        Its position in the store in bytes, and its number of rows.
    format : NumberFormat
    """

    def __init__(
        self, store: ColumnStore, start: int, size: int, format: NumberFormat = PLAIN
    ) -> None:
        # As frozen dataclasses do.
        object.__setattr__(self, "_location", (store, start, size))
        object.__setattr__(self, "format", format)

    @property
    def values(self) -> np.ndarray:
        """The numbers, NaN where a value is missing."""
        store, start, size = self._location  # type: ignore[attr-defined]
        return store.get(start, size)

    def some_rows(self, mask: np.ndarray) -> StoredNumbers:
        """The values of the rows where a mask is true, in the same store."""
        return self._location[0].put(self.values[mask], self.format)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return self._location[2]  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of strings; each distinct string is stored once.

    Attributes
    ----------
    codes : ndarray of int32
        For each row, the position of its string in ``levels``; -1 if it is missing.
    levels : list of str
        In alphabetical order.
    are_dates : bool
        Whether the file marks these as dates.
    """

    codes: np.ndarray
    levels: list[str]
    are_dates: bool = False

    @property
    def missing(self) -> np.ndarray:
        """Mask of the rows without a value."""
        return self.codes < 0

    def __len__(self) -> int:
        return self.codes.size


@dataclass(frozen=True, eq=False)
class _UnreadColumn:
    size: int

    @property
    def missing(self) -> np.ndarray:
        """Mask of the rows without a value: none is known to be missing."""
        return np.zeros(self.size, dtype=bool)

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class UnclearNumbers(_UnreadColumn):
    """A column of ambiguous numbers, or with unreadable cells; using it is an error.

    Attributes
    ----------
    size : int
        Number of rows.
    doubt : str
        Description of the ambiguous cell, with its row.
    remedy : str
        What the user should do; empty if giving the format of the numbers helps.
    readable : Numbers, Texts or None
        The column with its wrong cells as missing values; None if all of it is
        ambiguous.
    wrong : ndarray of bool or None
        Mask of the wrong cells.
    """

    doubt: str
    remedy: str = ""
    readable: Numbers | Texts | None = None
    wrong: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class UnusableColumn(_UnreadColumn):
    """A column that was not read; using it is an error.

    Attributes
    ----------
    size : int
        Number of rows.
    reason : str
    """

    reason: str


Column = Numbers | Texts | UnclearNumbers | UnusableColumn


def check_usable(columns: Mapping[str, Column], source: str) -> None:
    """Raise an error if a column cannot be used at all."""
    for name, column in columns.items():
        if isinstance(column, UnusableColumn):
            raise TableError(
                f"column {name!r} of {source} cannot be used: {column.reason}."
            )


def check_clear(columns: Mapping[str, Column], source: str, remedy: str = "") -> None:
    """Raise an error that names unusable columns and ambiguous numbers.

    Parameters
    ----------
    columns : mapping from names to columns
    source : str
        Name of their file.
    remedy : str, default=""
        Another remedy, appended to the message.
    """
    check_usable(columns, source)
    unclear = {k: x for k, x in columns.items() if isinstance(x, UnclearNumbers)}
    for name, column in unclear.items():
        if column.remedy:
            raise TableError(
                f"{source}, column {name!r}: {column.doubt}; {column.remedy}."
            )
    doubts = [f"column {name!r}: {column.doubt}" for name, column in unclear.items()]
    if not doubts:
        return
    shown = "; ".join(doubts[:N_DOUBTS])
    more = len(doubts) - N_DOUBTS
    problem, advice = "cells that are no numbers", "Correct them, or give"
    if any(column.readable is None for column in unclear.values()):
        problem, advice = "ambiguous numbers", "Give"
    raise TableError(
        f"{source} has {problem}. {shown[0].upper()}{shown[1:]}"
        + (f"; and {more:,} more column{'s' * (more > 1)}" if more > 0 else "")
        + f". {advice} the format with --decimal and --thousands, for the whole file "
        f"(--decimal ,) or one column (--decimal 'NAME=,'){remedy}."
    )


@dataclass(frozen=True)
class TextStyle:
    """The separators of a text table.

    Attributes
    ----------
    separator : str
        The character between cells.
    decimal : {".", ","}
    """

    separator: str = ","
    decimal: str = "."


@dataclass(frozen=True, eq=False)
class Table:
    """A table as read.

    Attributes
    ----------
    columns : mapping from names to Numbers, Texts, UnclearNumbers or UnusableColumn
    n_rows : int
    source : str
        Name of its file.
    remarks : list of str
        Remarks on the detected encoding, separator and so on.
    style : TextStyle
        The separators, for tables that are to be written in the same way.
    row_names : str or None
        The column with the names of the rows, if the layout says which it is.
    """

    columns: Mapping[str, Column]
    n_rows: int
    source: str = "table"
    remarks: list[str] = field(default_factory=list)
    style: TextStyle = TextStyle()
    row_names: str | None = None

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return list(self.columns)

    def some_rows(self, mask: np.ndarray) -> Table:
        """The table of the rows where a mask is true."""
        columns = {
            name: _some_rows(column, mask) for name, column in self.columns.items()
        }
        return replace(self, columns=columns, n_rows=int(mask.sum()))

    def column(self, name: str, what: str) -> Column:
        """A column by name; ``what`` is named in the error if it does not exist."""
        if name not in self.columns:
            error = unknown_column(what, name, self.names)
            raise UnknownColumn(f"{error}{transpose_hint(self, [name])}")
        return self.columns[name]


def transpose_hint(table: Table, missing: Sequence[str]) -> str:
    """A hint if a table without some columns seems to have its samples in columns."""
    first, *others = table.columns.values()
    if not isinstance(first, Texts):
        return ""
    matches = [name for name in missing if name in first.levels]
    if matches:
        return (
            f" The first column has {matches[0]!r}: if the columns are the samples, "
            "use --transpose."
        )
    are_names = len(first.levels) == len(first) and len(others) >= N_SAMPLES
    if are_names and all(isinstance(column, Numbers) for column in others):
        return (
            " The first column looks like names of features: if the columns are the "
            "samples, use --transpose, with --labels FILE if a file of its own has "
            "their classes."
        )
    return ""


def _some_rows(column: Column, mask: np.ndarray) -> Column:
    if isinstance(column, Texts):
        codes = column.codes[mask]
        used_levels = np.unique(codes[codes >= 0])
        # The last entry is for the code -1.
        new_codes = np.full(len(column.levels) + 1, -1, np.int32)
        new_codes[used_levels] = np.arange(used_levels.size)
        levels = [column.levels[k] for k in used_levels.tolist()]
        return Texts(new_codes[codes], levels, column.are_dates)
    if isinstance(column, StoredNumbers):
        return column.some_rows(mask)
    if isinstance(column, Numbers):
        return Numbers(column.values[mask], column.format)
    if isinstance(column, UnclearNumbers) and column.readable is not None:
        assert column.wrong is not None
        readable = _some_rows(column.readable, mask)
        assert isinstance(readable, (Numbers, Texts))
        column = replace(column, readable=readable, wrong=column.wrong[mask])
    return replace(column, size=int(mask.sum()))


def sorted_texts(
    codes: np.ndarray, levels: list[str | None], are_dates: bool = False
) -> Texts:
    """Texts with their levels stripped and sorted; empty ones and None are missing."""
    stripped = [None if level is None else level.strip(STRIPPED) for level in levels]
    ordered = sorted({level for level in stripped if level})
    position = {level: k for k, level in enumerate(ordered)}
    # The last entry is for the code -1.
    new_codes = [*(position.get(level or "", -1) for level in stripped), -1]
    return Texts(np.array(new_codes, np.int32)[codes], ordered, are_dates)


# --- Treatment of missing values, in fits and in predictions --------------------------

# indicator: numbers get the median, and, if many are missing, a second feature that is
# 1 where a value is missing; missing categories become a category of their own. median:
# numbers get the median, categories the most frequent one. refuse: a missing value is
# an error.
INDICATOR, REFUSE = "indicator", "refuse"
MODES = (INDICATOR, "median", REFUSE)
# Fraction of the rows from which the missing values of a number have an indicator.
LEAST_SHARE = 0.01
