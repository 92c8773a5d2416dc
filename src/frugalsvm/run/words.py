"""Words for messages and tables: lists of names, different ones, and suggestions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

# Number of names that a list shows.
N_LISTED = 8
# Longer names are not compared: that takes time with the square of their length.
LONGEST_COMPARED = 60


def quote(name: Any) -> str:
    """A name or a label in quotes, as it stands in sentences."""
    return repr(str(name))


def counted(n: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "feature"), counted(2000, "row")
    ('1 feature', '2,000 rows')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def gap_words(gap: float, form: str = ".3g") -> str:
    """A relative gap in percent; without a bound there is none.

    Examples
    --------
    >>> gap_words(0.01234), gap_words(float("inf"))
    ('1.23 %', 'unknown')
    """
    return f"{100 * gap:{form}} %" if math.isfinite(gap) else "unknown"


def bound_words(bound: float, digits: int = 6) -> str:
    """A lower bound, or that there is none."""
    return f"{bound:.{digits}g}" if math.isfinite(bound) else "none"


def listed(
    names: Sequence[Any],
    most: int = N_LISTED,
    *,
    quoted: bool = False,
    between: str = ", ",
) -> str:
    """The first names, and how many more there are."""
    shown = [quote(one) if quoted else str(one) for one in names[:most]]
    more = len(names) - most
    return between.join(shown) + (f" and {more:,} more" if more > 0 else "")


def by_class(name: str, classes: Sequence[Any]) -> list[str]:
    """A name for two classes, or one for each of several.

    Examples
    --------
    >>> by_class("score", ["no", "yes"]), by_class("score", [1, 2, 3])
    (['score'], ['score_1', 'score_2', 'score_3'])
    """
    return [name] if len(classes) == 2 else [f"{name}_{one}" for one in classes]


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Names that may have been meant, the closest first; none for long names."""
    if len(name) > LONGEST_COMPARED:
        return []
    short = [one for one in known if len(one) <= LONGEST_COMPARED]
    return get_close_matches(name, short, n=3)


def different(names: Sequence[str]) -> list[str]:
    """Names, with a number added to those that appear more than once.

    Examples
    --------
    >>> different(["a", "b", "a", "a (2)"])
    ['a', 'b', 'a (3)', 'a (2)']
    """
    taken, seen = set(names), set[str]()
    # The number to try next, so that frequent names take no longer.
    following: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        if name in seen:
            k = following.get(name, 2)
            while f"{name} ({k})" in taken:
                k += 1
            new, following[name] = f"{name} ({k})", k + 1
        seen.add(name)
        taken.add(new)
        result.append(new)
    return result
