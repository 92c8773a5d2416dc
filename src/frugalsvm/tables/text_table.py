"""Text tables, read in chunks.

Chunks have a few megabytes, so that little more than the numbers themselves is in
memory. A column that turns out not to have plain numbers is read again as text: a
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
    may_be_numbers,
)
from .source import TableFile, damaged

# A missing number, as SAS and Stata write it.
LONE_POINT = "."
_MISSING_NUMBERS = MISSING | {LONE_POINT}
NO_WORDS: Mapping[str, Collection[str]] = MappingProxyType({})
# Cells per chunk.
CELLS = 2**21
# Number of cells from which numeric columns are kept in a temporary file.
STORED_CELLS = 2**23


class TextTable:
    """A table of text that is being read.

    Parameters
    ----------
    source : Source
    encoding : str
    dialect : Dialect
    as_text : set of str
        Columns to read as text even if they look like numbers.
    rules : FormatRules
        What is known about the formats of numbers.
    words : mapping from names to collections of str
        Words for missing values that are texts in some columns.
    """

    def __init__(
        self,
        source: TableFile,
        encoding: str,
        dialect: Dialect,
        as_text: set[str],
        rules: FormatRules,
        words: Mapping[str, Collection[str]] = NO_WORDS,
    ):
        self._source, self._encoding, self._dialect = source, encoding, dialect
        self._as_text, self._rules, self._words = as_text, rules, words
        self._builders: dict[str, ColumnBuilder] = {}
        # Text columns, and their numbers if all their strings are numbers.
        self._texts: dict[str, Texts] = {}
        self._readings: dict[str, Readings] = {}
        # Columns of numbers in which a lone point is a missing value.
        self._pointed: set[str] = set()

    def read(self) -> Table:
        """Read it, as many times as needed to know what its columns are."""
        names = self._dialect.names
        written = {one for one in names if self._rules[one].excludes_plain}
        self._builders = self._built(names, self._as_text | written, self._as_text)
        self._take_texts(self._builders)
        self._read_again(self._of_kind(Kind.MIXED))
        self._read_lone_points(written)
        padded = self._with_leading_zeros()
        self._as_text = self._as_text | set(padded)
        self._read_again(padded)
        # Their text may contain more than their values: 750 beside 12.400.
        doubtful = self._dialect.separator != "," or self._are_points_foreign()
        self._read_again([*{*self._with_points(doubtful), *self._with_zeros()}])
        # The columns read again may settle the format.
        columns = self._finished(not self._are_points_foreign())
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
        return [name for name, one in self._builders.items() if one.kind is kind]

    def _built(
        self, names: list[str], strings: Collection[str], kept: Collection[str]
    ) -> dict[str, ColumnBuilder]:
        """Read some columns; those in ``strings`` as text, ``kept`` unconverted."""
        builders = {
            name: ColumnBuilder(self._rules[name], name in kept, self._missing(name))
            for name in names
        }
        for piece in self._pieces(names, strings):
            for name, series in piece.items():
                builders[name].add(series)
        return builders

    def _read_again(self, names: list[str]) -> None:
        """Read some columns again as text."""
        if names:
            strings = set(names)
            again = self._built(names, strings, strings)
            self._take_texts(again)
            self._builders |= again

    def _read_lone_points(self, written: set[str]) -> None:
        """Read columns again that are numbers apart from lone points."""
        names = [
            name
            for name, one in self._texts.items()
            if name not in self._as_text
            and LONE_POINT in one.levels
            and (
                self._rules[name].is_number
                or are_all_numbers([x for x in one.levels if x != LONE_POINT])
            )
        ]
        if not names:
            return
        self._pointed = set(names)
        for name in names:
            del self._texts[name]
            self._readings.pop(name, None)
        again = self._built(names, written, ())
        self._take_texts(again)
        self._builders |= again
        self._read_again([name for name in again if again[name].kind is Kind.MIXED])

    def _take_texts(self, builders: dict[str, ColumnBuilder]) -> None:
        """Check whether text columns are numbers after all."""
        for name, one in builders.items():
            if one.kind is Kind.WRITTEN:
                self._readings[name] = one.readings
            elif one.kind is Kind.TEXT:
                texts = self._texts[name] = one.texts()
                if name in self._as_text or not texts.levels:
                    continue
                rule = self._rules[name]
                if not rule.is_number and not may_be_numbers(texts.levels):
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
        known = [one for one in self._readings.values() if not one.may_be_dates]
        formats = [one.only_format for one in known if one.only_format is not None]
        if any(one.decimal == "," or one.thousands == "." for one in formats):
            return True
        if any(have_commas(one.levels) for one in self._texts.values()):
            return True
        # Programs separate cells by semicolons or tabs if numbers have commas.
        tells = any(one.tells_points for one in self._builders.values())
        has_points = tells or any(one.decimal == "." for one in formats)
        return self._dialect.separator != "," and not has_points

    def _with_points(self, is_foreign: bool) -> list[str]:
        """Plain-number columns whose points may not be decimal points."""
        names = []
        for name in self._of_kind(Kind.PLAIN):
            one, rule = self._builders[name], self._rules[name]
            is_open = rule.decimal is None and (is_foreign or rule.was_whole)
            if is_open and one.may_have_points and not one.tells_points:
                names.append(name)
        return names

    def _with_zeros(self) -> list[str]:
        """Plain-number columns that are whole, or dates, despite having points."""
        return [
            name
            for name in self._of_kind(Kind.PLAIN)
            if self._rules[name].decimal is None
            and (one := self._builders[name]).may_have_points
            and (one.may_have_zeros or one.may_be_dates)
        ]

    def _with_leading_zeros(self) -> list[str]:
        """Columns of whole numbers of which some are written like 007.

        They are codes, such as those of wards or of places. Only the first chunk is
        looked at, which is all of a table of the usual size.
        """
        names = [
            name
            for name in self._of_kind(Kind.PLAIN)
            if self._builders[name].are_whole and not self._rules[name].is_number
        ]
        if not names:
            return []
        first = next(self._pieces(names, names))
        return [name for name in names if _begins_with_zero(first[name])]

    def _finished(self, plain_by_default: bool) -> dict[str, Column]:
        n_cells = sum(one.size for one in self._builders.values())
        store = ColumnStore() if n_cells > STORED_CELLS else None
        return {
            name: self._column(name, plain_by_default, store)
            for name in self._dialect.names
        }

    def _column(
        self, name: str, plain_by_default: bool, store: ColumnStore | None
    ) -> Column:
        builder, rule = self._builders.pop(name), self._rules[name]
        readings = self._readings.pop(name, None)
        texts = self._texts.pop(name, None)
        if readings is not None and readings.are_numbers:
            found = readings.decide(plain_by_default and not rule.was_whole)
            if found is None:
                return UnclearNumbers(builder.size, _two_ways(readings.doubt))
            return _numbers(readings.numbers(found), found, store)
        if texts is None:
            found = PLAIN if builder.may_have_points else WHOLE
            return _numbers(builder.numbers(), found, store)
        if readings is None:
            return texts
        if rule.is_number or are_all_numbers(texts.levels):
            assert readings.doubt is not None
            remedy = "remove the % signs" if "%" in readings.doubt.text else ""
            misfit = _misfit(readings.doubt, rule, texts)
            rest, wrong = _without_misfits(texts, rule, plain_by_default)
            return UnclearNumbers(builder.size, misfit, remedy, rest, wrong)
        return texts

    # --- pandas ------------------------------------------------------------------

    def _pieces(self, names: list[str], strings: Collection[str]) -> Iterator:
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
                    encoding=self._encoding, na_values=self._gaps(names),
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
        return missing.difference(self._words.get(name, ()))

    def _gaps(self, names: list[str]) -> list[str] | dict[str, frozenset[str]]:
        """The same as pandas takes it, for each column if they differ."""
        if self._pointed.isdisjoint(names) and not self._words:
            return [*MISSING]
        return {name: self._missing(name) for name in names}


def _numbers(
    values: np.ndarray, found: NumberFormat, store: ColumnStore | None
) -> Numbers:
    return Numbers(values, found) if store is None else store.put(values, found)


def _begins_with_zero(series: Any) -> bool:
    """Whether a string of digits has a zero to fill it up."""
    found = series.dropna().unique()
    return any(one[:1] == "0" and one.isdigit() and len(one) > 1 for one in found)


def _two_ways(doubt: Doubt | None) -> str:
    assert doubt is not None
    points, commas = doubt.values
    return (
        f"{doubt.text!r} in row {doubt.row + 1:,} is {points:.15g} with decimal points "
        f"but {commas:.15g} with decimal commas, and no other cell decides it"
    )


def _misfit(doubt: Doubt, rule: FormatRule, texts: Texts) -> str:
    has = f"row {doubt.row + 1:,} has {shortened(doubt.text)!r}"
    if rule.decimal is not None or rule.thousands is not None:
        example = NumberFormat(rule.decimal, rule.thousands or None).example
        return f"{has}, which is not a number with {rule} (like {example})"
    first = texts.levels[texts.codes[texts.codes >= 0][0]]
    if are_all_numbers([doubt.text]) and doubt.text != first:
        return f"{has}, which is in a different format from {shortened(first)!r}"
    return f"{has}, which is not a number like the others"


def _without_misfits(
    texts: Texts, rule: FormatRule, plain_by_default: bool
) -> tuple[Numbers | None, np.ndarray | None]:
    """The numbers among texts, and a mask of the others; None if still ambiguous."""
    fits = Readings(rule).admits(texts.levels)
    numbers = [
        text for text, is_number in zip(texts.levels, fits, strict=True) if is_number
    ]
    places = np.append(np.where(fits, np.cumsum(fits) - 1, -1), -1)
    readings = Readings(rule)
    readings.add(numbers, places[texts.codes])
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
    found: dict[NumberFormat, list[str]] = {}
    for name, one in columns.items():
        if isinstance(one, Numbers):
            found.setdefault(one.format, []).append(name)
    found.pop(WHOLE, None)
    if set(found) <= {PLAIN}:
        return []
    return [
        f"numbers with {one}, like {one.example}: {listed(names)}"
        for one, names in found.items()
    ]


def _decimal(columns: dict[str, Column]) -> str:
    """The decimal separator of most columns."""
    used = [one.format.decimal for one in columns.values() if isinstance(one, Numbers)]
    return "," if used.count(",") > used.count(".") else "."


def _precision() -> dict[str, Any]:
    """Options that make pandas read numbers exactly; newer versions always do."""
    from pandas import __version__

    major, minor = (int(part) for part in __version__.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def _malformed(name: str, words: str) -> str:
    if "Expected" in words and "fields" in words:
        what = words[words.index("Expected") :].strip()
        return (
            f"{name} is not a table: {what[0].lower()}{what[1:]}; a cell that contains "
            "the separator must be in quotes."
        )
    if "Length of header" in words:
        return (
            f"{name} is not a table: its rows have more cells than the header line has "
            "names."
        )
    return f"{name} cannot be read as a table: {words.strip()}"
