"""``python -m experiments``: the paper's tables and figures, and the benchmarks."""

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

from .catalogue import CATALOGUE
from .cells import Outcomes, revision, with_needs
from .datasets import DatasetNotFound, DatasetSource, UnreadableData
from .experiment import Experiment, Settings, most_seconds, options_of
from .pages import QUOTED, rewrite_pages
from .registry import EXPERIMENTS, GROUPS, QUICK_SECONDS
from .report import Report, page
from .runner import WorkerDied, duration, run_cells
from .store import CellStore, StoreNotUsable, commit, of_this_run, write, write_text

LIST, PAGES = "list", "pages"
OUT = "results/study"


def run(arguments: list[str] | None = None) -> int:
    """Run the experiments that arguments name, by default those of the command line.

    Returns the exit code: 0 if all cells have values, 1 if some failed, 130 after
    Ctrl-C.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if LIST in options.names:
        _print_list(options.json)
        return 0
    if PAGES in options.names:
        rewrite_pages()
        return 0
    experiments = _experiments(parser, options.names)
    settings = _settings(parser, options, experiments)
    resumption = (
        f"Finished cells are in {_store_path(options)}; run the same command "
        "to resume from there."
    )
    try:
        return _run(experiments, settings, options)
    except (DatasetNotFound, UnreadableData) as error:
        _say(f"{error} Or exclude it with --sets.")
    except StoreNotUsable as error:
        _say(str(error))
    except OSError as error:
        folders = "--data, --out and --store say where files are"
        _say(f"A file cannot be read or written: {error}; {folders}.")
    except WorkerDied as error:
        _say(f"{error} {resumption}")
    except KeyboardInterrupt:
        _say(f"Interrupted. {resumption}")
        # The code of shells.
        return 130
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="The paper's tables and figures, beside the published ones; "
        "benchmarks.",
        epilog=f"'{PAGES}' rewrites the tables of README and documentation from "
        "experiments/results, where complete benchmarks leave their rows.",
    )
    add = parser.add_argument
    names = ", ".join([LIST, PAGES, *GROUPS, *EXPERIMENTS])
    add("names", nargs="+", metavar="NAME", help=names)
    add("--data", metavar="DIR", help="folder of NAME.csv.gz files (FRUGALSVM_DATA)")
    add("--quick", action="store_true", help="a small grid, fewer data sets")
    add("--sets", nargs="+", default=[], metavar="SET", help="only these data sets")
    add(
        "--limit",
        action="append",
        default=[],
        metavar="[COLUMN=]S",
        help="seconds for each cell, of one column or of all; may be repeated",
    )
    add(
        "--with",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="options",
        help=f"option of an experiment, see {LIST}; may be repeated",
    )
    add("--jobs", type=int, default=1, help="processes (of the study only)")
    add("--out", metavar="DIR", default=OUT, help=f"output folder ({OUT})")
    add("--store", metavar="FILE", help="file of finished cells (DIR/cells.sqlite)")
    add("--again", action="store_true", help="compute cells that are in the store, too")
    add("--note", default="", help="what else the machine was doing, for benchmarks")
    add("--no-write", action="store_true", help="leave experiments/results as it is")
    add(
        "--json",
        action="store_true",
        help="tables, notes and files as one JSON object instead of text",
    )
    add("--quiet", action="store_true", help="only write files; print only errors")
    return parser


def _print_list(as_json: bool) -> None:
    """Names, descriptions and maximum times."""
    if as_json:
        _print_json(
            {e.name: {"title": e.title, "about": e.about} for e in EXPERIMENTS.values()}
        )
        return
    for experiment in EXPERIMENTS.values():
        print(f"{experiment.name:<12} {experiment.title}\n{'':12} {experiment.about}")
        if experiment.name in QUICK_SECONDS:
            parts = []
            for quick, grid in ((True, "quick"), (False, "full")):
                cells = with_needs(experiment.plan(Settings(quick)))
                most = duration(most_seconds(cells))
                parts.append(f"{grid}: {len(cells):,} cells, at most {most}")
            parts.append(f"quick took us {duration(QUICK_SECONDS[experiment.name])}")
            print(f"{'':12} {'; '.join(parts)}")
        if experiment.columns:
            print(f"{'':12} --limit accepts {', '.join(experiment.columns)}")
        if experiment.options:
            options = (
                f"{name}={','.join(value) if isinstance(value, tuple) else value}"
                for name, value in experiment.options.items()
            )
            print(f"{'':12} --with {' '.join(options)}")
    for group, names in GROUPS.items():
        print(f"{group:<12} {', '.join(names)}")
    took = duration(sum(QUICK_SECONDS.values()))
    print(
        "\n'At most' is the time of all cells at their limits, one after the other. "
        f"All quick grids of the study took us {took} on two cores. "
        "Cells that experiments share are computed once, and counted with the first. "
        "The option 'seconds' of a benchmark is its --limit."
    )


def _experiments(parser: argparse.ArgumentParser, names: list[str]) -> list[Experiment]:
    names_of_all = [*EXPERIMENTS, *GROUPS]
    chosen: dict[str, None] = {}
    for name in names:
        if name not in names_of_all:
            parser.error(f"no experiment {name!r}; {_hint(name, names_of_all)}")
        chosen |= dict.fromkeys(GROUPS.get(name, [name]))
    return [EXPERIMENTS[name] for name in chosen]


def _hint(name: str, names: list[str]) -> str:
    """The names that may have been meant, else all names."""
    folded = {member.casefold(): member for member in names}
    close = get_close_matches(name.casefold(), folded, n=3)
    if close:
        return f"did you mean {' or '.join(folded[member] for member in close)}?"
    return f"there are {', '.join(names)}."


def _settings(
    parser: argparse.ArgumentParser,
    options: argparse.Namespace,
    experiments: list[Experiment],
) -> Settings:
    sets = [*CATALOGUE, *(name for e in experiments for name in e.sets)]
    for name in options.sets:
        if name not in sets:
            hint = _hint(name, list(dict.fromkeys(sets)))
            parser.error(f"no data set {name!r}; {hint}")
    if options.data and not Path(options.data).is_dir():
        parser.error(f"--data {options.data}: there is no such folder.")
    if options.jobs == 0 or options.jobs < -1:
        parser.error(
            f"--jobs must be positive, or -1 for all cores, got {options.jobs}."
        )
    limits = {}
    columns = sorted({column for e in experiments for column in e.columns})
    for text in options.limit:
        column, _, number = text.rpartition("=")
        if column and column not in columns:
            hint = _hint(column, columns)
            parser.error(f"--limit {text}: no column {column!r}; {hint}")
        try:
            limits[column] = float(number)
        except ValueError:
            limits[column] = 0.0
        if not 0 < limits[column] < float("inf"):
            parser.error(f"--limit {text}: seconds must be a positive number.")
    return Settings(
        options.quick,
        tuple(options.sets),
        limits,
        _options(parser, options.options, experiments),
        DatasetSource(options.data),
    )


def _options(
    parser: argparse.ArgumentParser, texts: list[str], experiments: list[Experiment]
) -> dict[str, Any]:
    """Options with the types of their defaults."""
    defaults = {name: v for e in experiments for name, v in e.options.items()}
    options: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in defaults:
            parser.error(
                f"--with {text}: no option {name!r}; {_hint(name, [*defaults])}"
            )
        kind = type(defaults[name])
        try:
            options[name] = tuple(value.split(",")) if kind is tuple else kind(value)
        except ValueError:
            parser.error(f"--with {text}: not a value of {kind.__name__}.")
    return options


def _store_path(options: argparse.Namespace) -> Path:
    return Path(options.store or Path(options.out) / "cells.sqlite")


def _run(
    experiments: list[Experiment], settings: Settings, options: argparse.Namespace
) -> int:
    out = Path(options.out)
    processes = options.jobs if options.jobs > 0 else os.cpu_count() or 1
    # Checked now rather than after hours of work.
    out.mkdir(parents=True, exist_ok=True)
    sections, failed = [], 0
    shown: dict[str, Any] = {}
    # The files may change while it runs.
    code = commit()
    with CellStore(_store_path(options), say=_say) as store:
        for experiment in experiments:
            cells = experiment.plan(settings)
            if not cells:
                _say(f"{experiment.name} has none of these data sets: skipped.")
                continue
            outcomes = run_cells(
                experiment.name,
                cells,
                settings.source,
                store,
                # Benchmarks measure times.
                1 if experiment.rows else processes,
                options.quiet,
                options.again,
            )
            n_failed = sum(bool(outcome.error) for outcome in outcomes.values())
            failed += n_failed
            report = experiment.report(settings, outcomes)
            report.notes.extend(_notes_on_cells(settings, outcomes))
            written = report.write(out, experiment.name)
            if experiment.rows and not n_failed:
                written += _write_rows(experiment, settings, outcomes, options, code)
            shown[experiment.name] = _as_json(experiment, report, written)
            if not (options.json or options.quiet):
                print(f"\n## {experiment.title}\n\n{report.text()}")
                print(f"Written: {', '.join(map(str, written))}", flush=True)
            html = report.html(out, experiment.name)
            sections.append((experiment.name, experiment.title, html))
            # Rewritten after each, so that an interrupted run has its page.
            about = (
                f"frugalsvm {revision()}, grid {settings.pick('quick', 'full')}. "
                "Entries with * come from cells that ended at their limit."
            )
            write_text(out / "index.html", page("Experiments", about, sections))
    if not sections:
        return 1
    if options.json:
        path = str(out / "index.html")
        _print_json({"experiments": shown, "failed": failed, "page": path})
    elif not options.quiet:
        print(f"\nEverything on one page: {out / 'index.html'}")
    return 1 if failed else 0


def _write_rows(
    experiment: Experiment,
    settings: Settings,
    outcomes: Outcomes,
    options: argparse.Namespace,
    code: str,
) -> list[Path]:
    """Rows of a benchmark as JSON, and under version control if pages quote them."""
    assert experiment.rows is not None
    rows = experiment.rows(settings, outcomes)
    chosen = options_of(experiment.options, settings)
    results = of_this_run(rows, chosen, options.note, code)
    written = [write(experiment.name, results, Path(options.out))]
    if experiment.name in QUOTED and not (
        settings.quick or settings.sets or options.no_write
    ):
        written.append(write(experiment.name, results))
        if written[-1] is None:
            _say(f"experiments/results/{experiment.name}.json has a peer more: kept.")
    return [path for path in written if path is not None]


def _print_json(content: dict[str, Any]) -> None:
    print(json.dumps(content, indent=2, ensure_ascii=False))


def _as_json(
    experiment: Experiment, report: Report, written: list[Path]
) -> dict[str, Any]:
    """A machine-readable report: rows of tables as in the CSV files."""
    return {
        "title": experiment.title,
        "tables": [
            {"title": table.title, "rows": list(csv.DictReader(StringIO(table.csv())))}
            for table in report.tables
        ],
        "notes": list(report.notes),
        "files": [str(path) for path in written],
    }


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _notes_on_cells(settings: Settings, outcomes: Outcomes) -> list[str]:
    """The numbers of cells, of those at their limits, and of those that failed."""
    limits = sorted({cell.limit for cell in outcomes if cell.limit is not None})
    capped = sum(outcome.capped for outcome in outcomes.values())
    shown = ", ".join(f"{limit:g}" for limit in limits)
    text = f"Grid {settings.pick('quick', 'full')}, {len(outcomes)} cells"
    text += f", limits {shown} s" if shown else ""
    notes = [f"{text}; {capped} ended at their limit (marked *)."]
    errors = sorted({f"{c}: {out.error}" for c, out in outcomes.items() if out.error})
    if errors:
        notes.append(f"{len(errors)} cells failed; the first one is {errors[0]}")
    return notes
