"""Cells in memory, from a spreadsheet or turned around, as a text table to be read."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import IO, Any, NamedTuple

import numpy as np

from .columns import Column, Numbers, Table, Texts, TextStyle, UnclearNumbers, in_order
from .dialect import Dialect, unique_names
from .errors import TableError
from .formats import FormatRules, are_all_numbers, are_whole
from .layout import Layout
from .source import TableFile
from .text_table import TextTable


class Uncomputed(NamedTuple):
    """A formula without a value in the file; ``place`` is its cell, as in C4."""

    place: str


# Whole numbers below this are written without an exponent or a point.
_WHOLE = 1e15
# What to do about a formula without a value.
_REMEDY = "open the file in a spreadsheet program and save it, which computes it"
# The column of the names of samples in a table that is turned, if it has none.
SAMPLE = "sample"


class Cells(TableFile):
    """Rows of cells, the first of which has the names, as the bytes of a CSV file.

    Parameters
    ----------
    name : str
        Name of the original file.
    rows : list of sequences of cells
        Strings or None.
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
    for cell in header:
        if isinstance(cell, Uncomputed):
            raise TableError(f"{name}: the header has {_formula(cell)}; {_REMEDY}.")
    names, renamed = unique_names([_text(one) for one in header], name)
    texts = as_text | {names[0]} if layout.names_samples else as_text
    are_texts = [one in texts for one in names]
    # Numbers are not read again: as texts, they would depend on the format of others.
    made: list[Sequence[Any]] = [
        names,
        *(
            [
                _text(cell) if is_text or not _is_number(cell) else ""
                for cell, is_text in zip(row, are_texts, strict=True)
            ]
            for row in body
        ),
    ]
    with Cells(name, made) as source:
        dialect = Dialect(",", names, renamed, 1)
        table = TextTable(source, "utf-8", dialect, texts, formats, words).read()
    columns = {
        name: _with_numbers(
            table.columns[name], [row[j] for row in body], name in texts
        )
        for j, name in enumerate(names)
    }
    has_numbers = any(_is_number(cell) for row in body for cell in row)
    decimal = "." if has_numbers else table.style.decimal
    return replace(
        table,
        columns=columns,
        remarks=[*cells.remarks, *table.remarks],
        style=TextStyle(cells.style.separator, decimal),
        row_names=names[0] if layout.is_transposed else None,
    )


def _with_numbers(column: Column, cells: Sequence[Any], is_text: bool) -> Column:
    """A column that was read without its cells of numbers, with these."""
    formulas = [k for k, cell in enumerate(cells) if isinstance(cell, Uncomputed)]
    if not is_text:
        column = _joined(column, cells)
    if not formulas:
        return column
    row = formulas[0]
    doubt = f"row {row + 1:,} has {_formula(cells[row])}"
    rest = column.rest if isinstance(column, UnclearNumbers) else column
    wrong = np.zeros(len(cells), dtype=bool)
    if isinstance(column, UnclearNumbers) and column.wrong is not None:
        wrong |= column.wrong
    wrong[formulas] = True
    assert rest is None or isinstance(rest, (Numbers, Texts))
    return UnclearNumbers(len(cells), doubt, _REMEDY, rest, wrong)


def _joined(column: Column, cells: Sequence[Any]) -> Column:
    values = np.array([float(_text(x)) if _is_number(x) else np.nan for x in cells])
    known = ~np.isnan(values)
    if not known.any():
        return column
    if isinstance(column, Numbers):
        style = column.format
        if style.decimal is None and not are_whole(values):
            style = replace(style, decimal="," if style.thousands == "." else ".")
        return Numbers(np.where(known, values, column.values), style)
    if isinstance(column, UnclearNumbers):
        rest = None if column.rest is None else _joined(column.rest, cells)
        assert rest is None or isinstance(rest, (Numbers, Texts))
        return replace(column, rest=rest)
    assert isinstance(column, Texts)
    levels: list[str | None] = [*column.levels, None]
    texts = [
        _text(cell) if is_known else levels[code]
        for cell, is_known, code in zip(cells, known, column.codes, strict=True)
    ]
    is_code = any(one.isdigit() for one in column.levels)
    if are_all_numbers(column.levels) and not is_code:
        row = int(np.argmax(column.codes >= 0))
        doubt = f"row {row + 1:,} has the text {texts[row]!r} among numbers"
        return UnclearNumbers(len(cells), doubt, "write it as a number")
    place: dict[str | None, int] = {}
    codes = [place.setdefault(one, len(place)) for one in texts]
    return in_order(np.array(codes, np.int32), list(place), column.are_dates)


def _formula(cell: Uncomputed) -> str:
    return f"a formula (cell {cell.place}) without a value in the file"


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
    if cell is None or isinstance(cell, Uncomputed):
        return ""
    if isinstance(cell, float) and cell == round(cell) and abs(cell) < _WHOLE:
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == datetime.min.time():
        return cell.date().isoformat()
    return str(cell)
