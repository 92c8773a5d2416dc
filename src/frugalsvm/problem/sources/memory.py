"""Checks that large arrays fit into memory before they are allocated."""

from __future__ import annotations

import os
from pathlib import Path

# No check up to this many bytes.
SMALL = 2**28


def check_room(n_bytes: float, what: str, remedy: str) -> None:
    """Raise MemoryError if an array would not fit into memory.

    Parameters
    ----------
    n_bytes : float
        The memory needed.
    what, remedy : str
        Parts of the message.
    """
    if n_bytes <= SMALL:
        return
    room = available_bytes()
    if room is not None and n_bytes > room:
        raise MemoryError(
            f"{what} would take {_gigabytes(n_bytes)} of memory, and "
            f"{_gigabytes(room)} are available; {remedy}"
        )


def available_bytes() -> int | None:
    """Memory available to the process without swapping; None if unknown."""
    rooms = [room for room in (_of_system(), _of_group()) if room is not None]
    return min(rooms, default=None)


def _of_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _of_group() -> int | None:
    """The memory limit of a container."""
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):
        return None


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB"
