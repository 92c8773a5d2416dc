"""``python -m frugalsvm experiment``: the paper's tables and figures, and more."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Any

from frugalsvm.problem.files import write_whole

from ..datasets import CATALOGUE, DatasetNotFound
from .cells import Outcomes, with_needs
from .progress import duration
from .report import StudyReport, page
from .revision import revision
from .runner import WorkerDied, run_cells
from .sources import DatasetSource, UnreadableData
from .store import CellStore, StoreNotUsable
from .studies import QUICK_SECONDS, STUDIES
from .study import GRIDS, Settings, Study, most_seconds

ALL, LIST = "all", "list"
# Exit code of shells for a run ended by Ctrl-C.
INTERRUPTED = 130


def run(arguments: list[str]) -> int:
    """Run experiments; 0 if all cells have values, 1 if some failed.

    Parameters
    ----------
    arguments : list of str
        The arguments after ``python -m frugalsvm experiment``.

    Returns
    -------
    int
        The exit code; 130 after Ctrl-C.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    if LIST in given.names:
        _print_list(given.json)
        return 0
    studies = _studies(parser, given.names)
    settings = _settings(parser, given, studies)
    try:
        return _run(studies, settings, given)
    except (DatasetNotFound, UnreadableData) as error:
        print(f"{error} Or exclude it with --sets.", file=sys.stderr)
        return 1
    except StoreNotUsable as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        where = "--data, --out and --store say where files are"
        print(f"A file cannot be read or written: {error}; {where}.", file=sys.stderr)
        return 1
    except WorkerDied as error:
        print(f"{error} {_go_on(given)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"Interrupted. {_go_on(given)}", file=sys.stderr)
        return INTERRUPTED


def _go_on(given: argparse.Namespace) -> str:
    return (
        f"Finished cells are in {_store_path(given)}; run the same command "
        "to resume from there."
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="frugalsvm experiment",
        description="The paper's tables and figures, beside the published ones.",
    )
    parser.add_argument(
        "names", nargs="+", metavar="NAME", help=f"{LIST}, {ALL}, {', '.join(STUDIES)}"
    )
    parser.add_argument("--data", metavar="DIR", help="folder of NAME.csv.gz files")
    parser.add_argument(
        "--grid", choices=GRIDS, default="quick", help="size of the grid"
    )
    parser.add_argument(
        "--sets", nargs="+", default=[], metavar="SET", help="only these data sets"
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="[COLUMN=]S",
        help="seconds for each cell, of one column or of all; may be repeated",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="processes (joblib)")
    parser.add_argument(
        "--out", metavar="DIR", default="experiments", help="output folder"
    )
    parser.add_argument(
        "--store", metavar="FILE", help="file of finished cells (DIR/cells.sqlite)"
    )
    parser.add_argument(
        "--json", action="store_true",
        help="tables, notes and files as one JSON object instead of text",
    )  # fmt: skip
    parser.add_argument(
        "--quiet", action="store_true", help="only write files; print only errors"
    )
    return parser


def _print_list(as_json: bool) -> None:
    """Names, descriptions and maximum times."""
    if as_json:
        names = {one.name: [one.title, one.about] for one in STUDIES.values()}
        keys = ("title", "about")
        _print_json({name: dict(zip(keys, names[name], strict=True)) for name in names})
        return
    for study in STUDIES.values():
        print(f"{study.name:<10} {study.title}\n{'':10} {study.about}")
        parts = []
        for grid in GRIDS:
            cells = with_needs(study.plan(Settings(grid)))
            most = duration(most_seconds(cells))
            parts.append(f"{grid}: {len(cells):,} cells, at most {most}")
        parts.append(f"quick took us {duration(QUICK_SECONDS[study.name])}")
        print(f"{'':10} {'; '.join(parts)}")
        if study.columns:
            print(f"{'':10} --limit accepts {', '.join(study.columns)}")
    took = duration(sum(QUICK_SECONDS.values()))
    print(
        "\n'At most' is the time of all cells at their limits, one after the other. "
        f"All quick grids took us {took} on two cores. "
        "Cells that experiments share are computed once, and counted with the first."
    )


def _studies(parser: argparse.ArgumentParser, names: list[str]) -> list[Study]:
    if ALL in names:
        return list(STUDIES.values())
    for name in names:
        if name not in STUDIES:
            parser.error(f"no experiment {name!r}; {_hint(name, [*STUDIES, ALL])}")
    return [STUDIES[name] for name in dict.fromkeys(names)]


def _hint(name: str, known: list[str]) -> str:
    """The names that may have been meant, else all names."""
    folded = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), folded, n=3)
    if close:
        return f"did you mean {' or '.join(folded[one] for one in close)}?"
    return f"there are {', '.join(known)}."


def _settings(
    parser: argparse.ArgumentParser, given: argparse.Namespace, studies: list[Study]
) -> Settings:
    for name in given.sets:
        if name not in CATALOGUE:
            parser.error(f"no data set {name!r}; {_hint(name, list(CATALOGUE))}")
    if given.data and not Path(given.data).is_dir():
        parser.error(f"--data {given.data}: there is no such folder.")
    if given.jobs == 0 or given.jobs < -1:
        parser.error(f"--jobs must be positive, or -1 for all cores, got {given.jobs}.")
    limits = {}
    columns = sorted({column for study in studies for column in study.columns})
    for text in given.limit:
        column, _, number = text.rpartition("=")
        if column and column not in columns:
            hint = _hint(column, columns)
            parser.error(f"--limit {text}: no column {column!r}; {hint}")
        limits[column] = _seconds(parser, text, number)
    source = DatasetSource(given.data)
    return Settings(given.grid, tuple(given.sets), limits, source)


def _seconds(parser: argparse.ArgumentParser, text: str, number: str) -> float:
    try:
        seconds = float(number)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        parser.error(f"--limit {text}: seconds must be a positive number.")
    return seconds


def _store_path(given: argparse.Namespace) -> Path:
    return Path(given.store or Path(given.out) / "cells.sqlite")


def _run(studies: list[Study], settings: Settings, given: argparse.Namespace) -> int:
    out = Path(given.out)
    jobs = given.jobs if given.jobs > 0 else os.cpu_count() or 1
    # Checked now rather than after hours of work.
    out.mkdir(parents=True, exist_ok=True)
    sections, failed = [], 0
    shown: dict[str, Any] = {}
    with CellStore(_store_path(given), say=_say) as store:
        for study in studies:
            cells = study.plan(settings)
            if not cells:
                _say(f"{study.name} has none of these data sets: skipped.")
                continue
            outcomes = run_cells(
                study.name, cells, settings.source, store, jobs, given.quiet
            )
            failed += sum(bool(one.error) for one in outcomes.values())
            report = study.report(settings, outcomes)
            report.notes.extend(_about_cells(settings, outcomes))
            written = report.write(out, study.name)
            shown[study.name] = _as_json(study, report, written)
            if not (given.json or given.quiet):
                _show(study, report, written)
            sections.append((study.name, study.title, report.html(out, study.name)))
            # Rewritten after each, so that an interrupted run has its page.
            _write_page(out, settings, sections)
    if not sections:
        return 1
    if given.json:
        _print_json({"studies": shown, "failed": failed, "page": _page(out)})
    elif not given.quiet:
        print(f"\nEverything on one page: {_page(out)}")
    return 1 if failed else 0


def _page(out: Path) -> str:
    return str(out / "index.html")


def _print_json(content: dict[str, Any]) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False))


def _as_json(study: Study, report: StudyReport, written: list[Path]) -> dict[str, Any]:
    """A machine-readable report: rows of tables as in the CSV files."""
    return {
        "title": study.title,
        "tables": [
            {"title": table.title, "rows": list(csv.DictReader(StringIO(table.csv())))}
            for table in report.tables
        ],
        "notes": list(report.notes),
        "files": [str(path) for path in written],
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _about_cells(settings: Settings, outcomes: Outcomes) -> list[str]:
    """The numbers of cells, of those at their limits, and of those that failed."""
    limits = sorted({cell.limit for cell in outcomes if cell.limit is not None})
    capped = sum(one.capped for one in outcomes.values())
    shown = ", ".join(f"{limit:g}" for limit in limits)
    text = f"Grid {settings.grid}, {len(outcomes)} cells"
    text += f", limits {shown} s" if shown else ""
    notes = [f"{text}; {capped} ended at their limit (marked *)."]
    errors = sorted(
        {f"{cell}: {one.error}" for cell, one in outcomes.items() if one.error}
    )
    if errors:
        notes.append(f"{len(errors)} cells failed; the first one is {errors[0]}")
    return notes


def _show(study: Study, report: StudyReport, written: list[Path]) -> None:
    print(f"\n## {study.title}\n\n{report.text()}")
    print(f"Written: {', '.join(map(str, written))}", flush=True)


def _write_page(
    out: Path, settings: Settings, sections: list[tuple[str, str, str]]
) -> None:
    about = (
        f"frugalsvm {revision()}, grid {settings.grid}. Entries with * come "
        "from cells that ended at their limit."
    )
    text = page("The paper's study", about, sections)
    write_whole(out / "index.html", lambda file: file.write(text.encode("utf-8")))
