"""read_table: read a file into a Table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from .columns import Column, Numbers, Table, in_order
from .dialect import Dialect, guess
from .errors import TableError, listed
from .formats import ALL_OPEN, FormatRules
from .source import TableFile
from .text_table import TextTable

# Bytes read for the first rows, and the maximum if rows are long.
SAMPLE, MOST_SAMPLE = 2**20, 2**28
# Minimum number of lines in a sample.
N_LINES = 3


def read_table(
    path: str | PathLike[str],
    *,
    as_text: Collection[str] = (),
    encoding: str | None = None,
    formats: FormatRules = ALL_OPEN,
) -> Table:
    """Read CSV, TSV or Parquet; text may be gzipped.

    Parameters
    ----------
    path : str or path
        ``"-"`` for standard input.
    as_text : collection of str, default=()
        Columns to read as text even if they look like numbers.
    encoding : str, default=None
        Encoding of a text table. None detects it: UTF-8 or UTF-16 if marked, else UTF-8
        if valid, else Windows-1252.
    formats : FormatRules, default=ALL_OPEN
        What is known about number formats in a text table. The rest is detected column
        by column, from all cells.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If it is not a table; the message says why and what to do.
    """
    with TableFile(path) as source:
        if source.start(4) == b"PAR1":
            return _read_parquet(source, set(as_text))
        source.refuse_others()
        return _read_text(source, set(as_text), encoding, formats)


# --- text ----------------------------------------------------------------------------


def _read_text(
    source: TableFile, as_text: set[str], encoding: str | None, formats: FormatRules
) -> Table:
    found = encoding or source.encoding()
    remarks = []
    if found not in ("utf-8", "utf-8-sig") and encoding is None:
        remarks.append(f"not UTF-8: read as {found} (use --encoding to override)")
    if found.lower().replace("_", "-") in ("utf-8", "utf8"):
        # A byte order mark, if any, is not part of the first name.
        found = "utf-8-sig"
    dialect = _dialect(source, found)
    table = TextTable(source, found, dialect, as_text, formats).read()
    return replace(table, remarks=remarks + table.remarks)


def _dialect(source: TableFile, encoding: str) -> Dialect:
    start, is_whole = _sample(source)
    try:
        text = start.decode(encoding)
    except UnicodeDecodeError as error:
        # The last character may be cut.
        if error.start < len(start) - 8:
            raise TableError(
                f"{source.name} is not encoded as {encoding} ({error.reason} at byte "
                f"{error.start:,}); try another --encoding."
            ) from error
        text = start.decode(encoding, errors="ignore")
    except LookupError as error:
        raise TableError(
            f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252."
        ) from error
    return guess(text, source.name, is_whole)


def _sample(source: TableFile) -> tuple[bytes, bool]:
    """The first rows, and whether they are the whole file."""
    size = SAMPLE
    while True:
        start = source.start(size + 1)
        if len(start) <= size:
            return start, True
        if start.count(b"\n") >= N_LINES or size >= MOST_SAMPLE:
            return start[:-1], False
        size *= 4


# --- Parquet -------------------------------------------------------------------------


def _read_parquet(source: TableFile, as_text: set[str]) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise TableError(
            f"{source.name} is a Parquet file; install pyarrow to read it (pip install "
            "pyarrow), or save the table as CSV."
        ) from error
    try:
        file = parquet.ParquetFile(source.open())
        names = file.schema_arrow.names
        twice = [name for name, n in Counter(names).items() if n > 1]
        if twice:
            raise TableError(
                f"{source.name} has several columns with the same name: "
                f"{listed(twice)}."
            )
        columns = {
            # One at a time, to save memory.
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
        return Numbers(
            array.cast("float64", safe=False).to_pandas().to_numpy(dtype=np.float64)
        )
    # So that whole numbers in columns with gaps become 1, not 1.0.
    codes, found = factorize(array.to_pandas(integer_object_nulls=True))
    levels: list[str | None] = [_named(one) for one in found]
    return in_order(codes.astype(np.int32), levels, bool(kinds.is_temporal(kind)))


def _named(value: Any) -> str:
    """A value as the name of a category: a number as exports name it, 1.0 as 1."""
    is_real = isinstance(value, (float, np.floating))
    return f"{float(value):.15g}" if is_real else str(value)
