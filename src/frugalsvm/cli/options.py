"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table with a line of names: CSV, TSV or Parquet, text also packed by "
        "gzip. - reads standard input.",
    ),
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="model.json, as written by fit --model.")
]
TargetName = Annotated[
    str,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Column to predict; it has two values."
    ),
]
MaxFeatures = Annotated[
    str,
    typer.Option(
        "--max-features",
        "-k",
        metavar="N",
        help="Most features of the model: a number, auto (chosen by cross-validation, "
        "one-standard-error rule) or all.",
    ),
]
LossWeight = Annotated[
    str, typer.Option("--C", metavar="C", help="Weight of the loss: a number or auto.")
]
Effort = Annotated[
    str,
    typer.Option(metavar="EFFORT", help="How hard to look: fast, normal or thorough."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Most seconds for search and proof, and as many for the folds.",
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column that must be in the model. Repeat it."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out. Repeat it."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to use even if it looks like an identifier. Repeat it.",
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Column of categories that look like numbers. Repeat it."
    ),
]
Costs = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Table of two columns: names of columns, and their costs."
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(metavar="COST", help="Most that the features may cost together."),
]
Positive = Annotated[
    str | None,
    typer.Option(metavar="CLASS", help="The class that positive scores mean."),
]
Impute = Annotated[
    str | None,
    typer.Option(
        metavar="median",
        help="median: fill missing numbers by the median, categories by the most "
        "frequent one. Without it missing values are an error.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of the text, if it is not found out."),
]
Decimal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SIGN",
        help="Decimal sign of the numbers, . or , for all columns, or COLUMN=, for "
        "one. Repeat it. Without it each column's cells tell.",
    ),
]
Thousands = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SIGN",
        help="What groups thousands: . or , or space or apostrophe or none, for all "
        "columns, or COLUMN=. for one. Repeat it.",
    ),
]
Folds = Annotated[
    int,
    typer.Option(min=0, metavar="N", help="Folds of the cross-validation; 0 for none."),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Threads; -1 for all cores. With more than one, runs may differ a little.",
    ),
]
ReportFile = Annotated[
    str | None,
    typer.Option(
        "--report", metavar="FILE", help="Write a page about it: HTML, one file."
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="FILE", help="File to write; - is standard output."
    ),
]
