"""Where the values of features come from: the columns of a table, and imputed values.

It is in the metadata of a model, as its preparation: that of the command line, or that
of the encoders and imputers of a pipeline, whose categories are lookups.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .categories import OTHER, Forms, Spelling, looks_numeric, missing_words, named
from .lookups import Lookup, from_content
from .schema import InvalidModel, parse, shown

if TYPE_CHECKING:
    from .model import PortableModel

# The entries of the metadata that hold the preparation, and weights of the classes.
PREPARATION = "preparation"
CLASS_WEIGHTS = "class weights"
_UNREADABLE = (
    ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
)  # fmt: skip
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
                        "name": one.column, "kind": "category", "type": look.kind,
                        "levels": list(look.levels), "lookups": [],
                    }
                )  # fmt: skip
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
                name, level, fill, forms, missing, is_other=is_other,
                is_numeric=is_numeric,
            )
        )  # fmt: skip
    return made


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text")
    return value


def _real(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number")
    return float(value)
