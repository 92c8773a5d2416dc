"""``frugalsvm scorecard``: integer points to add up by hand."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from . import options as opt
from .session import Session, plain

EXAMPLES = (
    "frugalsvm scorecard model.json data.csv --target y",
    "frugalsvm scorecard model.json data.csv -t y --points 20 --bins 4",
)


def scorecard(
    session: Session,
    model: opt.ModelFile,
    data: opt.DataFile,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", help="Target column; the model's own by default."
        ),
    ] = None,
    points: Annotated[
        int, typer.Option(min=1, help="Approximate maximum total of points.")
    ] = 100,
    bins: Annotated[
        int, typer.Option(min=2, help="Maximum number of ranges per feature.")
    ] = 5,
    sheet: opt.Sheet = None,
    transpose: opt.Transpose = False,
    labels: opt.Labels = None,
    encoding: opt.Encoding = None,
    decimal: opt.Decimal = None,
    thousands: opt.Thousands = None,
) -> None:
    """Turn a model into a scorecard, and report the accuracy lost by rounding.

    Ranges and probabilities are learned from the table, and so is the cutoff: the one
    with which the card predicts most often what the model predicts. On the rows that
    the model was fitted to, the result is optimistic: use other rows if you have
    enough. The exit code is 3 if the card predicts the same class for all rows.
    """
    from ..output.portable.origins import read_origins
    from ..tables.labels import joined
    from ..tables.layout import Layout
    from ..tables.target import known_target, labelled
    from .errors import ConstantFit, UsageProblem
    from .formats import parse_formats
    from .models import load_model

    loaded = load_model(model)
    if loaded.model.n_scores > 1:
        raise UsageProblem(
            f"{model} has {len(loaded.model.classes)} classes, and a scorecard tells "
            "two apart; fit a model of one class against all others with frugalsvm fit "
            "--positive CLASS."
        )
    if not loaded.model.features:
        raise UsageProblem(f"{model} uses no features, so there is nothing to add up.")
    name = target or loaded.model.metadata.get("target")
    if name is None:
        raise UsageProblem(f"{model} does not name its target; give --target.")
    formats = parse_formats(decimal, thousands)
    layout = Layout(sheet, transpose, labels)
    table = loaded.read(data, encoding, formats=formats, target=name, layout=layout)
    table = labelled(joined(table, labels, name), name)
    for remark in table.remarks:
        session.say(f"{table.source}: {remark}")
    for words in loaded.warnings(table):
        session.warn(words)
    first, second = loaded.model.classes
    known = known_target(table, name, (first, second), "--target")
    values = loaded.features(table)
    classes = [loaded.model.classes[int(one)] for one in known.positive]
    card = loaded.model.to_scorecard(values, classes, points=points, bins=bins)
    origins = zip(loaded.model.names, read_origins(loaded.model), strict=True)
    categories = {name for name, one in origins if one.is_zero_or_one}
    _show(session, card, categories)
    session.give(_content(card))
    if card.constant is not None:
        if session.json:
            session.warn(card._warning())
        raise ConstantFit


def _show(session: Session, card: Any, categories: set[str]) -> None:
    if card.constant is not None:
        session.show("", card._warning())
    table = session.table("feature", "range", ">points")
    for one in card.ranges:
        for k, (words, n) in enumerate(zip(one.words(), one.points, strict=True)):
            if one.name in categories and len(one.points) == 2:
                words = ("no", "yes")[k]
            table.add_row(plain(one.name) if k == 0 else "", words, str(n))
    session.show("", table, "")
    session.show(card._rule(), "")
    chances = session.table(">points", f">probability of {plain(str(card.classes[1]))}")
    for total, chance in card._totals():
        chances.add_row(str(total), f"{100 * chance:.1f} %")
    session.show(chances, "", card._verdict())


def _content(card: Any) -> dict[str, Any]:
    from ..output.portable.points import Values

    return {
        "ranges": [
            {"feature": one.name, "points": one.points}
            | (
                {"values": one.words()}
                if isinstance(one, Values)
                else {"limits": one.limits}
            )
            for one in card.ranges
        ],
        "threshold": card.threshold,
        "classes": {"negative": card.classes[0], "positive": card.classes[1]},
        "probabilities": [
            {"points": total, "probability": chance} for total, chance in card._totals()
        ],
        "accuracy": card.accuracy,
        "model_accuracy": card.model_accuracy,
        "balanced_accuracy": card.balanced_accuracy,
        "model_balanced_accuracy": card.model_balanced_accuracy,
        "constant": card.constant,
        "changed": card.changed,
        "rows": card.n_samples,
    }
