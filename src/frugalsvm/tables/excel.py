"""Excel workbooks: one of their sheets as rows of cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from .cells import CellRows
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
        return _sheet_rows(book, source.name, sheet)
    except TableError:
        raise
    except Exception as error:
        # As above; a sheet is read row by row.
        raise TableError(f"{source.name} cannot be read as Excel: {error}") from error


def _sheet_rows(book: Any, name: str, sheet: str | None) -> CellRows:
    chosen = _chosen(book, name, sheet)
    remarks = []
    if sheet is None and len(book.worksheets) > 1:
        remarks.append(
            f"sheet {chosen.title!r}, the first of {len(book.worksheets)}; --sheet "
            "reads another"
        )
    # The size that a file gives may be wrong.
    chosen.reset_dimensions()
    errors: list[str] = []
    rows = [[_value(one, errors) for one in row] for row in chosen.iter_rows()]
    rows = [row for row in rows if row]
    if errors:
        n = len(errors)
        remarks.append(
            f"{n:,} cell{'s' * (n > 1)} with an error ({errors[0]}) read as missing"
        )
    rows, n_titles = _without_titles(rows)
    if n_titles:
        remarks.append(
            f"{n_titles} line{'s' * (n_titles > 1)} above the header left out"
        )
    book.close()
    return CellRows(rows, remarks)


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
    return cell.value


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
