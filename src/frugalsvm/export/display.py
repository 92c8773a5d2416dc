"""A portable model for people: one line, text, HTML, and a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..run import markup
from ..run.words import by_class, gap_words
from .parts import Feature

if TYPE_CHECKING:
    from .model import PortableModel

# Maximum number of classes in the one line.
N_CLASSES = 6


def sizes(model: PortableModel) -> np.ndarray:
    """The largest weight of each feature, without its sign."""
    return np.abs(model.coef).max(axis=0)


def frame(model: PortableModel) -> Any:
    """See :meth:`PortableModel.to_frame`."""
    from ..estimators.summary import pandas

    order = np.argsort(-sizes(model), kind="stable")
    features = [model.features[j] for j in order]
    weights, scales = model.coef[:, order], model.column("scale")[order]
    columns: dict[str, Any] = {}
    for name, values in (("weight", weights), ("weight_per_unit", weights / scales)):
        columns |= zip(by_class(name, model.classes), values, strict=True)
    for name in ("mean", "scale", "unit", "index"):
        columns[name] = [getattr(one, name) for one in features]
    names = pandas().Index([one.name for one in features], name="feature")
    made = pandas().DataFrame(columns, index=names)
    made.attrs["intercept"] = (
        model.intercept if model.n_scores == 1 else model.intercepts.tolist()
    )
    return made


def line(model: PortableModel) -> str:
    """One line about a model."""
    n = len(model.classes)
    *others, last = map(repr, model.classes)
    classes = f"{n} classes" if n > N_CLASSES else f"{', '.join(others)} or {last}"
    gap = f", gap={gap_words(_gap(model))}" if model.proof else ""
    return (
        f"PortableModel({len(model.features)} of {model.n_features_in} features, "
        f"{classes}{gap})"
    )


def text(model: PortableModel) -> str:
    """A line for each feature, the largest weight first; groups are blocks."""
    width = max([len(one.name) for one in model.features] + [len("intercept")])
    width += 2 * bool(model.groups)
    titles = by_class("weight", model.classes)
    wide = [max(10, len(one)) for one in titles]
    heads = "".join(f" {one:>{n}}" for one, n in zip(titles, wide, strict=True))
    lines = [f"{'feature':<{width}}{heads} {'mean':>10} {'scale':>10}"]

    def weights(values: np.ndarray) -> str:
        pairs = zip(values, wide, strict=True)
        return "".join(f" {value:>+{n}.4g}" for value, n in pairs)

    def about(one: Feature, width: int) -> str:
        unit = f" {one.unit}" if one.unit else ""
        return (
            f"{one.name:<{width}}{weights(np.atleast_1d(one.weight))} "
            f"{one.mean:>10.4g} {one.scale:>10.4g}{unit}"
        )

    group = {name: one for one in model.groups for name in one.features}
    shown: set[str] = set()
    for j in np.argsort(-sizes(model), kind="stable"):
        first = model.features[j]
        own = group.get(first.name)
        if own is None:
            lines.append(about(first, width))
        elif own.name not in shown:
            # The features of a group are one block.
            shown.add(own.name)
            lines.append(f"{own.name}:")
            members = [one for one in model.features if one.name in own.features]
            lines += [f"  {about(one, width - 2)}" for one in members]
    lines.append(f"{'intercept':<{width}}{weights(model.intercepts)}")
    return "\n".join([line(model), *lines])


def html(model: PortableModel) -> str:
    """For notebooks."""
    classes = list(map(str, model.classes))
    if model.n_scores == 1:
        table = markup.weights_table(model.names, model.coef[0].tolist())
        about = f"{classes[0]} or {classes[1]} (positive)"
    else:
        table = markup.weights_by_class(model.names, classes, model.coef.T.tolist())
        about = f"{', '.join(classes)} (that of the largest score is predicted)"
    intercepts = ", ".join(f"{one:+.4g}" for one in model.intercepts)
    pairs = [("intercept", intercepts), ("classes", about)]
    if model.proof:
        pairs.append(("gap", f"{gap_words(_gap(model))} ({model.proof.status})"))
    if model.calibration:
        pairs.append(("calibration", model.calibration.to_dict()["method"]))
    return markup.box(
        f"{len(model.features)} of {model.n_features_in} features",
        table,
        markup.facts(pairs),
    )


def _gap(model: PortableModel) -> float:
    assert model.proof is not None
    difference = model.proof.objective - model.proof.lower_bound
    return max(0.0, difference) / abs(model.proof.objective or 1.0)
