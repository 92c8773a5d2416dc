"""Text of messages and tables: counts, lists of names, suggestions, and HTML."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from html import escape
from typing import Any

# Number of names that a list shows.
N_LISTED = 8
# Most features in a table for people.
N_SHOWN = 30


def quote(name: Any) -> str:
    """A name or a label in quotes, for sentences."""
    return repr(str(name))


def counted(n: int, noun: str) -> str:
    """A number and its noun, in the plural if necessary.

    Examples
    --------
    >>> counted(1, "feature"), counted(2000, "row")
    ('1 feature', '2,000 rows')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def gap_words(gap: float, form: str = ".3g") -> str:
    """A relative gap in percent; "unknown" without a bound.

    Examples
    --------
    >>> gap_words(0.01234), gap_words(float("inf"))
    ('1.23 %', 'unknown')
    """
    return f"{100 * gap:{form}} %" if math.isfinite(gap) else "unknown"


def bound_words(bound: float, digits: int = 6) -> str:
    """A lower bound, or "none"."""
    return f"{bound:.{digits}g}" if math.isfinite(bound) else "none"


def listed(
    names: Sequence[Any],
    most: int = N_LISTED,
    *,
    quoted: bool = False,
    between: str = ", ",
) -> str:
    """The first names, and the number of the others."""
    shown = [quote(name) if quoted else str(name) for name in names[:most]]
    more = len(names) - most
    return between.join(shown) + (f" and {more:,} more" if more > 0 else "")


def by_class(name: str, classes: Sequence[Any]) -> list[str]:
    """A single name for two classes, or a name for each of several.

    Examples
    --------
    >>> by_class("score", ["no", "yes"]), by_class("score", [1, 2, 3])
    (['score'], ['score_1', 'score_2', 'score_3'])
    """
    return [name] if len(classes) == 2 else [f"{name}_{label}" for label in classes]


def close_names(name: str, candidates: Iterable[str]) -> list[str]:
    """Names similar to a misspelt one, the closest first; none for long names."""
    # Comparing takes time with the square of the length.
    longest = 60
    if len(name) > longest:
        return []
    short = [other for other in candidates if len(other) <= longest]
    return get_close_matches(name, short, n=3)


def different(names: Sequence[str]) -> list[str]:
    """Distinct names: a number is added to those that appear more than once.

    Examples
    --------
    >>> different(["a", "b", "a", "a (2)"])
    ['a', 'b', 'a (3)', 'a (2)']
    """
    taken, seen = set(names), set[str]()
    # The next number for each name, so that frequent names take no longer.
    numbers: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        if name in seen:
            k = numbers.get(name, 2)
            while f"{name} ({k})" in taken:
                k += 1
            new, numbers[name] = f"{name} ({k})", k + 1
        seen.add(name)
        taken.add(new)
        result.append(new)
    return result


def escaped(value: object) -> str:
    """Text escaped for HTML."""
    return escape(str(value), quote=True)
