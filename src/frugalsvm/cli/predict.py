"""``frugalsvm predict`` and ``explain``: apply a model to new rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from ..run.words import by_class, different, listed
from ..tables.columns import check_usable
from ..tables.excel import Layout
from . import options as opt
from .outputs import STDOUT, check_output, printing_result, write_table
from .session import Session, plain

if TYPE_CHECKING:
    from ..tables.columns import TextStyle
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
# The output column with the intercept.
INTERCEPT = "intercept"
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
    for words in loaded.warnings(good, numbers):
        session.warn(words)
    scores = loaded.scores(loaded.features(good), good.n_rows)
    results: dict[str, Any] = {"prediction": loaded.labels(scores)}
    results |= loaded.by_class("score", scores)
    if loaded.model.calibration is not None:
        chances = loaded.model.calibration.probability(results["score"])
        results["probability"] = chances
    content: dict[str, Any] = {"rows": [], **loaded.new_cells(good, numbers)}
    if skip_bad_rows:
        content["skipped"] = _skipped(session, wrong, is_good)
        results = {name: _with_gaps(one, is_good) for name, one in results.items()}
    columns = _without(results, _names(table, id_column), "id") | results
    if session.json:
        content["rows"] = [dict(zip(columns, r, strict=True)) for r in _rows(columns)]
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
    """Show what each feature contributes to the score of each row.

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
    for words in loaded.warnings(table):
        session.warn(words)
    values = loaded.features(table)
    scores = loaded.scores(values, table.n_rows)
    parts = loaded.contributions(values)
    chosen = [k - 1 for k in row or range(1, table.n_rows + 1)]
    if max(chosen) >= table.n_rows:
        raise UsageProblem(
            f"--row {max(chosen) + 1}: the table has only {table.n_rows:,} "
            f"row{'s' * (table.n_rows != 1)}."
        )
    results = {"prediction": loaded.labels(scores)} | loaded.by_class("score", scores)
    intercepts = loaded.by_class(INTERCEPT, loaded.model.intercepts)
    titles = by_class("contributions", loaded.model.classes)
    names = _without([*results, *intercepts, *titles], _names(table, id_column), "id")
    content = intercepts | {
        "rows": [
            {name: one[k] for name, one in (names | results).items()}
            | {
                title: {name: one[k, c] for name, one in parts.items()}
                for c, title in enumerate(titles)
            }
            for k in chosen * session.json
        ],
    }
    with printing_result(session, content):
        if output is None:
            _tell(session, loaded, chosen, names, scores, values, parts)
        elif output != STDOUT or not session.json:
            columns = names | results
            for name, one in intercepts.items():
                columns[name] = np.full(table.n_rows, one)
            columns |= _without(set(columns), _named(loaded, parts), "contribution")
            chosen_ones = {k: v[chosen] for k, v in columns.items()}
            _write(session, output, chosen_ones, table.style)


def _skipped(
    session: Session, wrong: dict[str, np.ndarray], is_good: np.ndarray
) -> dict[str, np.ndarray]:
    """The numbers of the rows that are skipped, by column; a warning counts them."""
    from .models import row_list

    rows = {name: np.flatnonzero(mask) + 1 for name, mask in wrong.items()}
    n = int((~is_good).sum())
    if n:
        shown = [f"{name!r} in {row_list(one)}" for name, one in rows.items()]
        session.warn(
            f"{n:,} of {is_good.size:,} rows have no prediction, because of wrong "
            f"cells: {listed(shown)}"
        )
    return rows


def _with_gaps(values: np.ndarray, is_good: np.ndarray) -> np.ndarray:
    """Values of all rows; None for those that are skipped."""
    if is_good.all():
        return values
    filled = np.full(is_good.size, None, dtype=object)
    filled[is_good] = values
    return filled


def _write(
    session: Session, path: str, columns: dict[str, Any], style: TextStyle
) -> None:
    write_table(path, columns, style)
    if path != STDOUT:
        session.say(f"written to {path}")


def _named(loaded: LoadedModel, parts: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Contributions by the name of their column."""
    names = [one for name in parts for one in by_class(name, loaded.model.classes)]
    columns = [column for one in parts.values() for column in one.T]
    # Feature "a_b" of class "c", and feature "a" of class "b_c".
    return dict(zip(different(names), columns, strict=True))


def _tell(
    session: Session,
    loaded: LoadedModel,
    chosen: list[int],
    names: Any,
    scores: np.ndarray,
    values: Any,
    parts: dict[str, np.ndarray],
) -> None:
    """Print the first rows, each feature with its contributions.

    Of several classes, those with the largest scores are columns, the predicted one
    first; the bars are about that one.
    """
    if session.json:
        return
    model, labels = loaded.model, loaded.labels(scores)
    parts = loaded.by_group(parts)
    for k in chosen[:N_EXPLAINED]:
        name = "".join(f" ({names[one][k]})" for one in names if one != ROW)
        best = np.argsort(-scores[k], kind="stable")[:N_CLASSES]
        heads = [f">{plain(str(model.classes[c]))}" for c in best]
        if model.n_scores == 1:
            heads = [">contribution"]
        made = session.table("feature", ">value", *heads, "")
        own = {one: column[k, best] for one, column in parts.items()}
        largest = max([abs(one[0]) for one in own.values()] or [0.0]) or 1.0
        order = sorted(own, key=lambda one: -np.abs(own[one]).max())
        for one in order[:N_PARTS]:
            first = own[one][0]
            bar = ("+" if first > 0 else "-") * round(20 * abs(first) / largest)
            words = plain(loaded.value_text(one, values, k))
            made.add_row(plain(one), words, *_signed(own[one]), bar)
        if len(order) > N_PARTS:
            rest = np.sum([own[one] for one in order[N_PARTS:]], axis=0)
            more = f"{len(order) - N_PARTS:,} more (-o writes all)"
            made.add_row(more, "", *_signed(rest), "")
        made.add_row("intercept", "", *_signed(model.intercepts[best]), "")
        if model.n_scores > 1:
            made.add_row("score", "", *_signed(scores[k, best]), "")
        session.show(
            f"row {k + 1}{name}: {labels[k]}, score {scores[k, best[0]]:+.4f}", made, ""
        )
    if len(chosen) > N_EXPLAINED:
        session.show(
            f"and {len(chosen) - N_EXPLAINED:,} more rows; use -o FILE to write all of "
            "them, --row N to show one."
        )


def _signed(numbers: np.ndarray) -> list[str]:
    return [f"{one:+.4f}" for one in numbers]


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


def _without(
    taken: Collection[str], columns: dict[str, Any], word: str
) -> dict[str, Any]:
    """Columns, with a word appended to names that are already taken.

    A table of loans may well have its own ``score`` column.
    """
    return {
        f"{name} ({word})" if name in taken else name: one
        for name, one in columns.items()
    }


def _rows(columns: dict[str, Any]) -> Iterable[tuple[Any, ...]]:
    return zip(*(np.asarray(one).tolist() for one in columns.values()), strict=True)
