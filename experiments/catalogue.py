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
    """Columns of a data set on OpenML, and their conversion to the reference copy."""

    # The OpenML id, as found in a public source.
    data_id: int
    # Labels of class +1; all others are -1. Used only for the first part.
    positive: tuple[str, ...] = ()
    # Number of rows to take.
    first_rows: int | None = None
    # Positions of columns that the reference copy omits.
    drop_columns: tuple[int, ...] = ()
    # "rows" or "columns": what is dropped where a value is missing.
    drop_missing: str | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """One data set."""

    # Name of the file, ``NAME.csv.gz``.
    name: str
    # The paper's name.
    title: str
    # 1 for the paper's small data sets, 2 for the large ones.
    table: int
    # m, n and percentages of the two classes as printed.
    paper: tuple[int, int, int, int]
    # Our m and n.
    shape: tuple[int, int]
    # Our samples of class -1 and class +1.
    counts: tuple[int, int]
    # Meaning of -1 and +1.
    classes: tuple[str, str]
    # Origin of the data and their preparation.
    source: str
    # Digest of our table, see :func:`~experiments.datasets.digest`.
    sha256: str
    # Agreement with the paper's copy.
    remark: str = ""
    # Sources for download; parts are joined column by column.
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
