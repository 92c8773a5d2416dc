"""``frugalsvm predict`` and ``explain``: apply a model to new rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..run import by_class, different, listed
from ..tables import Layout, check_usable
from . import options as opt
from .outputs import STDOUT, check_output, printing_result, write_table
from .session import Session, plain

if TYPE_CHECKING:
    from ..tables import TextStyle
    from .models import LoadedModel

PREDICT_EXAMPLES = (
    "frugalsvm predict model.json new.csv > predictions.csv",
    "frugalsvm predict model.json new.csv --id patient -o predictions.csv",
    "cat new.csv | frugalsvm predict model.json - --json",
)
EXPLAIN_EXAMPLES = (
    "frugalsvm explain model.json rows.csv",
    "frugalsvm explain model.json rows.csv --row 3",
    "frugalsvm explain model.json rows.csv -o contributions.csv",
)
RowsFile = Annotated[
    str,
    typer.Argument(metavar="ROWS", help="Table with the model's columns; - is stdin."),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", help="Column that identifies the rows in the output."),
]
# The output column with the row number.
ROW = "row"
# Maximum number of rows printed as tables, and of features and classes in each.
N_EXPLAINED, N_PARTS, N_CLASSES = 10, 30, 5


def predict(
    session: Session,
    model: opt.ModelFile,
    rows: RowsFile,
    id_column: IdColumn = None,
    output: opt.Output = STDOUT,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="A missing value in a column that had none in the fit, or an unknown "
            "category, is an error; else it is filled in, or none of the categories.",
        ),
    ] = False,
    skip_bad_rows: Annotated[
        bool,
        typer.Option(
            "--skip-bad-rows",
            help="Rows with a wrong cell, such as text in a column of numbers, get an "
            "empty prediction and are counted; else they are an error.",
        ),
    ] = False,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
) -> None:
    """Predict the class of each row; writes a CSV with prediction and score.

    Columns that the model does not use are ignored. A model that was fitted with
    --calibrate also gives a probability, one of more than two classes a score for each.
    """
    from .models import load_model
    from .options import parse_formats

    check_output("--output", output, model, rows)
    loaded = load_model(model)
    formats = parse_formats(decimal, thousands)
    layout = Layout(sheet, transpose)
    table = loaded.read(
        rows, encoding, id_column, formats, layout=layout, allow_empty=True
    )
    wrong: dict[str, np.ndarray] = {}
    if skip_bad_rows:
        table, wrong = loaded.without_wrong_cells(table, strict)
    elif strict:
        loaded.refuse_new(table)
    n_rows = table.n_rows
    is_good = ~np.logical_or.reduce([np.zeros(n_rows, dtype=bool), *wrong.values()])
    numbers = np.flatnonzero(is_good) + 1
    good = table.some_rows(is_good) if wrong else table
    for text in loaded.warnings(good, numbers):
        session.warn(text)
    scores = loaded.scores(loaded.features(good), good.n_rows)
    results: dict[str, Any] = {"prediction": loaded.labels(scores)}
    results |= loaded.by_class("score", scores)
    if loaded.model.calibration is not None:
        chances = loaded.model.calibration.probability(results["score"])
        results["probability"] = chances
    content: dict[str, Any] = {"rows": [], **loaded.new_cells(good, numbers)}
    if skip_bad_rows:
        content["skipped"] = _skipped(session, wrong, is_good)
        for name, values in results.items():
            if not is_good.all():
                filled = np.full(n_rows, None, dtype=object)
                filled[is_good] = values
                results[name] = filled
    columns = _renamed(_names(table, id_column), results, "id") | results
    if session.json:
        lists = (np.asarray(values).tolist() for values in columns.values())
        content["rows"] = [
            dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)
        ]
    with printing_result(session, content):
        if output != STDOUT or not session.json:
            _write(session, output, columns, table.style)


def explain(
    session: Session,
    model: opt.ModelFile,
    rows: RowsFile,
    row: Annotated[
        list[int] | None,
        typer.Option("--row", min=1, help="Explain only this row. Repeatable."),
    ] = None,
    id_column: IdColumn = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write all rows as CSV, or as Excel to a name in .xlsx; - is stdout.",
        ),
    ] = None,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
) -> None:
    """Show the contribution of each feature to the score of each row.

    Contributions and the intercept add up to the score; a feature at its mean in the
    training data contributes nothing. Each of more than two classes has its own.
    """
    from .models import load_model
    from .options import parse_formats
    from .session import UsageProblem

    check_output("--output", output, model, rows)
    loaded = load_model(model)
    formats = parse_formats(decimal, thousands)
    layout = Layout(sheet, transpose)
    table = loaded.read(rows, encoding, id_column, formats, layout=layout)
    for text in loaded.warnings(table):
        session.warn(text)
    values = loaded.features(table)
    scores = loaded.scores(values, table.n_rows)
    parts = loaded.contributions(values)
    shown = [k - 1 for k in row or range(1, table.n_rows + 1)]
    if max(shown) >= table.n_rows:
        raise UsageProblem(
            f"--row {max(shown) + 1}: the table has only {table.n_rows:,} "
            f"row{'s' * (table.n_rows != 1)}."
        )
    results = {"prediction": loaded.labels(scores)} | loaded.by_class("score", scores)
    intercepts = loaded.by_class("intercept", loaded.model.intercepts)
    titles = by_class("contributions", loaded.model.classes)
    names = _renamed(_names(table, id_column), [*results, *intercepts, *titles], "id")
    content = intercepts | {
        "rows": [
            {name: column[k] for name, column in (names | results).items()}
            | {
                title: {name: part[k, c] for name, part in parts.items()}
                for c, title in enumerate(titles)
            }
            for k in shown * session.json
        ],
    }
    with printing_result(session, content):
        if output is None:
            _show_rows(session, loaded, shown, names, scores, values, parts)
        elif output != STDOUT or not session.json:
            columns = names | results
            for name, intercept in intercepts.items():
                columns[name] = np.full(table.n_rows, intercept)
            contributions = _contribution_columns(loaded, parts)
            columns |= _renamed(contributions, set(columns), "contribution")
            selected = {name: column[shown] for name, column in columns.items()}
            _write(session, output, selected, table.style)


def _skipped(
    session: Session, wrong: dict[str, np.ndarray], is_good: np.ndarray
) -> dict[str, np.ndarray]:
    """Warn of the rows that are skipped; return their numbers by column."""
    from .models import row_list

    rows = {name: np.flatnonzero(mask) + 1 for name, mask in wrong.items()}
    n = int((~is_good).sum())
    if n:
        cells = [f"{name!r} in {row_list(numbers)}" for name, numbers in rows.items()]
        session.warn(
            f"{n:,} of {is_good.size:,} rows have no prediction, because of wrong "
            f"cells: {listed(cells)}"
        )
    return rows


def _write(
    session: Session, path: str, columns: dict[str, Any], style: TextStyle
) -> None:
    write_table(path, columns, style)
    if path != STDOUT:
        session.say(f"written to {path}")


def _contribution_columns(
    loaded: LoadedModel, parts: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Contributions by the name of their output column."""
    classes = loaded.model.classes
    names = [column for name in parts for column in by_class(name, classes)]
    columns = [column for part in parts.values() for column in part.T]
    # Feature "a_b" of class "c" could be confused with feature "a" of class "b_c".
    return dict(zip(different(names), columns, strict=True))


def _show_rows(
    session: Session,
    loaded: LoadedModel,
    shown: list[int],
    names: Any,
    scores: np.ndarray,
    values: Any,
    parts: dict[str, np.ndarray],
) -> None:
    """Print the first rows, each feature with its contributions.

    Of several classes, those with the largest scores have columns, the predicted class
    first; the bars show its contributions.
    """
    if session.json:
        return
    model, labels = loaded.model, loaded.labels(scores)
    parts = loaded.by_group(parts)
    for k in shown[:N_EXPLAINED]:
        name = "".join(f" ({names[column][k]})" for column in names if column != ROW)
        best = np.argsort(-scores[k], kind="stable")[:N_CLASSES]
        heads = [f">{plain(str(model.classes[c]))}" for c in best]
        if model.n_scores == 1:
            heads = [">contribution"]
        table = session.table("feature", ">value", *heads, "")
        of_row = {feature: part[k, best] for feature, part in parts.items()}
        sizes = {feature: np.abs(part).max() for feature, part in of_row.items()}
        largest = max([abs(part[0]) for part in of_row.values()] or [0.0]) or 1.0
        order = sorted(sizes, key=lambda feature: -sizes[feature])
        for feature in order[:N_PARTS]:
            first = of_row[feature][0]
            bar = ("+" if first > 0 else "-") * round(20 * abs(first) / largest)
            value = plain(loaded.value_text(feature, values, k))
            table.add_row(plain(feature), value, *_signed(of_row[feature]), bar)
        if len(order) > N_PARTS:
            total = np.sum([of_row[feature] for feature in order[N_PARTS:]], axis=0)
            more = f"{len(order) - N_PARTS:,} more (-o writes all)"
            table.add_row(more, "", *_signed(total), "")
        table.add_row("intercept", "", *_signed(model.intercepts[best]), "")
        if model.n_scores > 1:
            table.add_row("score", "", *_signed(scores[k, best]), "")
        head = f"row {k + 1}{name}: {labels[k]}, score {scores[k, best[0]]:+.4f}"
        session.show(head, table, "")
    if len(shown) > N_EXPLAINED:
        session.show(
            f"and {len(shown) - N_EXPLAINED:,} more rows; use -o FILE to write all of "
            "them, --row N to show one."
        )


def _signed(numbers: np.ndarray) -> list[str]:
    return [f"{number:+.4f}" for number in numbers]


def _names(table: Any, id_column: str | None) -> dict[str, np.ndarray]:
    """The column that identifies the rows, or row numbers."""
    id_column = id_column or table.row_names
    if id_column is None:
        return {ROW: np.arange(1, table.n_rows + 1)}
    column = table.column(id_column, "--id")
    check_usable({id_column: column}, table.source)
    if hasattr(column, "levels"):
        levels = np.array([*column.levels, ""], dtype=object)
        return {id_column: levels[column.codes]}
    values = column.values
    whole = np.isfinite(values).all() and (values == np.round(values)).all()
    return {id_column: values.astype(np.int64) if whole else values}


def _renamed(
    columns: dict[str, Any], taken: Collection[str], suffix: str
) -> dict[str, Any]:
    """Columns, with a suffix in parentheses at names that are already taken.

    A table of loans may well have its own ``score`` column.
    """
    return {
        f"{name} ({suffix})" if name in taken else name: column
        for name, column in columns.items()
    }
