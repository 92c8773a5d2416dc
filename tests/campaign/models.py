"""Damaged or forged model files: rejected, or read as the models they describe."""

from __future__ import annotations

import json
import math
import time
from copy import deepcopy

import numpy as np

from frugalsvm.export import (
    Feature,
    Group,
    InvalidModel,
    Isotonic,
    PortableModel,
    Sigmoid,
)
from frugalsvm.export.origins import PREPARATION, read_origins
from frugalsvm.tables import Preparation, TableError

from .tally import Tally, Unit

SECTION = "models"
PARTS = 100
# Processor seconds that a small file may take.
LIMIT = 10.0
ODD = (
    None, True, False, 0, -1, 1.5, 10**400, -(10**30), 2**63, "", "a\0", "\ud800", [],
    {}, [1], {"a": 1}, [[[[]]]], math.nan, math.inf, "1", "nan", 1e308, -1e308, 5e-324,
)  # fmt: skip
COLUMNS = json.dumps(
    {
        "columns": [
            {"name": "x", "kind": "number", "fill": 1.5,
             "format": {"decimal": ",", "thousands": "."}},
            {"name": "c", "kind": "category", "levels": ["a", "b", "d"], "fill": "a"},
        ],
        "features": ["x", "c=a", "c=b", "c=d"],
        "means": [0.5, 0.1, 0.2, 0.3],
        "scales": [1.0, 2.0, 3.0, 4.0],
        "target": "y",
        "classes": ["no", "yes"],
    }
)  # fmt: skip


def run(unit: Unit) -> Tally:
    """A number of parts, each with its own random generator."""
    tally = Tally()
    for part in range(PARTS) if unit.part is None else (unit.part,):
        rng = np.random.default_rng([unit.seed, unit.index, part])
        place = Unit(SECTION, unit.seed, unit.index, part)
        begun = time.process_time()
        kind = preparations if part % 4 == 3 else files
        kind(rng, place, tally)
        seconds = time.process_time() - begun
        tally.count(SECTION, kind.__name__, "tried")
        tally.measure("seconds of a model", seconds)
        if seconds > LIMIT:
            tally.violate(place, f"slow: {kind.__name__} took {seconds:.1f} s")
    return tally


def files(rng, place: Unit, tally: Tally, load=PortableModel.from_json) -> None:
    """A model.json that was changed."""
    text = _forged(rng, _model(rng).to_json())
    try:
        model = load(text)
    except InvalidModel as error:
        tally.count(SECTION, "files", "refused")
        if len(str(error)) > 5000:
            tally.violate(place, f"long error: {len(str(error))} characters")
        return
    except Exception as error:
        tally.violate(place, f"{type(error).__name__}: {error}")
        return
    tally.count(SECTION, "files", "loaded")
    for words in _objections(rng, model):
        tally.violate(place, words)


def _objections(rng, model: PortableModel):
    """What is wrong with a model that was loaded."""
    if PortableModel.from_json(model.to_json()) != model:
        yield "round trip: the model differs"
    numbers = [model.intercept]
    for one in model.features:
        numbers += [one.mean, one.scale, one.weight]
    if not all(map(math.isfinite, numbers)):
        yield f"not finite: {numbers}"
    yield from _of_card(rng, model)
    values = rng.normal(size=(1, len(model.features)))
    odd = rng.random(values.shape) < 0.1
    values[odd] = rng.choice([math.nan, math.inf, 1e120, -1e99], odd.sum())
    row = dict(zip(model.names, values[0].tolist(), strict=True))
    code: dict = {}
    try:
        columns = [one.column for one in read_origins(model)]
    except InvalidModel:
        return
    if columns != model.names:
        return
    exec(model.to_python(), code)
    said = code["predict"](row)
    with np.errstate(all="ignore"):
        try:
            told = model.predict(values)[0]
        except ValueError:
            told = None
    if said != told or (told is not None and told not in model.classes):
        yield f"exports differ: {row} is {told!r}, and {said!r} in Python"


def _of_card(rng, model: PortableModel):
    """What is wrong with the scorecard of a model that keeps statistics."""
    if model.statistics is None or model.n_scores > 1:
        return
    try:
        card = model.to_scorecard(points=int(rng.integers(1, 200)))
    except ValueError:
        return
    totals = np.arange(card.min_points, min(card.max_points, card.min_points + 999))
    with np.errstate(over="ignore"):
        chances = card.probability(totals)
    if not ((chances >= 0) & (chances <= 1)).all() or not str(card):
        yield f"card: probabilities {chances}"
    wanted = model.are_positive(card.score(totals))
    if ((totals >= card.threshold) != wanted).any():
        yield f"card: the threshold {card.threshold} is not that of the model"


def preparations(rng, place: Unit, tally: Tally) -> None:
    """The preparation in a model or a certificate that was changed."""
    try:
        made = Preparation.from_json(_forged(rng, COLUMNS))
    except TableError:
        tally.count(SECTION, "preparations", "refused")
        return
    except Exception as error:
        tally.violate(place, f"{type(error).__name__}: {error}")
        return
    tally.count(SECTION, "preparations", "loaded")
    if Preparation.from_json(made.to_json()).to_json() != made.to_json():
        tally.violate(place, "round trip: the preparation differs")
    if not (np.isfinite(made.means).all() and (made.scales > 0).all()):
        tally.violate(place, f"not finite: {made.means} {made.scales}")


def _model(rng) -> PortableModel:
    k = int(rng.integers(0, 5))
    calibrations = (None, Sigmoid(-1.5, 0.25), Isotonic((0.0, 1.0), (0.2, 0.9)))
    classes = (("no", "yes"), (0, 1), (-1.0, 0.5), (False, True))
    model = PortableModel(
        tuple(
            Feature(f"x{j}", j, rng.normal(), 10 ** rng.uniform(-3, 3), rng.normal())
            for j in range(k)
        ),
        float(rng.normal()),
        classes[rng.integers(len(classes))],
        k + 2,
        calibrations[rng.integers(len(calibrations))],
        metadata={"note": "a"}
        if rng.random() < 0.5
        else {PREPARATION: _filled(rng, k)},
        groups=(Group("g", ("x0", "x1")),) if k > 1 and rng.random() < 0.5 else (),
    )
    if rng.random() < 0.6:
        return model
    X = rng.normal(size=(30, k)).round(int(rng.integers(3)))
    if model.groups:
        X[:, :2] = np.eye(3)[rng.integers(3, size=30), :2]
    values = dict(zip(model.names, X.T, strict=True))
    y = [model.classes[j] for j in rng.integers(2, size=30)]
    return model.with_statistics(values, y) if k else model


def _filled(rng, k: int) -> str:
    """The preparation of numbers, some of which are imputed."""
    fills = [None if rng.random() < 0.5 else rng.normal() for _ in range(k)]
    columns = [
        {"name": f"x{j}", "kind": "number", "fill": fill}
        for j, fill in enumerate(fills)
    ]
    return json.dumps({"columns": columns, "features": [f"x{j}" for j in range(k)]})


# --- changes -------------------------------------------------------------------------


def _forged(rng, text: str) -> str | bytes:
    if rng.random() < 0.3:
        return _damaged(rng, text.encode())
    content = json.loads(text)
    for _ in range(int(rng.integers(1, 3))):
        _change(rng, content)
    changed = json.dumps(content)
    if rng.random() < 0.1:
        changed = changed.replace("{", '{"twice": 1, "twice": 2, ', 1)
    return changed


def _change(rng, content) -> None:
    """Change one place in nested content."""
    while True:
        keys = list(content) if isinstance(content, dict) else list(range(len(content)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        inner = content[key]
        if isinstance(inner, (dict, list)) and inner and rng.random() < 0.8:
            content = inner
            continue
        kind = rng.integers(5)
        if kind == 0 and isinstance(content, dict):
            del content[key]
        elif kind == 1 and isinstance(content, list):
            content.append(inner)
        elif kind == 2 and type(inner) is float:
            content[key] = inner * float(rng.choice([-1, 1e300, 1e-300, 0.0]))
        else:
            content[key] = deepcopy(ODD[rng.integers(len(ODD))])
        return


def _damaged(rng, text: bytes) -> bytes:
    at = int(rng.integers(len(text)))
    kind = rng.integers(4)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + bytes(rng.integers(0, 256, 2, dtype=np.uint8)) + text[at:]
    if kind == 2:
        some = [b"[" * 50_000, b'{"a":' * 20_000, b"1" * 100_000, b'"' + b"x" * 300_000]
        return text[:at] + some[rng.integers(len(some))] + text[at:]
    return text[:at] + text[at + int(rng.integers(1, 30)) :]
