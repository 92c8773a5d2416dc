"""Table: columns of numbers or of texts, as they were read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from .errors import TableError, unknown_column
from .formats import PLAIN, NumberFormat

# What texts are stripped of at both ends, here and in exported models: space, tab and
# the space at which no line is broken.
STRIPPED = " \t\u00a0"
# What means a missing value in a text table, once it is stripped.
MISSING_WORDS = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan",
    "-NaN", "-nan", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip


# Columns whose doubts an error tells.
N_DOUBTS = 3


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
    """A temporary file for columns of large tables, which are needed now and then."""

    def __init__(self) -> None:
        # It has no name, and is gone with the last column that refers to it.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._end = 0

    def put(self, values: np.ndarray, format: NumberFormat = PLAIN) -> StoredNumbers:
        """Keep a column."""
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
    """A column of numbers that is read whenever it is needed.

    Parameters
    ----------
    store : Store
    start, size : int
        Its place there in bytes, and its length.
    format : NumberFormat
    """

    def __init__(
        self, store: ColumnStore, start: int, size: int, format: NumberFormat = PLAIN
    ) -> None:
        # As dataclasses do it that cannot be changed.
        object.__setattr__(self, "_place", (store, start, size))
        object.__setattr__(self, "format", format)

    @property
    def values(self) -> np.ndarray:
        """The numbers, NaN where a value is missing."""
        store, start, size = self._place  # type: ignore[attr-defined]
        return store.get(start, size)

    def __len__(self) -> int:
        return self._place[2]  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts, each different one stored once.

    Attributes
    ----------
    codes : ndarray of int32
        For each row the place of its text in ``levels``; -1 where it is missing.
    levels : list of str
        In alphabetical order.
    are_dates : bool
        Whether the file says that these are dates.
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
    """A column of numbers that cannot be read for certain; an error if it is used.

    Attributes
    ----------
    size : int
        Number of rows.
    doubt : str
        What is not clear, with the row.
    """

    size: int
    doubt: str

    @property
    def missing(self) -> np.ndarray:
        """Nothing is known to be missing."""
        return np.zeros(self.size, dtype=bool)

    def __len__(self) -> int:
        return self.size


Column = Numbers | Texts | UnclearNumbers


def check_clear(columns: Mapping[str, Column], source: str, remedy: str = "") -> None:
    """Raise an error that names the columns whose numbers are not clear.

    Parameters
    ----------
    columns : mapping from names to columns
    source : str
        Where they are from.
    remedy : str, default=""
        What else could be done about it.
    """
    doubts = [
        f"column {name!r}: {one.doubt}"
        for name, one in columns.items()
        if isinstance(one, UnclearNumbers)
    ]
    if not doubts:
        return
    shown = "; ".join(doubts[:N_DOUBTS])
    more = len(doubts) - N_DOUBTS
    raise TableError(
        f"numbers of {source} are not clear. {shown[0].upper()}{shown[1:]}"
        + (f"; and {more:,} more columns" if more > 0 else "")
        + ". Say how they are written by --decimal and --thousands, for the file "
        f"(--decimal ,) or a column (--decimal 'NAME=,'){remedy}."
    )


@dataclass(frozen=True, eq=False)
class Table:
    """A table as it was read.

    Attributes
    ----------
    columns : mapping from names to Numbers or Texts
    n_rows : int
    source : str
        Where it is from.
    remarks : list of str
        What was found out about the file on the way: encoding, separator and so on.
    """

    columns: Mapping[str, Column]
    n_rows: int
    source: str = "table"
    remarks: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return list(self.columns)

    def column(self, name: str, what: str) -> Column:
        """A column by name; ``what`` asks for it, for the error."""
        if name not in self.columns:
            raise unknown_column(what, name, self.names)
        return self.columns[name]


def texts_of(values: Iterable[str | None], are_dates: bool = False) -> Texts:
    """A column of texts from one text, or None, per row."""
    place: dict[str | None, int] = {}
    codes = np.array([place.setdefault(one, len(place)) for one in values], np.int32)
    return in_order(codes, list(place), are_dates)


def in_order(
    codes: np.ndarray, levels: list[str | None], are_dates: bool = False
) -> Texts:
    """Texts with their levels stripped and sorted; empty ones and None are missing."""
    stripped = [None if one is None else one.strip(STRIPPED) for one in levels]
    known = sorted({one for one in stripped if one})
    place = {one: k for k, one in enumerate(known)}
    # The last entry serves the code -1.
    new = np.array([place.get(one or "", -1) for one in stripped] + [-1], np.int32)
    return Texts(new[codes], known, are_dates)
