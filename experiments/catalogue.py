"""The fifteen data sets: the paper's description, and the reference copies.

They are in ``catalogue.toml``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class OpenMLPart:
    """Columns of a data set on OpenML, and their conversion to the reference copy.

    Attributes
    ----------
    data_id : int
        The OpenML id, as found in a public source.
    positive : tuple of str
        Labels of class +1; all others are -1. Used only for the first part.
    first_rows : int or None
        Number of rows to take.
    drop_columns : tuple of int
        Positions of columns that the reference copy omits.
    drop_missing : {"rows", "columns", None}
        Part of the table that is dropped where a value is missing.
    """

    data_id: int
    positive: tuple[str, ...] = ()
    first_rows: int | None = None
    drop_columns: tuple[int, ...] = ()
    drop_missing: str | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """One data set.

    Attributes
    ----------
    name : str
        Name of the file, ``NAME.csv.gz``.
    title : str
        The paper's name.
    table : int
        1 for the paper's small data sets, 2 for the large ones.
    paper : (int, int, int, int)
        m, n and percentages of the two classes as printed.
    shape : (int, int)
        Our m and n.
    counts : (int, int)
        Our samples of class -1 and class +1.
    classes : (str, str)
        Meaning of -1 and +1.
    source : str
        Origin of the data and their preparation.
    sha256 : str
        Digest of our table, see :func:`~experiments.datasets.digest`.
    remark : str
        Agreement with the paper's copy.
    openml : tuple of OpenMLPart
        Sources for download; parts are joined column by column.
    """

    name: str
    title: str
    table: int
    paper: tuple[int, int, int, int]
    shape: tuple[int, int]
    counts: tuple[int, int]
    classes: tuple[str, str]
    source: str
    sha256: str
    remark: str = ""
    openml: tuple[OpenMLPart, ...] = ()


def _with_tuples(content: dict[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in content.items()}


_SETS = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text("utf-8"))
#: All sets by name, in the order of the paper's tables.
CATALOGUE: dict[str, DatasetInfo] = {}
for _name, _content in _SETS.items():
    _content["openml"] = [
        OpenMLPart(**_with_tuples(part)) for part in _content.get("openml", ())
    ]
    CATALOGUE[_name] = DatasetInfo(_name, **_with_tuples(_content))
