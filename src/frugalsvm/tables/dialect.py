"""Dialect: what separates the cells of a text table, and what its columns are called.

It is guessed from the first lines, and not silently: the table says what was taken.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from .errors import TableError, listed
from .naming import different

# Of two that fit alike the first is meant: commas may be in numbers, or in names.
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
# Rows that a guess is based on.
N_ROWS = 200
# The line by which Excel is told the separator.
TOLD = re.compile(r'"?sep=([,;\t|])"?\r?\n', re.IGNORECASE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK_LINES = re.compile(r"(?: *(?:\r\n|\n|\r))*")
_ANY_NUMBER = re.compile(r"\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*")


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    separator : str
    names : list of str
        Of the columns; all different.
    remarks : list of str
        What is worth saying.
    skipped : int
        Lines before the first row, that of names included.
    """

    separator: str
    names: list[str]
    remarks: list[str]
    skipped: int


def guess(sample: str, source: str, is_whole: bool) -> Dialect:
    """The dialect of a table that begins with a sample.

    Parameters
    ----------
    sample : str
    source : str
        Name of the file, for errors.
    is_whole : bool
        Whether the sample is all there is; otherwise its last line may be cut.
    """
    if not sample.strip():
        raise TableError(f"{source} is empty; it needs a line of names and some rows.")
    told = TOLD.match(sample)
    start = _BLANK_LINES.match(sample, told.end() if told else 0)
    assert start is not None
    rest = sample[start.end() :]
    if told is None:
        separator, rows = _separator(rest, is_whole)
    else:
        separator, rows = told[1], _rows(rest, told[1], is_whole)
    remarks = []
    if separator != ",":
        remarks.append(f"cells are separated by {SEPARATORS[separator]}")
    names, renamed = _names(rows[0], source)
    remarks += renamed
    n_blank = len(_LINE_END.findall(start[0]))
    return Dialect(separator, names, remarks, int(told is not None) + n_blank + 1)


def _separator(sample: str, is_whole: bool) -> tuple[str, list[list[str]]]:
    """The separator that makes rows of one length, and the first rows."""
    best = (",", _rows(sample, ",", is_whole))
    best_score = (0.0, 1)
    for separator in SEPARATORS:
        rows = _rows(sample, separator, is_whole)
        width = len(rows[0])
        if width < 2:
            continue
        same = sum(len(row) == width for row in rows) / len(rows)
        if (same, width) > best_score:
            best, best_score = (separator, rows), (same, width)
    return best


def _rows(sample: str, separator: str, is_whole: bool) -> list[list[str]]:
    # Not by str.splitlines, which breaks lines at more than line feeds.
    lines = io.StringIO(sample, newline="")
    # Cells may be as long as the sample.
    limit = csv.field_size_limit(max(len(sample), 2**17))
    try:
        # A row is a list of cells; blank lines have none.
        read = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        rows = list(islice((row for row in read if row), N_ROWS + 1))
    except csv.Error:
        return [[sample.split("\n", 1)[0]]]
    finally:
        csv.field_size_limit(limit)
    if len(rows) > 1 and len(rows) <= N_ROWS and not is_whole:
        rows.pop()
    return rows or [[""]]


def _names(header: list[str], source: str) -> tuple[list[str], list[str]]:
    """Different names for all columns, and what was done about it."""
    header = [name.strip() for name in header]
    if all(_ANY_NUMBER.fullmatch(name) for name in header if name) and any(header):
        raise TableError(
            f"the first line of {source} has numbers only ({listed(header[:3])} ...); "
            "it must name the columns."
        )
    remarks = []
    filled = [name or f"column {j + 1}" for j, name in enumerate(header)]
    n_empty = sum(not name for name in header)
    if n_empty:
        remarks.append(
            f"{n_empty} column{'s' * (n_empty > 1)} without a name: called 'column N'"
        )
    counts = Counter(filled)
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        remarks.append(
            f"{listed(twice)} stand{'s' * (len(twice) == 1)} more than once in the "
            "first line: called 'name (2)' and so on"
        )
    return different(filled), remarks
