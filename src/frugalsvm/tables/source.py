"""Sources of tables: the bytes of a file or standard input, and Parquet files."""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Collection
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from .columns import (
    Column,
    Numbers,
    Table,
    TableError,
    UnusableColumn,
    listed,
    sorted_texts,
)

STDIN = "-"
# Bytes read at a time.
BLOCK = 2**20
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16, because it begins with the mark of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NOT_TABLES = {
    b"PK\x03\x04": "a zip archive",
    b"%PDF": "a PDF file",
    b"BZh": "compressed with bzip2",
    b"\xfd7zXZ": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard",
}


# A compressed table may unpack to this many bytes plus this multiple of its size.
LEAST_LIMIT, MOST_UNPACKED = 2**28, 200


class _Unpacked(gzip.GzipFile):
    """A gzip file; reading fails if it unpacks to far more than its own size."""

    def __init__(self, raw: IO[bytes], name: str, limit: int):
        super().__init__(fileobj=raw)
        self._name, self._remaining = name, limit

    def read(self, size: int | None = -1) -> bytes:
        """Read some bytes, or all."""
        data = super().read(size)
        self._count(len(data))
        return data

    def read1(self, size: int = -1) -> bytes:
        """Read bytes that are already buffered."""
        data = super().read1(size)
        self._count(len(data))
        return data

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer."""
        n = super().readinto(buffer)
        self._count(n)
        return n

    def _count(self, n: int) -> None:
        self._remaining -= n
        if self._remaining < 0:
            raise TableError(
                f"{self._name} unpacks to more than {MOST_UNPACKED} times its size; "
                "if this is intended, unpack it first."
            )


class TableFile:
    """Bytes that can be read more than once; use it in a ``with`` statement.

    The file is opened only once, so it may be moved or deleted while it is used.
    Standard input is copied to a temporary file.

    Parameters
    ----------
    path : str or path
        ``"-"`` for standard input.
    """

    def __init__(self, path: str | PathLike[str]):
        self.path = fspath(path)
        self.name = "standard input" if self.path == STDIN else Path(path).name
        self._raw: IO[bytes] | None = None

    def __enter__(self) -> Self:
        self._raw = self._stream()
        return self

    def _stream(self) -> IO[bytes]:
        return _copied_stdin() if self.path == STDIN else _opened(self.path)

    def __exit__(self, *_: Any) -> None:
        assert self._raw is not None
        self._raw.close()

    def open(self) -> IO[bytes]:
        """Open the decompressed bytes at the beginning."""
        assert self._raw is not None
        self._raw.seek(0)
        packed = self._raw.read(2) == b"\x1f\x8b"
        self._raw.seek(0)
        if not packed:
            return self._raw
        # Closing it leaves the underlying file open.
        return _Unpacked(self._raw, self.name, self.most_unpacked)  # type: ignore[return-value]

    @property
    def size(self) -> int:
        """Length of the file in bytes."""
        assert self._raw is not None
        position = self._raw.tell()
        size = self._raw.seek(0, os.SEEK_END)
        self._raw.seek(position)
        return size

    @property
    def most_unpacked(self) -> int:
        """Maximum number of bytes that it may unpack to."""
        return LEAST_LIMIT + MOST_UNPACKED * self.size

    def start(self, size: int = BLOCK) -> bytes:
        """The first bytes."""
        try:
            return self.open().read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged(self.name, error) from error

    def refuse_others(self) -> None:
        """Raise an error that names the kind of file unless it may be a text table."""
        start = self.start(8)
        if start.startswith(b"\xd0\xcf\x11\xe0"):
            raise TableError(
                f"{self.name} is an old Excel file (.xls), or has a password; open it "
                "in Excel or LibreOffice and save it as .xlsx or CSV, without a "
                "password."
            )
        for magic, kind in _NOT_TABLES.items():
            if start.startswith(magic):
                raise TableError(
                    f"{self.name} is {kind}; save the table as CSV, plain or gzipped."
                )

    def encoding(self) -> str:
        """The text encoding: from a byte order mark, else UTF-8 or Windows-1252."""
        start = self.start(4)
        for mark, name in _BOMS:
            if start.startswith(mark):
                return name
        utf8 = codecs.getincrementaldecoder("utf-8")()
        cp1252 = codecs.getincrementaldecoder("cp1252")()
        is_utf8, is_windows = True, True
        try:
            stream = self.open()
            while block := stream.read(BLOCK):
                if b"\0" in block:
                    raise TableError(
                        f"{self.name} contains zero bytes, so it is not a text table; "
                        "save it as CSV in UTF-8."
                    )
                is_utf8 = is_utf8 and _can_decode(utf8, block)
                is_windows = is_windows and _can_decode(cp1252, block)
            is_utf8 = is_utf8 and _can_decode(utf8, b"", final=True)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged(self.name, error) from error
        if is_utf8:
            return "utf-8"
        return "cp1252" if is_windows else "latin-1"


def damaged(name: str, error: Exception) -> TableError:
    """The error for a compressed file that cannot be unpacked."""
    return TableError(
        f"{name} is compressed, but damaged or truncated ({error}); get a new copy."
    )


def _can_decode(
    decoder: codecs.IncrementalDecoder, block: bytes, final: bool = False
) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _opened(path: str) -> IO[bytes]:
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder; give a file.")
    raw = open(path, "rb")  # noqa: SIM115 (closed by the source)
    if raw.seekable():
        return raw
    # A pipe, as from a shell's <(...).
    with raw:
        return _copied(raw)


def _copied_stdin() -> IO[bytes]:
    if sys.stdin is None or sys.stdin.isatty():
        raise TableError(
            "- means standard input, but nothing is piped in; give a file name, or use "
            "a pipe: cat data.csv | frugalsvm ..."
        )
    return _copied(sys.stdin.buffer)


def _copied(stream: IO[bytes]) -> IO[bytes]:
    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed by the source)
    shutil.copyfileobj(stream, copy, BLOCK)
    return copy


# --- Parquet files --------------------------------------------------------------------


def read_parquet(
    source: TableFile,
    as_text: Collection[str],
    only: Collection[str] | None,
    names_samples: bool,
) -> Table:
    """Read the columns in ``only``, or all; others are marked as unusable.

    If the first column has the names of the samples, it is read as text.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise TableError(
            f"{source.name} is a Parquet file; install pyarrow to read it (pip install "
            "pyarrow), or save the table as CSV."
        ) from error
    try:
        return _read(source, parquet, as_text, only, names_samples)
    except TableError:
        raise
    except (ArrowException, OSError) as error:
        raise TableError(f"{source.name} cannot be read as Parquet: {error}") from error


def _read(
    source: TableFile,
    parquet: Any,
    as_text: Collection[str],
    only: Collection[str] | None,
    names_samples: bool,
) -> Table:
    import pyarrow.types as kinds

    file = parquet.ParquetFile(source.open())
    schema = file.schema_arrow
    repeated = [name for name, n in Counter(schema.names).items() if n > 1]
    if repeated:
        raise TableError(
            f"{source.name} has several columns with the same name: {listed(repeated)}."
        )
    if not schema.names:
        raise TableError(f"{source.name} has no columns.")
    n_rows = file.metadata.num_rows
    if names_samples:
        as_text = {*as_text, schema.names[0]}
        only = None if only is None else {*only, schema.names[0]}
    reasons = {field.name: _why_unread(field, only) for field in schema}
    names = {name for name, reason in reasons.items() if not reason}
    _check_size(source, file.metadata, names)
    # Each distinct string is then in memory only once.
    texts = [
        field.name
        for field in schema
        if kinds.is_string(field.type) or kinds.is_large_string(field.type)
    ]
    file = parquet.ParquetFile(source.open(), read_dictionary=texts)
    columns: dict[str, Column] = {}
    for name, reason in reasons.items():
        if reason:
            columns[name] = UnusableColumn(n_rows, reason)
            continue
        # One column at a time, to save memory.
        columns[name] = _column(file.read([name]).column(name), name in as_text)
        if len(columns[name]) != n_rows:
            raise TableError(f"{source.name} is damaged: its columns differ in length.")
    return Table(columns, n_rows, source.name, [])


def _why_unread(field: Any, only: Collection[str] | None) -> str:
    """Why a column is not read; empty if it is."""
    import pyarrow.types as kinds

    if only is not None and field.name not in only:
        return "not needed"
    if kinds.is_nested(field.type):
        return f"its cells are no single values ({str(field.type)[:40]})"
    return ""


def _check_size(source: TableFile, metadata: Any, names: set[str]) -> None:
    """Raise an error if columns need far more memory than the file has bytes."""
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    n_rows = max(metadata.num_rows, sum(max(0, group.num_rows) for group in groups))
    size = 8 * n_rows * len(names)
    for j in range(metadata.num_columns):
        # The path of a column of single values is its name.
        if metadata.schema.column(j).path in names:
            size += sum(
                max(0, group.column(j).total_uncompressed_size) for group in groups
            )
    if size > source.most_unpacked:
        raise TableError(
            f"{source.name} unpacks to more than {MOST_UNPACKED} times its size "
            f"({n_rows:,} rows of {len(names):,} columns); if this is intended, keep "
            "only the columns that are needed, or save the table as CSV."
        )


def _column(array: Any, as_text: bool) -> Column:
    """A column as read by pyarrow."""
    import pyarrow.types as kinds
    from pandas import factorize

    kind = array.type
    is_number = kinds.is_integer(kind) or kinds.is_floating(kind)
    if (is_number or kinds.is_decimal(kind)) and not as_text:
        return Numbers(
            array.cast("float64", safe=False).to_pandas().to_numpy(dtype=np.float64)
        )
    if kinds.is_dictionary(kind):
        cells = array.unify_dictionaries().to_pandas().array
        codes, categories = factorize(np.asarray(cells.codes))
        values = [None if k < 0 else cells.categories[k] for k in categories]
    else:
        # So that whole numbers in columns with missing values become 1, not 1.0.
        codes, values = factorize(array.to_pandas(integer_object_nulls=True))
    levels = [None if value is None else _category(value) for value in values]
    return sorted_texts(codes.astype(np.int32), levels, bool(kinds.is_temporal(kind)))


def _category(value: Any) -> str:
    """The name of a value as a category: numbers as in exports, 1.0 as 1."""
    is_real = isinstance(value, (float, np.floating))
    return f"{float(value):.15g}" if is_real else str(value)
