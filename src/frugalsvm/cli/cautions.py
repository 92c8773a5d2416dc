"""Warnings of a fit, collected so that they can stand before its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..report.content import DataWarning
from ..report.headline import all_warnings, first_warnings
from ..report.inspection import drawn_rows, inspect_sample
from ..run.words import counted, listed, quote
from ..tables import Preparation
from .fitting import Fit
from .session import Session
from .study import PreparedTable

# Rows of the rarer class for each weight: Peduzzi et al., A simulation study of the
# number of events per variable in logistic regression analysis, J Clin Epidemiol 1996.
EVENTS_PER_WEIGHT = 10
# Columns of fewer categories are not warned of.
LEAST_CATEGORIES = 5


@dataclass(frozen=True)
class Cautions:
    """What a reader should know before the result.

    Attributes
    ----------
    data : tuple of DataWarning
        What looks suspicious in the table.
    remarks : tuple of str
        About the run.
    n_compared : int or None
        Rows in which columns were compared, if they were drawn from more.
    """

    data: tuple[DataWarning, ...]
    remarks: tuple[str, ...] = ()
    n_compared: int | None = None

    @classmethod
    def of(
        cls, data: PreparedTable, preparation: Preparation, remarks: Iterable[str] = ()
    ) -> Cautions:
        """Inspect the table; some rows of it, if there are many."""
        rows = drawn_rows(data.target.positive, preparation.n_features)
        found = inspect_sample(
            preparation.features,
            preparation.values(data.table, rows),
            rows,
            data.target.positive,
            preparation.feature_of(data.table),
            {
                columns[0].variable: places
                for places, columns in preparation.blocks()
                if columns[0].has_categories
            },
        )
        n_compared = None if rows.size == data.n_rows else rows.size
        remarks = (*of_names(data), *remarks)
        return cls(tuple(map(_reassured, found)), remarks, n_compared)

    @property
    def texts(self) -> list[str]:
        """The most serious first, without those that do no harm."""
        return all_warnings(self.data, self.remarks)

    def show(self, session: Session) -> None:
        """Print a handful, how many others there are, and which rows were compared."""
        if self.n_compared is not None:
            session.say(
                "columns that give the answer away, and duplicates, were looked for in "
                f"{self.n_compared:,} rows that were drawn"
            )
        shown, n_more = first_warnings(self.texts)
        for text in shown:
            session.warn(text)
        if n_more:
            session.warn(f"and {n_more} more; --json and --report have all of them")


def too_many_weights(data: PreparedTable, fit: Fit) -> list[str]:
    """That columns of categories bring more weights than the rarer class supports."""
    labels = fit.conditions.labels(fit.preparation)
    chosen = fit.result.selected_columns
    sizes = Counter(labels[j] for j in chosen.tolist())
    n_events = min(data.target.counts)
    if chosen.size == len(sizes) or n_events >= EVENTS_PER_WEIGHT * chosen.size:
        return []
    (name, n), *_ = sizes.most_common()
    if n < LEAST_CATEGORIES:
        return []
    return [
        f"the model has {chosen.size:,} weights, {n:,} of them for the categories of "
        f"{quote(name)}, and the rarer class {counted(n_events, 'row')}: fewer than "
        f"{EVENTS_PER_WEIGHT} for each weight (a rule of thumb) are too few to tell "
        "categories apart. --min-level merges the rare ones, and --split-categories "
        "counts each as a feature"
    ]


def of_names(data: PreparedTable) -> list[str]:
    """What names of columns say: that rows belong together, or have weights."""
    cautions = []
    repeated, weights = data.plan.repeated, data.plan.weights
    if repeated:
        cautions.append(
            f"{listed(repeated, quoted=True)} repeat{'s' * (len(repeated) == 1)}: rows "
            "with the same one belong together, and folds would separate them, so that "
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
