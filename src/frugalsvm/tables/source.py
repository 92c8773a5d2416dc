"""Source: the decompressed bytes of a file or standard input, for repeated reading."""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, Self

from .errors import TableError

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


# A compressed table may unpack to this many bytes plus this multiple of its own size.
LEAST_LIMIT, MOST_UNPACKED = 2**28, 200


class _Unpacked(gzip.GzipFile):
    """A gzip file; reading fails if it unpacks to far more than its own size."""

    def __init__(self, raw: IO[bytes], name: str, limit: int):
        super().__init__(fileobj=raw)
        self._source, self._left = name, limit

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
        self._left -= n
        if self._left < 0:
            raise TableError(
                f"{self._source} unpacks to more than {MOST_UNPACKED} times its size; "
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
        here = self._raw.tell()
        size = self._raw.seek(0, os.SEEK_END)
        self._raw.seek(here)
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
        """Raise an error that says what a file is if it is not a text table."""
        start = self.start(8)
        if start.startswith(b"\xd0\xcf\x11\xe0"):
            raise TableError(
                f"{self.name} is an old Excel file (.xls), or has a password; open it "
                "in Excel or LibreOffice and save it as .xlsx or CSV, without a "
                "password."
            )
        for magic, what in _NOT_TABLES.items():
            if start.startswith(magic):
                raise TableError(
                    f"{self.name} is {what}; save the table as CSV, plain or gzipped."
                )

    def encoding(self) -> str:
        """The text encoding: from a byte order mark, else UTF-8 or Windows-1252."""
        start = self.start(4)
        for mark, name in _BOMS:
            if start.startswith(mark):
                return name
        decoder = codecs.getincrementaldecoder("utf-8")()
        is_utf8, is_windows = True, True
        try:
            stream = self.open()
            while block := stream.read(BLOCK):
                if b"\0" in block:
                    raise TableError(
                        f"{self.name} contains zero bytes, so it is not a text table; "
                        "save it as CSV in UTF-8."
                    )
                is_utf8 = is_utf8 and _takes(decoder, block)
                is_windows = is_windows and _takes_all(block)
            is_utf8 = is_utf8 and _takes(decoder, b"", final=True)
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


def _takes(
    decoder: codecs.IncrementalDecoder, block: bytes, final: bool = False
) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _takes_all(block: bytes) -> bool:
    try:
        block.decode("cp1252")
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
