"""Lookups: features that are a number for each value of a column.

An encoder of scikit-learn makes them: a one-hot feature is 1 for one category, an
ordinal one is the position of the category, an indicator is 1 for a gap. Values are
compared exactly: nothing is stripped, and no word means a gap.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .schema import shown

# What the values of a column are.
TEXT, NUMBER, BOOLEAN = KINDS = ("text", "number", "boolean")
# Larger numbers count as missing, like NaN; every database can represent this one.
LARGEST_VALUE = 1e100

Level = str | int | float | bool


class Lookup(NamedTuple):
    """A number for each value of a column; None where the feature has no value.

    Attributes
    ----------
    kind : {"text", "number", "boolean"}
    levels : tuple
        The values that are known.
    codes : dict
        Numbers by the places of levels.
    known, unknown, gap : float or None
        The number for all other levels, for any other value, and for a missing one.
    """

    kind: str
    levels: tuple[Level, ...]
    codes: dict[int, float | None]
    known: float | None
    unknown: float | None
    gap: float | None

    @classmethod
    def of_values(
        cls,
        kind: str,
        levels: tuple[Level, ...],
        values: Sequence[float | None],
        unknown: float | None,
        gap: float | None,
    ) -> Lookup:
        """Made of the numbers of all levels."""
        counts = Counter(values)
        is_other = unknown in counts or not counts
        known = unknown if is_other else counts.most_common(1)[0][0]
        codes = {k: one for k, one in enumerate(values) if one != known}
        return cls(kind, levels, codes, known, unknown, gap)

    def table(self) -> np.ndarray:
        """The numbers of all levels, of an unknown value and of a gap; NaN for None."""
        table = np.full(len(self.levels) + 2, _plain(self.known))
        for place, number in self.codes.items():
            table[place] = _plain(number)
        table[-2:] = _plain(self.unknown), _plain(self.gap)
        return table

    def by_number(self) -> dict[float | None, list[Level]]:
        """The levels of each number in the codes."""
        found: dict[float | None, list[Level]] = {}
        for place, number in self.codes.items():
            found.setdefault(number, []).append(self.levels[place])
        return found

    def same_levels(self, other: Lookup | None) -> bool:
        """Whether two lookups tell the same values from each other."""
        return other is not None and self[:2] == other[:2]

    def to_dict(self) -> dict[str, Any]:
        """As in model.json, without kind and levels, which the column has."""
        codes = {str(place): number for place, number in self.codes.items()}
        ends = {"known": self.known, "unknown": self.unknown, "gap": self.gap}
        return {"codes": codes, **ends}


def _plain(number: float | None) -> float:
    return np.nan if number is None else number


def from_content(column: Mapping[str, Any]) -> list[Lookup]:
    """The lookups of a column in model.json; raises ValueError if it is malformed."""
    kind, levels = column["type"], tuple(column["levels"])
    if kind not in KINDS:
        raise ValueError(f"unknown type {shown(kind)}")
    for one in levels:
        if kind_of(one) != kind:
            raise ValueError(f"{shown(one)} is no {kind}")
    if len(set(levels)) < len(levels):
        raise ValueError("a level appears twice")
    found = []
    places = dict(enumerate(levels))
    for one in column["lookups"]:
        codes = {int(place): _number(code) for place, code in one["codes"].items()}
        if not codes.keys() <= places.keys():
            raise ValueError("a code is of no level")
        ends = (_number(one[name]) for name in ("known", "unknown", "gap"))
        found.append(Lookup(kind, levels, codes, *ends))
    return found


def kind_of(level: Any) -> str | None:
    """What a value is; None if it is neither text nor a number nor a truth value."""
    if isinstance(level, bool):
        return BOOLEAN
    if isinstance(level, str):
        return TEXT
    is_number = isinstance(level, (int, float))
    return NUMBER if is_number and abs(level) <= LARGEST_VALUE else None


def is_gap(value: Any) -> bool:
    """Whether a value is missing: None, NaN, pandas.NA, or too large a number."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    is_real = isinstance(value, (float, np.floating))
    return is_real and not abs(value) <= LARGEST_VALUE


def places(levels: Sequence[Level], column: np.ndarray) -> np.ndarray:
    """The place of each value in the levels, then that of unknown ones, and of gaps."""
    place = {one: k for k, one in enumerate(levels)}
    n = len(levels)
    return np.array(
        [n + 1 if is_gap(one) else place.get(one, n) for one in column.tolist()],
        dtype=np.int64,
    )


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number")
    return float(value)
