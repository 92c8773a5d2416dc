"""Lookups: features that are a number for each value of a column.

An encoder of scikit-learn makes them: a one-hot feature is 1 for one category, an
ordinal one is the position of the category, an indicator is 1 for a gap. Values are
compared exactly: nothing is stripped, and no word means a gap.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .schema import shown

# Kinds of columns.
TEXT, NUMBER, BOOLEAN = KINDS = ("text", "number", "boolean")
# Larger numbers count as missing, like NaN; every database can represent this one.
LARGEST_VALUE = 1e100

Level = str | int | float | bool


class Lookup(NamedTuple):
    """A number for each value of a column; None where the feature has no value.

    Attributes
    ----------
    kind : {"text", "number", "boolean"}
    levels : tuple
        The known values.
    codes : dict
        Numbers by indices of levels.
    default, unknown, gap : float or None
        The number for levels without a code, for unknown values, and for gaps.
    """

    kind: str
    levels: tuple[Level, ...]
    codes: dict[int, float | None]
    default: float | None
    unknown: float | None
    gap: float | None

    @classmethod
    def of_values(
        cls,
        kind: str,
        levels: tuple[Level, ...],
        values: Sequence[float | None],
        unknown: float | None,
        gap: float | None,
    ) -> Lookup:
        """The lookup for a number per level."""
        counts = Counter(values)
        is_unknown = unknown in counts or not counts
        default = unknown if is_unknown else counts.most_common(1)[0][0]
        codes = {k: number for k, number in enumerate(values) if number != default}
        return cls(kind, levels, codes, default, unknown, gap)

    def table(self) -> np.ndarray:
        """The numbers of all levels, of an unknown value and of a gap; NaN for None."""
        table = np.full(len(self.levels) + 2, _real(self.default))
        for index, number in self.codes.items():
            table[index] = _real(number)
        table[-2:] = _real(self.unknown), _real(self.gap)
        return table

    def by_number(self) -> dict[float | None, list[Level]]:
        """The levels by their number in the codes."""
        by_number: dict[float | None, list[Level]] = {}
        for index, number in self.codes.items():
            by_number.setdefault(number, []).append(self.levels[index])
        return by_number

    def to_dict(self) -> dict[str, Any]:
        """The fields in model.json, without kind and levels, which the column has."""
        codes = {str(index): number for index, number in self.codes.items()}
        ends = {"known": self.default, "unknown": self.unknown, "gap": self.gap}
        return {"codes": codes, **ends}


def _real(number: float | None) -> float:
    return np.nan if number is None else number


def from_content(column: Mapping[str, Any]) -> list[Lookup]:
    """The lookups of a column in model.json; raises ValueError if it is malformed."""
    kind, levels = column["type"], tuple(column["levels"])
    if kind not in KINDS:
        raise ValueError(f"unknown type {shown(kind)}")
    for level in levels:
        if kind_of(level) != kind:
            raise ValueError(f"{shown(level)} is no {kind}")
    if len(set(levels)) < len(levels):
        raise ValueError("a level appears twice")
    lookups = []
    for lookup in column["lookups"]:
        codes = {int(index): _number(code) for index, code in lookup["codes"].items()}
        if not codes.keys() <= set(range(len(levels))):
            raise ValueError("a code is of no level")
        ends = (_number(lookup[name]) for name in ("known", "unknown", "gap"))
        lookups.append(Lookup(kind, levels, codes, *ends))
    return lookups


def kind_of(level: Any) -> str | None:
    """The kind of a value; None if it is no text, number or truth value."""
    if isinstance(level, bool):
        return BOOLEAN
    if isinstance(level, str):
        return TEXT
    is_number = isinstance(level, (int, float))
    return NUMBER if is_number and abs(level) <= LARGEST_VALUE else None


def is_gap(value: Any) -> bool:
    """Whether a value is missing: None, NaN, pandas.NA, or too large a number."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    is_real = isinstance(value, (float, np.floating))
    return is_real and not abs(value) <= LARGEST_VALUE


def level_indices(levels: Sequence[Level], column: np.ndarray) -> np.ndarray:
    """Indices of values in the levels; then come unknown values, and gaps."""
    indices = {level: k for k, level in enumerate(levels)}
    n = len(levels)
    return np.array(
        [
            n + 1 if is_gap(value) else indices.get(value, n)
            for value in column.tolist()
        ],
        dtype=np.int64,
    )


def _number(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, (bool, str)) or not math.isfinite(value):
        raise ValueError(f"{shown(value)} is not a number")
    return float(value)


# --- Spellings of categories, and of missing values -----------------------------------
#
# The same rule holds for ``predict`` and for exported models. A database or a data
# frame may write the category 1 as 1.0, and True as 1.

# Characters stripped from both ends of strings, here and in exported models: space, tab
# and no-break space.
STRIPPED = " \t\u00a0"
# Stripped strings that mean a missing value in a text table, and in exported models.
MISSING_WORDS = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NaN", "nan",
    "-NaN", "-nan", "NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
# The category of missing values, and that of all texts without a category of their own.
OWN_LEVEL, OTHER = "(missing)", "(other)"
_NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*|)(?:\.([0-9]*))?")
_EXPONENT = re.compile(r"-?[0-9]+(\.[0-9]+)?e[-+][0-9]+")
# Truth values as numbers, where there is no type for them.
_TRUTHS = {"True": "1", "False": "0"}
_TRUTH_OF = {
    text: truth
    for truth, number in _TRUTHS.items()
    for text in (truth, truth.lower(), truth.upper(), number)
}


class Forms(NamedTuple):
    """The strings that mean a category.

    Attributes
    ----------
    texts : tuple of str
        Exactly these.
    stems : tuple of str
        These, followed by any number of zeros.
    """

    texts: tuple[str, ...]
    stems: tuple[str, ...] = ()


class Spelling:
    """Which strings mean the categories of a column.

    Plain numbers are compared as numbers: ``1``, ``1.0`` and ``1.`` are the same, but
    ``01`` is a code. If all categories are truth values, 1 and 0 stand for them, too.
    If two categories would be the same (a fit rejects such columns), all are compared
    as they are.

    Parameters
    ----------
    levels : sequence of str
        The categories.
    """

    def __init__(self, levels: Sequence[str]):
        truths = {
            _TRUTH_OF.get(level) for level in levels if not canonical(level).isdigit()
        }
        self._are_truths = len(truths) == len(levels) and None not in truths
        self._is_exact = len({self._key(level) for level in levels}) < len(levels)

    def key(self, text: str) -> str:
        """Equal for strings that mean the same category."""
        return text if self._is_exact else self._key(text)

    def _key(self, text: str) -> str:
        number = canonical(text)
        return _TRUTH_OF.get(number, number) if self._are_truths else number

    def forms_of_all(self, levels: Sequence[str]) -> Forms:
        """The strings that mean any of several categories."""
        forms = [self.forms(level) for level in levels]
        return Forms(
            tuple(text for form in forms for text in form.texts),
            tuple(stem for form in forms for stem in form.stems),
        )

    def forms(self, level: str) -> Forms:
        """The strings that mean a category."""
        key = self.key(level)
        number = _TRUTHS[key] if self._are_truths and key in _TRUTHS else key
        if self._is_exact or not is_number(number):
            return Forms((level,))
        texts = [key, key.lower(), key.upper()] if number != key else []
        stems = [number]
        if "." not in number:
            numbers = [number, "-0"] if number == "0" else [number]
            texts += numbers
            stems = [f"{text}." for text in numbers]
        elif number.lstrip("-").startswith("0."):
            # As Oracle writes it.
            stems.append(number.replace("0.", ".", 1))
        return Forms(tuple(texts), tuple(stems))


def canonical(text: str) -> str:
    """A plain number without superfluous zeros; any other string as it is.

    Examples
    --------
    >>> [canonical(text) for text in ("1.0", "2.50", ".5", "-0", "01", "1e3", "v1.0")]
    ['1', '2.5', '0.5', '0', '01', '1e3', 'v1.0']
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return text
    sign, whole, fraction = match[1], match[2], (match[3] or "").rstrip("0")
    if not whole and not fraction:
        return text
    if not fraction:
        return "0" if whole == "0" else f"{sign}{whole}"
    return f"{sign}{whole or '0'}.{fraction}"


def truth(text: str) -> bool | str:
    """A truth value, however it is written; any other text as it is."""
    truth_value = _TRUTH_OF.get(canonical(text))
    return text if truth_value is None else truth_value == "True"


def is_number(text: str) -> bool:
    """Whether a canonical string is a plain number."""
    match = _NUMBER.fullmatch(text)
    return match is not None and bool(match[2])


def looks_numeric(level: str, forms: Forms) -> bool:
    """Whether a category may be a number, or a truth value, elsewhere."""
    return bool(forms.stems) or is_number(canonical(level))


def is_written_differently(text: str) -> bool:
    """Whether programs write a number in different ways: 1e+16, or with many digits."""
    if _EXPONENT.fullmatch(text):
        return True
    number = canonical(text)
    digits = number.lstrip("-0.").replace(".", "")
    # Programs agree on numbers with fewer digits.
    return is_number(number) and "." in number and len(digits) >= 15


def why_unclear(levels: Sequence[str]) -> str:
    """Why other programs may confuse categories; empty if they do not."""
    seen: dict[str, str] = {}
    for level in levels:
        if is_written_differently(level):
            return f"other programs write the number {level!r} in another way; round it"
        other = seen.setdefault(canonical(level), level)
        if other != level:
            return f"{other!r} and {level!r} are the same number; write it in one way"
    return ""


def named(levels: Sequence[str]) -> list[str]:
    """The categories that are texts of the table."""
    return [level for level in levels if level not in (OWN_LEVEL, OTHER)]


def missing_words(categories: Sequence[str]) -> tuple[str, ...]:
    """The strings that mean a missing value, except those that are categories."""
    return tuple(text for text in MISSING_WORDS if text not in categories)
