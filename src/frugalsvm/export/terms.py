"""Features as functions of one column each, while transformers are followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .lookups import NUMBER, TEXT, Level, Lookup, is_gap, kind_of
from .origins import Origin

GAP = float("nan")


@dataclass(frozen=True)
class Term:
    """A feature: ``(value - mean) / scale`` for a value that a column determines.

    Attributes
    ----------
    column : int
    name : str
    fill : object
        For the column itself: what replaces a gap, by default nothing.
    values : Codes or None
        For an encoded column: the value for each of its levels.
    mean, scale : float
    """

    column: int
    name: str
    fill: Any = GAP
    values: Codes | None = None
    mean: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True)
class Codes:
    """Values by levels; None where a transformer raises an error.

    Attributes
    ----------
    kind : str or None
        That of the levels; None if there are none.
    levels : tuple
    values : tuple
    unknown, gap : object
        The values for other values of the column, and for a gap.
    """

    kind: str | None
    levels: tuple[Level, ...]
    values: tuple[Any, ...]
    unknown: Any
    gap: Any

    def map(self, to: Callable[[Any], Any]) -> Codes:
        """With other values; an error stays one."""

        def mapped(value: Any) -> Any:
            return None if value is None else to(value)

        values = tuple(map(mapped, self.values))
        return replace(
            self, values=values, unknown=mapped(self.unknown), gap=mapped(self.gap)
        )


def origins_of(
    used: Sequence[Term], terms: Sequence[Term], names: Sequence[str]
) -> list[Origin] | None:
    """Where the used features come from; None if they are just columns of numbers."""
    places = [one.column for one in used]
    is_plain = all(one.values is None and is_gap(one.fill) for one in used)
    if is_plain and len(set(places)) == len(places):
        return None
    kinds = {one.column: NUMBER for one in terms}
    for one in terms:
        if one.values is not None and one.values.kind is not None:
            kinds[one.column] = one.values.kind
    return [_origin(one, names[one.column], kinds[one.column]) for one in used]


def _origin(term: Term, column: str, kind: str) -> Origin:
    is_other = term.values is None and kind == TEXT
    if is_other or (term.values is not None and term.values.kind not in (None, kind)):
        raise ValueError(
            f"column {column!r} is used as {kind} and as something else; encode it in "
            "one way."
        )
    if term.values is None:
        fill = None if is_gap(term.fill) else _real(term.fill, column)
        return Origin(column, fill=fill)
    codes = term.values
    values = [_real(one, column) for one in codes.values]
    ends = (_real(one, column) for one in (codes.unknown, codes.gap))
    return Origin(column, lookup=Lookup.of_values(kind, codes.levels, values, *ends))


def _real(value: Any, column: str) -> float | None:
    """A number, or None for none."""
    if value is None or is_gap(value):
        return None
    if kind_of(value) == TEXT:
        raise ValueError(
            f"the pipeline leaves text in column {column!r}, {value!r}; encode it by "
            "OneHotEncoder or OrdinalEncoder."
        )
    return float(value)
