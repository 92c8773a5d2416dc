"""Reading files: CSV, TSV, Excel and Parquet become a Table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import islice
from os import PathLike

from .columns import Table, TableError, TextStyle, WrongRequest
from .dialect import N_ROWS, SEPARATORS, Dialect, guess
from .excel import USUAL, CellRows, Layout, is_workbook, read_cells, sheet_rows
from .formats import ALL_OPEN, FormatRules
from .source import TableFile, read_parquet
from .text_table import NO_EXCEPTIONS, TextTable

# Bytes read for the first rows, and the maximum if rows are long.
SAMPLE, MOST_SAMPLE = 2**20, 2**28
# Minimum number of lines in a sample.
N_LINES = 3
# A text table may have this many columns, and one more for so many bytes of its file.
LEAST_COLUMNS, BYTES_PER_COLUMN = 40_000, 20
# All rows made equally long may have this many cells, and more for each byte.
LEAST_CELLS, CELLS_PER_BYTE = 10**7, 20
_QUOTED = re.compile('"[^"]*"')


def read_table(
    path: str | PathLike[str],
    *,
    as_text: Collection[str] = (),
    encoding: str | None = None,
    formats: FormatRules = ALL_OPEN,
    only: Collection[str] | None = None,
    layout: Layout = USUAL,
    not_missing: Mapping[str, Collection[str]] = NO_EXCEPTIONS,
    allow_empty: bool = False,
) -> Table:
    """Read CSV, TSV, Excel or Parquet; text may be gzipped.

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
        The number formats that columns of a text table may have. Those that are left
        open are detected column by column, from all cells.
    only : collection of str, default=None
        The columns that are needed; others may be left unread, and are then unusable.
    layout : Layout, default=USUAL
        The sheet of an Excel file, and whether its columns are the samples.
    not_missing : mapping from names to collections of str, default={}
        Words for missing values that are texts in some columns: NA may be Namibia.
    allow_empty : bool, default=False
        Whether a table may have columns, but no rows; otherwise that is an error.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If it is not a table; the message says why and what to do.
    """
    table = _read(path, set(as_text), encoding, formats, only, layout, not_missing)
    if table.n_rows == 0 and not allow_empty:
        raise TableError(f"{table.source} has a header line, but no rows below it.")
    return table


def _read(
    path: str | PathLike[str],
    as_text: set[str],
    encoding: str | None,
    formats: FormatRules,
    only: Collection[str] | None,
    layout: Layout,
    not_missing: Mapping[str, Collection[str]],
) -> Table:
    with TableFile(path) as source:
        if is_workbook(source):
            cells = sheet_rows(source, layout.sheet)
        elif layout.sheet is not None:
            raise WrongRequest(f"--sheet: {source.name} is not an Excel file.")
        elif source.start(4) == b"PAR1":
            if layout.is_transposed:
                raise TableError("--transpose takes text tables and Excel files only.")
            return read_parquet(source, as_text, only, layout.names_samples)
        else:
            source.refuse_others()
            if not layout.is_transposed:
                codec, remarks = _encoding(source, encoding)
                dialect = _dialect(source, codec)
                names = dialect.names[:1] if layout.names_samples else []
                table = TextTable(
                    source, codec, dialect, {*as_text, *names}, formats, not_missing
                ).read()
                return replace(table, remarks=remarks + table.remarks)
            cells = _text_rows(source, encoding)
        _check_cells(cells, source)
        return read_cells(source.name, cells, as_text, formats, layout, not_missing)


def _text_rows(source: TableFile, encoding: str | None) -> CellRows:
    """All cells of a text table, in memory."""
    codec, remarks = _encoding(source, encoding)
    dialect = _dialect(source, codec)
    text = io.TextIOWrapper(source.open(), encoding=codec, newline="")
    limit = csv.field_size_limit(MOST_SAMPLE)
    try:
        for _ in range(dialect.skipped - 1):
            text.readline()
        reader = csv.reader(text, delimiter=dialect.separator, skipinitialspace=True)
        rows = [row for row in reader if row]
    except (csv.Error, UnicodeDecodeError) as error:
        raise TableError(
            f"{source.name} cannot be read as a table: {error}."
        ) from error
    finally:
        csv.field_size_limit(limit)
        text.detach()
    # The other remarks are about names that are not names of columns here.
    remarks += dialect.remarks[: int(dialect.separator != ",")]
    return CellRows(rows, remarks, TextStyle(dialect.separator))


def _encoding(source: TableFile, encoding: str | None) -> tuple[str, list[str]]:
    """The encoding of a text table, detected if it is None, and remarks."""
    name = encoding or source.encoding()
    remarks = []
    if name not in ("utf-8", "utf-8-sig") and encoding is None:
        remarks.append(f"not UTF-8: read as {name} (use --encoding to override)")
    if name.lower().replace("_", "-") in ("utf-8", "utf8"):
        # A byte order mark, if any, is not part of the first name.
        name = "utf-8-sig"
    return name, remarks


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
        raise WrongRequest(
            f"--encoding: unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252."
        ) from error
    _check_width(text, source)
    return guess(text, source.name, is_whole)


def _check_width(text: str, source: TableFile) -> None:
    """Raise an error if the first rows have far more cells than the file has bytes."""
    most = LEAST_COLUMNS + source.size // BYTES_PER_COLUMN
    if len(text) <= most:
        return
    for line in islice(text.splitlines(), N_ROWS):
        n = max(map(_QUOTED.sub("", line).count, SEPARATORS)) + 1
        if n > most:
            raise TableError(
                f"{source.name} has a row of {n:,} cells, but its length allows only "
                f"{most:,} columns; if this is intended, unpack it first or keep only "
                "the columns that are needed."
            )


def _check_cells(cells: CellRows, source: TableFile) -> None:
    """Raise an error if rows of one length have far more cells than the file."""
    n_cells = len(cells.rows) * max(map(len, cells.rows), default=0)
    if n_cells > LEAST_CELLS + CELLS_PER_BYTE * source.size:
        raise TableError(
            f"{source.name} would have {n_cells:,} cells if its rows were equally "
            "long, far more than there are; remove what is outside the table."
        )


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
