"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table with a header line: CSV or TSV (also gzipped), Excel or "
        "Parquet. "
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
