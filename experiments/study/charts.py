"""Figures of studies: bars by group, and curves on a grid of axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from frugalsvm.output.plotting.style import BLUE, GREEN, GREY, LIGHT_BLUE, ORANGE, label

COLOURS = (BLUE, ORANGE, GREEN, LIGHT_BLUE, GREY, "#CC79A7", "#F0E442", "#000000")
MARKERS = "osD^vPX*"

# Characters of a legend per inch.
LETTERS_PER_INCH = 11

#: Points of a curve: x and y.
Curve = tuple[Sequence[float], Sequence[float]]


def canvas(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure without a window, and its axes as a list."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def bars(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    ylabel: str,
    *,
    log: bool = False,
) -> Any:
    """Bars side by side for each group; None leaves a gap."""
    figure, (ax,) = canvas(1, 1, max(5.0, 1.5 + 0.9 * len(groups)), 3.6)
    width = 0.8 / max(1, len(series))
    for k, (name, values) in enumerate(series.items()):
        places = [g + (k + 0.5) * width - 0.4 for g in range(len(groups))]
        heights = [math.nan if one is None else one for one in values]
        ax.bar(places, heights, width, label=name, color=COLOURS[k % len(COLOURS)])
    ax.set_xticks(range(len(groups)), [label(one) for one in groups], rotation=20)
    ax.set_ylabel(ylabel)
    if log and any(one for values in series.values() for one in values):
        ax.set_yscale("log")
    legend_above(figure, list(series))
    return figure


def legend_above(figure: Any, names: Sequence[str], **options: Any) -> None:
    """A legend above all axes, with as many columns as fit."""
    letters = max((len(name) for name in names), default=1) + 5
    room = int(figure.get_figwidth() * LETTERS_PER_INCH / letters)
    columns = max(1, min(len(names), room))
    figure.legend(loc="outside upper center", ncols=columns, frameon=False, **options)


def panels(
    curves: Mapping[str, Mapping[str, Curve]],
    xlabel: str,
    ylabel: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> Any:
    """One panel for each data set with one curve for each method."""
    columns = min(3, max(1, len(curves)))
    rows = max(1, math.ceil(len(curves) / columns))
    figure, axes = canvas(rows, columns, 3.4 * columns + 0.4, 2.5 * rows + 0.5)
    names: dict[str, None] = {}
    for methods in curves.values():
        names |= dict.fromkeys(methods)
    styles = {
        name: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)])
        for k, name in enumerate(names)
    }
    for ax, (title, methods) in zip(axes, curves.items(), strict=False):
        for name, (x, y) in methods.items():
            colour, marker = styles[name]
            ax.plot(x, y, color=colour, marker=marker, markersize=3.5, linewidth=1.2)
        ax.set_title(label(title), fontsize="medium")
        ax.set(xlabel=xlabel, ylabel=ylabel)
        if log_x:
            ax.set_xscale("log")
        if log_y:
            ax.set_yscale("log")
    for ax in axes[len(curves) :]:
        ax.set_axis_off()
    _legend(figure, axes[0], styles)
    return figure


def _legend(figure: Any, ax: Any, styles: Mapping[str, tuple[str, str]]) -> None:
    handles = [
        ax.plot([], [], color=colour, marker=marker, label=name)[0]
        for name, (colour, marker) in styles.items()
    ]
    if handles:
        legend_above(figure, list(styles), handles=handles)
