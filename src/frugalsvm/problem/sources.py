"""Data that are not one dense matrix in memory: sparse, mapped, or in single precision.

A source multiplies all features by a vector and copies a few of them; see
:class:`~frugalsvm.engine.source.Source`. Small tables of any format are better stored
as one dense matrix.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from .array_sources import ArraySource, SparseSource, check_values

# --- Checks that large arrays fit into memory before they are allocated ---------------

# No check up to this many bytes.
SMALL = 2**28


def check_room(n_bytes: float, subject: str, remedy: str) -> None:
    """Raise MemoryError if an array would not fit into memory.

    Parameters
    ----------
    n_bytes : float
        The memory needed.
    subject, remedy : str
        The array and the advice, for the message.
    """
    if n_bytes <= SMALL:
        return
    room = available_bytes()
    if room is not None and n_bytes > room:
        raise MemoryError(
            f"{subject} would take {_gigabytes(n_bytes)} of memory, and "
            f"{_gigabytes(room)} are available; {remedy}"
        )


def available_bytes() -> int | None:
    """Memory available to the process without swapping; None if unknown."""
    rooms = [room for room in (_of_system(), _of_control_group()) if room is not None]
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


def _of_control_group() -> int | None:
    """The memory limit of the control group, such as that of a container."""
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):
        return None


def _gigabytes(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB"


# --- Sources of data that are not one dense matrix ------------------------------------

# Tables with at most this many entries are copied, and so are tables with at most this
# many features, whose working sets are not much smaller than the data.
FEW_ENTRIES, FEW_FEATURES = 2**22, 1000
# Advice if a table is too large.
FEWER = "choose columns or samples first."
# Arrays of doubles in memory are copied up to this many entries.
FEW_DOUBLES = 2**26


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    return hasattr(X, "toarray") and hasattr(X, "tocsc")


def dense(X: Any) -> Any:
    """A sparse matrix as an array, if there is room for it; all else as it is."""
    if not is_sparse(X):
        return X
    check_room(8.0 * X.shape[0] * X.shape[1], f"X {X.shape} as a dense matrix", FEWER)
    return X.toarray()


def is_for_source(X: Any) -> bool:
    """Whether X should be used in place instead of copied to doubles."""
    if is_sparse(X) or hasattr(X, "as_source"):
        return True
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "fiub":
        return False
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        # Types more precise than doubles are rounded, once.
        return False
    if X.shape[1] <= FEW_FEATURES:
        return False
    in_memory = X.dtype == np.float64 and not isinstance(X, np.memmap)
    return X.size > (FEW_DOUBLES if in_memory else FEW_ENTRIES)


def make_source(X: Any, samples: np.ndarray | None = None, shifts: bool = True) -> Any:
    """The data source of a table, with checked values.

    Parameters
    ----------
    X : ndarray, or sparse matrix or array
        Or external data with a method ``X.as_source(samples, shifts)``.
    samples : integer array, default=None
        The samples to use; all by default.
    shifts : bool, default=True
        Whether features of small spread are shifted to their mean.

    Returns
    -------
    Source
    """
    if hasattr(X, "as_source"):
        source: Any = X.as_source(samples, shifts)
    elif is_sparse(X):
        source = SparseSource(X, samples, shifts)
    else:
        source = ArraySource(X, samples, shifts)
    check_values(float(source.low.min()), float(source.high.max()), source.first)
    return source
