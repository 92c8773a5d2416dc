"""``frugalsvm export`` and ``frugalsvm scorecard``: a model in other forms."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..export import BINS, POINTS
from . import options as opt
from .outputs import STDOUT, check_output, printing_result, write_bytes, write_text
from .session import Session, UsageProblem, plain

if TYPE_CHECKING:
    import numpy as np

    from ..export import PortableModel
    from ..tables import Table
    from .models import LoadedModel

EXAMPLES = (
    "frugalsvm export model.json --to sql",
    "frugalsvm export model.json --to sql --what label --dialect mysql",
    "frugalsvm export model.json --to python -o score.py",
    "frugalsvm export model.json --to onnx -o model.onnx",
)


class Form(StrEnum):
    """Languages and formats to which a model can be exported."""

    SQL = "sql"
    PYTHON = "python"
    ONNX = "onnx"


def export(
    session: Session,
    model: opt.ModelFile,
    to: Annotated[Form, typer.Option("--to", help="sql, python or onnx.")],
    what: Annotated[
        str, typer.Option(help="For SQL: score, label or probability.")
    ] = "score",
    dialect: Annotated[
        str, typer.Option(help="For SQL: ansi, mysql or sqlserver.")
    ] = "ansi",
    output: opt.Output = STDOUT,
) -> None:
    """Write a model as an SQL expression, a Python module or an ONNX graph.

    SQL and Python use the columns of the table, with categories as text. ONNX uses the
    features, with 0 or 1 for each category.
    """
    from ..export import input_columns, takes_columns
    from .models import load_model

    check_output("--output", output, model)
    loaded = load_model(model)
    if to is Form.ONNX:
        if output == STDOUT:
            raise UsageProblem(
                "--output: an ONNX graph is binary; give a file, e.g. -o model.onnx."
            )
        graph = loaded.model.to_onnx().SerializeToString()
        write_bytes(output, graph)
        is_raw = takes_columns(loaded.model)
        columns = list(input_columns(loaded.model)) if is_raw else loaded.model.names
        names = ", ".join(columns)
        session.say(f"written to {output}; its input columns are {names}")
        session.print_json({"to": str(to), "file": output, "columns": columns})
        return
    if to is Form.SQL:
        _check_sql(what, dialect, loaded.model)
        text = loaded.model.to_sql(what, dialect=dialect) + "\n"
    else:
        text = loaded.model.to_python()
    if session.json and output == STDOUT:
        session.print_json({"to": str(to), "text": text})
        return
    with printing_result(session, {"to": str(to), "text": text}):
        write_text(output, text)
        if output != STDOUT:
            session.say(f"written to {output}")


def _check_sql(what: str, dialect: str, model: PortableModel) -> None:
    from ..export import DIALECTS

    for option, value, choices in (
        ("--what", what, ("score", "label", "probability")),
        ("--dialect", dialect, DIALECTS),
    ):
        if value not in choices:
            raise UsageProblem(
                f"{option} must be one of {', '.join(choices)}; got {value!r}."
            )
    if what == "probability" and model.n_scores > 1:
        raise UsageProblem(
            f"--what probability: this model has {len(model.classes)} classes, and a "
            "score for each instead of probabilities; use --what score."
        )
    if what == "probability" and model.calibration is None:
        raise UsageProblem(
            "--what probability: this model has no probabilities; fit it again with "
            "--calibrate."
        )


# --- ``frugalsvm scorecard``: integer points to add up by hand ------------------------

SCORECARD_EXAMPLES = (
    "frugalsvm scorecard model.json",
    "frugalsvm scorecard model.json other.csv --points 20 --bins 4",
    "frugalsvm scorecard model.json other.csv --recalibrate",
)


def scorecard(
    session: Session,
    model: opt.ModelFile,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Table with the target on which the card is evaluated: CSV or TSV "
            "(also gzipped), Excel or Parquet. - reads standard input.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", help="Target column; the model's own by default."
        ),
    ] = None,
    points: Annotated[
        int, typer.Option(min=1, help="Approximate maximum total of points.")
    ] = POINTS,
    bins: Annotated[
        int,
        typer.Option(min=2, help="Maximum number of ranges per feature, at most ten."),
    ] = BINS,
    recalibrate: Annotated[
        bool,
        typer.Option("--recalibrate", help="Learn the probabilities from the table."),
    ] = False,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    labels: opt.Labels = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
) -> None:
    """Turn a model into a scorecard: integer points for ranges of its features.

    Ranges, points and cutoff come from the model, which stores statistics of its
    training rows, so that the card is the same whatever the table. A table evaluates
    the card: accuracy beside the model's, and observed rates beside its probabilities.
    A model without statistics, made in Python, needs a table for its ranges. The exit
    code is 3 if the card predicts the same class for all rows.
    """
    from ..export import build_scorecard
    from ..tables import Layout, join_labels, labelled
    from .models import load_model
    from .options import parse_formats
    from .session import ConstantFit, UsageProblem

    loaded = load_model(model)
    if loaded.model.n_scores > 1:
        raise UsageProblem(
            f"{model} has {len(loaded.model.classes)} classes, and a scorecard tells "
            "two apart; fit a model of one class against all others with frugalsvm fit "
            "--positive CLASS."
        )
    if not loaded.model.features:
        raise UsageProblem(f"{model} uses no features, so there is nothing to add up.")
    values, classes = None, None
    if data is not None:
        name = target or loaded.model.metadata.get("target")
        if name is None:
            raise UsageProblem(f"{model} does not name its target; give --target.")
        formats = parse_formats(decimal, thousands)
        layout = Layout(sheet, transpose, labels)
        table = loaded.read(data, encoding, formats=formats, target=name, layout=layout)
        table = labelled(join_labels(table, labels, name), name)
        values, classes = _features_and_classes(session, loaded, table, name)
    elif recalibrate:
        raise UsageProblem("--recalibrate needs a table to learn probabilities from.")
    elif loaded.model.statistics is None:
        raise UsageProblem(
            f"{model} keeps no statistics of its training rows; give a table for the "
            "ranges of the card."
        )
    card = build_scorecard(
        loaded.model,
        values,
        classes,
        points=points,
        bins=bins,
        recalibrate=recalibrate,
        name=data or "",
    )
    _show(session, card)
    session.print_json(_content(card))
    if card.constant is not None:
        if session.json:
            session.warn(card.warning())
        raise ConstantFit


def _features_and_classes(
    session: Session, loaded: LoadedModel, table: Table, target: str
) -> tuple[dict[str, np.ndarray], list[Any]]:
    """Values of the model's features in a table, and its labels."""
    from ..tables import known_target

    for remark in table.remarks:
        session.say(f"{table.source}: {remark}")
    for text in loaded.warnings(table):
        session.warn(text)
    first, second = loaded.model.classes
    labels = known_target(table, target, (first, second), "--target")
    return loaded.features(table), [(first, second)[int(k)] for k in labels.positive]


def _show(session: Session, card: Any) -> None:
    if card.constant is not None:
        session.show("", card.warning())
    table = session.table("feature", "range", ">points")
    for feature in card.ranges:
        name = plain(feature.name)
        for text, n in zip(feature.words(), feature.points, strict=True):
            table.add_row(name, text, str(n))
            name = ""
    session.show("", table, "")
    session.show(card.rule(), "")
    chances = session.table(">points", f">probability of {plain(str(card.classes[1]))}")
    for total, chance in card.totals():
        chances.add_row(str(total), f"{100 * chance:.1f} %")
    session.show(chances, "", *card.about())
    if card.evaluation is not None:
        bands = session.table(">points", ">rows", ">probability", ">observed")
        for row in card.evaluation.rows():
            bands.add_row(*row)
        session.show("", card.title(), bands, card.evaluation.verdict())


def _content(card: Any) -> dict[str, Any]:
    from ..export import Values

    statistics, evaluation = card.model.statistics, card.evaluation
    return {
        "ranges": [
            {"feature": feature.name, "points": feature.points}
            | (
                {"values": feature.words()}
                if isinstance(feature, Values)
                else {"limits": feature.limits}
            )
            for feature in card.ranges
        ],
        "threshold": card.threshold,
        "classes": {"negative": card.classes[0], "positive": card.classes[1]},
        "probabilities": [
            {"points": total, "probability": chance} for total, chance in card.totals()
        ],
        "constant": card.constant,
        "training_rows": None if statistics is None else statistics.n_rows,
        "training_rows_changed": None if statistics is None else statistics.changed,
        "made_from": card.source,
        "probabilities_from": card.learned_from,
        "evaluation": None
        if evaluation is None
        else {
            "rows": evaluation.n_samples,
            "accuracy": evaluation.accuracy,
            "model_accuracy": evaluation.model_accuracy,
            "balanced_accuracy": evaluation.balanced_accuracy,
            "model_balanced_accuracy": evaluation.model_balanced_accuracy,
            "changed": evaluation.n_changed,
            "bands": [
                {
                    "from": band.first,
                    "to": band.last,
                    "rows": band.n_samples,
                    "probability": band.probability,
                    "observed": band.observed,
                }
                for band in evaluation.bands
            ],
        },
    }
