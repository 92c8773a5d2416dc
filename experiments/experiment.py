"""Experiment: cells, and the report of their outcomes. A benchmark is one of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .cells import Cell, CellOutcome, Outcomes, with_needs
from .datasets import LARGE, Catalogue, DatasetSource
from .report import Report
from .store import Results, Row, plain
from .tables import Lines, Marked, ReportTable, row_tables

T = TypeVar("T")

# Seconds for a cell of the study, unless --limit or the experiment says otherwise.
QUICK_LIMIT, FULL_LIMIT = 5.0, 60.0


@dataclass(frozen=True)
class Settings:
    """The user's settings."""

    # Whether to take a small grid.
    quick: bool = False
    # Data sets to restrict an experiment to; empty for all of its grid.
    sets: tuple[str, ...] = ()
    # Seconds by column; "" for all other columns.
    limits: Mapping[str, float] = field(default_factory=dict)
    # Options of single experiments that differ from their defaults.
    options: Mapping[str, Any] = field(default_factory=dict)
    source: DatasetSource = field(default_factory=Catalogue)

    def pick(self, quick: T, full: T) -> T:
        """One of two values, depending on the grid."""
        return quick if self.quick else full

    def limit(self, column: str, quick: float | None = None) -> float:
        """Seconds for a column; the quick grid's default may differ from the usual."""
        default = self.pick(quick or QUICK_LIMIT, FULL_LIMIT)
        return self.limits.get(column, self.limits.get("", default))

    def chosen(
        self, names: Iterable[str], quick: Iterable[str] | None = None
    ) -> list[str]:
        """The user's choice of data sets, else all or those of the quick grid."""
        if self.sets:
            return [name for name in names if name in self.sets]
        return list(names if quick is None or not self.quick else quick)

    def chosen_rows(self, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Rows of a grid that begin with the name of a chosen data set."""
        rows = list(rows)
        names = self.chosen([name for name, *_ in rows])
        return [row for row in rows if row[0] in names]

    def n_features(self, name: str) -> int:
        """Number of features of a data set."""
        return self.source.shape(name)[1]


#: Makes a table of the documentation, or a sentence, of complete results.
Figure = Callable[[Results], Lines | str]


@dataclass(frozen=True)
class Experiment:
    """An experiment: its cells, and the report of their outcomes."""

    # For the command line, e.g. "table4".
    name: str
    # As in the paper.
    title: str
    # The comparison and its settings.
    about: str
    plan: Callable[[Settings], list[Cell]]
    report: Callable[[Settings, Outcomes], Report]
    # Label in the paper's source; empty for additional experiments.
    label: str = ""
    # Names accepted by ``--limit NAME=S``.
    columns: tuple[str, ...] = ()
    # Tasks that only this experiment has.
    tasks: Mapping[str, Callable[..., dict[str, Any]]] = field(default_factory=dict)
    # Options that ``--with NAME=VALUE`` changes, and their defaults. A benchmark has
    # its limit among them, as ``seconds``.
    options: Mapping[str, Any] = field(default_factory=dict)
    # The rows of a benchmark, which are stored as JSON.
    rows: Callable[[Settings, Outcomes], list[Row]] | None = None
    # Tables of README and documentation that are made of these rows.
    figures: Mapping[str, Figure] = field(default_factory=dict)
    # Names accepted by ``--sets`` besides the paper's data sets.
    sets: tuple[str, ...] = ()


def most_seconds(cells: Sequence[Cell]) -> float:
    """Maximum sequential time of cells and their dependencies."""
    return sum(cell.limit or 0.0 for cell in with_needs(cells))


def value(outcomes: Outcomes, cell: Cell, key: str) -> Any:
    """A table entry of a cell: marked if capped, None if missing."""
    outcome = outcomes.get(cell, CellOutcome())
    if outcome.error:
        return "failed"
    entry = outcome.values.get(key)
    return Marked(entry) if outcome.capped else entry


def marked(outcomes: Outcomes, cells: Iterable[Cell], entry: Any) -> Any:
    """A value computed from several cells, marked if one of them is capped."""
    capped = any(outcomes[cell].capped for cell in cells if cell in outcomes)
    return Marked(entry) if capped else entry


# --- benchmarks -----------------------------------------------------------------------


def options_of(options: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Options of an experiment, with those of the user."""
    chosen = dict(options)
    if "seconds" in chosen and "" in settings.limits:
        chosen["seconds"] = settings.limits[""]
    return chosen | {
        name: option for name, option in settings.options.items() if name in chosen
    }


def benchmark(
    name: str,
    title: str,
    about: str,
    plan: Callable[..., list[Cell]],
    tasks: Sequence[Callable[..., dict[str, Any]]],
    *,
    options: Mapping[str, Any] | None = None,
    rows: Callable[..., list[Row]] | None = None,
    figures: Mapping[str, Figure] | None = None,
    sets: tuple[str, ...] = LARGE,
    note: Callable[[list[Row]], str] | None = None,
) -> Experiment:
    """A benchmark: every cell makes a row, or several, of a table.

    ``plan`` makes cells from settings, and options by keyword; ``rows``, from the rows
    of all cells, and options by keyword, those that are stored; ``note`` a sentence of
    the rows. A task's name is that of the function, with spaces.
    """
    defaults, quoted = dict(options or {}), dict(figures or {})

    def cells(settings: Settings) -> list[Cell]:
        return plan(settings, **options_of(defaults, settings))

    def collected(settings: Settings, outcomes: Outcomes) -> list[Row]:
        of_cells = [
            row
            for cell in cells(settings)
            for row in cell_rows(cell, outcomes[cell].values, defaults)
        ]
        if rows:
            of_cells = rows(of_cells, **options_of(defaults, settings))
        # As they are read from a file.
        return plain(of_cells)

    def report(settings: Settings, outcomes: Outcomes) -> Report:
        if any(outcome.error for outcome in outcomes.values()):
            return Report([])
        table_rows = collected(settings, outcomes)
        tables = row_tables("Rows", table_rows)
        notes = [note(table_rows)] if note else []
        if not (settings.quick or settings.sets):
            chosen = options_of(defaults, settings)
            results = Results("", "", "", {}, chosen, table_rows)
            for key, figure in quoted.items():
                try:
                    content = figure(results)
                except LookupError as error:
                    notes.append(f"No {key}: the rows lack {error}.")
                    continue
                if isinstance(content, str):
                    notes.append(content)
                else:
                    tables.append(ReportTable(key, content[0], content[1:], f"-{key}"))
        return Report(tables, notes=notes)

    return Experiment(
        name,
        title,
        about,
        cells,
        report,
        tasks={task.__name__.replace("_", " "): task for task in tasks},
        options=defaults,
        rows=collected,
        figures=quoted,
        sets=sets,
    )


def without(rows: list[Row], names: Sequence[str], **_: Any) -> list[Row]:
    """Rows without some entries, for ``rows`` of a benchmark."""
    return [{key: row[key] for key in row if key not in names} for row in rows]


def cell_rows(
    cell: Cell, values: Mapping[str, Any], options: Mapping[str, Any]
) -> list[Row]:
    """Rows of a cell: its data set, its parameters but for options, its values."""
    params = {name: entry for name, entry in cell.params if name not in options}
    rows = []
    for row in values.get("rows", [values]):
        name = row.get("set", cell.data)
        rows.append(({"set": name} if name else {}) | params | row)
    return rows
