"""Excel workbooks: one of their sheets as rows of cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from .cells import CellRows, Uncomputed
from .errors import TableError, WrongRequest, listed
from .source import MOST_UNPACKED, TableFile

SUFFIX = ".xlsx"
# Rows and columns of a sheet.
MOST_ROWS, MOST_COLUMNS = 2**20, 2**14
# Characters that a workbook cannot have.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


def is_workbook(source: TableFile) -> bool:
    """Whether a zip archive is a workbook; other spreadsheets are an error."""
    if source.start(4) != b"PK\x03\x04":
        return False
    try:
        with ZipFile(source.open()) as archive:
            parts = {one.filename: one.file_size for one in archive.infolist()}
    except Exception as error:
        # It raises many kinds for damaged files.
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
        chosen = _chosen(book, source.name, sheet)
        rows, remarks, has_blanks = _sheet_rows(chosen)
        if has_blanks:
            formulas = openpyxl.load_workbook(source.open(), read_only=True)
            _mark_formulas(rows, formulas[chosen.title])
            formulas.close()
        book.close()
    except TableError:
        raise
    except Exception as error:
        # As above; a sheet is read row by row.
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
    """The cells, remarks, and whether some cells are there, but without a value."""
    # The size that a file gives may be wrong.
    sheet.reset_dimensions()
    errors: list[str] = []
    rows, has_blanks = [], False
    for row in sheet.iter_rows():
        rows.append([_value(one, errors) for one in row])
        # Cells that are not in the file have no coordinate.
        has_blanks = has_blanks or any(
            value is None and hasattr(cell, "coordinate")
            for cell, value in zip(row, rows[-1], strict=True)
        )
    if not errors:
        return rows, [], has_blanks
    n = len(errors)
    remark = f"{n:,} cell{'s' * (n > 1)} with an error ({errors[0]}) read as missing"
    return rows, [remark], has_blanks


def _mark_formulas(rows: list[list[Any]], sheet: Any) -> None:
    """Mark the formulas without a value, for a sheet that is read with formulas."""
    sheet.reset_dimensions()
    for row, cells in zip(rows, sheet.iter_rows(), strict=True):
        for k, cell in enumerate(cells):
            if cell.data_type == "f" and row[k] is None:
                row[k] = Uncomputed(cell.coordinate)


def write_sheet(file: IO[bytes], columns: Mapping[str, Any]) -> None:
    """Write columns as a workbook of one sheet."""
    openpyxl = _openpyxl("write Excel files")
    n_rows = max([len(one) for one in columns.values()] or [0])
    if n_rows >= MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise TableError(
            f"an Excel sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} "
            "columns; write a .csv file."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("frugalsvm")
    sheet.append([_cell(sheet, name) for name in columns])
    for row in zip(
        *(np.asarray(one).tolist() for one in columns.values()), strict=True
    ):
        sheet.append([_cell(sheet, one) for one in row])
    book.save(file)


def _openpyxl(purpose: str) -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise TableError(
            f"install openpyxl to {purpose} (pip install 'frugalsvm[cli]'), or use CSV."
        ) from error
    return openpyxl


def _chosen(book: Any, name: str, sheet: str | None) -> Any:
    titles = [one.title for one in book.worksheets]
    if sheet is None:
        shown = [one for one in book.worksheets if one.sheet_state == "visible"]
        return (shown or book.worksheets)[0]
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
