"""--decimal and --thousands: how numbers are written in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..tables import Table
from ..tables.errors import unknown_column
from ..tables.formats import DECIMALS, GROUPS, NO_GROUPS, FormatRule, FormatRules
from .errors import UsageProblem

_WORDS = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'"}
_DECIMAL = {one: one for one in DECIMALS} | {
    word: sign for word, sign in _WORDS.items() if sign in DECIMALS
}
_THOUSANDS = {one: one for one in GROUPS} | _WORDS | {"none": NO_GROUPS}


def parse_formats(
    decimal: Sequence[str] | None, thousands: Sequence[str] | None
) -> FormatRules:
    """Number formats for the file (``,``) or for one column (``NAME=,``)."""
    decimals = _by_column("--decimal", decimal, _DECIMAL)
    groups = _by_column("--thousands", thousands, _THOUSANDS)
    of_file = _rule(decimals.pop("", None), groups.pop("", None))
    columns = {
        name: _rule(
            decimals.get(name, of_file.decimal), groups.get(name, of_file.thousands)
        )
        for name in {**decimals, **groups}
    }
    return FormatRules(of_file, columns)


def _by_column(
    option: str, given: Sequence[str] | None, known: Mapping[str, str]
) -> dict[str, str]:
    """Separators by column; the file's own has an empty name."""
    found: dict[str, str] = {}
    for text in given or ():
        name, _, sign = text.rpartition("=")
        if sign not in known:
            words = ", ".join(word for word in known if word.isalpha())
            raise UsageProblem(
                f"{option} must be one of {words}, or COLUMN= followed by one of "
                f"these; got {text!r}."
            )
        if found.setdefault(name, known[sign]) != known[sign]:
            raise UsageProblem(
                f"{option}: two different values for {name or 'the file'!r}."
            )
    return found


def _rule(decimal: str | None, thousands: str | None) -> FormatRule:
    if decimal is not None and decimal == thousands:
        raise UsageProblem(
            f"--decimal and --thousands are both {decimal!r}; they must differ."
        )
    return FormatRule(decimal, thousands)


def check_names(given: FormatRules, table: Table) -> None:
    """Raise an error if a format is given for an unknown column."""
    for name in given.columns:
        if name not in table.columns:
            raise unknown_column("--decimal or --thousands", name, table.names)


def combined(
    known: Mapping[str, FormatRule], given: FormatRules, numbers: Sequence[str]
) -> FormatRules:
    """The number formats stored in a model, unless others are given for this file.

    Parameters
    ----------
    known : mapping from names to FormatRule
        The formats stored in the model.
    given : FormatRules
        The formats given for this file.
    numbers : sequence of str
        The numeric columns that the model needs.
    """
    said = {name: replace(given[name], is_number=True) for name in numbers}
    rules = {
        name: rule if rule != FormatRule(is_number=True) else known.get(name, rule)
        for name, rule in said.items()
    }
    return FormatRules(given.file, dict(given.columns) | rules)
