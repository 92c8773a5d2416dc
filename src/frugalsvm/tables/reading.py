"""read_table: a file becomes a Table, a piece at a time.

Text tables are read in pieces of some megabytes, so that hardly more is in memory than
the numbers themselves. A column that turns out to be no column of numbers after all is
read once more, as text: a category is what stands in the file, "007" and not 7.
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections.abc import Collection, Iterator
from os import PathLike
from typing import Any

import numpy as np

from .columns import Column, Numbers, Store, Table, Texts, in_order
from .dialect import COMMA_NUMBER, WITH_THOUSANDS, Dialect, guess
from .errors import TableError, listed
from .source import Source, damaged

# Cells of a piece.
CELLS = 2**21
# Cells from which on columns of numbers are kept in a temporary file.
STORED_CELLS = 2**23
# What means a missing value, besides what pandas takes for one ("", NA, null, ...).
MISSING = ["?"]


def read_table(
    path: str | PathLike[str],
    *,
    as_text: Collection[str] = (),
    encoding: str | None = None,
) -> Table:
    """Read CSV, TSV or Parquet; text may be packed by gzip.

    Parameters
    ----------
    path : str or path
        ``"-"`` for standard input.
    as_text : collection of str, default=()
        Columns to be read as texts even if they look like numbers.
    encoding : str, default=None
        Of a text table. None finds out: UTF-8 or UTF-16 if marked, else UTF-8 if it is
        valid, else Windows-1252.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If it is no table; the message says why and what to do.
    """
    with Source(path) as source:
        if source.start(4) == b"PAR1":
            return _read_parquet(source, set(as_text))
        source.refuse_others()
        return _read_text(source, set(as_text), encoding)


# --- text ----------------------------------------------------------------------------


def _read_text(source: Source, as_text: set[str], encoding: str | None) -> Table:
    found = encoding or source.encoding()
    remarks = []
    if found not in ("utf-8", "utf-8-sig") and encoding is None:
        remarks.append(f"not UTF-8: read as {found} (--encoding says otherwise)")
    if found.lower().replace("_", "-") in ("utf-8", "utf8"):
        # With a mark or without; it is no part of the first name.
        found = "utf-8-sig"
    dialect = _dialect(source, found)
    columns, again = _read_columns(source, found, dialect, as_text)
    if again:
        texts, _ = _read_columns(source, found, dialect, again, only=again)
        columns |= texts
    columns = {name: columns[name] for name in dialect.names}
    converted = [name for name in columns if name not in as_text]
    for name in converted:
        columns[name] = _with_comma(columns[name], dialect.separator)
    n_rows = len(next(iter(columns.values())))
    if n_rows == 0:
        raise TableError(f"{source.name} has a line of names, but no rows below it.")
    return Table(columns, n_rows, source.name, remarks + dialect.remarks)


def _dialect(source: Source, encoding: str) -> Dialect:
    start = source.start()
    try:
        text = start.decode(encoding)
    except UnicodeDecodeError as error:
        # The last character may be cut.
        if error.start < len(start) - 8:
            raise TableError(
                f"{source.name} is not encoded as {encoding} ({error.reason} at byte "
                f"{error.start:,}); give another --encoding."
            ) from error
        text = start.decode(encoding, errors="ignore")
    except LookupError as error:
        raise TableError(
            f"there is no encoding {encoding!r}; try utf-8, latin-1 or cp1252."
        ) from error
    return guess(text, source.name, is_whole=len(start) == len(source.start(2**20 + 1)))


def _read_columns(
    source: Source,
    encoding: str,
    dialect: Dialect,
    as_text: set[str],
    only: set[str] | None = None,
) -> tuple[dict[str, Column], set[str]]:
    """Columns by name, and those that have to be read again as texts."""
    builders: dict[str, _Builder] = {}
    for piece in _pieces(source, encoding, dialect, as_text, only):
        for name in piece.columns:
            builders.setdefault(name, _Builder()).add(piece[name])
    again = {name for name, one in builders.items() if one.is_mixed}
    kept = [name for name in builders if name not in again]
    n_cells = len(builders) * max((one.size for one in builders.values()), default=0)
    store = Store() if n_cells > STORED_CELLS else None
    return {name: builders.pop(name).finish(store) for name in kept}, again


def _pieces(
    source: Source,
    encoding: str,
    dialect: Dialect,
    as_text: set[str],
    only: set[str] | None,
) -> Iterator[Any]:
    """Data frames of some rows each."""
    from pandas import read_csv
    from pandas.errors import EmptyDataError, ParserError, ParserWarning

    names = dialect.names
    rows = max(100, CELLS // len(names))
    try:
        with warnings.catch_warnings():
            # Rows that are longer than the line of names.
            warnings.simplefilter("error", ParserWarning)
            with read_csv(
                source.open(), sep=dialect.separator, header=0, names=names,
                index_col=False, usecols=None if only is None else sorted(only),
                dtype=dict.fromkeys(as_text & set(names), str), encoding=encoding,
                decimal=dialect.decimal, thousands=dialect.thousands,
                na_values=MISSING, skipinitialspace=True, low_memory=False,
                chunksize=rows, skiprows=dialect.skipped, **_precision(dialect),
            ) as reader:  # fmt: skip
                yield from reader
    except EmptyDataError as error:
        raise TableError(f"{source.name} has no columns.") from error
    except (ParserError, ParserWarning) as error:
        raise TableError(_malformed(source.name, str(error))) from error
    except UnicodeError as error:
        raise TableError(
            f"{source.name} is not encoded as {encoding} ({error}); give another "
            "--encoding."
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(source.name, error) from error


def _precision(dialect: Dialect) -> dict[str, Any]:
    """What makes pandas read numbers exactly: newer ones do so anyway."""
    from pandas import __version__

    major, minor = (int(part) for part in __version__.split(".")[:2])
    is_old = (major, minor) < (3, 1)
    # It knows points only.
    return (
        {"float_precision": "round_trip"} if is_old and dialect.decimal == "." else {}
    )


def _malformed(name: str, words: str) -> str:
    if "Expected" in words and "fields" in words:
        what = words[words.index("Expected") :].strip()
        return (
            f"{name} is no table: {what[0].lower()}{what[1:]}; a cell that holds the "
            "separator must be in quotes."
        )
    if "Length of header" in words:
        return (
            f"{name} is no table: its rows have more cells than the first line has "
            "names."
        )
    return f"{name} cannot be read as a table: {words.strip()}"


class _Builder:
    """A column, put together piece by piece."""

    def __init__(self) -> None:
        self.is_mixed = False
        self._numbers: list[np.ndarray] = []
        self._codes: list[np.ndarray] = []
        self._place: dict[str | None, int] = {}
        self._n_missing = 0

    def add(self, series: Any) -> None:
        """One more piece."""
        if self.is_mixed:
            return
        kind = series.dtype.kind
        if kind == "b":
            self.is_mixed = True
        elif kind in "iuf":
            self._add_numbers(series.to_numpy(dtype=np.float64))
        else:
            self._add_texts(series)

    def _add_numbers(self, values: np.ndarray) -> None:
        if not self._codes:
            self._numbers.append(values)
        elif np.isnan(values).all():
            self._codes.append(np.full(values.size, -1, np.int32))
        else:
            self.is_mixed = True

    def _add_texts(self, series: Any) -> None:
        if any(not np.isnan(values).all() for values in self._numbers):
            self.is_mixed = True
            return
        from pandas import factorize

        codes, found = factorize(series)
        if not all(isinstance(one, str) for one in found):
            self.is_mixed = True
            return
        # Pieces without any value look like numbers.
        self._codes += [np.full(one.size, -1, np.int32) for one in self._numbers]
        self._numbers = []
        places = [self._place.setdefault(one, len(self._place)) for one in found]
        self._codes.append(np.array([*places, -1], np.int32)[codes])

    @property
    def size(self) -> int:
        """Rows so far."""
        return sum(map(len, self._numbers)) + sum(map(len, self._codes))

    def finish(self, store: Store | None) -> Column:
        """The column, in a store if there is one."""
        if self._codes:
            return in_order(np.concatenate(self._codes), list(self._place))
        values = np.concatenate(self._numbers)
        return Numbers(values) if store is None else store.put(values)


def _with_comma(column: Column, separator: str) -> Column:
    """Numbers, if all texts are numbers with commas (or with points after all)."""
    if not isinstance(column, Texts) or not column.levels:
        return column
    if all(COMMA_NUMBER.fullmatch(one) or _is_plain(one) for one in column.levels):
        has_comma = any("," in one for one in column.levels)
        if has_comma and not _are_thousands(column.levels, separator):
            texts = [_pointed(one) for one in column.levels]
        else:
            texts = [one.replace(",", "") for one in column.levels]
        # The last entry serves the code -1.
        return Numbers(np.array([*map(float, texts), np.nan])[column.codes])
    return column


def _is_plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    # Python reads 1_000 as a number.
    return "_" not in text


def _are_thousands(levels: list[str], separator: str) -> bool:
    """Whether commas group thousands: 12,345 where commas also separate cells."""
    groups = [one.rsplit(",", 1)[1] for one in levels if "," in one]
    return separator == "," and all(len(one) == 3 and one.isdigit() for one in groups)


def _pointed(text: str) -> str:
    if WITH_THOUSANDS.fullmatch(text):
        text = text.replace(".", "")
    return text.replace(",", ".")


# --- Parquet -------------------------------------------------------------------------


def _read_parquet(source: Source, as_text: set[str]) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise TableError(
            f"{source.name} is a Parquet file, which needs pyarrow: pip install "
            "pyarrow; or save the table as CSV."
        ) from error
    try:
        file = parquet.ParquetFile(source.open())
        names = file.schema_arrow.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise TableError(f"{source.name} has columns of one name: {listed(twice)}.")
        columns = {
            # One by one: the others are not needed meanwhile.
            name: _of_arrow(file.read([name]).column(0), name in as_text)
            for name in names
        }
    except ArrowException as error:
        raise TableError(f"{source.name} cannot be read as Parquet: {error}") from error
    if not columns:
        raise TableError(f"{source.name} has no columns.")
    n_rows = file.metadata.num_rows
    if n_rows == 0:
        raise TableError(f"{source.name} has columns, but no rows.")
    return Table(columns, n_rows, source.name, [])


def _of_arrow(array: Any, as_text: bool) -> Column:
    """A column of pyarrow."""
    import pyarrow.types as kinds
    from pandas import factorize

    kind = array.type
    is_number = kinds.is_integer(kind) or kinds.is_floating(kind)
    if (is_number or kinds.is_decimal(kind)) and not as_text:
        return Numbers(array.cast("float64").to_pandas().to_numpy(dtype=np.float64))
    codes, found = factorize(array.to_pandas())
    levels: list[str | None] = [str(one) for one in found]
    return in_order(codes.astype(np.int32), levels, bool(kinds.is_temporal(kind)))
