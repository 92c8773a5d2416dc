"""Output files: looked at before the work, written whole or not at all."""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..problem.files import write_whole
from .errors import UsageProblem, message

if TYPE_CHECKING:
    from ..problem.certificate import Certificate
    from .session import Session

STDOUT = "-"


def check_output(option: str, path: str | None, *inputs: str | None) -> None:
    """Say that a file cannot be written before hours of work, not after.

    ``option`` asks for it. None of the ``inputs`` is to be overwritten.
    """
    if path is None or path == STDOUT:
        return
    target = Path(path)
    if target.is_dir():
        raise UsageProblem(f"{option}: {path} is a folder; give the name of a file.")
    for one in inputs:
        if one is not None and _is_plain(target) and is_same(path, one):
            raise UsageProblem(
                f"{option}: {path} is an input file, which would be lost; give "
                "another name."
            )
    folder = target.parent
    if not folder.is_dir():
        raise UsageProblem(f"{option}: there is no folder {folder}; make it first.")
    if _is_plain(target) and not os.access(folder, os.W_OK):
        raise UsageProblem(f"{option}: no permission to write in {folder}.")


@contextmanager
def given_with_errors(session: Session, content: dict[str, Any]) -> Iterator[None]:
    """Write a file, then give the result with what became of it."""
    errors: list[str] = []
    try:
        yield
    except OSError as error:
        errors.append(message(error))
        raise
    finally:
        session.give(content | {"errors": errors})


def write_file(path: str, write: Callable[[IO[bytes]], None]) -> None:
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
            # A device or a pipe is no file that could be replaced.
            with open(target, "wb") as file:
                write(file)
    except OSError as error:
        # The name that the user knows, not the temporary one.
        raise type(error)(error.errno, error.strerror, path) from error


def write_text(path: str, text: str) -> None:
    """Write a text in UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: str, content: bytes) -> None:
    """Write some bytes."""

    def write(file: IO[bytes]) -> None:
        file.write(content)

    write_file(path, write)


def write_certificate(path: str, certificate: Certificate) -> None:
    """Write a proof; it is packed in memory, since not every file can be rewound."""
    packed = io.BytesIO()
    certificate.write(packed)
    write_bytes(path, packed.getvalue())


def is_same(path: str, other: str) -> bool:
    """Whether two names mean one file."""
    return os.path.realpath(path) == os.path.realpath(other)


def _is_plain(target: Path) -> bool:
    """Whether there is nothing yet, or a plain file."""
    try:
        return stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        return True
