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
        return cls(tuple(map(_reassured, found)), (*of_names(data), *remarks))

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


def of_names(data: PreparedTable) -> list[str]:
    """What names of columns say: that rows belong together, or have weights."""
    cautions = []
    repeated, weights = data.plan.repeated, data.plan.weights
    if repeated:
        cautions.append(
            f"{listed(repeated, quoted=True)} repeat{'s' * (len(repeated) == 1)}: rows "
            "with the same one belong together, but folds separate them, so that "
            "cross-validated accuracies may be too high for others; to know, fit to "
            "some of them and predict the rest"
        )
    if weights:
        is_one = len(weights) == 1
        cautions.append(
            f"{listed(weights, quoted=True)} look{'s' * is_one} like weights of a "
            "survey, for how many others a row stands, and "
            f"{'is' if is_one else 'are'} used as {'a feature' * is_one}"
            f"{'features' * (not is_one)}: --exclude {weights[0]!r} leaves "
            f"{'it' if is_one else 'such a column'} out. Shares and accuracies count "
            "each row once; in Python, fit takes them as sample_weight"
        )
    return cautions


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
