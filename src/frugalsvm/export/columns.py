"""Selects the columns of a table that are the features of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .lookups import LARGEST_VALUE
from .origins import fills, takes_columns
from .raw_columns import features_of_columns

if TYPE_CHECKING:
    from .model import PortableModel


def select_columns(model: PortableModel, X: Any) -> np.ndarray:
    """See :meth:`PortableModel.select`."""
    return columns_and_gaps(model, X)[0]


def columns_and_gaps(model: PortableModel, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the model's features, and a mask of the values that X lacks."""
    if takes_columns(model):
        return features_of_columns(model, X)
    table = _by_name(model, X)
    if table is None:
        table = _by_place(model, X)
    # Comparisons with NaN are false.
    known = np.abs(table) <= LARGEST_VALUE
    if not known.all():
        replace = fills(model)
        table = replace(table, known)
        indicators = np.flatnonzero(replace.of_indicators >= 0)
        known[:, indicators] = known[:, replace.of_indicators[indicators]]
    if np.isnan(table).any():
        raise ValueError(
            f"X has NaN or infinite values, or values beyond {LARGEST_VALUE:g}; impute "
            "them or drop these samples."
        )
    return table, ~known


def _by_name(model: PortableModel, X: Any) -> np.ndarray | None:
    """Columns by name; None if X or the model has no names."""
    if isinstance(X, Mapping):
        there: Any = X.keys()
    elif hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
        there = set(X.columns)
    else:
        return None
    # Indicators of gaps need not be there.
    origins = fills(model).of_indicators
    absent = [name for name in model.names if name not in there]
    free = {model.names[j] for j in np.flatnonzero(origins >= 0).tolist()}
    missing = [name for name in absent if name not in free]
    if missing:
        is_unnamed = all(one.name == f"x{one.index}" for one in model.features)
        if is_unnamed and not isinstance(X, Mapping):
            return None
        shown = ", ".join(map(repr, missing[:8]))
        raise ValueError(
            f"X has no column {shown}{' and others' * (len(missing) > 8)}."
        )
    if isinstance(X, Mapping):
        known = {
            name: np.atleast_1d(np.asarray(X[name], float))
            for name in model.names
            if name not in absent
        }
        n_rows = next((one.size for one in known.values()), 1)
        known |= {name: np.full(n_rows, np.nan) for name in absent}
        columns = [known[name] for name in model.names]
        return np.column_stack(columns) if columns else np.empty((1, 0))
    if absent:
        X = X.reindex(columns=model.names)
    return np.asarray(X[model.names], dtype=np.float64)


def _by_place(model: PortableModel, X: Any) -> np.ndarray:
    """Columns by position in the table of the fit, or in the model."""
    data = X.toarray() if hasattr(X, "toarray") else X
    table = np.asarray(data, dtype=np.float64)
    n_selected = len(model.features)
    if table.ndim == 2 and table.shape[1] == model.n_features_in:
        return table[:, [one.index for one in model.features]]
    if table.ndim == 2 and table.shape[1] == n_selected:
        return table
    raise ValueError(
        f"X must be a table with {model.n_features_in} columns, or only the "
        f"{n_selected} of the model's features, got shape {table.shape}."
    )
