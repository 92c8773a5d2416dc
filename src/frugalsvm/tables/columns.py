"""Errors in a table, worded for the owner of the file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..export.lookups import STRIPPED
from ..run import words
from .formats import PLAIN, NumberFormat


class TableError(ValueError):
    """A table that cannot be used; the message says why, and what to do."""


class WrongRequest(TableError):
    """What was asked for does not suit a table in which nothing is wrong."""


class UnknownColumn(WrongRequest):
    """A requested column does not exist."""


def listed(names: Sequence[str]) -> str:
    """The first names in quotes, and how many more there are."""
    return words.listed(names, quoted=True)


def unknown_column(what: str, name: str, known: Sequence[str]) -> UnknownColumn:
    """The error for an unknown column name; ``what`` is the option that gave it."""
    close = words.close_names(name, known)
    folded = [one for one in known if one.casefold() == name.casefold()]
    if folded or close:
        hint = f"did you mean {listed(folded or close)}?"
    else:
        hint = f"the columns are {listed(known)}."
    return UnknownColumn(f"{what}: no column {name!r}; {hint}")


# --- Table: columns of numbers or text, as read ---------------------------------------

# Maximum number of ambiguous columns that an error describes.
N_DOUBTS = 3
# Least number of columns of numbers that may be samples.
N_SAMPLES = 6


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    values : ndarray of float
        NaN where a value is missing.
    format : NumberFormat
        How they were written.
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
    """A temporary file for columns of large tables, which are not always needed."""

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
    store : Store
    start, size : int
        Its position there in bytes, and its length.
    format : NumberFormat
    """

    def __init__(
        self, store: ColumnStore, start: int, size: int, format: NumberFormat = PLAIN
    ) -> None:
        # As frozen dataclasses do.
        object.__setattr__(self, "_place", (store, start, size))
        object.__setattr__(self, "format", format)

    @property
    def values(self) -> np.ndarray:
        """The numbers, NaN where a value is missing."""
        store, start, size = self._place  # type: ignore[attr-defined]
        return store.get(start, size)

    def some_rows(self, kept: np.ndarray) -> StoredNumbers:
        """The values of the rows where a mask is true, in the same store."""
        return self._place[0].put(self.values[kept], self.format)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return self._place[2]  # type: ignore[attr-defined]


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
class UnclearNumbers:
    """A column of ambiguous numbers, or with unreadable cells; using it is an error.

    Attributes
    ----------
    size : int
        Number of rows.
    doubt : str
        What is ambiguous, with the row.
    remedy : str
        What to do, if a format of numbers is not what is missing.
    rest : Numbers, Texts or None
        The column with gaps in place of its wrong cells; None if it is ambiguous as a
        whole.
    wrong : ndarray of bool or None
        Mask of these cells.
    """

    size: int
    doubt: str
    remedy: str = ""
    rest: Numbers | Texts | None = None
    wrong: np.ndarray | None = None

    @property
    def missing(self) -> np.ndarray:
        """No value is known to be missing."""
        return np.zeros(self.size, dtype=bool)

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class UnusableColumn:
    """A column that was not read; using it is an error.

    Attributes
    ----------
    size : int
        Number of rows.
    reason : str
    """

    size: int
    reason: str

    @property
    def missing(self) -> np.ndarray:
        """No value is known to be missing."""
        return np.zeros(self.size, dtype=bool)

    def __len__(self) -> int:
        return self.size


Column = Numbers | Texts | UnclearNumbers | UnusableColumn


def check_usable(columns: Mapping[str, Column], source: str) -> None:
    """Raise an error if a column cannot be used at all."""
    for name, one in columns.items():
        if isinstance(one, UnusableColumn):
            raise TableError(
                f"column {name!r} of {source} cannot be used: {one.reason}."
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
    for name, one in unclear.items():
        if one.remedy:
            raise TableError(f"{source}, column {name!r}: {one.doubt}; {one.remedy}.")
    doubts = [f"column {name!r}: {one.doubt}" for name, one in unclear.items()]
    if not doubts:
        return
    shown = "; ".join(doubts[:N_DOUBTS])
    more = len(doubts) - N_DOUBTS
    problem, advice = "cells that are no numbers", "Correct them, or give"
    if any(column.rest is None for column in unclear.values()):
        problem, advice = "ambiguous numbers", "Give"
    raise TableError(
        f"{source} has {problem}. {shown[0].upper()}{shown[1:]}"
        + (f"; and {more:,} more column{'s' * (more > 1)}" if more > 0 else "")
        + f". {advice} the format with --decimal and --thousands, for the whole file "
        f"(--decimal ,) or one column (--decimal 'NAME=,'){remedy}."
    )


@dataclass(frozen=True)
class TextStyle:
    """How a text table is written.

    Attributes
    ----------
    separator : str
        Between cells.
    decimal : {".", ","}
    """

    separator: str = ","
    decimal: str = "."


@dataclass(frozen=True, eq=False)
class Table:
    """A table as read.

    Attributes
    ----------
    columns : mapping from names to Numbers or Texts
    n_rows : int
    source : str
        Name of its file.
    remarks : list of str
        What was detected about the file: encoding, separator and so on.
    style : TextStyle
        For tables that are written in the same way.
    row_names : str or None
        The column that names the rows, if one is known to.
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

    def some_rows(self, kept: np.ndarray) -> Table:
        """The table of the rows where a mask is true."""
        columns = {name: _some_rows(one, kept) for name, one in self.columns.items()}
        return replace(self, columns=columns, n_rows=int(kept.sum()))

    def column(self, name: str, what: str) -> Column:
        """A column by name; ``what`` is named in the error if it does not exist."""
        if name not in self.columns:
            error = unknown_column(what, name, self.names)
            raise UnknownColumn(f"{error}{turned_words(self, [name])}")
        return self.columns[name]


def turned_words(table: Table, missing: Sequence[str]) -> str:
    """A hint if a table without some columns has its samples in columns; else empty."""
    first, *others = table.columns.values()
    if not isinstance(first, Texts):
        return ""
    found = [name for name in missing if name in first.levels]
    if found:
        return (
            f" The first column has {found[0]!r}: if the columns are the samples, use "
            "--transpose."
        )
    are_names = len(first.levels) == len(first) and len(others) >= N_SAMPLES
    if are_names and all(isinstance(one, Numbers) for one in others):
        return (
            " The first column looks like names of features: if the columns are the "
            "samples, use --transpose, with --labels FILE if a file of its own has "
            "their classes."
        )
    return ""


def _some_rows(column: Column, kept: np.ndarray) -> Column:
    if isinstance(column, Texts):
        places = column.codes[kept]
        used = np.unique(places[places >= 0])
        codes = np.full(len(column.levels) + 1, -1, np.int32)
        codes[used] = np.arange(used.size)
        names = [column.levels[k] for k in used.tolist()]
        return Texts(codes[places], names, column.are_dates)
    if isinstance(column, StoredNumbers):
        return column.some_rows(kept)
    if isinstance(column, Numbers):
        return Numbers(column.values[kept], column.format)
    if isinstance(column, UnclearNumbers) and column.rest is not None:
        assert column.wrong is not None
        rest = _some_rows(column.rest, kept)
        assert isinstance(rest, (Numbers, Texts))
        column = replace(column, rest=rest, wrong=column.wrong[kept])
    return replace(column, size=int(kept.sum()))


def in_order(
    codes: np.ndarray, levels: list[str | None], are_dates: bool = False
) -> Texts:
    """Texts with their levels stripped and sorted; empty ones and None are missing."""
    stripped = [None if one is None else one.strip(STRIPPED) for one in levels]
    known = sorted({one for one in stripped if one})
    place = {one: k for k, one in enumerate(known)}
    # The last entry is for the code -1.
    new = np.array([place.get(one or "", -1) for one in stripped] + [-1], np.int32)
    return Texts(new[codes], known, are_dates)


# --- Missing values: what a fit makes of them, and what a model does with new ones ----

# indicator: numbers get the median, and a second feature that is 1 where a value is
# missing if many are; categories get one of their own. median: categories get the most
# frequent one. refuse: a missing value is an error.
INDICATOR, MEDIAN, REFUSE = MODES = ("indicator", "median", "refuse")
# Fraction of the rows from which the missing values of a number have an indicator.
LEAST_SHARE = 0.01
