"""Files are written whole or not at all.

They are written under a name that nobody can foresee and renamed, so that nobody ever
sees half of one, and what was there before is lost only when the new one is complete.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

# Characters of a file's name that its temporary name begins with: names have limits.
N_KEPT = 50


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Let a function write a file.

    Parameters
    ----------
    path : Path
        If it is a link, the file that it points to is replaced.
    write : callable
        It is given a new file that is open for writing.
    """
    target = path.resolve()
    # It is new for sure, and no link: whoever made one there is not followed.
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
    """The permissions of the file that is there, or those of a new one."""
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        # What is not allowed by default can be read by setting it only.
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
