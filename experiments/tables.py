"""Tables: their entries, and their forms in text, CSV, HTML and the documentation.

Numbers of cells that reached their limit are marked with ``*`` in text and HTML. CSV
files have plain numbers; their last column names the marked columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from .statistics import geometric_mean

DIGITS = 7
# Digits of numbers in the rows of benchmarks.
ROW_DIGITS = 5
# Separator of marked columns, whose names have spaces and commas.
MARKS = "; "
# Length from which on an entry counts as a sentence.
WORDS = 30

#: A table as text: its first line is the head.
Lines = list[list[str]]


@dataclass(frozen=True)
class Marked:
    """A value of a cell that reached its limit."""

    value: Any


@dataclass(frozen=True)
class ReportTable:
    """A table of numbers and text."""

    title: str
    columns: Sequence[str]
    # Entries are text, numbers, None or :class:`Marked`.
    rows: Sequence[Sequence[Any]]
    # Suffix of the file name, if an experiment has several tables.
    name: str = ""

    @classmethod
    def of(
        cls, title: str, rows: Sequence[dict[str, Any]], name: str = ""
    ) -> ReportTable:
        """A table of rows that have the same columns."""
        return cls(title, tuple(rows[0]), [tuple(row.values()) for row in rows], name)

    def texts(self) -> Lines:
        """Entries as text, including marks."""
        return [[entry_text(entry) for entry in row] for row in self.rows]

    def markdown(self) -> str:
        """Aligned columns that are also valid Markdown."""
        body = [list(self.columns), *self.texts()]
        widths = [max(map(len, column)) for column in zip(*body, strict=True)]
        body.insert(1, ["-" * width for width in widths])
        lines = []
        for row in body:
            cells = [
                text.rjust(width) if k else text.ljust(width)
                for k, (text, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def csv(self) -> str:
        """CSV with a last column for marks."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*self.columns, "capped"])
        for row in self.rows:
            plain = [e.value if isinstance(e, Marked) else e for e in row]
            pairs = zip(self.columns, row, strict=True)
            marks = [name for name, entry in pairs if isinstance(entry, Marked)]
            writer.writerow([*map(entry_text, plain), MARKS.join(marks)])
        return file.getvalue()

    def html(self) -> str:
        """A table for the page."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        # Sentences get a minimum width: narrow columns would make tall rows.
        kinds = {False: "", True: ' class="words"'}
        body = "".join(
            "<tr>"
            + "".join(f"<td{kinds[len(e) > WORDS]}>{escape(e)}</td>" for e in row)
            + "</tr>"
            for row in self.texts()
        )
        return (
            f"<h3>{escape(self.title)}</h3>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def entry_text(entry: Any) -> str:
    """An entry as text."""
    if isinstance(entry, Marked):
        return f"{entry_text(entry.value) or '-'}*"
    if entry is None:
        return ""
    if isinstance(entry, float):
        return f"{entry:.{DIGITS}g}"
    return str(entry)


# --- rows of benchmarks ---------------------------------------------------------------


def row_tables(title: str, rows: Iterable[dict[str, Any]]) -> list[ReportTable]:
    """A table for each kind of row: those that have the same names."""
    kinds: dict[tuple[str, ...], list[list[Any]]] = {}
    for row in rows:
        flat = _flat(row)
        kinds.setdefault(tuple(flat), []).append(list(flat.values()))
    return [
        ReportTable(title, names, lines, f"-{k}" if k else "")
        for k, (names, lines) in enumerate(kinds.items())
    ]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row without dicts and lists in it."""
    flat: dict[str, Any] = {}
    for name, entry in row.items():
        if isinstance(entry, dict):
            flat |= {f"{name} {key}": part for key, part in _flat(entry).items()}
        elif isinstance(entry, list | tuple):
            # Of a long course, only its length.
            is_course = any(isinstance(part, list) for part in entry)
            flat[name] = len(entry) if is_course else " ".join(map(_short, entry))
        else:
            flat[name] = _short(entry) if isinstance(entry, float) else entry
    return flat


def _short(entry: Any) -> str:
    return f"{entry:.{ROW_DIGITS}g}" if isinstance(entry, float) else str(entry)


# --- the documentation ----------------------------------------------------------------


def markdown(content: Lines | str) -> str:
    """A table or a sentence, in Markdown."""
    if isinstance(content, str):
        return content.replace("``", "`")
    head, *rows = content
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines).replace("``", "`")


def rst(content: Lines | str) -> str:
    """A table or a sentence, in reStructuredText."""
    if isinstance(content, str):
        return content
    # The first cell of a row must not be empty.
    lines = [[first or "\\", *others] for first, *others in content]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["=" * width for width in widths]
    return "\n".join(
        " ".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True)).rstrip()
        for cells in [rule, lines[0], rule, *lines[1:], rule]
    )


def columns(
    rows: Iterable[dict[str, Any]], entries: Mapping[str, str | Callable[..., str]]
) -> Lines:
    """A table of rows: for each column its head, and a format or function of a row."""
    lines = [
        [
            entry.format(**row) if isinstance(entry, str) else entry(row)
            for entry in entries.values()
        ]
        for row in rows
    ]
    return [list(entries), *lines]


def two(number: float) -> str:
    """Two digits, without an exponent."""
    return f"{float(f'{number:.2g}'):,g}"


def times(ratios: Sequence[float], unit: str = "") -> str:
    """A geometric mean and the smallest of some ratios."""
    return f"{two(geometric_mean(ratios))}{unit} (smallest {two(min(ratios))})"


def distinct(rows: Iterable[dict[str, Any]], name: str) -> list[Any]:
    """The different values of a column, in their order."""
    return list(dict.fromkeys(row[name] for row in rows))
