"""Features of models whose input is a table as the user has it, categories included."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..run.words import listed
from .lookups import NUMBER, is_gap, places
from .origins import Origin, is_of_same_code, read_origins
from .schema import shown

if TYPE_CHECKING:
    from .model import PortableModel


def input_columns(model: PortableModel) -> dict[str, int]:
    """The columns of the table that a model needs, and their positions."""
    pairs = zip(read_origins(model), model.features, strict=True)
    return {origin.column: one.index for origin, one in pairs}


def column_kinds(model: PortableModel) -> dict[str, str]:
    """What the columns of the table are: text, number or boolean."""
    return {
        one.column: NUMBER if one.lookup is None else one.lookup.kind
        for one in read_origins(model)
    }


def features_of_columns(model: PortableModel, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The model's features of the rows of a table, and where their column has a gap.

    The table may have the features already.
    """
    if _has_names(X) and _has(X, model.names) and not _has(X, input_columns(model)):
        made = np.column_stack([np.asarray(X[name], float) for name in model.names])
        return made, np.zeros(made.shape, dtype=bool)
    features: list[np.ndarray] = []
    gaps: list[np.ndarray] = []
    for origin, known, values, missing in _features(model, X):
        if np.isnan(values).any():
            raise ValueError(_no_value(origin, known, values))
        features.append(values)
        gaps.append(missing)
    return np.column_stack(features), np.column_stack(gaps)


def rows_without_value(model: PortableModel, X: Any) -> dict[str, np.ndarray]:
    """Masks of the rows that features have no value for, by column."""
    masks: dict[str, np.ndarray] = {}
    for origin, _, values, _ in _features(model, X):
        masks[origin.column] = masks.get(origin.column, False) | np.isnan(values)
    return masks


def _features(
    model: PortableModel, X: Any
) -> Iterator[tuple[Origin, np.ndarray, np.ndarray, np.ndarray]]:
    """For each feature its origin, its column, its values (perhaps NaN), its gaps."""
    column_of = _reader(model, X)
    before, known, at = None, np.empty(0), np.empty(0, dtype=np.int64)
    for origin in read_origins(model):
        if before is None or origin.column != before.column:
            known = column_of(origin.column)
        if origin.lookup is None:
            values, missing = _filled(known, origin)
        else:
            if not is_of_same_code(origin, before):
                at = places(origin.lookup.levels, known)
            values = origin.lookup.table()[at]
            missing = at == len(origin.lookup.levels) + 1
        yield origin, known, values, missing
        before = origin


def _reader(model: PortableModel, X: Any) -> Callable[[str], np.ndarray]:
    """A function that gives a column by its name."""
    columns = input_columns(model)
    if _has_names(X):
        missing = [name for name in columns if not _has(X, [name])]
        if not missing:
            return lambda name: np.atleast_1d(np.asarray(X[name], dtype=object))
        is_unnamed = all(name == f"x{place}" for name, place in columns.items())
        if isinstance(X, Mapping) or not is_unnamed:
            raise ValueError(f"X has no column {listed(missing, quoted=True)}.")
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=object)
    if table.ndim == 2 and table.shape[1] == model.n_features_in:
        return lambda name: table[:, columns[name]]
    if table.ndim == 2 and table.shape[1] == len(columns):
        order = {name: k for k, name in enumerate(columns)}
        return lambda name: table[:, order[name]]
    raise ValueError(
        f"X must be a table with {model.n_features_in} columns, or only the "
        f"{len(columns)} that the model needs, got shape {table.shape}."
    )


def _has_names(X: Any) -> bool:
    if isinstance(X, Mapping):
        return True
    return hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns)


def _has(X: Any, names: Iterable[str]) -> bool:
    there = X.keys() if isinstance(X, Mapping) else set(X.columns)
    return all(name in there for name in names)


def _filled(column: np.ndarray, origin: Origin) -> tuple[np.ndarray, np.ndarray]:
    """A column of numbers, with its replacement for gaps, and where they are."""
    fill = np.nan if origin.fill is None else origin.fill
    gaps = np.array([is_gap(one) for one in column.tolist()], dtype=bool)
    return np.where(gaps, fill, column).astype(np.float64), gaps


def _no_value(origin: Origin, column: np.ndarray, values: np.ndarray) -> str:
    row = int(np.flatnonzero(np.isnan(values))[0])
    where = f"column {origin.column!r} of row {row + 1:,}"
    if is_gap(column[row]):
        return (
            f"{where} has no value (NaN, None, or a number that is infinite or beyond "
            "1e100), and the pipeline of the model does not impute it; fill it in or "
            "drop the row."
        )
    return (
        f"{where} has {shown(column[row])}, which the model does not know; correct it, "
        "drop the row, or fit the encoder with handle_unknown='ignore'."
    )
