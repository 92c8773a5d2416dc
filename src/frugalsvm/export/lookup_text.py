"""Lookups as Python or SQL source code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .categories import Spelling
from .lookups import BOOLEAN, LARGEST_VALUE, NUMBER, Level, Lookup
from .origins import Origin, is_of_same_code

PYTHON = f'''
def _code(value, codes, known, unknown, gap, levels=()):
    """The number for a value, for a known level, for any other one, or for a gap."""
    is_large = isinstance(value, float) and not abs(value) <= {LARGEST_VALUE!r}
    if value is None or is_large:
        return gap
    if value in codes:
        return codes[value]
    return known if known == unknown or value in levels else unknown

'''


def without_repeats(origins: Sequence[Origin]) -> list[Origin]:
    """Lookups of which only the first one of a code has no value for unknown levels.

    That is enough for a score without a value, and the levels are listed once.
    """
    found, before = [], None
    for one in origins:
        look = one.lookup
        if look and is_of_same_code(one, before) and _may_be_lost(before, look):
            one_known = look._replace(unknown=look.known)
            found.append(one._replace(lookup=one_known))
        else:
            found.append(one)
        before = one
    return found


def _may_be_lost(before: Origin | None, look: Lookup) -> bool:
    return (
        look.unknown is None
        and before is not None
        and before.lookup is not None
        and before.lookup.unknown is None
    )


def python_value(column: str, look: Lookup) -> str:
    """An expression for the number of a row."""
    codes = {look.levels[place]: number for place, number in look.codes.items()}
    more = f", {look.levels!r}" if look.known != look.unknown else ""
    return (
        f"_code(row[{column!r}], {codes!r}, {look.known!r}, {look.unknown!r}, "
        f"{look.gap!r}{more})"
    )


class SqlWriter:
    """Writes lookups in a dialect of SQL.

    Parameters
    ----------
    literal : function
        A value as SQL.
    hit : function
        Whether a text is one of the forms of truth values.
    as_text : function
        A column as text.
    """

    def __init__(
        self,
        literal: Callable[[Level], str],
        hit: Callable[..., str],
        as_text: Callable[[str], str],
    ):
        self._literal, self._hit, self._as_text = literal, hit, as_text

    def value(self, column: str, look: Lookup) -> str:
        """An expression for the number of a row; NULL if there is none."""
        cases = [
            (self._is_any(column, look, levels), number)
            for number, levels in look.by_number().items()
        ]
        if look.known != look.unknown and look.levels:
            cases.append((self._is_any(column, look, look.levels), look.known))
        cases.append((f"{column} IS NOT NULL", look.unknown))
        if look.kind == NUMBER:
            return self._of_numbers(column, cases, look.gap)
        return self._case([*cases, ("", look.gap)])

    def _of_numbers(
        self, column: str, cases: list[tuple[str, float | None]], gap: float | None
    ) -> str:
        """Numbers that are NaN or too large are gaps, and text has no value."""
        least, most = self._literal(-LARGEST_VALUE), self._literal(LARGEST_VALUE)
        small = self._literal(1.0 / LARGEST_VALUE)
        text = f"CASE WHEN +{column} BETWEEN {least} AND {most} THEN "
        text += self._case(cases)
        if gap is not None:
            text += f" WHEN {column} IS NULL OR ABS({column} * {small}) > 1 THEN "
            text += self._literal(gap)
        return f"({text} END)"

    def _case(self, cases: Sequence[tuple[str, float | None]]) -> str:
        """``CASE`` over conditions, of which the last may be empty."""
        parts = []
        for condition, number in cases:
            said = "NULL" if number is None else self._literal(number)
            parts.append(
                f"WHEN {condition} THEN {said}" if condition else f"ELSE {said}"
            )
        return f"(CASE {' '.join(parts)} END)"

    def _is_any(self, column: str, look: Lookup, levels: Sequence[Level]) -> str:
        if look.kind == BOOLEAN:
            spelling = Spelling(["False", "True"])
            forms = spelling.forms_of_all([str(one) for one in levels])
            return self._hit(self._as_text(column), forms)
        return f"{column} IN ({', '.join(map(self._literal, levels))})"
