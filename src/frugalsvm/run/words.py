"""Text of messages and tables: counts, lists of names, suggestions, and HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from html import escape
from typing import Any

# Number of names that a list shows.
N_LISTED = 8


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


# --- HTML for notebooks: small tables, bars and sparklines as text --------------------
#
# Styles are inline and colours follow the page, so that light and dark pages, and
# viewers that strip style sheets, look the same. All user input passes through
# :func:`escaped`.

# Safe for colour-blind readers, and visible on light and dark pages.
POSITIVE, NEGATIVE = "#3b8fc4", "#e0762f"
# Maximum number of features shown in a table.
N_SHOWN = 30


def escaped(value: object) -> str:
    """Text escaped for HTML."""
    return escape(str(value), quote=True)


def box(title: str, *parts: str) -> str:
    """A frame with a title around parts that are already HTML."""
    style = (
        "display:inline-block;border:1px solid rgba(128,128,128,.4);border-radius:6px;"
        "padding:.6em .8em;margin:.2em 0;font-family:system-ui,sans-serif;"
        "font-size:13px;line-height:1.4;color:inherit;background:transparent;"
        "text-align:left"
    )
    return (
        f'<div class="frugalsvm-report" style="{style}">'
        f"<strong>{escaped(title)}</strong>{''.join(parts)}</div>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and values on one line each."""
    rows = [[_muted(escaped(name)), escaped(value)] for name, value in pairs]
    return table([], rows, "ll")


def alert(text: str) -> str:
    """A prominent paragraph."""
    return (
        f'<p style="margin:.4em 0 0;max-width:44em;border-left:4px solid {NEGATIVE};'
        f'padding-left:.6em"><strong>{escaped(text)}</strong></p>'
    )


def note(text: str) -> str:
    """A closing paragraph, no wider than a table."""
    return f'<p style="margin:.4em 0 0;max-width:44em">{_muted(escaped(text))}</p>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> str:
    """A table of cells that are already HTML; ``align`` has l or r per column."""
    styles = [
        "padding:.1em .7em .1em 0;border:none;"
        f"text-align:{'right' if side == 'r' else 'left'};background:transparent"
        for side in align
    ]
    head = "".join(
        f'<th style="{style};font-weight:normal">{_muted(escaped(name))}</th>'
        for name, style in zip(header, styles[: len(header)], strict=True)
    )
    body = ""
    for row in rows:
        pairs = zip(row, styles, strict=True)
        cells = "".join(f'<td style="{style}">{cell}</td>' for cell, style in pairs)
        body += f"<tr>{cells}</tr>"
    top = f"<thead><tr>{head}</tr></thead>" if header else ""
    return (
        '<table style="border-collapse:collapse;margin:.4em 0 0;border:none;'
        f'color:inherit;font-size:inherit">{top}<tbody>{body}</tbody></table>'
    )


def weights_table(names: Sequence[str], weights: Sequence[float]) -> str:
    """Features with their weights and bars, the largest first."""
    order = sorted(range(len(names)), key=lambda j: -abs(weights[j]))
    most = max((abs(weight) for weight in weights), default=0.0)
    rows = [
        [escaped(names[j]), f"{weights[j]:+.4g}", bar(weights[j], most)]
        for j in order[:N_SHOWN]
    ]
    return table(["feature", "weight", ""], rows, "lrl") + _hidden(len(order))


def weights_by_class(
    names: Sequence[str], classes: Sequence[str], weights: Sequence[Sequence[float]]
) -> str:
    """Features with a weight for each class, the largest first."""
    order = sorted(range(len(names)), key=lambda j: -max(map(abs, weights[j])))
    rows = [
        [escaped(names[j]), *(f"{weight:+.4g}" for weight in weights[j])]
        for j in order[:N_SHOWN]
    ]
    align = "l" + "r" * len(classes)
    return table(["feature", *classes], rows, align) + _hidden(len(order))


def _hidden(n_features: int) -> str:
    """The number of features that a table of weights does not show."""
    hidden = n_features - N_SHOWN
    return _muted(f"and {hidden:,} more") if hidden > 0 else ""


def bar(value: float, most: float, width: int = 90) -> str:
    """A bar whose length shows the size of a value, and its colour the sign."""
    share = abs(value) / most if most > 0 else 0.0
    colour = POSITIVE if value >= 0 else NEGATIVE
    return (
        f'<span style="display:inline-block;height:.7em;border-radius:2px;'
        f'width:{width * share:.1f}px;background:{colour}"></span>'
    )


def sparkline(
    history: Sequence[tuple[float, float, float]], width: int = 220, height: int = 44
) -> str:
    """Objective and bound over time, as step lines; empty if there are no data."""
    entries = [
        entry for entry in history if all(math.isfinite(value) for value in entry)
    ]
    if len(entries) < 2:
        return ""
    # Most changes happen early, so the time axis is logarithmic.
    first = next((time for time, _, _ in entries if time > 0), 1.0)
    times = [math.log(max(time, first)) for time, _, _ in entries]
    low = min(bound for _, _, bound in entries)
    high = max(objective for _, objective, _ in entries)
    x = _scale(times[0], times[-1], 2, width - 2)
    y = _scale(low, high, height - 3, 3)
    lines = ""
    for k, colour in ((1, POSITIVE), (2, NEGATIVE)):
        path = f"M{x(times[0]):.1f} {y(entries[0][k]):.1f}" + "".join(
            f"H{x(time):.1f}V{y(entry[k]):.1f}"
            for time, entry in zip(times[1:], entries[1:], strict=True)
        )
        lines += f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    label = "objective (falling) and lower bound (rising) over time"
    return (
        f'<svg role="img" aria-label="{label}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" style="display:block;margin-top:.4em">'
        f"<title>{label}</title>{lines}</svg>"
        f'<div style="font-size:11px"><span style="color:{POSITIVE}">objective</span> '
        f'{_muted("and")} <span style="color:{NEGATIVE}">lower bound</span> '
        f"{_muted('over time, logarithmic')}</div>"
    )


def _muted(text: str) -> str:
    return f'<span style="opacity:.65">{text}</span>'


def _scale(
    start: float, end: float, low: float, high: float
) -> Callable[[float], float]:
    """A function that maps [start, end] to [low, high]."""
    length = end - start
    if not length > 0:
        return lambda value: (low + high) / 2
    return lambda value: low + (high - low) * (value - start) / length
