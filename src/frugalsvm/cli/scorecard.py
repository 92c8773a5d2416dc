"""``frugalsvm scorecard``: integer points to add up by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..export import BINS, POINTS
from . import options as opt
from .session import Session, plain

if TYPE_CHECKING:
    import numpy as np

    from ..tables import Table
    from .models import LoadedModel

EXAMPLES = (
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
            session.warn(card._warning())
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
        session.show("", card._warning())
    table = session.table("feature", "range", ">points")
    for feature in card.ranges:
        name = plain(feature.name)
        for text, n in zip(feature.words(), feature.points, strict=True):
            table.add_row(name, text, str(n))
            name = ""
    session.show("", table, "")
    session.show(card._rule(), "")
    chances = session.table(">points", f">probability of {plain(str(card.classes[1]))}")
    for total, chance in card._totals():
        chances.add_row(str(total), f"{100 * chance:.1f} %")
    session.show(chances, "", *card._about())
    if card.evaluation is not None:
        bands = session.table(">points", ">rows", ">probability", ">observed")
        for row in card.evaluation.rows():
            bands.add_row(*row)
        session.show("", card._title(), bands, card.evaluation.verdict())


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
            {"points": total, "probability": chance} for total, chance in card._totals()
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
