"""Where the values of features come from: the columns of a table, and imputed values.

The metadata of a model hold it as the preparation: that of the command line, or that of
the encoders and imputers of a pipeline, whose categories are lookups.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..run import listed
from .lookups import (
    LARGEST_VALUE,
    NUMBER,
    OTHER,
    Forms,
    Lookup,
    Spelling,
    from_content,
    is_gap,
    level_indices,
    looks_numeric,
    missing_words,
    named,
)
from .schema import InvalidModel, parse, shown

if TYPE_CHECKING:
    from .model import PortableModel

# The entries of the metadata that hold the preparation, and weights of the classes.
PREPARATION = "preparation"
CLASS_WEIGHTS = "class weights"
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
)
# The input of a model: features, or the columns of a table.
INPUT, COLUMNS = "input", "columns"


class Origin(NamedTuple):
    """Where the value of a feature comes from.

    Attributes
    ----------
    column : str
    category : str or None
        The feature is 1 if the column has this category, otherwise 0.
    fill : str, float or None
        Replacement for a missing value.
    forms : Forms
        Strings that mean the category.
    missing : tuple of str
        Strings that mean a missing value.
    is_indicator : bool
        Whether the feature is 1 where its column of numbers has no value, else 0.
    is_other : bool
        Whether the category is any other than those that the forms mean.
    is_numeric : bool
        Whether a category of the column looks like a number, so that the column may be
        numeric in a database.
    lookup : Lookup or None
        The number for each value of the column, in models of pipelines.
    """

    column: str
    category: str | None = None
    fill: Any = None
    forms: Forms = Forms(())
    missing: tuple[str, ...] = ()
    is_indicator: bool = False
    is_other: bool = False
    is_numeric: bool = False
    lookup: Lookup | None = None

    @property
    def is_number(self) -> bool:
        """Whether the feature is a column of numbers itself."""
        return self.lookup is None and self.category is None and not self.is_indicator

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the feature is 0 or 1."""
        if self.lookup is not None:
            numbers = {*self.lookup.codes.values(), self.lookup.default}
            return numbers <= {0.0, 1.0}
        return self.category is not None or self.is_indicator

    @property
    def fill_value(self) -> float | None:
        """The feature where its column has no value; None without replacement."""
        if self.is_indicator:
            return 1.0
        if self.fill is None or self.category is None:
            return self.fill
        return float(self.fill == self.category)


def read_origins(model: PortableModel) -> list[Origin]:
    """The origin of each feature; raises InvalidModel if it is malformed."""
    text = model.metadata.get(PREPARATION)
    if text is None:
        return [Origin(name) for name in model.names]
    try:
        origins = _origins(parse(text))
    except _UNREADABLE as error:
        raise InvalidModel(f"{PREPARATION} cannot be read: {error!r}.") from error
    missing = [name for name in model.names if name not in origins]
    if missing:
        raise InvalidModel(f"feature {shown(missing[0])} has no {PREPARATION}.")
    return [origins[name] for name in model.names]


def is_of_same_code(origin: Origin, before: Origin | None) -> bool:
    """Whether two features are lookups of the same levels of a column."""
    if before is None or origin.lookup is None or before.lookup is None:
        return False
    return (origin.column, *origin.lookup[:2]) == (before.column, *before.lookup[:2])


def takes_columns(model: PortableModel) -> bool:
    """Whether the input of a model is columns of a table instead of features."""
    text = model.metadata.get(PREPARATION)
    if text is None:
        return False
    try:
        content = parse(text)
    except InvalidModel:
        return False
    return isinstance(content, dict) and content.get(INPUT) == COLUMNS


def to_preparation(names: Sequence[str], origins: Sequence[Origin]) -> str:
    """The preparation of a model whose input is columns of a table."""
    columns: list[dict[str, Any]] = []
    before: Origin | None = None
    for origin in origins:
        look = origin.lookup
        if look is None:
            columns.append(
                {"name": origin.column, "kind": "number", "fill": origin.fill}
            )
        else:
            if not is_of_same_code(origin, before):
                columns.append(
                    {
                        "name": origin.column,
                        "kind": "category",
                        "type": look.kind,
                        "levels": list(look.levels),
                        "lookups": [],
                    }
                )
            columns[-1]["lookups"].append(look.to_dict())
        before = origin
    content = {INPUT: COLUMNS, "columns": columns, "features": list(names)}
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


class Fills(NamedTuple):
    """Replacements for missing values of features.

    Attributes
    ----------
    values : ndarray of float
        For each feature; NaN if there is none.
    of_indicators : ndarray of int
        For each indicator, the feature whose gaps it marks; -1 for other features.
    """

    values: np.ndarray
    of_indicators: np.ndarray

    def __call__(self, X: np.ndarray, present: np.ndarray) -> np.ndarray:
        """Samples with replacements where ``present`` is false.

        An indicator without a value is 1 if the number that it marks is missing, too.
        """
        filled = np.where(present, X, self.values)
        indicators = np.flatnonzero(self.of_indicators >= 0)
        missing = ~present[:, self.of_indicators[indicators]]
        filled[:, indicators] = np.where(missing, 1.0, filled[:, indicators])
        return filled


def fills(model: PortableModel) -> Fills:
    """Replacements for missing values of a model's features."""
    origins = read_origins(model)
    numbers = {origin.column: j for j, origin in enumerate(origins) if origin.is_number}
    values = [0.0 if origin.is_indicator else origin.fill_value for origin in origins]
    sources = [
        numbers.get(origin.column, -1) if origin.is_indicator else -1
        for origin in origins
    ]
    return Fills(
        np.array([np.nan if value is None else value for value in values], dtype=float),
        np.array(sources, dtype=np.int64),
    )


def _origins(content: Mapping[str, Any]) -> dict[str, Origin]:
    """The origins of all features, by name."""
    origins: list[Origin] = []
    for column in content["columns"]:
        name = _text(column["name"])
        if "lookups" in column:
            origins += [Origin(name, lookup=look) for look in from_content(column)]
            continue
        fill = column["fill"]
        if column["kind"] == "number":
            origins.append(Origin(name, None, None if fill is None else _real(fill)))
            if column.get("indicator", False):
                origins.append(Origin(name, is_indicator=True))
            continue
        if column["kind"] != "category":
            raise ValueError(f"unknown kind {shown(column['kind'])}")
        levels = [_text(level) for level in column["levels"]]
        fill = None if fill is None else _text(fill)
        has_other = column.get("other", False) is True
        texts = [_text(word) for word in column.get("words", ())]
        origins += _of_categories(name, levels, fill, has_other, texts)
    return dict(zip(map(_text, content["features"]), origins, strict=True))


def _of_categories(
    name: str, levels: list[str], fill: str | None, has_other: bool, texts: list[str]
) -> list[Origin]:
    """The origins of the features of a column of categories.

    ``texts`` mean a missing value elsewhere, but not in this column.
    """
    spelling, missing = Spelling(named(levels)), missing_words((*levels, *texts))
    others = [level for level in levels if level != OTHER]
    is_numeric = any(looks_numeric(level, spelling.forms(level)) for level in levels)
    origins = []
    for level in levels[1:] if len(levels) == 2 else levels:
        is_other = has_other and level == OTHER
        forms = spelling.forms_of_all(others) if is_other else spelling.forms(level)
        origins.append(
            Origin(
                name,
                level,
                fill,
                forms,
                missing,
                is_other=is_other,
                is_numeric=is_numeric,
            )
        )
    return origins


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text")
    return value


def _real(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number")
    return float(value)


# --- Features from the columns of a table ---------------------------------------------


def input_columns(model: PortableModel) -> dict[str, int]:
    """The columns of the table that a model needs, and their positions."""
    pairs = zip(read_origins(model), model.features, strict=True)
    return {origin.column: feature.index for origin, feature in pairs}


def column_kinds(model: PortableModel) -> dict[str, str]:
    """The kind of each column: text, number or boolean."""
    return {
        origin.column: NUMBER if origin.lookup is None else origin.lookup.kind
        for origin in read_origins(model)
    }


def features_of_columns(model: PortableModel, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The model's features in the rows of a table, and a mask of gaps in its columns.

    The table may have the features already.
    """
    names = _column_names(X) or set()
    if names.issuperset(model.names) and not names.issuperset(input_columns(model)):
        values = np.column_stack([np.asarray(X[name], float) for name in model.names])
        return values, np.zeros(values.shape, dtype=bool)
    features: list[np.ndarray] = []
    gaps: list[np.ndarray] = []
    for origin, column, values, missing in _features(model, X):
        if np.isnan(values).any():
            raise ValueError(_no_value(origin, column, values))
        features.append(values)
        gaps.append(missing)
    return np.column_stack(features), np.column_stack(gaps)


def rows_without_value(model: PortableModel, X: Any) -> dict[str, np.ndarray]:
    """Masks of the rows in which features have no value, by column."""
    masks: dict[str, np.ndarray] = {}
    for origin, _, values, _ in _features(model, X):
        masks[origin.column] = masks.get(origin.column, False) | np.isnan(values)
    return masks


def _features(
    model: PortableModel, X: Any
) -> Iterator[tuple[Origin, np.ndarray, np.ndarray, np.ndarray]]:
    """Origin, column, values (perhaps NaN) and gaps of each feature."""
    column_of = _reader(model, X)
    before, column, indices = None, np.empty(0), np.empty(0, dtype=np.int64)
    for origin in read_origins(model):
        if before is None or origin.column != before.column:
            column = column_of(origin.column)
        if origin.lookup is None:
            missing = np.array([is_gap(value) for value in column.tolist()], dtype=bool)
            fill = np.nan if origin.fill is None else origin.fill
            values = np.where(missing, fill, column).astype(np.float64)
        else:
            if not is_of_same_code(origin, before):
                indices = level_indices(origin.lookup.levels, column)
            values = origin.lookup.table()[indices]
            missing = indices == len(origin.lookup.levels) + 1
        yield origin, column, values, missing
        before = origin


def _reader(model: PortableModel, X: Any) -> Callable[[str], np.ndarray]:
    """A function that returns the column of a name."""
    columns = input_columns(model)
    names = _column_names(X)
    if names is not None:
        missing = [name for name in columns if name not in names]
        if not missing:
            return lambda name: np.atleast_1d(np.asarray(X[name], dtype=object))
        is_unnamed = all(name == f"x{index}" for name, index in columns.items())
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


def _column_names(X: Any) -> set[str] | None:
    """Names of the columns of a table; None if not all have one."""
    if isinstance(X, Mapping):
        return set(X)
    is_named = hasattr(X, "columns") and all(isinstance(c, str) for c in X.columns)
    return set(X.columns) if is_named else None


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


# --- Values of features, read from a table or an array --------------------------------


def columns_and_gaps(model: PortableModel, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns of the model's features, and a mask of the values that X lacks."""
    if takes_columns(model):
        return features_of_columns(model, X)
    table = _by_name(model, X)
    if table is None:
        table = _by_position(model, X)
    # Comparisons with NaN are false.
    present = np.abs(table) <= LARGEST_VALUE
    if not present.all():
        replacements = fills(model)
        table = replacements(table, present)
        indicators = np.flatnonzero(replacements.of_indicators >= 0)
        present[:, indicators] = present[:, replacements.of_indicators[indicators]]
    if np.isnan(table).any():
        raise ValueError(
            f"X has NaN or infinite values, or values beyond {LARGEST_VALUE:g}; impute "
            "them or drop these samples."
        )
    return table, ~present


def _by_name(model: PortableModel, X: Any) -> np.ndarray | None:
    """Columns by name; None if X or the model has no names."""
    names = _column_names(X)
    if names is None:
        return None
    # X need not have indicators of gaps.
    are_indicators = (fills(model).of_indicators >= 0).tolist()
    absent = [name for name in model.names if name not in names]
    optional = set(compress(model.names, are_indicators))
    missing = [name for name in absent if name not in optional]
    if missing:
        is_unnamed = all(
            feature.name == f"x{feature.index}" for feature in model.features
        )
        if is_unnamed and not isinstance(X, Mapping):
            return None
        shown = ", ".join(map(repr, missing[:8]))
        raise ValueError(
            f"X has no column {shown}{' and others' * (len(missing) > 8)}."
        )
    if isinstance(X, Mapping):
        columns = {
            name: np.atleast_1d(np.asarray(X[name], float))
            for name in model.names
            if name not in absent
        }
        n_rows = next((column.size for column in columns.values()), 1)
        columns |= {name: np.full(n_rows, np.nan) for name in absent}
        ordered = [columns[name] for name in model.names]
        return np.column_stack(ordered) if ordered else np.empty((1, 0))
    if absent:
        X = X.reindex(columns=model.names)
    return np.asarray(X[model.names], dtype=np.float64)


def _by_position(model: PortableModel, X: Any) -> np.ndarray:
    """Columns by position in the table of the fit, or in the model."""
    data = X.toarray() if hasattr(X, "toarray") else X
    table = np.asarray(data, dtype=np.float64)
    n_selected = len(model.features)
    if table.ndim == 2 and table.shape[1] == model.n_features_in:
        return table[:, [feature.index for feature in model.features]]
    if table.ndim == 2 and table.shape[1] == n_selected:
        return table
    raise ValueError(
        f"X must be a table with {model.n_features_in} columns, or only the "
        f"{n_selected} of the model's features, got shape {table.shape}."
    )
