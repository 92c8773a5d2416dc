"""Cells in memory, from a spreadsheet or turned around, as a text table to be read."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import IO, Any, NamedTuple

from .columns import Table, TextStyle
from .dialect import Dialect, unique_names
from .errors import TableError
from .formats import NO_GROUPS, FormatRule, FormatRules
from .layout import Layout
from .source import TableFile
from .text_table import TextTable

# Whole numbers below this are written without an exponent or a point.
_WHOLE = 1e15
# The column of the names of samples in a table that is turned, if it has none.
SAMPLE = "sample"


class Cells(TableFile):
    """Rows of cells, the first of which has the names, as the bytes of a CSV file.

    Parameters
    ----------
    name : str
        Name of the original file.
    rows : list of sequences of cells
        Strings, numbers, dates or None.
    """

    def __init__(self, name: str, rows: list[Sequence[Any]]):
        super().__init__(name)
        self.name = name
        self._rows = rows

    def _stream(self) -> IO[bytes]:
        raw = tempfile.TemporaryFile()  # noqa: SIM115 (closed by the source)
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        csv.writer(text, lineterminator="\n").writerows(self._rows)
        text.flush()
        text.detach()
        return raw


class CellRows(NamedTuple):
    """Rows of cells, the first of which has the names.

    Attributes
    ----------
    rows : list of sequences of cells
    remarks : list of str
    style : TextStyle
        How they were written.
    """

    rows: list[list[Any]]
    remarks: list[str]
    style: TextStyle = TextStyle()


def read_cells(
    name: str,
    cells: CellRows,
    as_text: set[str],
    formats: FormatRules,
    layout: Layout,
    words: Mapping[str, Collection[str]],
) -> Table:
    """The table whose first row, or column, has the names of its columns."""
    rows: list[Sequence[Any]] = [*_framed(name, cells.rows)]
    if layout.is_transposed:
        rows = list(zip(*_headed(name, rows), strict=True))
    header, *body = rows
    names, renamed = unique_names([_text(one) for one in header], name)
    columns: list[Sequence[Any]] = [*zip(*body, strict=True)]
    made: list[Sequence[Any]] = [
        names,
        *([_text(cell) for cell in row] for row in body),
    ]
    rules = replace(
        formats, columns={**formats.columns, **_rules(names, columns, formats)}
    )
    texts = as_text | {names[0]} if layout.names_samples else as_text
    with Cells(name, made) as source:
        dialect = Dialect(",", names, renamed, 1)
        table = TextTable(source, "utf-8", dialect, texts, rules, words).read()
    style = replace(table.style, separator=cells.style.separator)
    return replace(
        table,
        remarks=[*cells.remarks, *table.remarks],
        style=style,
        row_names=names[0] if layout.is_transposed else None,
    )


def _rules(
    names: list[str], columns: list[Sequence[Any]], formats: FormatRules
) -> dict[str, FormatRule]:
    """Rules for columns of numbers: when written here, they have decimal points."""
    return {
        name: replace(formats[name], **_PLAIN)
        for name, cells in zip(names, columns, strict=False)
        if any(map(_is_number, cells))
        and all(cell is None or _is_number(cell) for cell in cells)
    }


def _headed(name: str, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Rows to be turned: those of R lack a name above the names of the rows."""
    header, *rest = rows
    if (
        header
        and not _has_content(header[-1])
        and any(_has_content(r[-1]) for r in rest)
    ):
        header = [None, *header[:-1]]
    if not _has_content(header[0]):
        header = [SAMPLE, *header[1:]]
    if not rest:
        raise TableError(f"{name} has no rows below the names of the samples.")
    return [header, *rest]


_PLAIN: dict[str, Any] = {
    "decimal": ".", "thousands": NO_GROUPS, "was_whole": False,
}  # fmt: skip


def _framed(name: str, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows of one length, without blank ones and without blank columns at the ends."""
    filled = [row for row in rows if any(map(_has_content, row))]
    if not filled:
        raise TableError(f"{name} is empty; it needs a header line and some rows.")
    width = max(map(len, filled))
    padded = [[*row, *[None] * (width - len(row))] for row in filled]
    used = [any(_has_content(row[j]) for row in padded) for j in range(width)]
    first, last = used.index(True), width - used[::-1].index(True)
    return [row[first:last] for row in padded]


def _has_content(cell: Any) -> bool:
    return cell is not None and cell != ""


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _text(cell: Any) -> str:
    """A cell as a CSV file would have it."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell == round(cell) and abs(cell) < _WHOLE:
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == datetime.min.time():
        return cell.date().isoformat()
    return str(cell)
