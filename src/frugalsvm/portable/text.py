"""A model as Python or SQL text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .calibration import Isotonic, Sigmoid

if TYPE_CHECKING:
    from .model import PortableModel

# Beyond this, exp overflows or underflows in some data bases.
LARGEST_EXPONENT = 700

_QUOTES = {"ansi": ('"', '"'), "mysql": ("`", "`"), "sqlserver": ("[", "]")}
DIALECTS = tuple(_QUOTES)

_PYTHON = '''\
"""Written by frugalsvm: a linear classifier that needs no package.

A row maps names of features to numbers.
"""
{imports}
CLASSES = {classes!r}


def decision(row):
    """Score of a row."""
    return (
        {terms}
    )
'''

_PREDICT = '''

def predict(row):
    """Label of a row."""
    return CLASSES[1] if {condition} else CLASSES[0]
'''

_SIGMOID = '''

def probability(row):
    """Probability of CLASSES[1]."""
    z = -({a!r} * decision(row) + {b!r})
    small = math.exp(-abs(z))
    return 1.0 / (1.0 + small) if z >= 0 else small / (1.0 + small)
'''

_ISOTONIC = '''
SCORES = {scores!r}
PROBABILITIES = {probabilities!r}


def probability(row):
    """Probability of CLASSES[1]."""
    score = decision(row)
    after = bisect.bisect_right(SCORES, score)
    if after == 0:
        return PROBABILITIES[0]
    if after == len(SCORES):
        return PROBABILITIES[-1]
    x, y = SCORES[after - 1], PROBABILITIES[after - 1]
    slope = (PROBABILITIES[after] - y) / (SCORES[after] - x)
    return slope * (score - x) + y
'''


class Origin(NamedTuple):
    """Where the value of a feature is from, if it is not the column of its name.

    Attributes
    ----------
    column : str
    category : str or None
        The feature is 1 where the column has this value, otherwise 0.
    fill : str, float or None
        What stands in for a missing value.
    """

    column: str
    category: str | None = None
    fill: Any = None


Origins = Mapping[str, Origin]


def python_text(model: PortableModel, origins: Origins | None = None) -> str:
    """See :meth:`PortableModel.to_python`; users' texts are in literals only."""
    calibration = model.calibration
    terms = [repr(model.intercept)]
    terms += [
        f"+ {one.weight!r} * (({_python_value(one.name, origins)} - {one.mean!r}) "
        f"/ {one.scale!r})"
        for one in model.features
    ]
    modules = {Sigmoid: "import math", Isotonic: "import bisect"}
    module = modules.get(type(calibration))
    text = _PYTHON.format(
        imports=f"\n{module}\n" if module else "",
        classes=model.classes,
        terms="\n        ".join(terms),
    )
    if calibration is None:
        return text + _PREDICT.format(condition="decision(row) > 0")
    if isinstance(calibration, Sigmoid):
        text += _SIGMOID.format(a=calibration.a, b=calibration.b)
    else:
        text += _ISOTONIC.format(**vars(calibration))
    return text + _PREDICT.format(condition="probability(row) > 0.5")


def _python_value(name: str, origins: Origins | None) -> str:
    """The value of a feature of a row."""
    origin = (origins or {}).get(name, Origin(name))
    fill = origin.fill
    value = f"row[{origin.column!r}]"
    if origin.category is not None:
        hit = f"1.0 if {value} == {origin.category!r} else 0.0"
        if fill is None:
            return f"({hit})"
        missing = 1.0 if fill == origin.category else 0.0
        return f"({missing} if {value} is None else {hit})"
    return value if fill is None else f"({fill!r} if {value} is None else {value})"


def sql_text(
    model: PortableModel, what: str, dialect: str, origins: Origins | None = None
) -> str:
    """See :meth:`PortableModel.to_sql`."""
    if not isinstance(dialect, str) or dialect not in _QUOTES:
        known = ", ".join(map(repr, _QUOTES))
        raise ValueError(f"dialect must be one of {known}, got {dialect!r}.")
    score = _sql_score(model, dialect, origins)
    if what == "score":
        return score
    if what == "label":
        decider = score if model.calibration is None else _logit(model, score)
        first, second = (_literal(one, dialect) for one in model.classes)
        return (
            f"CASE WHEN {decider} > 0 THEN {second} WHEN {decider} <= 0 THEN {first} "
            "END"
        )
    if what == "probability":
        z = _logit(model, score)
        return (
            f"CASE WHEN {z} > {LARGEST_EXPONENT} THEN 1.0E0 "
            f"WHEN {z} < -{LARGEST_EXPONENT} THEN 0.0E0 "
            f"ELSE 1.0E0 / (1.0E0 + EXP(-({z}))) END"
        )
    raise ValueError(f"what must be 'score', 'label' or 'probability', got {what!r}.")


def _sql_score(
    model: PortableModel, dialect: str, origins: Origins | None = None
) -> str:
    terms = [_real(model.intercept)]
    terms += [
        f"{_real(one.weight)} * (({_sql_value(one.name, dialect, origins)} - "
        f"{_real(one.mean)}) / {_real(one.scale)})"
        for one in model.features
    ]
    return "(" + " + ".join(terms) + ")"


def _sql_value(name: str, dialect: str, origins: Origins | None) -> str:
    """The value of a feature; NULL where its column is, unless that is filled in."""
    origin = (origins or {}).get(name, Origin(name))
    fill = origin.fill
    value = _quoted(origin.column, dialect)
    if origin.category is not None:
        hit = _literal(origin.category, dialect)
        text = f"WHEN {value} = {hit} THEN 1.0E0 WHEN {value} <> {hit} THEN 0.0E0"
        if fill is not None:
            text += f" ELSE {'1.0E0' if fill == origin.category else '0.0E0'}"
        return f"(CASE {text} END)"
    return value if fill is None else f"COALESCE({value}, {_real(fill)})"


def _logit(model: PortableModel, score: str) -> str:
    """What the sigmoid is taken of."""
    if model.calibration is None:
        raise ValueError(
            "to_sql('probability') needs a model with a calibration, and this model "
            "has none; make it from CalibratedClassifierCV(..., method='sigmoid', "
            "ensemble=False)."
        )
    if not isinstance(model.calibration, Sigmoid):
        raise ValueError(
            "to_sql has labels and probabilities of a sigmoid calibration only, and "
            "this model has an isotonic one, whose labels depend on its steps; "
            "calibrate with method='sigmoid', or take to_sql('score') or to_python()."
        )
    a, b = model.calibration.a, model.calibration.b
    return f"({_real(-a)} * {score} + {_real(-b)})"


def _real(value: float) -> str:
    """A literal that is a double, with all its digits; negative ones in brackets."""
    text = repr(float(value))
    text = text.replace("e", "E") if "e" in text else text + "E0"
    return f"({text})" if text.startswith("-") else text


def _quoted(name: str, dialect: str) -> str:
    if "\0" in name or name == "":
        raise ValueError(f"SQL has no column of the name {name!r}; rename the feature.")
    start, end = _QUOTES[dialect]
    return start + name.replace(end, end + end) + end


def _literal(value: Any, dialect: str) -> str:
    if isinstance(value, bool):
        return str(int(value)) if dialect == "sqlserver" else str(value).upper()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _real(value)
    if "\0" in value:
        raise ValueError(f"SQL has no text with a zero byte, as in {value!r}.")
    text = value.replace("'", "''")
    return "'" + (text.replace("\\", "\\\\") if dialect == "mysql" else text) + "'"
