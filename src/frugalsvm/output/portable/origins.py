"""Where the values of features come from: the columns of a table, and imputed values.

The command line stores it in the metadata of a model, as part of the preparation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .categories import Forms, Spelling, missing_words
from .schema import InvalidModel, parse, shown

if TYPE_CHECKING:
    from .model import PortableModel

# The entry of the metadata that holds the preparation.
PREPARATION = "preparation"


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
    """

    column: str
    category: str | None = None
    fill: Any = None
    forms: Forms = Forms(())
    missing: tuple[str, ...] = ()

    @property
    def fill_value(self) -> float | None:
        """Value of the feature if its column is missing; None if it has none."""
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
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidModel(f"{PREPARATION} cannot be read: {error!r}.") from error
    missing = [name for name in model.names if name not in found]
    if missing:
        raise InvalidModel(f"feature {shown(missing[0])} has no {PREPARATION}.")
    return [found[name] for name in model.names]


def fills(model: PortableModel) -> np.ndarray:
    """For each feature, the replacement for a missing value; NaN if there is none."""
    values = [one.fill_value for one in read_origins(model)]
    return np.array([np.nan if one is None else one for one in values], dtype=float)


def _origins(content: Mapping[str, Any]) -> dict[str, Origin]:
    """The origins of all features, by name."""
    made: list[Origin] = []
    for one in content["columns"]:
        name, fill = _text(one["name"]), one["fill"]
        if one["kind"] == "number":
            made.append(Origin(name, None, None if fill is None else _real(fill)))
            continue
        if one["kind"] != "category":
            raise ValueError(f"unknown kind {shown(one['kind'])}")
        levels = [_text(level) for level in one["levels"]]
        fill = None if fill is None else _text(fill)
        spelling, missing = Spelling(levels), missing_words(levels)
        made += [
            Origin(name, level, fill, spelling.forms(level), missing)
            for level in (levels[1:] if len(levels) == 2 else levels)
        ]
    return dict(zip(map(_text, content["features"]), made, strict=True))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text")
    return value


def _real(value: Any) -> float:
    if isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number")
    return float(value)
