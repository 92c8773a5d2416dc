"""Words for messages: lists of names, and suggestions for unknown ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

# Number of names that a list shows.
N_LISTED = 8
# Longer names are not compared: that takes time with the square of their length.
LONGEST_COMPARED = 60


def listed(
    names: Sequence[Any],
    most: int = N_LISTED,
    *,
    quoted: bool = False,
    between: str = ", ",
) -> str:
    """The first names, and how many more there are."""
    shown = [repr(str(one)) if quoted else str(one) for one in names[:most]]
    more = len(names) - most
    return between.join(shown) + (f" and {more:,} more" if more > 0 else "")


def close_names(name: str, known: Iterable[str]) -> list[str]:
    """Names that may have been meant, the closest first; none for long names."""
    if len(name) > LONGEST_COMPARED:
        return []
    short = [one for one in known if len(one) <= LONGEST_COMPARED]
    return get_close_matches(name, short, n=3)
