"""Columns that identify rows or persons, and so are useless for new ones."""

from __future__ import annotations

import re

import numpy as np

# Number of rows from which distinct integers without a gap are no coincidence.
ID_ROWS = 20
ID_NAME = re.compile(
    r"(?i:(^|[\s_.\-])(id|ids|uid|uuid|nr|no|number|index|key|row|record|rowid)$)"
    r"|(?i:^(id|row|index|record)([\s_.\-]|$))|(?i:^unnamed)|[a-z](Id|ID)$"
    r"|(?i:^(patient|subject|sample|case|customer|client|person|participant)s?$)"
)
# Fraction of distinct values that makes a column with a telling name an identifier.
DIFFERENT = 0.95


def numbers_rows(name: str, column: np.ndarray) -> bool:
    """Whether a column numbers its rows, in any order.

    It does if its sorted integers rise in equal steps, or if its name says so and
    nearly all of them are distinct.
    """
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS or (known != np.round(known)).any():
        return False
    different = np.unique(known)
    if different.size == known.size and np.ptp(np.diff(different)) == 0:
        return True
    is_named = ID_NAME.search(name) is not None
    return is_named and different.size > DIFFERENT * known.size


def rises_with_rows(column: np.ndarray) -> bool:
    """Whether distinct integers are sorted, as row numbers are, possibly with gaps."""
    known = column[~np.isnan(column)]
    if known.size < ID_ROWS:
        return False
    steps = np.diff(known)
    in_order = (steps > 0).all() or (steps < 0).all()
    return bool(in_order and (known == np.round(known)).all())
