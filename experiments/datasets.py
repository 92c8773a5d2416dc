"""The paper's data sets: files, downloads from OpenML, and sources of experiments.

The data are not in the repository. :func:`load` reads them from a folder of the user or
from the cache, or downloads those that OpenML hosts.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import warnings
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import IO

import numpy as np
from sklearn.preprocessing import StandardScaler

from frugalsvm import Problem
from frugalsvm.problem.certificate import write_whole

from .catalogue import CATALOGUE, DatasetInfo, OpenMLPart

#: Name of the environment variable with the folder of the data sets.
VARIABLE = "FRUGALSVM_DATA"
SMALL, LARGE = (
    tuple(name for name, info in CATALOGUE.items() if info.table == table)
    for table in (1, 2)
)


class DatasetNotFound(FileNotFoundError):
    """A data set is in none of the folders and could not be downloaded."""


class DownloadFailed(OSError):
    """OpenML was unreachable, or its table differs from the reference copy."""


class UnreadableData(RuntimeError):
    """The file of a data set exists but is damaged."""


# --- files ----------------------------------------------------------------------------


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
    digits = digest(X, y)
    if digits != info.sha256:
        return [f"SHA-256 {digits[:12]}... instead of {info.sha256[:12]}..."]
    return []


def cache_folder() -> Path:
    """The cache folder: ``frugalsvm`` in ``XDG_CACHE_HOME`` or ``~/.cache``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "frugalsvm"


def folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """The search path: a folder or that of FRUGALSVM_DATA; then the cache."""
    folder = data_home or os.environ.get(VARIABLE)
    return [*([Path(folder)] if folder else []), cache_folder()]


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


# --- OpenML ---------------------------------------------------------------------------


def download(info: DatasetInfo) -> LabelledTable:
    """Fetch all parts of a data set; accept it only if it equals the reference copy.

    Raises
    ------
    DownloadFailed
    """
    parts = [_fetch(part) for part in info.openml]
    rows = {table.X.shape[0] for table in parts}
    if len(rows) > 1:
        raise DownloadFailed(f"the parts on OpenML have {sorted(rows)} rows.")
    names = [
        f"{part.data_id}_{name}" if len(parts) > 1 else name
        for part, table in zip(info.openml, parts, strict=True)
        for name in table.names
    ]
    table = LabelledTable(np.hstack([part.X for part in parts]), parts[0].y, names)
    different = differences(info, table.X, table.y)
    if different:
        raise DownloadFailed(
            f"the table on OpenML differs from ours: {'; '.join(different)}."
        )
    return table


def _fetch(part: OpenMLPart) -> LabelledTable:
    from sklearn.datasets import fetch_openml

    try:
        # Not cached there: accepted tables go to the package's own cache. The other
        # parser fails on numeric categories with recent versions of pandas.
        bunch = fetch_openml(
            data_id=part.data_id, as_frame=True, cache=False, parser="liac-arff"
        )
    except (ImportError, OSError, ValueError) as error:
        # No network, no pandas, a wrong checksum: all are treated alike.
        raise DownloadFailed(f"OpenML {part.data_id}: {error}") from error
    columns = list(bunch.data.columns)
    X = np.column_stack(
        # Categories here are numbers stored as strings.
        [np.asarray(bunch.data[name].astype(object), dtype=float) for name in columns]
    )
    labels = np.asarray(bunch.target.astype(str))
    y = np.where(np.isin(labels, part.positive), 1.0, -1.0)
    mask = np.ones(len(columns), dtype=bool)
    mask[list(part.drop_columns)] = False
    X, y = X[: part.first_rows], y[: part.first_rows]
    missing = np.isnan(X)
    if part.drop_missing == "columns":
        mask &= ~missing.any(axis=0)
    if part.drop_missing == "rows":
        complete = ~missing.any(axis=1)
        X, y = X[complete], y[complete]
    return LabelledTable(X[:, mask], y, [columns[j] for j in np.flatnonzero(mask)])


# --- loading --------------------------------------------------------------------------


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_missing: bool = True,
) -> LabelledTable:
    """One of the paper's data sets, raw: features as they are in the source.

    Looked for as ``NAME.csv.gz`` in ``data_home`` or the folder that the environment
    variable ``FRUGALSVM_DATA`` names, then in the user's cache (``~/.cache/frugalsvm``,
    or below ``XDG_CACHE_HOME``). Otherwise it is taken from scikit-learn (wdbc) or
    downloaded from OpenML, if available there, and cached. A download is accepted only
    if shape, class counts and SHA-256 of its table match the copy used for the
    published results of this package.

    Nothing is scaled. The experiments standardise features to mean 0 and population
    variance 1 (:class:`sklearn.preprocessing.StandardScaler`) on all samples, or on the
    training samples if there is a test set.

    Parameters
    ----------
    name : str
        See ``CATALOGUE``; Tables 1 and 2 are the experiments table1 and table2.
    data_home : path, default=None
        Folder to use in place of ``FRUGALSVM_DATA``.
    download_missing : bool, default=True
        Whether to try OpenML.

    Returns
    -------
    LabelledTable

    Raises
    ------
    DatasetNotFound
        With a message that says which file is expected where.
    """
    if name not in CATALOGUE:
        raise ValueError(f"name must be one of {list(CATALOGUE)}, got {name!r}.")
    info = CATALOGUE[name]
    for folder in folders(data_home):
        path = folder / file_name(name)
        if path.is_file():
            table = read_table(path)
            different = differences(info, table.X, table.y)
            if different:
                warnings.warn(
                    f"{path} is not the table behind our published figures: "
                    f"{'; '.join(different)}.",
                    stacklevel=2,
                )
            return table
    if name == "wdbc":
        from sklearn.datasets import load_breast_cancer

        sample = load_breast_cancer()
        y = np.where(sample.target == 1, -1.0, 1.0)
        return LabelledTable(sample.data, y, [str(n) for n in sample.feature_names])
    reason = "it has no automatic source"
    if info.openml and download_missing:
        try:
            table = download(info)
        except DownloadFailed as error:
            reason = f"it could not be downloaded ({error})"
        else:
            write_table(cache_folder() / file_name(name), table)
            return table
    elif info.openml:
        reason = "download_missing is False"
    m, n = info.shape
    paths = " or ".join(map(str, folders(data_home)))
    raise DatasetNotFound(
        f"{name} was not found, and {reason}. It is expected as the file "
        f"{file_name(name)} in {paths} (or set {VARIABLE} "
        f"to your folder): a gzipped CSV file with a header, {m} rows, {n} columns of "
        f'numbers and the last column "target", -1 for {info.classes[0]} '
        f"({info.counts[0]} rows) and 1 for {info.classes[1]} ({info.counts[1]} rows). "
        f"Source: {info.source}."
    )


# --- sources of experiments -----------------------------------------------------------


@dataclass(frozen=True)
class DataSet:
    """Raw features and labels in {-1, +1}."""

    name: str
    X: np.ndarray
    y: np.ndarray
    # Where it is, besides the usual folders.
    folder: str | None = None

    def problem(self, budget: int, C: float) -> Problem:
        """FS-SVM on all samples, standardised."""
        return Problem(scaled(self.X), self.y, C=C, max_features=budget)

    def companion(self, name: str) -> Path:
        """A file beside the data set: the original of german, names of samples."""
        paths = [folder / file_name(name) for folder in folders(self.folder)]
        for path in paths:
            if path.is_file():
                return path
        raise DatasetNotFound(f"There is no {' or '.join(map(str, paths))}.")


def scaled(X: np.ndarray) -> np.ndarray:
    """Features of mean 0 and population variance 1; constant ones become 0."""
    return np.asarray(StandardScaler().fit_transform(X))


@dataclass(frozen=True)
class DatasetSource:
    """The paper's data sets, in a folder or as found by ``datasets.load``."""

    folder: str | None = None

    def load(self, name: str) -> DataSet:
        """A data set; the last few are cached."""
        return _load(self.folder, name)

    def fingerprint(self, name: str) -> str:
        """SHA-256 of a table."""
        return _fingerprint(self.folder, name)

    def shape(self, name: str) -> tuple[int, int]:
        """Samples and features."""
        m, n = self.load(name).X.shape
        return m, n


class Catalogue(DatasetSource):
    """Shapes from the catalogue, if the data are not available yet."""

    def shape(self, name: str) -> tuple[int, int]:
        """Samples and features of the reference copies."""
        return CATALOGUE[name].shape


@lru_cache(maxsize=4)
def _load(folder: str | None, name: str) -> DataSet:
    with warnings.catch_warnings():
        # Tables 1 and 2 say which copies differ.
        warnings.simplefilter("ignore", UserWarning)
        try:
            table = load(name, data_home=folder)
        except DatasetNotFound:
            raise
        except (OSError, EOFError, ValueError, zlib.error) as error:
            raise UnreadableData(
                f"{name} cannot be read ({error}); if it is truncated, get it again."
            ) from error
    return DataSet(name, table.X, table.y, folder)


@cache
def _fingerprint(folder: str | None, name: str) -> str:
    data = _load(folder, name)
    return digest(data.X, data.y)
