"""Downloads from OpenML through scikit-learn, converted to the reference tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from .catalogue import DatasetInfo, OpenMLPart
from .tables import LabelledTable, differences


class DownloadFailed(OSError):
    """OpenML was unreachable, or its table differs from the reference copy."""


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
    several = len(parts) > 1
    names = [
        f"{part.data_id}_{name}" if several else name
        for part, table in zip(info.openml, parts, strict=True)
        for name in table.names
    ]
    table = LabelledTable(np.hstack([one.X for one in parts]), parts[0].y, names)
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
    return _table(part, bunch)


def _table(part: OpenMLPart, bunch: Any) -> LabelledTable:
    columns = list(bunch.data.columns)
    X = np.column_stack(
        # Categories here are numbers stored as strings.
        [np.asarray(bunch.data[name].astype(object), dtype=float) for name in columns]
    )
    labels = np.asarray(bunch.target.astype(str))
    y = np.where(np.isin(labels, part.positive), 1.0, -1.0)
    kept = np.ones(len(columns), dtype=bool)
    kept[list(part.drop_columns)] = False
    X, y = X[: part.first_rows], y[: part.first_rows]
    missing = np.isnan(X)
    if part.drop_missing == "columns":
        kept &= ~missing.any(axis=0)
    if part.drop_missing == "rows":
        complete = ~missing.any(axis=1)
        X, y = X[complete], y[complete]
    return LabelledTable(X[:, kept], y, [columns[j] for j in np.flatnonzero(kept)])
