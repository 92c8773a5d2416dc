"""Atomic writing of files: whole or not at all.

A file is written under an unpredictable temporary name and then renamed. No process
ever sees a partial file, and an old file is replaced only by a complete new one.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

# Characters of the file name in its temporary name: names have limits.
N_KEPT = 50


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically by a given function.

    Parameters
    ----------
    path : Path
        If it is a link, the file that it points to is replaced.
    write : callable
        Called with a new file that is open for writing.
    """
    target = path.resolve()
    # Exclusive creation: a link planted at this name is not followed.
    handle, name = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name[:N_KEPT]}.", suffix=".partial"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The permissions of the existing file, or those of a new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        # The umask can be read only by setting it.
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
