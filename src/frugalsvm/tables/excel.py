"""Tables from cells: Excel sheets, and tables whose columns are the samples."""

from __future__ import annotations

import csv
import io
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, Any, NamedTuple
from zipfile import ZipFile

import numpy as np

from .columns import (
    Column,
    Numbers,
    Table,
    TableError,
    Texts,
    TextStyle,
    UnclearNumbers,
    WrongRequest,
    listed,
    sorted_texts,
)
from .dialect import Dialect, unique_names
from .formats import FormatRules, are_all_numbers, are_whole
from .source import MOST_UNPACKED, TableFile
from .text_table import TextTable


@dataclass(frozen=True)
class Layout:
    """The place of a table in a file, and the direction of its samples.

    Attributes
    ----------
    sheet : str or None
        Name or number of the sheet of an Excel file; None for the first one.
    is_transposed : bool
        Whether its columns are the samples.
    labels : str or None
        Path of another table with the target.
    """

    sheet: str | None = None
    is_transposed: bool = False
    labels: str | None = None

    @property
    def names_samples(self) -> bool:
        """Whether the first column has the names of the samples, as text."""
        return self.is_transposed or self.labels is not None

    @property
    def arguments(self) -> list[str]:
        """The layout as options of the command line."""
        options = [] if self.sheet is None else ["--sheet", self.sheet]
        options += ["--transpose"] * self.is_transposed
        return options if self.labels is None else [*options, "--labels", self.labels]


# One table with samples in rows.
USUAL = Layout()


# --- Cells in memory, which are read like a text table --------------------------------


class Uncomputed(NamedTuple):
    """A formula without a value in the file; ``cell`` is its position, such as C4."""

    cell: str


_COMPUTE = "open the file in a spreadsheet program and save it, which computes it"
# The name of the column of sample names in a transposed table, if it has none.
SAMPLE = "sample"


class CellFile(TableFile):
    """A CSV file of rows of cells, the first of which has the column names.

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
    """Rows of cells, the first of which has the column names.

    Attributes
    ----------
    rows : list of sequences of cells
    remarks : list of str
    style : TextStyle
        The separators of the file.
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
    not_missing: Mapping[str, Collection[str]],
) -> Table:
    """The table whose first row, or column, has the names of its columns."""
    rows: list[Sequence[Any]] = [*_without_margins(name, cells.rows)]
    if layout.is_transposed:
        rows = list(zip(*_with_header(name, rows), strict=True))
    header, *body = rows
    for cell in header:
        if isinstance(cell, Uncomputed):
            raise TableError(f"{name}: the header has {_formula(cell)}; {_COMPUTE}.")
    names, renamed = unique_names([_text(cell) for cell in header], name)
    texts = as_text | {names[0]} if layout.names_samples else as_text
    are_texts = [name in texts for name in names]
    # Numbers are not written: as text, their meaning would depend on other cells.
    lines: list[Sequence[Any]] = [
        names,
        *(
            [
                _text(cell) if is_text or not _is_number(cell) else ""
                for cell, is_text in zip(row, are_texts, strict=True)
            ]
            for row in body
        ),
    ]
    with CellFile(name, lines) as source:
        dialect = Dialect(",", names, renamed, 1)
        table = TextTable(source, "utf-8", dialect, texts, formats, not_missing).read()
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
    """A column that was read without its numeric cells, combined with these."""
    formulas = [k for k, cell in enumerate(cells) if isinstance(cell, Uncomputed)]
    if not is_text:
        column = _combined(column, cells)
    if not formulas:
        return column
    row = formulas[0]
    doubt = f"row {row + 1:,} has {_formula(cells[row])}"
    readable = column.readable if isinstance(column, UnclearNumbers) else column
    wrong = np.zeros(len(cells), dtype=bool)
    if isinstance(column, UnclearNumbers) and column.wrong is not None:
        wrong |= column.wrong
    wrong[formulas] = True
    assert readable is None or isinstance(readable, (Numbers, Texts))
    return UnclearNumbers(len(cells), doubt, _COMPUTE, readable, wrong)


def _combined(column: Column, cells: Sequence[Any]) -> Column:
    values = np.array([float(_text(x)) if _is_number(x) else np.nan for x in cells])
    are_numbers = ~np.isnan(values)
    if not are_numbers.any():
        return column
    if isinstance(column, Numbers):
        style = column.format
        if style.decimal is None and not are_whole(values):
            style = replace(style, decimal="," if style.thousands == "." else ".")
        return Numbers(np.where(are_numbers, values, column.values), style)
    if isinstance(column, UnclearNumbers):
        if column.readable is None:
            return column
        readable = _combined(column.readable, cells)
        assert isinstance(readable, (Numbers, Texts))
        return replace(column, readable=readable)
    assert isinstance(column, Texts)
    levels: list[str | None] = [*column.levels, None]
    texts = [
        _text(cell) if is_number else levels[code]
        for cell, is_number, code in zip(cells, are_numbers, column.codes, strict=True)
    ]
    have_codes = any(level.isdigit() for level in column.levels)
    if are_all_numbers(column.levels) and not have_codes:
        row = int(np.argmax(column.codes >= 0))
        doubt = f"row {row + 1:,} has the text {texts[row]!r} among numbers"
        return UnclearNumbers(len(cells), doubt, "write it as a number")
    code_of: dict[str | None, int] = {}
    codes = [code_of.setdefault(text, len(code_of)) for text in texts]
    return sorted_texts(np.array(codes, np.int32), list(code_of), column.are_dates)


def _formula(cell: Uncomputed) -> str:
    return f"a formula (cell {cell.cell}) without a value in the file"


def _with_header(name: str, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Rows to be transposed, with a name for the column of feature names.

    Files written by R lack that name, and their header is one cell shorter.
    """
    header, *body = rows
    if not _has_content(header[-1]) and any(_has_content(row[-1]) for row in body):
        header = [None, *header[:-1]]
    if not _has_content(header[0]):
        header = [SAMPLE, *header[1:]]
    if not body:
        raise TableError(f"{name} has no rows below the names of the samples.")
    return [header, *body]


def _without_margins(name: str, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Rows of one length, without blank ones and without blank columns at the ends."""
    filled = [row for row in rows if any(map(_has_content, row))]
    if not filled:
        raise TableError(f"{name} is empty; it needs a header line and some rows.")
    width = max(map(len, filled))
    padded = [[*row, *[None] * (width - len(row))] for row in filled]
    is_filled = [any(_has_content(row[j]) for row in padded) for j in range(width)]
    first, last = is_filled.index(True), width - is_filled[::-1].index(True)
    return [row[first:last] for row in padded]


def _has_content(cell: Any) -> bool:
    return cell is not None and cell != ""


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _text(cell: Any) -> str:
    """A cell as text in a CSV file."""
    if cell is None or isinstance(cell, Uncomputed):
        return ""
    # Larger whole numbers have an exponent.
    if isinstance(cell, float) and cell == round(cell) and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == datetime.min.time():
        return cell.date().isoformat()
    return str(cell)


# --- Excel workbooks ------------------------------------------------------------------

SUFFIX = ".xlsx"
# Maximum numbers of rows and columns of a sheet.
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14
# Characters that a workbook cannot contain.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def is_workbook(source: TableFile) -> bool:
    """Whether a zip archive is a workbook; other spreadsheets are an error."""
    if source.start(4) != b"PK\x03\x04":
        return False
    try:
        with ZipFile(source.open()) as archive:
            parts = {member.filename: member.file_size for member in archive.infolist()}
    except Exception as error:
        # zipfile raises many kinds of errors for damaged files.
        raise TableError(
            f"{source.name} is damaged or truncated ({error}); get a new copy."
        ) from error
    if "xl/workbook.bin" in parts or "content.xml" in parts:
        raise TableError(
            f"{source.name} is a spreadsheet, but not an .xlsx file; open it and save "
            "it as .xlsx or CSV."
        )
    if "xl/workbook.xml" not in parts:
        return False
    if sum(parts.values()) > source.most_unpacked:
        raise TableError(
            f"{source.name} unpacks to more than {MOST_UNPACKED} times its size; save "
            "the sheet as CSV."
        )
    return True


def sheet_rows(source: TableFile, sheet: str | None) -> CellRows:
    """The rows of a sheet.

    Parameters
    ----------
    source : TableFile
    sheet : str or None
        Name or number of the sheet; None for the first one.
    """
    openpyxl = _openpyxl(f"read {source.name}")
    try:
        book = openpyxl.load_workbook(source.open(), read_only=True, data_only=True)
        chosen = _choose_sheet(book, source.name, sheet)
        rows, remarks, has_blanks = _sheet_rows(chosen)
        if has_blanks:
            formulas = openpyxl.load_workbook(source.open(), read_only=True)
            _mark_formulas(rows, formulas[chosen.title])
            formulas.close()
        book.close()
    except TableError:
        raise
    except Exception as error:
        # openpyxl raises many kinds of errors, too.
        raise TableError(f"{source.name} cannot be read as Excel: {error}") from error
    if sheet is None and len(book.worksheets) > 1:
        remarks.insert(
            0,
            f"sheet {chosen.title!r}, the first of {len(book.worksheets)}; --sheet "
            "reads another",
        )
    rows, n_titles = _without_titles([row for row in rows if row])
    if n_titles:
        remarks.append(
            f"{n_titles} line{'s' * (n_titles > 1)} above the header left out"
        )
    return CellRows(rows, remarks)


def _sheet_rows(sheet: Any) -> tuple[list[list[Any]], list[str], bool]:
    """The cells, remarks, and whether the file has some cells without a value."""
    # The stated size may be wrong.
    sheet.reset_dimensions()
    errors: list[str] = []
    rows, has_blanks = [], False
    for row in sheet.iter_rows():
        rows.append([_value(cell, errors) for cell in row])
        # Cells that are not in the file have no coordinate.
        has_blanks = has_blanks or any(
            value is None and hasattr(cell, "coordinate")
            for cell, value in zip(row, rows[-1], strict=True)
        )
    remarks = []
    if n := len(errors):
        cells = f"{n:,} cell{'s' * (n > 1)} with an error"
        remarks.append(f"{cells} ({errors[0]}) read as missing")
    return rows, remarks, has_blanks


def _mark_formulas(rows: list[list[Any]], sheet: Any) -> None:
    """Mark the formulas without a value; the sheet is one read with its formulas."""
    sheet.reset_dimensions()
    for row, cells in zip(rows, sheet.iter_rows(), strict=True):
        for k, cell in enumerate(cells):
            if cell.data_type == "f" and row[k] is None:
                row[k] = Uncomputed(cell.coordinate)


def write_sheet(file: IO[bytes], columns: Mapping[str, Any]) -> None:
    """Write columns as a workbook of one sheet."""
    openpyxl = _openpyxl("write Excel files")
    n_rows = max([len(column) for column in columns.values()] or [0])
    if n_rows >= MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise TableError(
            f"an Excel sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
            "columns; write a .csv file."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("frugalsvm")
    sheet.append([_cell(sheet, name) for name in columns])
    for row in zip(
        *(np.asarray(column).tolist() for column in columns.values()), strict=True
    ):
        sheet.append([_cell(sheet, value) for value in row])
    book.save(file)


def _openpyxl(purpose: str) -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise TableError(
            f"install openpyxl to {purpose} (pip install 'frugalsvm[cli]'), or use CSV."
        ) from error
    return openpyxl


def _choose_sheet(book: Any, name: str, sheet: str | None) -> Any:
    titles = [sheet.title for sheet in book.worksheets]
    if sheet is None:
        visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        return (visible or book.worksheets)[0]
    if sheet in titles:
        return book.worksheets[titles.index(sheet)]
    if sheet.isdigit() and 1 <= int(sheet) <= len(titles):
        return book.worksheets[int(sheet) - 1]
    raise WrongRequest(
        f"--sheet: {name} has no sheet {sheet!r}; it has {listed(titles)}."
    )


def _value(cell: Any, errors: list[str]) -> Any:
    if cell.data_type == "e":
        errors.append(str(cell.value))
        return None
    # The value of a formula may be an empty text.
    return "" if cell.value is None and cell.data_type == "str" else cell.value


def _without_titles(rows: list[list[Any]]) -> tuple[list[list[Any]], int]:
    """Rows from the header on: lines with a single cell above it are titles."""
    widths = [sum(cell not in (None, "") for cell in row) for row in rows]
    if max(widths, default=0) < 2:
        return rows, 0
    first = next(k for k, width in enumerate(widths) if width > 1)
    return rows[first:], sum(width == 1 for width in widths[:first])


def _cell(sheet: Any, value: Any) -> Any:
    """A cell; text is never a formula, and numbers have all their digits."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, str):
        cell = WriteOnlyCell(sheet, _CONTROLS.sub("\ufffd", value))
        cell.data_type = "s"
    elif isinstance(value, float):
        # As a number, it would be rounded to 16 digits.
        cell = WriteOnlyCell(sheet, repr(value))
        cell.data_type = "n"
    else:
        cell = WriteOnlyCell(sheet, value)
    return cell
