"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from ..tables import (
    ALL_OPEN,
    DECIMALS,
    GROUPS,
    INDICATOR,
    MIN_LEVEL,
    NO_GROUPS,
    USUAL,
    FormatRule,
    FormatRules,
    Layout,
    Table,
    unknown_column,
)
from .panel import Panel
from .session import Session, UsageProblem

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table with a header line: CSV or TSV (also gzipped), Excel or Parquet. "
        "- reads standard input.",
    ),
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="Model file written by fit --model.")
]
TargetName = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="Column to predict: two values, or --positive against all others.",
    ),
]
MaxFeatures = Annotated[
    str,
    typer.Option(
        "--max-features",
        "-k",
        metavar="N",
        help="Maximum number of features: a number, auto (the best balanced accuracy "
        "in cross-validation) or all.",
    ),
]
LossWeight = Annotated[
    str,
    typer.Option(
        "--C",
        metavar="C",
        help="The SVM's C, the weight of the hinge loss: a number, or auto (0.03 "
        "selects the features, and cross-validation chooses the C of their weights).",
    ),
]
ClassWeight = Annotated[
    str,
    typer.Option(
        "--class-weight",
        metavar="WEIGHTS",
        help="How much a row of each class counts: balanced (inversely to the number "
        "of rows), none, weights like sick=10,well=1, or auto (balanced if a class has "
        "less than a third of the rows).",
    ),
]
Effort = Annotated[
    str,
    typer.Option(metavar="EFFORT", help="Search effort: fast, normal or thorough."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time limit of the whole command in seconds; what is not done by then is "
        "left out, and named.",
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column that the model must use. Repeatable."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to drop. Repeatable."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to use even if it looks like an identifier. Repeatable.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to treat as categories, even if it looks numeric. Repeatable.",
    ),
]
Signs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=SIGN",
        help="Sign of the weight of a column: income=+,age=- for an income that must "
        "not lower the score and an age that must not raise it. Of one category: "
        "housing=own=+. Repeatable.",
    ),
]
SplitCategories = Annotated[
    bool,
    typer.Option(
        "--split-categories",
        help="Count each category of a column as a feature. Without it, a categorical "
        "column is one feature, and so are the 0/1 columns of a variable.",
    ),
]
Levels = Annotated[
    str | None,
    typer.Option(
        metavar="ZERO",
        help="Show the weights of categories with the smallest, or the mean, of each "
        "column at zero: smallest or mean. Scores, model file and proof are the same.",
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Table with two columns: column names and their costs."
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(metavar="COST", help="Maximum total cost of the features."),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="Class of positive scores; of more than two, against all others.",
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="What becomes of missing values. indicator (the default): missing "
        "categories are a category of their own, missing numbers get the median and, "
        "where at least 1 % are missing, a part of the same feature says so. median: "
        "the median and the most frequent category. refuse: they are an error.",
    ),
]
MinLevel = Annotated[
    int,
    typer.Option(
        "--min-level",
        min=1,
        metavar="N",
        help="Categories of a column that fewer than N rows have are merged into one, "
        "(other), if there are at least two; 1 for none.",
    ),
]
Unlabelled = Annotated[
    str,
    typer.Option(
        metavar="HOW", help="Rows without a target: refuse (an error) or drop."
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="Sheet of an Excel file: its name or number."
    ),
]
Transpose = Annotated[
    bool,
    typer.Option(
        "--transpose", help="The columns of the table are the samples, not its rows."
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Table with the target, if it is not in the data: joined by the names of "
        "the samples, which are in the first column of the data.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Text encoding; detected if not given."),
]
Decimal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SIGN",
        help="Decimal separator: . or , for all columns, or COLUMN=, for one column. "
        "Repeatable. Detected for each column if not given.",
    ),
]
Thousands = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SIGN",
        help="Thousands separator: . or , or space or apostrophe or none, for all "
        "columns, or COLUMN=. for one column. Repeatable.",
    ),
]
Folds = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Cross-validation folds; 0 for none."),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Threads; -1 for all cores. With more than one, results may differ "
        "slightly between runs.",
    ),
]
ReportFile = Annotated[
    str | None,
    typer.Option(
        "--report", metavar="FILE", help="Write a report as a single HTML file."
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Output file; - is standard output."
    ),
]


# --- Formats of numbers: --decimal and --thousands ------------------------------------

_NAMES = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'"}
_DECIMAL = {sign: sign for sign in DECIMALS} | {
    name: sign for name, sign in _NAMES.items() if sign in DECIMALS
}
_THOUSANDS = {sign: sign for sign in GROUPS} | _NAMES | {"none": NO_GROUPS}


def parse_formats(
    decimal: Sequence[str] | None, thousands: Sequence[str] | None
) -> FormatRules:
    """Number formats for the file (``,``) or for one column (``NAME=,``)."""
    decimals = _by_column("--decimal", decimal, _DECIMAL)
    groups = _by_column("--thousands", thousands, _THOUSANDS)
    of_file = _rule(decimals.pop("", None), groups.pop("", None))
    columns = {
        name: _rule(
            decimals.get(name, of_file.decimal), groups.get(name, of_file.thousands)
        )
        for name in {**decimals, **groups}
    }
    return FormatRules(of_file, columns)


def _by_column(
    option: str, texts: Sequence[str] | None, separators: Mapping[str, str]
) -> dict[str, str]:
    """Separators by column; the key of the file's is empty."""
    by_column: dict[str, str] = {}
    for text in texts or ():
        name, _, sign = text.rpartition("=")
        if sign not in separators:
            choices = ", ".join(key for key in separators if key.isalpha())
            raise UsageProblem(
                f"{option} must be one of {choices}, or COLUMN= followed by one of "
                f"these; got {text!r}."
            )
        if by_column.setdefault(name, separators[sign]) != separators[sign]:
            raise UsageProblem(
                f"{option}: two different values for {name or 'the file'!r}."
            )
    return by_column


def _rule(decimal: str | None, thousands: str | None) -> FormatRule:
    if decimal is not None and decimal == thousands:
        raise UsageProblem(
            f"--decimal and --thousands are both {decimal!r}; they must differ."
        )
    return FormatRule(decimal, thousands)


def check_names(formats: FormatRules, table: Table) -> None:
    """Raise an error if a format is given for an unknown column."""
    for name in formats.columns:
        if name not in table.columns:
            raise unknown_column("--decimal or --thousands", name, table.names)


def combined(
    stored: Mapping[str, FormatRule], options: FormatRules, numbers: Sequence[str]
) -> FormatRules:
    """The number formats stored in a model, unless options say otherwise.

    Parameters
    ----------
    stored : mapping from names to FormatRule
        The formats stored in the model.
    options : FormatRules
        The formats given for this file.
    numbers : sequence of str
        The numeric columns that the model needs.
    """
    rules = {}
    for name in numbers:
        rule = replace(options[name], is_number=True)
        is_open = rule == FormatRule(is_number=True)
        rules[name] = stored.get(name, rule) if is_open else rule
    return FormatRules(options.file, dict(options.columns) | rules)


# --- The data file --------------------------------------------------------------------


@dataclass(frozen=True)
class DataOptions:
    """The data file and the options for reading it."""

    path: str
    target: str
    positive: str | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: str = INDICATOR
    encoding: str | None = None
    costs: str | None = None
    formats: FormatRules = ALL_OPEN
    class_weight: Any = "auto"
    is_split: bool = False
    drops_unlabelled: bool = False
    layout: Layout = USUAL
    min_level: int = MIN_LEVEL

    def load(self, session: Session, panel: Panel) -> tuple[Any, Any, Any]:
        """Load data, preparation and costs, and report how the file was read."""
        from .parsing import check_costs, read_costs
        from .study import load_data
        from .understanding import describe_table

        panel.phase(f"reading {self.path}")
        costs = None if self.costs is None else read_costs(self.costs)
        data = load_data(
            self.path, self.target, positive=self.positive, exclude=self.exclude,
            keep=self.keep, categorical=self.categorical, missing=self.missing,
            encoding=self.encoding, formats=self.formats,
            drops_unlabelled=self.drops_unlabelled, layout=self.layout,
            min_level=self.min_level, is_split=self.is_split,
        )  # fmt: skip
        check_costs(costs, data)
        preparation = data.prepare()
        for line in describe_table(data, preparation, self.is_split):
            session.say(line)
        return data, preparation, costs

    def weights(self, session: Session, target: Any) -> Any:
        """The weights of the classes, with a message if they differ."""
        from .class_weights import ClassWeights

        weights = ClassWeights.of(self.class_weight, target)
        remark = weights.remark(target.signs)
        if remark:
            session.say(f"  {remark}")
        return weights
