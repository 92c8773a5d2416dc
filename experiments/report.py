"""Report: tables and charts of an experiment, as files and on a page."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .tables import ReportTable

NO_PICTURES = "Charts need Matplotlib: pip install '.[study]'."


@dataclass(frozen=True)
class Chart:
    """A chart."""

    title: str
    # Makes a Matplotlib figure.
    draw: Callable[[], Any]
    # Suffix of the file name.
    name: str = ""


@dataclass(frozen=True)
class Report:
    """The output of an experiment."""

    tables: list[ReportTable]
    charts: list[Chart] = field(default_factory=list)
    # Explanations of the tables and charts.
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For a terminal."""
        parts = [f"{table.title}\n\n{table.markdown()}" for table in self.tables]
        return "\n\n".join([*parts, *self.notes])

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write CSV, SVG and PNG files, whose names begin with the experiment's."""
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for table in self.tables:
            path = folder / f"{name}{table.name}.csv"
            path.write_text(table.csv(), encoding="utf-8")
            written.append(path)
        can_draw = find_spec("matplotlib")
        for chart in self.charts:
            stem = f"{name}{chart.name}"
            paths = folder / f"{stem}.svg", folder / f"{stem}.png"
            # Charts of an earlier run do not belong to these tables.
            for path in paths:
                path.unlink(missing_ok=True)
            if can_draw:
                _draw(chart, stem, *paths)
                written += paths
        if self.charts and not can_draw:
            self.notes.append(NO_PICTURES)
        return written

    def html(self, folder: Path, name: str) -> str:
        """A section of the HTML page, with the charts in the folder embedded."""
        parts = [table.html() for table in self.tables]
        for chart in self.charts:
            path = folder / f"{name}{chart.name}.svg"
            if path.exists():
                data = base64.b64encode(path.read_bytes()).decode()
                parts.append(
                    f'<figure><img alt="{escape(chart.title)}" '
                    f'src="data:image/svg+xml;base64,{data}">'
                    f"<figcaption>{escape(chart.title)}</figcaption></figure>"
                )
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        return "".join(parts)


def _draw(chart: Chart, stem: str, svg: Path, png: Path) -> None:
    import matplotlib

    # No window, and reproducible files.
    with matplotlib.rc_context({"svg.hashsalt": stem, "svg.fonttype": "none"}):
        figure = chart.draw()
        figure.savefig(svg, metadata={"Date": None})
        figure.savefig(png, dpi=120)


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
    """One HTML page; sections are their names, titles and HTML."""
    contents = "".join(
        f'<li><a href="#{escape(name)}">{escape(heading)}</a></li>'
        for name, heading, _ in sections
    )
    body = "".join(
        f'<section id="{escape(name)}"><h2>{escape(heading)}</h2>{html}</section>'
        for name, heading, html in sections
    )
    return _PAGE.format(
        title=escape(title), about=escape(about), contents=contents, body=body
    )
