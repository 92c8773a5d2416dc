"""Columns that identify rows or persons, and so are useless for new ones."""

from __future__ import annotations

import re

import numpy as np

# Number of rows from which distinct integers without a gap are no coincidence.
ID_ROWS = 20
# Words of a name that say so: anywhere in it, as the first, the last or the only one.
_ANYWHERE = {"id", "ids", "pid", "uid", "uuid", "guid", "rowid", "rownames", "unnamed"}
_FIRST = {"row", "record"}
_LAST = {"nr", "key", "row", "record"}
_ALONE = "index"
_PERSONS = "patient|subject|sample|case|customer|client|person|participant"
_PERSON = re.compile(rf"(?:{_PERSONS})s?")
_JOINED = re.compile(rf"(?:{_PERSONS}|member|user|account|order)(?:ids?|nr|no|number)")
# German: Fallnummer, KundenNr, Kundennr (but no PSNR).
_COMPOUND = re.compile(r"\w*(?:nummer|kennung)|\w{4,}nr")
# Last words that say so after something that is numbered (customer number, row index);
# after others they may be measured (octane number, house price index).
_NUMBERS = {"no", "number", "index"}
_NUMBERED = re.compile(
    rf"(?:{_PERSONS}|member|user|account|order|row|record|line|item|observation|study|"
    "student|employee|staff|invoice|bill|contract|policy|ticket|card|serial|batch|lot|"
    "part|product|article|vehicle|file|document|reference|registration|tracking|"
    "phone|telephone|mobile|fax|passport|licen[cs]e|security|tax|insurance|chart|visit|"
    "admission|encounter)s?"
)
# Between words: customer_no, row.names, PatientID.
_BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")
# Fraction of distinct values beyond which a telling name is believed.
DIFFERENT = 0.5
# Part of the integers in their range that numbers of rows are at least.
DENSE = 0.9


def is_id_name(name: str) -> bool:
    """Whether the name of a column says that it identifies rows or persons.

    Examples
    --------
    >>> [is_id_name(one) for one in ("customer no", "PatientID", "acid", "NO2")]
    [True, True, False, False]
    >>> [is_id_name(one) for one in ("row number", "octane number", "body mass index")]
    [True, False, False]
    """
    words = [one.lower() for one in _BETWEEN.split(name) if one]
    if not words:
        return False
    if words[0] in _FIRST or words[-1] in _LAST or not _ANYWHERE.isdisjoint(words):
        return True
    if len(words) == 1 and (words[0] == _ALONE or _PERSON.fullmatch(words[0])):
        return True
    if words[-1] in _NUMBERS and len(words) > 1 and _NUMBERED.fullmatch(words[-2]):
        return True
    return any(_JOINED.fullmatch(one) or _COMPOUND.fullmatch(one) for one in words)


def _may_be_id_name(name: str) -> bool:
    """Whether the name ends like one of numbered rows, but may be a measurement's."""
    words = [one.lower() for one in _BETWEEN.split(name) if one]
    return bool(words) and words[-1] in _NUMBERS


def numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows, in any order, or the persons in them.

    It does if its sorted integers rise in equal steps, or are nearly all of a range
    (some rows were left out), or if its name says so and most of them are distinct. A
    name that may as well be a measurement's says so only if they rise with the rows.
    """
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS or (known != np.round(known)).any():
        return False
    different = np.unique(known)
    if different.size == known.size and _are_counted(different):
        return True
    if different.size > DIFFERENT * known.size and is_id_name(name):
        return True
    return _may_be_id_name(name) and rises_with_rows(known)


def _are_counted(different: np.ndarray) -> bool:
    steps = np.diff(different)
    return bool(np.ptp(steps) == 0 or steps.mean() * DENSE <= 1)


def rises_with_rows(column: np.ndarray) -> bool:
    """Whether distinct integers are sorted, as row numbers are, possibly with gaps."""
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS:
        return False
    steps = np.diff(known)
    in_order = (steps > 0).all() or (steps < 0).all()
    return bool(in_order and (known == np.round(known)).all())
