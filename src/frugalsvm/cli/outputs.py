"""Output files: whole or not at all.

A file is written under a temporary name and renamed, so that nobody ever sees half of
it, and what was there before is lost only when the new one is complete.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from .errors import UsageProblem

if TYPE_CHECKING:
    from ..certificate import Certificate

STDOUT = "-"


def check_output(option: str, path: str | None) -> None:
    """Say that a file cannot be written before hours of work, not after.

    ``option`` asks for it.
    """
    if path is None or path == STDOUT:
        return
    target = Path(path)
    if target.is_dir():
        raise UsageProblem(f"{option}: {path} is a folder; give the name of a file.")
    folder = target.parent
    if not folder.is_dir():
        raise UsageProblem(f"{option}: there is no folder {folder}; make it first.")
    if _is_plain(target) and not os.access(folder, os.W_OK):
        raise UsageProblem(f"{option}: no permission to write in {folder}.")


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
            _write_and_rename(target, write)
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


def _is_plain(target: Path) -> bool:
    """Whether there is nothing yet, or a plain file."""
    try:
        return stat.S_ISREG(target.stat().st_mode)
    except FileNotFoundError:
        return True


def _write_and_rename(target: Path, write: Callable[[IO[bytes]], None]) -> None:
    # Through a link, the file that it points to is replaced.
    target = target.resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            partial.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
