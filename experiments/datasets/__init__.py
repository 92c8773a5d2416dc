"""The paper's fifteen data sets: descriptions and loading.

The data are not part of this package. :func:`load` reads them from a user folder or
from the cache, or downloads those that OpenML hosts.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import TextIO

import numpy as np
from sklearn.utils import Bunch

from .catalogue import CATALOGUE, DatasetInfo, OpenMLPart
from .openml import DownloadFailed, download
from .tables import (
    VARIABLE,
    LabelledTable,
    cache_folder,
    differences,
    digest,
    file_name,
    folders,
    read_table,
    write_table,
)

__all__ = [
    "CATALOGUE",
    "DatasetInfo",
    "DatasetNotFound",
    "OpenMLPart",
    "describe",
    "digest",
    "load",
]


class DatasetNotFound(FileNotFoundError):
    """A data set is in none of the folders and could not be downloaded."""


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_missing: bool = True,
) -> Bunch:
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
        See ``CATALOGUE``, or :func:`describe`.
    data_home : path, default=None
        Folder to use in place of ``FRUGALSVM_DATA``.
    download_missing : bool, default=True
        Whether to try OpenML.

    Returns
    -------
    Bunch
        ``data`` of shape (m, n), ``target`` in {-1, +1}, ``feature_names``,
        ``target_names`` of the two classes, ``info`` (a :class:`DatasetInfo`) and
        ``DESCR``.

    Raises
    ------
    DatasetNotFound
        The message says which file is expected where.
    """
    if name not in CATALOGUE:
        raise ValueError(f"name must be one of {list(CATALOGUE)}, got {name!r}.")
    info = CATALOGUE[name]
    for folder in folders(data_home):
        path = folder / file_name(name)
        if path.is_file():
            return _bunch(info, _checked(info, path))
    if name == "wdbc":
        return _bunch(info, _from_scikit_learn())
    reason = "it has no automatic source"
    if info.openml and download_missing:
        try:
            table = download(info)
        except DownloadFailed as error:
            reason = f"it could not be downloaded ({error})"
        else:
            write_table(cache_folder() / file_name(name), table)
            return _bunch(info, table)
    elif info.openml:
        reason = "download_missing is False"
    raise DatasetNotFound(_what_is_expected(info, folders(data_home), reason))


def _checked(info: DatasetInfo, path: Path) -> LabelledTable:
    """A user's file; one that differs from the reference copy gives a warning."""
    table = read_table(path)
    different = differences(info, table.X, table.y)
    if different:
        warnings.warn(
            f"{path} is not the table behind our published figures: "
            f"{'; '.join(different)}.",
            stacklevel=3,
        )
    return table


def _from_scikit_learn() -> LabelledTable:
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    y = np.where(found.target == 1, -1.0, 1.0)
    return LabelledTable(found.data, y, [str(name) for name in found.feature_names])


def _bunch(info: DatasetInfo, table: LabelledTable) -> Bunch:
    return Bunch(
        data=table.X,
        target=table.y,
        feature_names=table.names,
        target_names=list(info.classes),
        info=info,
        DESCR=f"{info.title}: {info.source}. Class -1: {info.classes[0]}; class +1: "
        f"{info.classes[1]}.",
    )


def _what_is_expected(info: DatasetInfo, places: list[Path], reason: str) -> str:
    m, n = info.shape
    return (
        f"{info.name} was not found, and {reason}. It is expected as the file "
        f"{file_name(info.name)} in {' or '.join(map(str, places))} (or set {VARIABLE} "
        f"to your folder): a gzipped CSV file with a header, {m} rows, {n} columns of "
        f'numbers and the last column "target", -1 for {info.classes[0]} '
        f"({info.counts[0]} rows) and 1 for {info.classes[1]} ({info.counts[1]} rows). "
        f"Source: {info.source}."
    )


def describe(file: TextIO | None = None) -> None:
    """Print the paper's two data tables beside the actual m, n and class proportions.

    Differences are marked with ``!``.

    Parameters
    ----------
    file : file, default=None
        Where to print; standard output by default.
    """
    out = sys.stdout if file is None else file
    for table, title in ((1, "First small datasets"), (2, "Second large datasets")):
        print(f"{title}\n{_HEADER}", file=out)
        for info in CATALOGUE.values():
            if info.table == table:
                print(_row(info), file=out)
        print(file=out)
    print(
        "! differs from the paper. Features are raw; the experiments standardise them "
        "to mean 0 and population variance 1.",
        file=out,
    )


_HEADER = (
    f"  {'name':<11} {'paper':<17} {'m':>5} {'n':>5} {'class %':>8} "
    f"{'our m':>6} {'n':>5} {'class %':>8}  remark"
)


def _row(info: DatasetInfo) -> str:
    m, n, first, second = info.paper
    shares = tuple(round(100 * count / sum(info.counts)) for count in info.counts)
    remarks = []
    if info.shape != (m, n):
        remarks.append("different shape")
    if shares == (second, first) and first != second:
        remarks.append("classes swapped")
    elif shares != (first, second):
        remarks.append("different class proportions")
    mark = "!" if remarks else " "
    if info.remark:
        remarks.append(info.remark)
    return (
        f"{mark} {info.name:<11} {info.title:<17} {m:>5} {n:>5} "
        f"{f'{first}/{second}':>8} {info.shape[0]:>6} {info.shape[1]:>5} "
        f"{f'{shares[0]}/{shares[1]}':>8}  {'; '.join(remarks)}"
    ).rstrip()
