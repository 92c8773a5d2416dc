"""A model as Python or SQL source code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..run import by_class
from .calibration import Isotonic, Sigmoid
from .lookups import (
    BOOLEAN,
    LARGEST_VALUE,
    MISSING_WORDS,
    NUMBER,
    STRIPPED,
    Forms,
    Level,
    Lookup,
    Spelling,
)
from .origins import Origin, is_of_same_code, read_origins

if TYPE_CHECKING:
    from .model import PortableModel

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

{indicator}{category}{other}{lookup}
def decision(row):
    """{what}; None if a value is missing and has no replacement."""
    values = [{values}]
    if None in values:
        return None
{scores}'''

_SCORE = """\
    score = round(
        {},
        {},
    )
    # Neither NaN nor infinite.
    return score if score - score == 0 else None
"""

_SCORES = """\
    scores = [
        {}
    ]
    # Neither NaN nor infinite.
    return scores if all(one - one == 0 for one in scores) else None
"""

_INDICATOR = '''
def _gap(value):
    """1 for a missing number, otherwise 0."""
    return 1.0 if _number(value) is None else 0.0

'''

_CATEGORY = '''
MISSING = {missing!r}


def _is(value, texts, stems=(), fill=None, known=()):
    """1 for a category, 0 for any other, or the replacement if it is missing.

    The category is one of the texts, or one of the stems followed by zeros.
    """
    if value is None or value != value:
        return fill
    text = f"{{value:.15g}}" if isinstance(value, float) else str(value)
    text = text.strip({stripped!r})
    if text in texts or text.rstrip("0") in stems:
        return 1.0
    return fill if text in MISSING and text not in known else 0.0

'''

_LOOKUP = f'''
def _code(value, codes, known, unknown, gap, levels=()):
    """The number for a value, for a known level, for any other one, or for a gap."""
    is_large = isinstance(value, float) and not abs(value) <= {LARGEST_VALUE!r}
    if value is None or is_large:
        return gap
    if value in codes:
        return codes[value]
    return known if known == unknown or value in levels else unknown

'''

_OTHER = '''
def _other(value, texts, stems=(), fill=None, known=()):
    """1 for none of some categories, 0 for one of them, or the replacement."""
    found = _is(value, texts, stems, None, known)
    return fill if found is None else 1.0 - found

'''

_PREDICT = '''

def predict(row):
    """Label of a row; None if a value is missing and has no replacement."""
    found = {decider}(row)
    return None if found is None else CLASSES[int(found > {threshold})]
'''

_PREDICT_LARGEST = '''

def predict(row):
    """Label of a row; None if a value is missing and has no replacement."""
    scores = decision(row)
    return None if scores is None else CLASSES[scores.index(max(scores))]
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


def python_text(model: PortableModel) -> str:
    """See :meth:`PortableModel.to_python`; user text appears only in literals."""
    calibration = model.calibration
    sources = _without_repeats(read_origins(model))
    has_lookups = any(origin.lookup is not None for origin in sources)
    categories = [origin for origin in sources if origin.category is not None]
    values = "".join(f"\n        {_python_value(origin)}," for origin in sources)
    modules = {Sigmoid: "import math", Isotonic: "import bisect"}
    module = modules.get(type(calibration))
    text = _PYTHON.format(
        columns="columns to numbers, or to strings for categories"
        if categories
        else "columns to their values"
        if has_lookups
        else "features to numbers",
        imports=f"\n{module}\n" if module else "",
        classes=model.classes,
        what="Score of a row"
        if model.n_scores == 1
        else "Scores of a row, as many as CLASSES",
        least=-LARGEST_VALUE,
        most=LARGEST_VALUE,
        other=_OTHER if any(origin.is_other for origin in sources) else "",
        indicator=_INDICATOR if any(origin.is_indicator for origin in sources) else "",
        category=_CATEGORY.format(missing=MISSING_WORDS, stripped=STRIPPED)
        if categories
        else "",
        lookup=_LOOKUP if has_lookups else "",
        values=f"{values}\n    " if values else "",
        scores=_python_scores(model),
    )
    if model.n_scores > 1:
        return text + _PREDICT_LARGEST
    if isinstance(calibration, Sigmoid):
        text += _SIGMOID.format(a=calibration.a, b=calibration.b)
    elif calibration is not None:
        text += _ISOTONIC.format(**vars(calibration))
    if model.threshold is not None or calibration is None:
        return text + _PREDICT.format(decider="decision", threshold=model.limit)
    return text + _PREDICT.format(decider="probability", threshold=0.5)


def _without_repeats(origins: Sequence[Origin]) -> list[Origin]:
    """Lookups of which only the first of a column has no value for unknown levels.

    That is enough for a score without a value, and the levels are listed once.
    """
    simplified = []
    for before, origin in zip([None, *origins], origins, strict=False):
        lookup = origin.lookup
        repeated = before.lookup if before and is_of_same_code(origin, before) else None
        if lookup and repeated and lookup.unknown is None and repeated.unknown is None:
            lookup = lookup._replace(unknown=lookup.default)
        simplified.append(origin._replace(lookup=lookup))
    return simplified


def _python_scores(model: PortableModel) -> str:
    """Code for the score, or for the list of those of several classes."""
    values = [
        f"((values[{k}] - {feature.mean!r}) / {feature.scale!r})"
        for k, feature in enumerate(model.features)
    ]
    sums = []
    for intercept, weights in zip(model.intercepts, model.coef, strict=True):
        terms = [repr(float(intercept))]
        terms += [
            f"+ {float(weight)!r} * {value}"
            for weight, value in zip(weights, values, strict=True)
        ]
        sums.append("\n        ".join(terms))
    if model.n_scores == 1:
        return _SCORE.format(sums[0], model.decimals)
    lines = [f"round({total}, {model.decimals}),\n        " for total in sums]
    return _SCORES.format("".join(lines).rstrip())


def _python_value(origin: Origin) -> str:
    """An expression for the value of a feature in a row."""
    lookup = origin.lookup
    if lookup is not None:
        codes = {lookup.levels[k]: number for k, number in lookup.codes.items()}
        levels = f", {lookup.levels!r}" if lookup.default != lookup.unknown else ""
        return (
            f"_code(row[{origin.column!r}], {codes!r}, {lookup.default!r}, "
            f"{lookup.unknown!r}, {lookup.gap!r}{levels})"
        )
    if origin.is_indicator:
        return f"_gap(row[{origin.column!r}])"
    arguments = [f"row[{origin.column!r}]"]
    if origin.category is not None:
        arguments.append(repr(origin.forms.texts))
        if origin.forms.stems:
            arguments.append(f"stems={origin.forms.stems!r}")
        others = tuple(word for word in MISSING_WORDS if word not in origin.missing)
        if others:
            arguments.append(f"known={others!r}")
    if origin.fill_value is not None:
        arguments.append(f"fill={origin.fill_value!r}")
    function = "_number" if origin.category is None else "_is"
    function = "_other" if origin.is_other else function
    return f"{function}({', '.join(arguments)})"


def sql_text(model: PortableModel, what: str, dialect: str) -> str:
    """See :meth:`PortableModel.to_sql`."""
    if not isinstance(dialect, str) or dialect not in _QUOTES:
        dialects = ", ".join(map(repr, _QUOTES))
        raise ValueError(f"dialect must be one of {dialects}, got {dialect!r}.")
    scores = _sql_scores(model, dialect)
    if model.n_scores > 1:
        return _sql_of_classes(model, what, dialect, scores)
    (score,) = scores
    if what == "score":
        return score
    if what == "label":
        by_score = model.calibration is None or model.threshold is not None
        decider = score if by_score else _logit(model, score)
        limit = _real(model.limit)
        first, second = (_literal(label, dialect) for label in model.classes)
        return (
            f"CASE\nWHEN {decider} > {limit} THEN {second}\n"
            f"WHEN {decider} <= {limit} THEN {first}\nEND"
        )
    if what == "probability":
        z = _logit(model, score)
        # Beyond 700, EXP overflows or underflows in some databases.
        return (
            f"CASE\nWHEN {z} > 700 THEN 1.0E0\n"
            f"WHEN {z} < -700 THEN 0.0E0\n"
            f"ELSE 1.0E0 / (1.0E0 + EXP(-({z})))\nEND"
        )
    raise ValueError(f"what must be 'score', 'label' or 'probability', got {what!r}.")


def _sql_scores(model: PortableModel, dialect: str) -> list[str]:
    """The score, or those of several classes, with a line for each term."""
    origins = _without_repeats(read_origins(model))
    values = []
    for feature, origin in zip(model.features, origins, strict=True):
        mean, scale = _real(feature.mean), _real(feature.scale)
        values.append(f"(({_sql_value(origin, dialect)} - {mean}) / {scale})")
    # Not all databases round to decimals.
    unit = _real(10.0**model.decimals)
    digits = ", 0" if dialect == "sqlserver" else ""
    sums = []
    for intercept, weights in zip(model.intercepts, model.coef, strict=True):
        terms = [_real(intercept)]
        terms += [f"{_real(w)} * {v}" for w, v in zip(weights, values, strict=True)]
        total = "\n  + ".join(terms)
        sums.append(f"(ROUND({unit} * ({total}){digits}) / {unit})")
    return sums


def _sql_of_classes(
    model: PortableModel, what: str, dialect: str, scores: list[str]
) -> str:
    """The scores of several classes, or the label with the largest one."""
    if what == "score":
        names = [_quoted(name, dialect) for name in by_class("score", model.classes)]
        pairs = zip(scores, names, strict=True)
        return ",\n".join(f"{score} AS {name}" for score, name in pairs)
    if what == "probability":
        model.needs_two_classes("probabilities", "use to_sql('score')")
    if what != "label":
        raise ValueError(f"what must be 'score' or 'label', got {what!r}.")
    cases = []
    for k, label in enumerate(model.classes):
        # The scores of earlier classes are known to be less than the largest.
        least = [f"{scores[k]} >= {other}" for other in scores[k + 1 :]]
        tests = least or [f"{scores[k]} IS NOT NULL"]
        tested = "\nAND ".join(tests)
        cases.append(f"WHEN {tested} THEN {_literal(label, dialect)}")
    return "\n".join(["CASE", *cases, "END"])


def _sql_value(origin: Origin, dialect: str) -> str:
    """The value of a feature; NULL if its column is, unless it is imputed."""
    value, fill = _quoted(origin.column, dialect), origin.fill_value
    if origin.lookup is not None:
        return _sql_lookup(value, origin.lookup, dialect)
    if origin.category is None:
        # Some databases have NaN, and sort it above all numbers. SQLite treats numbers
        # in text columns as text, unless they are preceded by a sign. Text then has no
        # value, and no replacement.
        least, most = _real(-LARGEST_VALUE), _real(LARGEST_VALUE)
        number = "0.0E0" if origin.is_indicator else value
        cases = f"WHEN +{value} BETWEEN {least} AND {most} THEN {number}"
        if fill is not None:
            small = _real(1.0 / LARGEST_VALUE)
            gap = f"{value} IS NULL OR ABS({value} * {small}) > 1"
            cases += f" WHEN {gap} THEN {_real(fill)}"
            fill = None
    else:
        text = _sql_stripped(value, origin, dialect)
        # An empty string is NULL in Oracle, so a list must not have it.
        missing = _sql_list([word for word in origin.missing if word], dialect)
        other = f"NULLIF({text}, '') {f'NOT {missing}' if missing else 'IS NOT NULL'}"
        hit = _sql_hit(text, origin.forms, dialect)
        yes, no = (0.0, 1.0) if origin.is_other else (1.0, 0.0)
        cases = f"WHEN {hit} THEN {_real(yes)}" if hit else ""
        # A missing value may count as another category; then there are two cases only.
        if not hit or fill != no:
            cases = f"{cases} WHEN {other} THEN {_real(no)}".lstrip()
    otherwise = "" if fill is None else f" ELSE {_real(fill)}"
    return f"(CASE {cases}{otherwise} END)"


def _sql_lookup(column: str, lookup: Lookup, dialect: str) -> str:
    """The number for the value of a column; NULL if there is none."""
    cases = [
        (_sql_is_any(column, lookup, levels, dialect), number)
        for number, levels in lookup.by_number().items()
    ]
    if lookup.default != lookup.unknown and lookup.levels:
        is_known = _sql_is_any(column, lookup, lookup.levels, dialect)
        cases.append((is_known, lookup.default))
    cases.append((f"{column} IS NOT NULL", lookup.unknown))
    whens = " ".join(f"WHEN {case} THEN {_real_or_null(n)}" for case, n in cases)
    if lookup.kind != NUMBER:
        return f"(CASE {whens} ELSE {_real_or_null(lookup.gap)} END)"
    # Numbers that are NaN or too large are gaps, and text has no value.
    least, most = _real(-LARGEST_VALUE), _real(LARGEST_VALUE)
    text = f"CASE WHEN +{column} BETWEEN {least} AND {most} THEN (CASE {whens} END)"
    if lookup.gap is not None:
        small = _real(1.0 / LARGEST_VALUE)
        text += f" WHEN {column} IS NULL OR ABS({column} * {small}) > 1 THEN "
        text += _real(lookup.gap)
    return f"({text} END)"


def _sql_is_any(
    column: str, lookup: Lookup, levels: Sequence[Level], dialect: str
) -> str:
    """Whether the value of a column is one of some levels."""
    if lookup.kind == BOOLEAN:
        kinds = {"mysql": "CHAR", "sqlserver": "NVARCHAR(4000)"}
        text = f"CAST({column} AS {kinds.get(dialect, 'VARCHAR(4000)')})"
        spelling = Spelling(["False", "True"])
        forms = spelling.forms_of_all([str(level) for level in levels])
        return _sql_hit(text, forms, dialect)
    return f"{column} IN ({', '.join(_literal(level, dialect) for level in levels)})"


def _sql_stripped(value: str, origin: Origin, dialect: str) -> str:
    """A stripped string."""
    characters = _literal(STRIPPED, dialect)
    if dialect == "mysql":
        ends = _literal(f"^[{STRIPPED}]+|[{STRIPPED}]+$", dialect)
        text = f"REGEXP_REPLACE({value}, {ends}, '')"
    elif dialect == "sqlserver":
        text = f"TRIM(N{characters} FROM {_as_text(value, origin, 'NVARCHAR(4000)')})"
    else:
        text = _as_text(value, origin, "VARCHAR(4000)")
        text = f"LTRIM(RTRIM({text}, {characters}), {characters})"
    return text


def _sql_hit(text: str, forms: Forms, dialect: str) -> str:
    """Whether a string means a category."""
    tests = []
    if forms.texts:
        tests.append(f"{text} {_sql_list(forms.texts, dialect)}")
    if forms.stems and dialect == "sqlserver":
        # It has no function that strips zeros from the end only.
        tests += [
            f"{text} LIKE '{stem}%' AND {text} NOT LIKE '{stem}%[^0]%'"
            for stem in forms.stems
        ]
    elif forms.stems:
        short = (
            f"TRIM(TRAILING '0' FROM {text})"
            if dialect == "mysql"
            else f"RTRIM({text}, '0')"
        )
        tests.append(f"{short} {_sql_list(forms.stems, dialect)}")
    return " OR ".join(tests)


def _sql_list(texts: Sequence[str], dialect: str) -> str:
    """``IN`` with a list; empty if there are none."""
    items = ", ".join(_literal(text, dialect) for text in texts)
    return f"IN ({items})" if items else ""


def _as_text(value: str, origin: Origin, kind: str) -> str:
    """A column as text; if its categories look like numbers, it may be numeric."""
    return f"CAST({value} AS {kind})" if origin.is_numeric else value


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


def _real_or_null(value: float | None) -> str:
    return "NULL" if value is None else _real(value)


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
