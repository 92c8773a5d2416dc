"""Output files: checked before the fit, written completely or not at all."""

from __future__ import annotations

import csv
import io
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..problem import write_whole
from .session import UsageProblem, message

if TYPE_CHECKING:
    from ..problem import Certificate
    from ..tables import TextStyle
    from .session import Session

STDOUT = "-"


def check_output(option: str, path: str | None, *inputs: str | None) -> None:
    """Raise an error for a file that cannot be written, before hours of work.

    ``option`` is the option that names it. None of the ``inputs`` may be overwritten.
    """
    if path is None or path == STDOUT:
        return
    target = Path(path)
    if target.is_dir():
        raise UsageProblem(f"{option}: {path} is a folder; give a file name.")
    for source in filter(None, inputs):
        is_same = os.path.realpath(path) == os.path.realpath(source)
        if is_same and _is_plain(target):
            raise UsageProblem(
                f"{option}: {path} is an input file and would be overwritten; give "
                "another name."
            )
    folder = target.parent
    if not folder.is_dir():
        raise UsageProblem(f"{option}: folder {folder} does not exist; create it.")
    if _is_plain(target) and not os.access(folder, os.W_OK):
        raise UsageProblem(f"{option}: no permission to write to {folder}.")


@contextmanager
def printing_result(session: Session, content: dict[str, Any]) -> Iterator[None]:
    """Print the result as JSON after writing a file, with the error if that fails."""
    errors: list[str] = []
    try:
        yield
    except OSError as error:
        errors.append(message(error))
        raise
    finally:
        session.print_json(content | {"errors": errors})


def command_line() -> str:
    """The command line, quoted for a shell."""
    return shlex.join(["frugalsvm", *sys.argv[1:]])


def write_file(path: str, write: Callable[[IO[bytes]], Any]) -> None:
    """Let a function write a file; ``-`` is standard output."""
    if path == STDOUT:
        sys.stdout.flush()
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(0, "is a folder", path)
    try:
        if _is_plain(target):
            write_whole(target, write)
        else:
            # A device or a pipe cannot be replaced.
            with open(target, "wb") as file:
                write(file)
    except OSError as error:
        # Report the name that the user gave, not the temporary one.
        raise type(error)(error.errno, error.strerror, path) from error


def write_text(path: str, text: str) -> None:
    """Write a text in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes) -> None:
    """Write some bytes."""
    write_file(path, lambda file: file.write(content))


def write_table(path: str, columns: Mapping[str, Any], style: TextStyle) -> None:
    """Write columns: as Excel if the name ends in .xlsx, else as text in some style."""
    from ..tables import SUFFIX, write_sheet

    if path.lower().endswith(SUFFIX):
        write_file(path, lambda file: write_sheet(file, columns))
    else:
        write_text(path, csv_text(columns, style))


def csv_text(columns: Mapping[str, Any], style: TextStyle) -> str:
    """Columns as a text table; numbers with all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", delimiter=style.separator)
    writer.writerow(columns)
    lists = (np.asarray(values).tolist() for values in columns.values())
    rows = zip(*lists, strict=True)
    if style.decimal == ".":
        writer.writerows(rows)
    else:
        writer.writerows([_with_commas(value) for value in row] for row in rows)
    return text.getvalue()


def _with_commas(value: Any) -> Any:
    return repr(value).replace(".", ",") if isinstance(value, float) else value


def write_certificate(path: str, certificate: Certificate) -> None:
    """Write a proof; it is compressed in memory, since not all files are seekable."""
    packed = io.BytesIO()
    certificate.write(packed)
    write_bytes(path, packed.getvalue())


def _is_plain(target: Path) -> bool:
    """Whether the path is free, or a regular file."""
    try:
        return stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        return True
