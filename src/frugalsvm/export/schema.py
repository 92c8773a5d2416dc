"""A validator for the JSON Schema of model.json, and strict JSON parsing.

It supports the keywords that the schema uses, and rejects a schema with others.
"""

from __future__ import annotations

import json
import math
import operator
import re
import reprlib
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

# Keywords that constrain nothing.
_REMARKS = {"$schema", "$id", "title", "description"}
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
# Maximum number of characters of a value shown in a message.
_SHOWN = 60
_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = _SHOWN


class InvalidModel(ValueError):
    """A file that is not a model of this format; the message says why."""


@cache
def model_schema() -> dict[str, Any]:
    """The JSON Schema of model.json, a file in this package."""
    file = resources.files(__package__).joinpath("model.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


def parse(text: str | bytes) -> Any:
    """Parse strict JSON; duplicate keys and NaN are errors."""
    try:
        return json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_refuse_constant
        )
    except InvalidModel:
        raise
    except RecursionError as error:
        raise InvalidModel("not a model: nested too deeply.") from error
    except ValueError as error:
        raise InvalidModel(f"not a JSON file: {error}.") from error


def check(value: Any, schema: dict[str, Any], path: str = "") -> None:
    """Raise InvalidModel, with the path, unless a value matches a schema."""
    for keyword, rule in schema.items():
        if keyword in _REMARKS or keyword in ("then", "else"):
            continue
        if keyword == "if":
            branch = "then" if _holds(value, rule) else "else"
            # A schema does not constrain the fields of values that are not objects.
            if isinstance(value, dict):
                check(value, schema.get(branch, {}), path)
            continue
        _CHECKS[keyword](value, rule, path, schema)


def _holds(value: Any, schema: dict[str, Any]) -> bool:
    try:
        check(value, schema)
    except InvalidModel:
        return False
    return True


def shown(value: Any) -> str:
    """A value from a file, shortened for a message."""
    text = _BRIEF.repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _fail(path: str, rule: str, value: Any) -> InvalidModel:
    return InvalidModel(f"{path or 'the file'} must be {rule}, got {shown(value)}.")


def _type(value: Any, expected: Any, path: str, schema: Any) -> None:
    names = [expected] if isinstance(expected, str) else expected
    if not any(_is(value, name) for name in names):
        raise _fail(path, " or ".join(names), value)
    if isinstance(value, float) and not math.isfinite(value):
        raise _fail(path, "a finite number", value)


def _is(value: Any, name: str) -> bool:
    # Unlike in JSON, True is a number in Python.
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _const(value: Any, expected: Any, path: str, schema: Any) -> None:
    if type(value) is not type(expected) or value != expected:
        raise _fail(path, repr(expected), value)


def _enum(value: Any, options: Any, path: str, schema: Any) -> None:
    if not any(type(value) is type(option) and value == option for option in options):
        raise _fail(path, " or ".join(map(repr, options)), value)


def _properties(value: Any, schemas: Any, path: str, schema: Any) -> None:
    if isinstance(value, dict):
        for name, inner in schemas.items():
            if name in value:
                check(value[name], inner, _join(path, name))


def _additional(value: Any, inner: Any, path: str, schema: Any) -> None:
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    for name in value:
        if name in properties:
            continue
        if inner is False:
            raise InvalidModel(f"{path or 'the file'} has unknown field {shown(name)}.")
        check(value[name], inner, _join(path, name))


def _required(value: Any, names: Any, path: str, schema: Any) -> None:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                raise InvalidModel(f"{path or 'the file'} has no {name!r}.")


def _items(value: Any, inner: Any, path: str, schema: Any) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            check(item, inner, f"{path}[{index}]")


def _length(holds: Callable[[int, int], bool], rule: str) -> Callable[..., None]:
    """A check of the number of items in a list."""

    def check_length(value: Any, limit: Any, path: str, schema: Any) -> None:
        if isinstance(value, list) and not holds(len(value), limit):
            raise _fail(path, f"a list of {rule} {limit}", value)

    return check_length


def _limit(holds: Callable[[Any, Any], bool], sign: str) -> Callable[..., None]:
    """A check of the size of a number."""

    def check_limit(value: Any, limit: Any, path: str, schema: Any) -> None:
        if _is(value, "number") and not holds(value, limit):
            raise _fail(path, f"{sign} {limit}", value)

    return check_limit


def _pattern(value: Any, pattern: Any, path: str, schema: Any) -> None:
    # Only in Python, $ also matches before a final line break.
    end = pattern.replace("$", r"\Z")
    if isinstance(value, str) and re.search(end, value) is None:
        raise _fail(path, f"text like {pattern}", value)


_CHECKS: dict[str, Callable[..., None]] = {
    "type": _type,
    "const": _const,
    "enum": _enum,
    "properties": _properties,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "minItems": _length(operator.ge, "at least"),
    "maxItems": _length(operator.le, "at most"),
    "minimum": _limit(operator.ge, ">="),
    "maximum": _limit(operator.le, "<="),
    "exclusiveMinimum": _limit(operator.gt, ">"),
    "pattern": _pattern,
}


def _join(path: str, name: str) -> str:
    # Field names are untrusted text, too.
    return f"{path}.{name[:_SHOWN]}" if path else name[:_SHOWN]


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise InvalidModel(f"not a model: {shown(twice)} appears twice.")
    return fields


def _refuse_constant(name: str) -> Any:
    raise InvalidModel(f"not a JSON file: {name} is not a JSON number.")
