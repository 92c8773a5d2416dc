"""HTML for notebooks: small tables and bars as text.

Styles are inline and colours follow the page, so that light and dark pages, and viewers
that strip style sheets, look the same. All user input passes through
:func:`~frugalsvm.run.words.escaped`. The classes that notebooks show import this module
when they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..run import N_SHOWN, escaped
from .figures import sparkline_svg

# Safe for colour-blind readers, and visible on light and dark pages.
POSITIVE, NEGATIVE = "#3b8fc4", "#e0762f"


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


def _muted(text: str) -> str:
    return f'<span style="opacity:.65">{text}</span>'


def sparkline(history: Sequence[tuple[float, float, float]]) -> str:
    """Objective and bound over time, as step lines; empty if there are no data."""
    entries = [entry for entry in history if np.isfinite(entry).all()]
    if len(entries) < 2:
        return ""
    return sparkline_svg(entries, (POSITIVE, NEGATIVE)) + (
        f'<div style="font-size:11px"><span style="color:{POSITIVE}">objective</span> '
        f'{_muted("and")} <span style="color:{NEGATIVE}">lower bound</span> '
        f"{_muted('over time, logarithmic')}</div>"
    )
