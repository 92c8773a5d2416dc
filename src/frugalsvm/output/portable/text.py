"""A model as Python or SQL source code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .calibration import Isotonic, Sigmoid

if TYPE_CHECKING:
    from .model import PortableModel

# Beyond this, exp overflows or underflows in some databases.
LARGEST_EXPONENT = 700
# Larger numbers count as missing, like NaN; every database can represent this one.
LARGEST_VALUE = 1e100

_QUOTES = {"ansi": ('"', '"'), "mysql": ("`", "`"), "sqlserver": ("[", "]")}
DIALECTS = tuple(_QUOTES)

_PYTHON = '''\
"""Written by frugalsvm: a linear classifier that needs no package.

A row maps names of {columns}. Missing
values are None; NaN and infinite numbers count as missing.
"""
{imports}
CLASSES = {classes!r}


def _number(value, fill=None):
    """A number, or its replacement if it is missing."""
    return fill if value is None or not {least!r} <= value <= {most!r} else value

{category}
def decision(row):
    """Score of a row; None if a value is missing and has no replacement."""
    values = [{values}]
    if None in values:
        return None
    score = (
        {terms}
    )
    return None if score != score else score
'''

_CATEGORY = '''
def _is(value, category, fill=None):
    """1 for the category, 0 for any other, or the replacement if it is missing."""
    if value is None or value != value:
        return fill
    text = f"{{value:.15g}}" if isinstance(value, float) else str(value)
    text = text.strip({stripped!r})
    return fill if text == "" else float(text == category)

'''

_PREDICT = '''

def predict(row):
    """Label of a row; None if a value is missing and has no replacement."""
    found = {decider}(row)
    return None if found is None else CLASSES[int(found > {threshold})]
'''

_SIGMOID = '''

def probability(row):
    """Probability of CLASSES[1]; None where there is no score."""
    score = decision(row)
    if score is None:
        return None
    z = -({a!r} * score + {b!r})
    small = math.exp(-abs(z))
    return 1.0 / (1.0 + small) if z >= 0 else small / (1.0 + small)
'''

_ISOTONIC = '''
SCORES = {scores!r}
PROBABILITIES = {probabilities!r}


def probability(row):
    """Probability of CLASSES[1]; None where there is no score."""
    score = decision(row)
    if score is None:
        return None
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
    """Where the value of a feature comes from, if not from the column of its name.

    Attributes
    ----------
    column : str
    category : str or None
        The feature is 1 if the column has this text, otherwise 0.
    fill : str, float or None
        Replacement for a missing value.
    stripped : str
        Characters stripped from both ends of strings before they are compared; a
        string that is then empty is missing.
    """

    column: str
    category: str | None = None
    fill: Any = None
    stripped: str = ""

    @property
    def fill_value(self) -> float | None:
        """Value of the feature if its column is missing; None if it has none."""
        if self.fill is None or self.category is None:
            return self.fill
        return float(self.fill == self.category)


Origins = Mapping[str, Origin]


def origin_of(name: str, origins: Origins | None) -> Origin:
    """Where the values of a feature come from."""
    return (origins or {}).get(name, Origin(name))


def python_text(model: PortableModel, origins: Origins | None = None) -> str:
    """See :meth:`PortableModel.to_python`; user text appears only in literals."""
    calibration = model.calibration
    sources = [origin_of(one.name, origins) for one in model.features]
    categories = [one for one in sources if one.category is not None]
    terms = [repr(model.intercept)]
    terms += [
        f"+ {one.weight!r} * ((values[{k}] - {one.mean!r}) / {one.scale!r})"
        for k, one in enumerate(model.features)
    ]
    values = "".join(f"\n        {_python_value(one)}," for one in sources)
    modules = {Sigmoid: "import math", Isotonic: "import bisect"}
    module = modules.get(type(calibration))
    text = _PYTHON.format(
        columns="columns to numbers, or to strings for categories"
        if categories
        else "features to numbers",
        imports=f"\n{module}\n" if module else "",
        classes=model.classes,
        least=-LARGEST_VALUE,
        most=LARGEST_VALUE,
        category=_CATEGORY.format(stripped=categories[0].stripped)
        if categories
        else "",
        values=f"{values}\n    " if values else "",
        terms="\n        ".join(terms),
    )
    if calibration is None:
        return text + _PREDICT.format(decider="decision", threshold=0)
    if isinstance(calibration, Sigmoid):
        text += _SIGMOID.format(a=calibration.a, b=calibration.b)
    else:
        text += _ISOTONIC.format(**vars(calibration))
    return text + _PREDICT.format(decider="probability", threshold=0.5)


def _python_value(origin: Origin) -> str:
    """An expression for the value of a feature in a row."""
    arguments = [f"row[{origin.column!r}]"]
    if origin.category is not None:
        arguments.append(repr(origin.category))
    if origin.fill_value is not None:
        arguments.append(repr(origin.fill_value))
    function = "_number" if origin.category is None else "_is"
    return f"{function}({', '.join(arguments)})"


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
    """The value of a feature; NULL if its column is, unless it is imputed."""
    origin = origin_of(name, origins)
    value, fill = _quoted(origin.column, dialect), origin.fill_value
    if origin.category is None:
        # Some databases have NaN, and sort it above all numbers. SQLite treats numbers
        # in text columns as text, unless they are preceded by a sign. Text then has no
        # value, and no replacement.
        least, most = _real(-LARGEST_VALUE), _real(LARGEST_VALUE)
        cases = f"WHEN +{value} BETWEEN {least} AND {most} THEN {value}"
        if fill is not None:
            small = _real(1.0 / LARGEST_VALUE)
            gap = f"{value} IS NULL OR ABS({value} * {small}) > 1"
            cases += f" WHEN {gap} THEN {_real(fill)}"
            fill = None
    else:
        text = _sql_stripped(value, origin, dialect)
        hit = _literal(origin.category, dialect)
        cases = f"WHEN {text} = {hit} THEN 1.0E0 WHEN {text} <> {hit} THEN 0.0E0"
    otherwise = "" if fill is None else f" ELSE {_real(fill)}"
    return f"(CASE {cases}{otherwise} END)"


def _sql_stripped(value: str, origin: Origin, dialect: str) -> str:
    """A stripped string; NULL if nothing is left."""
    if not origin.stripped:
        return value
    characters = _literal(origin.stripped, dialect)
    if dialect == "mysql":
        ends = _literal(f"^[{origin.stripped}]+|[{origin.stripped}]+$", dialect)
        text = f"REGEXP_REPLACE({value}, {ends}, '')"
    elif dialect == "sqlserver":
        text = f"TRIM(N{characters} FROM {_as_text(value, origin, 'NVARCHAR(4000)')})"
    else:
        text = _as_text(value, origin, "VARCHAR(4000)")
        text = f"LTRIM(RTRIM({text}, {characters}), {characters})"
    return f"NULLIF({text}, '')"


def _as_text(value: str, origin: Origin, kind: str) -> str:
    """A column as text; if its categories look like numbers, it may be numeric."""
    try:
        float(origin.category or "")
    except ValueError:
        return value
    return f"CAST({value} AS {kind})"


def _logit(model: PortableModel, score: str) -> str:
    """The argument of the sigmoid."""
    if model.calibration is None:
        raise ValueError(
            "to_sql('probability') needs a calibrated model, and this one is not; "
            "create it from CalibratedClassifierCV(..., method='sigmoid', "
            "ensemble=False)."
        )
    if not isinstance(model.calibration, Sigmoid):
        raise ValueError(
            "to_sql supports labels and probabilities only for sigmoid calibration, "
            "but this model has an isotonic one, whose labels depend on its steps; "
            "calibrate with method='sigmoid', or use to_sql('score') or to_python()."
        )
    a, b = model.calibration.a, model.calibration.b
    return f"({_real(-a)} * {score} + {_real(-b)})"


def _real(value: float) -> str:
    """A double literal with all its digits; negative ones are in parentheses."""
    text = repr(float(value))
    text = text.replace("e", "E") if "e" in text else text + "E0"
    return f"({text})" if text.startswith("-") else text


def _quoted(name: str, dialect: str) -> str:
    if "\0" in name or name == "":
        raise ValueError(
            f"SQL does not allow the column name {name!r}; rename the feature."
        )
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
        raise ValueError(f"SQL text cannot contain a zero byte, as in {value!r}.")
    text = value.replace("'", "''")
    return "'" + (text.replace("\\", "\\\\") if dialect == "mysql" else text) + "'"
