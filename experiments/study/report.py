"""Report: tables and figures of a study, and their output formats.

Numbers of cells that reached their limit are marked with ``*`` in text and HTML. CSV
files have plain numbers; their last column names the marked columns.
"""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from frugalsvm.runtime.markup import escaped

DIGITS = 7
# Separator of marked columns, whose names have spaces and commas.
MARKS = "; "
# Length from which on an entry counts as a sentence.
WORDS = 30
NO_PICTURES = "Figures need Matplotlib: pip install 'frugalsvm[study]'."


@dataclass(frozen=True)
class Marked:
    """A value of a cell that reached its limit."""

    value: Any


@dataclass(frozen=True)
class ReportTable:
    """A table of numbers and text.

    Attributes
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences
        Entries are text, numbers, None or :class:`Marked`.
    name : str
        Suffix of the file name, if a study has several tables.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    name: str = ""

    def texts(self) -> list[list[str]]:
        """Entries as text, including marks."""
        return [[_text(entry) for entry in row] for row in self.rows]

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
            plain = [_plain(entry) for entry in row]
            pairs = zip(self.columns, row, strict=True)
            marks = [name for name, entry in pairs if isinstance(entry, Marked)]
            writer.writerow([*map(_text, plain), MARKS.join(marks)])
        return file.getvalue()

    def html(self) -> str:
        """A table."""
        head = "".join(f"<th>{escaped(name)}</th>" for name in self.columns)
        body = "".join(
            "<tr>" + "".join(map(_html_entry, row)) + "</tr>" for row in self.texts()
        )
        return (
            f"<h3>{escaped(self.title)}</h3>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _html_entry(text: str) -> str:
    # Sentences get a minimum width: narrow columns would make tall rows.
    kind = ' class="words"' if len(text) > WORDS else ""
    return f"<td{kind}>{escaped(text)}</td>"


def _plain(entry: Any) -> Any:
    return entry.value if isinstance(entry, Marked) else entry


def _text(entry: Any) -> str:
    if isinstance(entry, Marked):
        return f"{_text(entry.value) or '-'}*"
    if entry is None:
        return ""
    if isinstance(entry, float):
        return f"{entry:.{DIGITS}g}"
    return str(entry)


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes
    ----------
    title : str
    draw : callable
        Makes a Matplotlib figure.
    name : str
        Suffix of the file name.
    """

    title: str
    draw: Callable[[], Any]
    name: str = ""


@dataclass(frozen=True)
class StudyReport:
    """The output of a study.

    Attributes
    ----------
    tables : list of Table
    figures : list of Figure
    notes : list of str
        Explanations of the tables and figures.
    """

    tables: list[ReportTable]
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For a terminal."""
        parts = [f"{table.title}\n\n{table.markdown()}" for table in self.tables]
        return "\n\n".join([*parts, *self.notes])

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write CSV, SVG and PNG files.

        Parameters
        ----------
        folder : Path
        name : str
            Of the study.

        Returns
        -------
        list of Path
        """
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for table in self.tables:
            path = folder / f"{name}{table.name}.csv"
            path.write_text(table.csv(), encoding="utf-8")
            written.append(path)
        for figure in self.figures:
            stem = folder / f"{name}{figure.name}"
            # Figures of an earlier run do not belong to these tables.
            for path in _pictures(stem):
                path.unlink(missing_ok=True)
            if find_spec("matplotlib"):
                written += _draw(figure, stem)
        if self.figures and not find_spec("matplotlib"):
            self.notes.append(NO_PICTURES)
        return written

    def html(self, folder: Path, name: str) -> str:
        """A section of the HTML page, with the figures in the folder embedded."""
        parts = [table.html() for table in self.tables]
        for figure in self.figures:
            path = folder / f"{name}{figure.name}.svg"
            if path.exists():
                data = base64.b64encode(path.read_bytes()).decode()
                parts.append(
                    f'<figure><img alt="{escaped(figure.title)}" '
                    f'src="data:image/svg+xml;base64,{data}">'
                    f"<figcaption>{escaped(figure.title)}</figcaption></figure>"
                )
        parts += [f"<p>{escaped(note)}</p>" for note in self.notes]
        return "".join(parts)


def _pictures(stem: Path) -> list[Path]:
    return [stem.with_name(f"{stem.name}.{kind}") for kind in ("svg", "png")]


def _draw(figure: Figure, stem: Path) -> list[Path]:
    import matplotlib

    # No window, and reproducible files.
    with matplotlib.rc_context({"svg.hashsalt": stem.name, "svg.fonttype": "none"}):
        drawn = figure.draw()
        paths = _pictures(stem)
        drawn.savefig(paths[0], metadata={"Date": None})
        drawn.savefig(paths[1], dpi=120)
    return paths


_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body {{ font-family: system-ui, sans-serif; max-width: 75em; margin: 2em auto;
 padding: 0 1em; line-height: 1.45 }}
table {{ border-collapse: collapse; font-size: 85%; display: block; overflow-x: auto }}
th, td {{ padding: .15em .6em; text-align: right; border-bottom: 1px solid #ddd }}
th:first-child, td:first-child {{ text-align: left }}
td.words {{ text-align: left; min-width: 24em }}
img {{ max-width: 100%; background: white }} figure {{ margin: 1em 0 }}
</style></head><body><h1>{title}</h1><p>{about}</p><ul>{contents}</ul>{body}
</body></html>
"""


def page(title: str, about: str, sections: list[tuple[str, str, str]]) -> str:
    """One HTML page.

    Parameters
    ----------
    title, about : str
    sections : list of (name, title, html)

    Returns
    -------
    str
    """
    contents = "".join(
        f'<li><a href="#{escaped(name)}">{escaped(heading)}</a></li>'
        for name, heading, _ in sections
    )
    body = "".join(
        f'<section id="{escaped(name)}"><h2>{escaped(heading)}</h2>{html}</section>'
        for name, heading, html in sections
    )
    return _PAGE.format(
        title=escaped(title), about=escaped(about), contents=contents, body=body
    )
