"""Errors in a table, worded for the owner of the file."""

from __future__ import annotations

from collections.abc import Sequence

from ..run import words


class TableError(ValueError):
    """A table that cannot be used; the message says why, and what to do."""


class WrongRequest(TableError):
    """What was asked for does not suit a table in which nothing is wrong."""


class UnknownColumn(WrongRequest):
    """A requested column does not exist."""


def listed(names: Sequence[str]) -> str:
    """The first names in quotes, and how many more there are."""
    return words.listed(names, quoted=True)


def unknown_column(what: str, name: str, known: Sequence[str]) -> UnknownColumn:
    """The error for an unknown column name; ``what`` is the option that gave it."""
    close = words.close_names(name, known)
    folded = [one for one in known if one.casefold() == name.casefold()]
    if folded or close:
        hint = f"did you mean {listed(folded or close)}?"
    else:
        hint = f"the columns are {listed(known)}."
    return UnknownColumn(f"{what}: no column {name!r}; {hint}")
