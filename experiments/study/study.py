"""Study: an experiment and its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .cells import Cell, Outcomes, with_needs
from .report import Marked, StudyReport
from .sources import Catalogue, DatasetSource

T = TypeVar("T")

GRIDS = ("quick", "full")
# Seconds for a cell, unless --limit or the study says otherwise.
LIMITS = {"quick": 5.0, "full": 60.0}


@dataclass(frozen=True)
class Settings:
    """The user's settings.

    Attributes
    ----------
    grid : {"quick", "full"}
    sets : tuple of str
        Data sets to restrict a study to; empty for all of its grid.
    limits : mapping of str to float
        Seconds by column; "" for all other columns.
    source : Source
    """

    grid: str = "quick"
    sets: tuple[str, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    source: DatasetSource = field(default_factory=Catalogue)

    def pick(self, quick: T, full: T) -> T:
        """One of two values, depending on the grid."""
        return quick if self.grid == "quick" else full

    def limit(self, column: str, quick: float | None = None) -> float:
        """Seconds for the cells of a column.

        Parameters
        ----------
        column : str
        quick : float, default=None
            Default of the quick grid, if it differs from the usual one.

        Returns
        -------
        float
        """
        for name in (column, ""):
            if name in self.limits:
                return self.limits[name]
        return quick if quick and self.grid == "quick" else LIMITS[self.grid]

    def chosen(
        self, names: Iterable[str], quick: Iterable[str] | None = None
    ) -> list[str]:
        """The data sets to use, given the user's choice.

        Parameters
        ----------
        names : iterable of str
            All data sets of the study.
        quick : iterable of str, default=None
            Those of the quick grid, unless the user names some.

        Returns
        -------
        list of str
        """
        if self.sets:
            return [name for name in names if name in self.sets]
        is_short = quick is not None and self.grid == "quick"
        return list(quick if is_short and quick is not None else names)

    def n_features(self, name: str) -> int:
        """Number of features of a data set."""
        return self.source.shape(name)[1]


@dataclass(frozen=True)
class Study:
    """An experiment: its cells, and the report of their outcomes.

    Attributes
    ----------
    name : str
        For the command line, e.g. "table4".
    title : str
        Title as in the paper.
    about : str
        Description of the comparison and its settings.
    plan : callable
        From settings to cells.
    report : callable
        From settings and outcomes to a :class:`~.report.StudyReport`.
    label : str
        Label in the paper's source; empty for additional experiments.
    columns : tuple of str
        Names accepted by ``--limit NAME=S``.
    """

    name: str
    title: str
    about: str
    plan: Callable[[Settings], list[Cell]]
    report: Callable[[Settings, Outcomes], StudyReport]
    label: str = ""
    columns: tuple[str, ...] = ()


def most_seconds(cells: Sequence[Cell]) -> float:
    """Maximum sequential time of cells and their dependencies."""
    return sum(one.limit or 0.0 for one in with_needs(cells))


def value(outcomes: Outcomes, cell: Cell, key: str) -> Any:
    """A table entry of a cell: marked if capped, None if missing."""
    outcome = outcomes.get(cell)
    found = None if outcome is None else outcome.values.get(key)
    if outcome is not None and outcome.error:
        return "failed"
    if outcome is not None and outcome.capped:
        return Marked(found)
    return found


def marked(outcomes: Outcomes, cells: Iterable[Cell], entry: Any) -> Any:
    """A value computed from several cells, marked if one of them is capped."""
    capped = any(outcomes[one].capped for one in cells if one in outcomes)
    return Marked(entry) if capped else entry
