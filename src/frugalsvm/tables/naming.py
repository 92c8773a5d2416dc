"""Making names unique."""

from __future__ import annotations

from collections.abc import Sequence


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
