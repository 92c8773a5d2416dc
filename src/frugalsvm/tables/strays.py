"""Columns of numbers in which a few other cells are left, which would pass for text."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from .columns import Texts
from .errors import TableError
from .formats import are_all_numbers
from .text_table import shortened

# Fraction of the cells that are numbers in such a column.
LEAST_SHARE = 0.9
# Up to this number of distinct numbers may be codes of categories.
MOST_CODES = 20
# Maximum number of columns, and of cells in each, that an error describes.
N_COLUMNS, N_CELLS = 5, 3
# What makes texts of numbers.
SIGNS = "%$€£¥"
# Lines that may follow the header line to describe the columns.
N_HEADERS = 2
# Strings that may be numbers, and codes like 007.
_MAY_BE = re.compile(r"[-+]?[.,]?[0-9]")
_CODE = re.compile(r"0[0-9]+")


def check_strays(columns: Mapping[str, Texts], source: str) -> None:
    """Raise an error that names columns of numbers with a few other cells.

    Parameters
    ----------
    columns : mapping from names to Texts
    source : str
        Name of their file.
    """
    found = {name: _strays(one) for name, one in columns.items()}
    strays = {name: levels for name, levels in found.items() if levels is not None}
    if not strays:
        return
    words = [_words(name, columns[name], levels) for name, levels in strays.items()]
    more = len(words) - N_COLUMNS
    raise TableError(
        f"{source} has columns of numbers that a few other cells turn into text: "
        + "; ".join(words[:N_COLUMNS])
        + (f"; and {more:,} more column{'s' * (more > 1)}" if more > 0 else "")
        + f". Correct these cells{_how({k: columns[k] for k in strays}, strays)}, or "
        "empty them if the values are missing; --exclude NAME drops a column, "
        "--categorical NAME takes it as categories."
    )


def _how(columns: Mapping[str, Texts], strays: Mapping[str, np.ndarray]) -> str:
    """What to do about such cells, if they tell."""
    cells = [columns[name].levels[k] for name, levels in strays.items() for k in levels]
    if any(one.endswith("%") for one in cells):
        return " (remove the % signs)"
    last = max(int(_rows(columns[name], levels)[-1]) for name, levels in strays.items())
    if last < N_HEADERS:
        return " (delete the lines below the header line that describe the columns)"
    return ""


def sign_of_numbers(column: Texts) -> str:
    """The sign that numbers have in most cells of a text column; empty if none."""
    for sign in SIGNS:
        texts = [one.removeprefix(sign).removesuffix(sign) for one in column.levels]
        if texts != list(column.levels):
            texts = [one.strip() for one in texts]
            if _is_most(column, _are_numbers(texts)):
                return sign
    return ""


def _strays(column: Texts) -> np.ndarray | None:
    """The levels that are no numbers, in a column of numbers; None if it is none."""
    if len(column.levels) <= MOST_CODES:
        return None
    numbers = _are_numbers(column.levels)
    if numbers.all() or not _is_most(column, numbers):
        return None
    if any(_CODE.fullmatch(column.levels[k]) for k in np.flatnonzero(numbers)):
        return None
    return np.flatnonzero(~numbers)


def _is_most(column: Texts, numbers: np.ndarray) -> bool:
    """Whether numbers are most of the cells, and too many to be codes."""
    if numbers.sum() <= MOST_CODES:
        return False
    codes = column.codes[column.codes >= 0]
    return bool(numbers[codes].sum() >= LEAST_SHARE * codes.size)


def _are_numbers(texts: list[str]) -> np.ndarray:
    return np.array(
        [_MAY_BE.match(one) is not None and are_all_numbers([one]) for one in texts],
        dtype=bool,
    )


def _words(name: str, column: Texts, strays: np.ndarray) -> str:
    rows = _rows(column, strays)
    n_known = int((column.codes >= 0).sum())
    cells = [
        f"{shortened(column.levels[column.codes[k]])!r} in row {k + 1:,}"
        for k in rows[:N_CELLS].tolist()
    ]
    shown = ", ".join(cells) + ", ..." * (rows.size > N_CELLS)
    return (
        f"{name!r} has {n_known - rows.size:,} numbers and {rows.size:,} other "
        f"cell{'s' * (rows.size > 1)} ({shown})"
    )


def _rows(column: Texts, levels: np.ndarray) -> np.ndarray:
    """The rows that have some of the levels."""
    return np.flatnonzero(np.isin(column.codes, levels))
