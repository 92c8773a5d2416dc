"""Text tables, read in chunks.

Chunks have a few megabytes, so that memory holds little more than the numbers
themselves. A column that turns out not to have plain numbers is read again as text: a
category is the text in the file, "007" and not 7.
"""

from __future__ import annotations

import gzip
import warnings
import zlib
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .columns import (
    Column,
    ColumnStore,
    Numbers,
    Table,
    TableError,
    Texts,
    TextStyle,
    UnclearNumbers,
    listed,
)
from .dialect import MISSING, ColumnBuilder, Dialect, Kind
from .formats import (
    PLAIN,
    WHOLE,
    Doubt,
    FormatRule,
    FormatRules,
    NumberFormat,
    Readings,
    are_all_numbers,
    have_commas,
    look_like_numbers,
)
from .source import TableFile, damaged

# A missing number, as SAS and Stata write it.
LONE_POINT = "."
_MISSING_NUMBERS = MISSING | {LONE_POINT}
NO_EXCEPTIONS: Mapping[str, Collection[str]] = MappingProxyType({})
# Cells per chunk.
CELLS = 2**21
# Number of cells beyond which numeric columns are stored in a temporary file.
STORED_CELLS = 2**23


class TextTable:
    """A text table that is being read.

    Parameters
    ----------
    source : TableFile
    encoding : str
    dialect : Dialect
    as_text : set of str
        Columns to read as text even if they look like numbers.
    rules : FormatRules
        The number formats that columns may have.
    not_missing : mapping from names to collections of str
        Words for missing values that are texts in some columns.
    """

    def __init__(
        self,
        source: TableFile,
        encoding: str,
        dialect: Dialect,
        as_text: set[str],
        rules: FormatRules,
        not_missing: Mapping[str, Collection[str]] = NO_EXCEPTIONS,
    ):
        self._source, self._encoding, self._dialect = source, encoding, dialect
        self._as_text, self._rules, self._not_missing = as_text, rules, not_missing
        self._builders: dict[str, ColumnBuilder] = {}
        # Text columns, and their numbers if all their strings are numbers.
        self._texts: dict[str, Texts] = {}
        self._readings: dict[str, Readings] = {}
        # Columns of numbers in which a lone point is a missing value.
        self._pointed: set[str] = set()

    def read(self) -> Table:
        """Read it, as many times as needed to determine the kinds of its columns."""
        names = self._dialect.names
        formatted = {name for name in names if self._rules[name].excludes_plain}
        self._builders = self._build(names, self._as_text | formatted, self._as_text)
        self._collect_texts(self._builders)
        self._read_as_text(self._of_kind(Kind.MIXED))
        self._read_lone_points(formatted)
        padded = self._with_leading_zeros()
        self._as_text = self._as_text | set(padded)
        self._read_as_text(padded)
        # Text may tell more than values: 750 beside 12.400.
        doubtful = self._dialect.separator != "," or self._are_points_foreign()
        self._read_as_text(self._with_points(doubtful))
        # The columns read again may settle the format.
        plain_by_default = not self._are_points_foreign()
        n_cells = sum(builder.size for builder in self._builders.values())
        store = ColumnStore() if n_cells > STORED_CELLS else None
        columns = {name: self._column(name, plain_by_default, store) for name in names}
        n_rows = len(next(iter(columns.values())))
        remarks = self._dialect.remarks + _format_remarks(columns)
        if padded:
            remarks.append(
                f"codes, not numbers, since some begin with a zero: {listed(padded)}"
            )
        pointed = [name for name in names if name in self._pointed]
        if pointed:
            remarks.append(f"a lone '.' is a missing value in {listed(pointed)}")
        style = TextStyle(self._dialect.separator, _decimal(columns))
        return Table(columns, n_rows, self._source.name, remarks, style)

    def _of_kind(self, kind: Kind) -> list[str]:
        return [
            name for name, builder in self._builders.items() if builder.kind is kind
        ]

    def _build(
        self, names: list[str], strings: Collection[str], as_text: Collection[str]
    ) -> dict[str, ColumnBuilder]:
        """Read some columns, ``strings`` as text; ``as_text`` never become numbers."""
        builders = {
            name: ColumnBuilder(self._rules[name], name in as_text, self._missing(name))
            for name in names
        }
        for chunk in self._chunks(names, strings):
            for name, series in chunk.items():
                builders[name].add(series)
        return builders

    def _read_as_text(self, names: list[str]) -> None:
        """Read some columns again as text."""
        if names:
            strings = set(names)
            builders = self._build(names, strings, strings)
            self._collect_texts(builders)
            self._builders |= builders

    def _read_lone_points(self, formatted: set[str]) -> None:
        """Read columns again that are numbers apart from lone points."""
        names = [
            name
            for name, texts in self._texts.items()
            if name not in self._as_text
            and LONE_POINT in texts.levels
            and (
                self._rules[name].is_number
                or are_all_numbers([x for x in texts.levels if x != LONE_POINT])
            )
        ]
        if not names:
            return
        self._pointed = set(names)
        for name in names:
            del self._texts[name]
            self._readings.pop(name, None)
        builders = self._build(names, formatted, ())
        self._collect_texts(builders)
        self._builders |= builders
        self._read_as_text(
            [name for name, builder in builders.items() if builder.kind is Kind.MIXED]
        )

    def _collect_texts(self, builders: dict[str, ColumnBuilder]) -> None:
        """Collect the text of columns, and their numbers if it is numbers after all."""
        for name, builder in builders.items():
            if builder.kind is Kind.FORMATTED:
                self._readings[name] = builder.readings
            elif builder.kind is Kind.TEXT:
                texts = self._texts[name] = builder.texts()
                if name in self._as_text or not texts.levels:
                    continue
                rule = self._rules[name]
                if not rule.is_number and not look_like_numbers(texts.levels):
                    continue
                readings = Readings(rule)
                readings.add(texts.levels, texts.codes)
                is_open = rule.decimal is None and not rule.is_number
                if not (is_open and readings.are_dates):
                    self._readings[name] = readings

    # --- formats -----------------------------------------------------------------

    def _are_points_foreign(self) -> bool:
        """Whether points in this file may be thousands separators."""
        if self._rules.file.excludes_plain:
            return True
        formats = [
            reading.only_format
            for reading in self._readings.values()
            if not reading.look_like_dates and reading.only_format is not None
        ]
        if any(format.decimal == "," or format.thousands == "." for format in formats):
            return True
        if any(have_commas(texts.levels) for texts in self._texts.values()):
            return True
        # Programs separate cells by semicolons or tabs if numbers have commas.
        has_points = any(
            builder.has_decimal_points for builder in self._builders.values()
        ) or any(format.decimal == "." for format in formats)
        return self._dialect.separator != "," and not has_points

    def _with_points(self, is_foreign: bool) -> list[str]:
        """Plain-number columns whose points may not be decimal points.

        Whole numbers and dates that are written with points are among them.
        """
        names = []
        for name in self._of_kind(Kind.PLAIN):
            builder, rule = self._builders[name], self._rules[name]
            if rule.decimal is not None or not builder.has_floats:
                continue
            is_open = is_foreign or rule.was_whole
            if (
                (is_open and not builder.has_decimal_points)
                or builder.are_whole
                or builder.look_like_dates
            ):
                names.append(name)
        return names

    def _with_leading_zeros(self) -> list[str]:
        """Columns of whole numbers of which some are written like 007.

        They are codes, such as those of wards or of places. Only the first chunk is
        inspected, which is all of a table of the usual size.
        """
        names = [
            name
            for name in self._of_kind(Kind.PLAIN)
            if self._builders[name].are_whole and not self._rules[name].is_number
        ]
        if not names:
            return []
        first = next(self._chunks(names, names))
        return [name for name in names if _begins_with_zero(first[name])]

    def _column(
        self, name: str, plain_by_default: bool, store: ColumnStore | None
    ) -> Column:
        builder, rule = self._builders.pop(name), self._rules[name]
        readings = self._readings.pop(name, None)
        texts = self._texts.pop(name, None)
        if readings is not None and readings.are_numbers:
            format = readings.decide(plain_by_default and not rule.was_whole)
            if format is None:
                assert readings.doubt is not None
                return UnclearNumbers(builder.size, _ambiguity(readings.doubt))
            return _numbers(readings.numbers(format), format, store)
        if texts is None:
            format = PLAIN if builder.has_floats else WHOLE
            return _numbers(builder.numbers(), format, store)
        if readings is None:
            return texts
        if rule.is_number or are_all_numbers(texts.levels):
            assert readings.doubt is not None
            remedy = "remove the % signs" if "%" in readings.doubt.text else ""
            misfit = _misfit(readings.doubt, rule, texts)
            readable, wrong = _without_misfits(texts, rule, plain_by_default)
            return UnclearNumbers(builder.size, misfit, remedy, readable, wrong)
        return texts

    # --- pandas ------------------------------------------------------------------

    def _chunks(self, names: list[str], strings: Collection[str]) -> Iterator:
        """Data frames of some columns, with a limited number of rows each."""
        from pandas import read_csv
        from pandas.errors import EmptyDataError, ParserError, ParserWarning

        dialect, source = self._dialect, self._source
        rows = max(100, CELLS // len(dialect.names))
        only = None if len(names) == len(dialect.names) else names
        texts = set(strings).intersection(dialect.names)
        is_text = len(texts) == len(names)
        try:
            with warnings.catch_warnings():
                # Raised for rows that are longer than the header line.
                warnings.simplefilter("error", ParserWarning)
                with read_csv(
                    source.open(), sep=dialect.separator, header=None,
                    names=dialect.names, index_col=False, usecols=only,
                    dtype=str if is_text else dict.fromkeys(texts, str),
                    encoding=self._encoding, na_values=self._na_values(names),
                    keep_default_na=False, skipinitialspace=True, low_memory=False,
                    chunksize=rows, skiprows=dialect.skipped,
                    # In a table of one column, a blank line is a missing value.
                    skip_blank_lines=len(dialect.names) > 1, **_precision(),
                ) as reader:  # fmt: skip
                    yield from reader
        except EmptyDataError as error:
            raise TableError(f"{source.name} has no columns.") from error
        except (ParserError, ParserWarning) as error:
            raise TableError(_malformed(source.name, str(error))) from error
        except UnicodeError as error:
            raise TableError(
                f"{source.name} is not encoded as {self._encoding} ({error}); try "
                "another --encoding."
            ) from error
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged(source.name, error) from error

    def _missing(self, name: str) -> frozenset[str]:
        """The strings that mean a missing value in a column."""
        missing = _MISSING_NUMBERS if name in self._pointed else MISSING
        return missing.difference(self._not_missing.get(name, ()))

    def _na_values(self, names: list[str]) -> list[str] | dict[str, frozenset[str]]:
        """The same for pandas, for each column if they differ."""
        if self._pointed.isdisjoint(names) and not self._not_missing:
            return [*MISSING]
        return {name: self._missing(name) for name in names}


def _numbers(
    values: np.ndarray, format: NumberFormat, store: ColumnStore | None
) -> Numbers:
    return Numbers(values, format) if store is None else store.put(values, format)


def _begins_with_zero(series: Any) -> bool:
    """Whether a string of digits begins with a zero that is not its only digit."""
    texts = series.dropna().unique()
    return any(text[:1] == "0" and text.isdigit() and len(text) > 1 for text in texts)


def _ambiguity(doubt: Doubt) -> str:
    points, commas = doubt.values
    return (
        f"{doubt.text!r} in row {doubt.row + 1:,} is {points:.15g} with decimal points "
        f"but {commas:.15g} with decimal commas, and no other cell decides it"
    )


def _misfit(doubt: Doubt, rule: FormatRule, texts: Texts) -> str:
    cell = f"row {doubt.row + 1:,} has {shortened(doubt.text)!r}"
    if rule.decimal is not None or rule.thousands is not None:
        example = NumberFormat(rule.decimal, rule.thousands or None).example
        return f"{cell}, which is not a number with {rule} (like {example})"
    first = texts.levels[texts.codes[texts.codes >= 0][0]]
    if are_all_numbers([doubt.text]) and doubt.text != first:
        return f"{cell}, which is in a different format from {shortened(first)!r}"
    return f"{cell}, which is not a number like the others"


def _without_misfits(
    texts: Texts, rule: FormatRule, plain_by_default: bool
) -> tuple[Numbers | None, np.ndarray | None]:
    """The numbers among texts, and a mask of the others; None if still ambiguous."""
    fits = Readings(rule).admits(texts.levels)
    numbers = [
        text for text, is_number in zip(texts.levels, fits, strict=True) if is_number
    ]
    new_codes = np.append(np.where(fits, np.cumsum(fits) - 1, -1), -1)
    readings = Readings(rule)
    readings.add(numbers, new_codes[texts.codes])
    style = None
    if readings.are_numbers:
        style = readings.decide(plain_by_default and not rule.was_whole)
    if style is None:
        return None, None
    wrong = np.append(~fits, False)[texts.codes]
    return Numbers(readings.numbers(style), style), wrong


def shortened(text: str) -> str:
    """Text, cut if it is long."""
    return text if len(text) <= 40 else f"{text[:40]}..."


def _format_remarks(columns: dict[str, Column]) -> list[str]:
    """Number formats other than the plain one, each with its columns."""
    columns_by_format: dict[NumberFormat, list[str]] = {}
    for name, column in columns.items():
        if isinstance(column, Numbers):
            columns_by_format.setdefault(column.format, []).append(name)
    columns_by_format.pop(WHOLE, None)
    if set(columns_by_format) <= {PLAIN}:
        return []
    return [
        f"numbers with {format}, like {format.example}: {listed(names)}"
        for format, names in columns_by_format.items()
    ]


def _decimal(columns: dict[str, Column]) -> str:
    """The decimal separator of most columns."""
    decimals = [
        column.format.decimal
        for column in columns.values()
        if isinstance(column, Numbers)
    ]
    return "," if decimals.count(",") > decimals.count(".") else "."


def _precision() -> dict[str, Any]:
    """Options that make pandas read numbers exactly; newer versions always do."""
    from pandas import __version__

    major, minor = (int(part) for part in __version__.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def _malformed(name: str, message: str) -> str:
    if "Expected" in message and "fields" in message:
        problem = message[message.index("Expected") :].strip()
        return (
            f"{name} is not a table: {problem[0].lower()}{problem[1:]}; a cell that "
            "contains the separator must be in quotes."
        )
    if "Length of header" in message:
        return (
            f"{name} is not a table: its rows have more cells than the header line has "
            "names."
        )
    return f"{name} cannot be read as a table: {message.strip()}"
