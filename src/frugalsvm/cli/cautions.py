"""Warnings of a fit, collected so that they can stand before its result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..output.report import inspect_table
from ..output.report.content import DataWarning
from ..output.report.headline import all_warnings, first_warnings
from ..runtime.words import listed
from ..tables import Preparation
from .session import Session
from .study import PreparedTable

# Most cells of a table that is inspected.
MOST_CELLS = 5_000_000


@dataclass(frozen=True)
class Cautions:
    """What a reader should know before the result.

    Attributes
    ----------
    data : tuple of DataWarning
        What looks suspicious in the table.
    remarks : tuple of str
        About the run.
    """

    data: tuple[DataWarning, ...]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, data: PreparedTable, preparation: Preparation, remarks: Iterable[str] = ()
    ) -> Cautions:
        """Inspect the table, unless it is large."""
        found: tuple[DataWarning, ...] = ()
        if data.n_rows * preparation.n_features <= MOST_CELLS:
            found = inspect_table(
                preparation.features,
                preparation.values(data.table),
                data.target.positive,
            )
        return cls(tuple(map(_reassured, found)), (*_repeated(data), *remarks))

    @property
    def texts(self) -> list[str]:
        """The most serious first, without those that do no harm."""
        return all_warnings(self.data, self.remarks)

    def show(self, session: Session) -> None:
        """Print a handful of them, and how many others there are."""
        shown, n_more = first_warnings(self.texts)
        for text in shown:
            session.warn(text)
        if n_more:
            session.warn(f"and {n_more} more; --json and --report have all of them")


def _repeated(data: PreparedTable) -> list[str]:
    """That rows belong together, which folds do not know."""
    names = data.plan.repeated
    if not names:
        return []
    return [
        f"{listed(names, quoted=True)} repeat{'s' * (len(names) == 1)}: rows with the "
        "same one belong together, but the folds separate them, so that accuracies may "
        "be too high for others; to know, fit to some of them and predict the rest"
    ]


def _reassured(warning: DataWarning) -> DataWarning:
    """A warning, less alarming if the fit has already dealt with it."""
    if warning.kind != "scales":
        return warning
    narrow, wide = warning.columns
    text = (
        f"Columns are on very different scales, from {narrow} to {wide}. They were "
        "standardised for the fit, so this does no harm here."
    )
    return replace(warning, text=text)
