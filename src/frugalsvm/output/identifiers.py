"""Columns that identify rows or persons, and so are useless for new ones."""

from __future__ import annotations

import re

import numpy as np

# Number of rows from which distinct integers without a gap are no coincidence.
ID_ROWS = 20
# Words of a name that say so: anywhere in it, as the first, the last or the only one.
_ANYWHERE = {"id", "ids", "pid", "uid", "uuid", "guid", "rowid", "rownames", "unnamed"}
_FIRST = {"row", "index", "record"}
_LAST = {"nr", "no", "number", "index", "key", "row", "record"}
_PERSONS = "patient|subject|sample|case|customer|client|person|participant"
_ALONE = re.compile(rf"(?:{_PERSONS})s?")
_JOINED = re.compile(rf"(?:{_PERSONS}|member|user|account|order)(?:ids?|nr|no|number)")
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
    """
    words = [one.lower() for one in _BETWEEN.split(name) if one]
    if not words:
        return False
    if words[0] in _FIRST or words[-1] in _LAST or not _ANYWHERE.isdisjoint(words):
        return True
    is_alone = len(words) == 1 and _ALONE.fullmatch(words[0]) is not None
    return is_alone or any(_JOINED.fullmatch(one) for one in words)


def numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows, in any order, or the persons in them.

    It does if its sorted integers rise in equal steps, or are nearly all of a range
    (some rows were left out), or if its name says so and most of them are distinct.
    """
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS or (known != np.round(known)).any():
        return False
    different = np.unique(known)
    if different.size == known.size and _are_counted(different):
        return True
    return different.size > DIFFERENT * known.size and is_id_name(name)


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
