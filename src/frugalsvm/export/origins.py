"""Where the values of features come from: the columns of a table, and imputed values.

It is in the metadata of a model, as its preparation: that of the command line, or that
of the encoders and imputers of a pipeline, whose categories are lookups.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..run.words import listed
from .lookups import (
    LARGEST_VALUE,
    NUMBER,
    OTHER,
    Forms,
    Lookup,
    Spelling,
    from_content,
    is_gap,
    looks_numeric,
    missing_words,
    named,
    places,
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
# What a model is given: features, or the columns of a table.
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
        Whether the feature is 1 where the column, of numbers, has no value, else 0.
    is_other : bool
        Whether the category is any but those that the forms mean.
    is_numeric : bool
        Whether a category of the column looks like a number, so that a data base may
        have numbers.
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
        """Whether the feature says what the column has."""
        if self.lookup is not None:
            numbers = {*self.lookup.codes.values(), self.lookup.known}
            return numbers <= {0.0, 1.0}
        return self.category is not None or self.is_indicator

    @property
    def fill_value(self) -> float | None:
        """Value of the feature if its column is missing; None if it has none."""
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
        found = _origins(parse(text))
    except _UNREADABLE as error:
        raise InvalidModel(f"{PREPARATION} cannot be read: {error!r}.") from error
    missing = [name for name in model.names if name not in found]
    if missing:
        raise InvalidModel(f"feature {shown(missing[0])} has no {PREPARATION}.")
    return [found[name] for name in model.names]


def is_of_same_code(origin: Origin, before: Origin | None) -> bool:
    """Whether two features are lookups of the same levels of a column."""
    if before is None or origin.lookup is None or origin.column != before.column:
        return False
    return origin.lookup.same_levels(before.lookup)


def takes_columns(model: PortableModel) -> bool:
    """Whether a model is given the columns of a table instead of features."""
    text = model.metadata.get(PREPARATION)
    if text is None:
        return False
    try:
        content = parse(text)
    except InvalidModel:
        return False
    return isinstance(content, dict) and content.get(INPUT) == COLUMNS


def to_preparation(names: Sequence[str], origins: Sequence[Origin]) -> str:
    """The preparation of features that are given as columns of a table."""
    columns: list[dict[str, Any]] = []
    before: Origin | None = None
    for one in origins:
        look = one.lookup
        if look is None:
            columns.append({"name": one.column, "kind": "number", "fill": one.fill})
        else:
            if not is_of_same_code(one, before):
                columns.append(
                    {
                        "name": one.column,
                        "kind": "category",
                        "type": look.kind,
                        "levels": list(look.levels),
                        "lookups": [],
                    }
                )
            columns[-1]["lookups"].append(look.to_dict())
        before = one
    content = {INPUT: COLUMNS, "columns": columns, "features": list(names)}
    return json.dumps(content, ensure_ascii=True, allow_nan=False)


class Fills(NamedTuple):
    """What stands for missing values of features.

    Attributes
    ----------
    values : ndarray of float
        For each feature; NaN if there is none.
    of_indicators : ndarray of int
        For each feature, the one whose gaps make it 1; -1 if it is no indicator.
    """

    values: np.ndarray
    of_indicators: np.ndarray

    def __call__(self, X: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Samples without gaps, where ``known`` is false.

        An indicator may have no value of its own: it is 1 where its number is missing.
        """
        filled = np.where(known, X, self.values)
        indicators = np.flatnonzero(self.of_indicators >= 0)
        lost = ~known[:, self.of_indicators[indicators]]
        filled[:, indicators] = np.where(lost, 1.0, filled[:, indicators])
        return filled


def fills(model: PortableModel) -> Fills:
    """What stands for missing values."""
    origins = read_origins(model)
    numbers = {one.column: j for j, one in enumerate(origins) if one.is_number}
    values = [0.0 if one.is_indicator else one.fill_value for one in origins]
    places = [
        numbers.get(one.column, -1) if one.is_indicator else -1 for one in origins
    ]
    return Fills(
        np.array([np.nan if one is None else one for one in values], dtype=float),
        np.array(places, dtype=np.int64),
    )


def _origins(content: Mapping[str, Any]) -> dict[str, Origin]:
    """The origins of all features, by name."""
    made: list[Origin] = []
    for one in content["columns"]:
        name = _text(one["name"])
        if "lookups" in one:
            made += [Origin(name, lookup=look) for look in from_content(one)]
            continue
        fill = one["fill"]
        if one["kind"] == "number":
            made.append(Origin(name, None, None if fill is None else _real(fill)))
            if one.get("indicator", False):
                made.append(Origin(name, is_indicator=True))
            continue
        if one["kind"] != "category":
            raise ValueError(f"unknown kind {shown(one['kind'])}")
        levels = [_text(level) for level in one["levels"]]
        fill = None if fill is None else _text(fill)
        has_other = one.get("other", False) is True
        words = [_text(word) for word in one.get("words", ())]
        made += _of_categories(name, levels, fill, has_other, words)
    return dict(zip(map(_text, content["features"]), made, strict=True))


def _of_categories(
    name: str, levels: list[str], fill: str | None, has_other: bool, words: list[str]
) -> list[Origin]:
    """The origins of the features of a column of categories.

    ``words`` mean a missing value elsewhere, but are texts of this column.
    """
    spelling, missing = Spelling(named(levels)), missing_words((*levels, *words))
    others = [one for one in levels if one != OTHER]
    is_numeric = any(looks_numeric(one, spelling.forms(one)) for one in levels)
    made = []
    for level in levels[1:] if len(levels) == 2 else levels:
        is_other = has_other and level == OTHER
        forms = spelling.forms_of_all(others) if is_other else spelling.forms(level)
        made.append(
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
    return made


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text")
    return value


def _real(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number")
    return float(value)


# --- Features of models whose input is a table as the user has it, categories included


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


# --- Selects the columns of a table that are the features of a model ------------------


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
