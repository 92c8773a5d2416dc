"""Dialect: the separator and the column names of a text table.

It is guessed from the first lines; remarks on the table report the guess.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from ..export.categories import STRIPPED
from ..run.words import different
from .errors import TableError, listed

# If two fit equally well, the first is used: commas may be in numbers or names.
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}
# Number of rows that a guess is based on.
N_ROWS = 200
# The line that tells Excel the separator.
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
        Column names; all different.
    remarks : list of str
        What the user should know.
    skipped : int
        Lines before the first row, including the header line.
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
        Whether the sample is the whole file; otherwise its last line may be cut.
    """
    if not sample.strip():
        raise TableError(f"{source} is empty; it needs a header line and some rows.")
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
    names, renamed = unique_names(rows[0], source)
    remarks += renamed
    n_blank = len(_LINE_END.findall(start[0]))
    return Dialect(separator, names, remarks, int(told is not None) + n_blank + 1)


def _separator(sample: str, is_whole: bool) -> tuple[str, list[list[str]]]:
    """The separator that makes all rows equally long, and the first rows."""
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
    # str.splitlines would break lines at more than line feeds.
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


def unique_names(header: list[str], source: str) -> tuple[list[str], list[str]]:
    """Unique names for all columns, and remarks on those that were changed."""
    header = [name.strip(STRIPPED) for name in header]
    if all(_ANY_NUMBER.fullmatch(name) for name in header if name) and any(header):
        raise TableError(
            f"the first line of {source} has only numbers ({listed(header[:3])} ...); "
            "it must be a header line with the column names."
        )
    remarks = []
    filled = [name or f"column {j + 1}" for j, name in enumerate(header)]
    n_empty = sum(not name for name in header)
    if n_empty:
        remarks.append(
            f"{n_empty} column{'s' * (n_empty > 1)} without a name: renamed 'column N'"
        )
    counts = Counter(filled)
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        remarks.append(
            f"{listed(twice)} appear{'s' * (len(twice) == 1)} more than once in the "
            "header line: renamed 'name (2)' and so on"
        )
    return different(filled), remarks
