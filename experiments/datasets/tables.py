"""Tables on disk: ``NAME.csv.gz``, their search path, and their digests."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from frugalsvm.problem.files import write_whole

from .catalogue import DatasetInfo

#: Name of the environment variable with the folder of the data sets.
VARIABLE = "FRUGALSVM_DATA"


@dataclass(frozen=True)
class LabelledTable:
    """Features, labels in {-1, +1}, and names of the features."""

    X: np.ndarray
    y: np.ndarray
    names: list[str]


def digest(X: np.ndarray, y: np.ndarray) -> str:
    """SHA-256 of a table: "m n" and a line feed, then X row by row, then y.

    Numbers are little-endian float64, and zeros have no sign.
    """
    m, n = X.shape
    sha = hashlib.sha256(f"{m} {n}\n".encode())
    for array in (X, y):
        sha.update(np.ascontiguousarray(array + 0.0, dtype="<f8").tobytes())
    return sha.hexdigest()


def differences(info: DatasetInfo, X: np.ndarray, y: np.ndarray) -> list[str]:
    """How a table differs from the reference copy; empty if it is the same."""
    if X.shape != info.shape:
        return [f"shape {X.shape} instead of {info.shape}"]
    counts = (int(np.sum(y < 0)), int(np.sum(y > 0)))
    if counts != info.counts:
        return [f"class counts {counts} instead of {info.counts}"]
    found = digest(X, y)
    if found != info.sha256:
        return [f"SHA-256 {found[:12]}... instead of {info.sha256[:12]}..."]
    return []


def cache_folder() -> Path:
    """The cache folder: ``frugalsvm`` in ``XDG_CACHE_HOME`` or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "frugalsvm"


def folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """The search path: the given folder, or FRUGALSVM_DATA; then the cache."""
    given = data_home or os.environ.get(VARIABLE)
    return [*([Path(given)] if given else []), cache_folder()]


def file_name(name: str) -> str:
    """The file of a data set."""
    return f"{name}.csv.gz"


def read_table(path: Path) -> LabelledTable:
    """Read a file: a header, features, and ``target`` in the last column."""
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        names = next(csv.reader(file), [])
        if not names or names[-1] != "target":
            raise ValueError(
                f"{path} is not a data set: its first line must name the columns, the "
                f'last of them "target".'
            )
        values = np.loadtxt(file, delimiter=",", ndmin=2)
    y = values[:, -1].copy()
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError(f"{path}: target must be -1 or 1.")
    return LabelledTable(np.ascontiguousarray(values[:, :-1]), y, names[:-1])


def write_table(path: Path, table: LabelledTable) -> None:
    """Write a file atomically, with exact round trip of all numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    numbers = np.column_stack([table.X, table.y])

    def write(file: IO[bytes]) -> None:
        with gzip.open(file, "wt", newline="", encoding="utf-8") as text:
            csv.writer(text, lineterminator="\n").writerow([*table.names, "target"])
            np.savetxt(text, numbers, fmt="%.17g", delimiter=",")

    write_whole(path, write)
