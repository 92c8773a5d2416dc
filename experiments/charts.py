"""Charts: bars by group, curves on a grid of axes, critical differences of ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from frugalsvm.report.displays import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    label,
    new_axes,
)

from .statistics import critical_difference, mean_ranks

# The palette of Okabe and Ito, as in the package's plots.
COLOURS = (BLUE, ORANGE, GREEN, "#56B4E9", GREY, "#CC79A7", "#F0E442", "#000000")
MARKERS = "osD^vPX*"

#: Points of a curve: x and y.
Curve = tuple[Sequence[float], Sequence[float]]


def canvas(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure without a window, and its axes as a list."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    return figure, [new_axes(ax) for ax in axes]


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
        positions = [g + (k + 0.5) * width - 0.4 for g in range(len(groups))]
        heights = [math.nan if height is None else height for height in values]
        ax.bar(positions, heights, width, label=name, color=COLOURS[k % len(COLOURS)])
    ax.set_xticks(range(len(groups)), [label(group) for group in groups], rotation=20)
    ax.set_ylabel(ylabel)
    if log and any(height for heights in series.values() for height in heights):
        ax.set_yscale("log")
    legend_above(figure, list(series))
    return figure


def legend_above(figure: Any, names: Sequence[str], **options: Any) -> None:
    """A legend above all axes, with as many columns as fit."""
    letters = max((len(name) for name in names), default=1) + 5
    # A legend has 11 characters per inch.
    columns = max(1, min(len(names), int(figure.get_figwidth() * 11 / letters)))
    figure.legend(loc="outside upper center", ncols=columns, frameon=False, **options)


def panels(curves: Mapping[str, Mapping[str, Curve]], xlabel: str, ylabel: str) -> Any:
    """One panel for each data set with one curve for each method."""
    columns = min(3, max(1, len(curves)))
    rows = max(1, math.ceil(len(curves) / columns))
    figure, axes = canvas(rows, columns, 3.4 * columns + 0.4, 2.5 * rows + 0.5)
    names = dict.fromkeys(name for methods in curves.values() for name in methods)
    styles = {
        name: {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)]}
        for k, name in enumerate(names)
    }
    for ax, (title, methods) in zip(axes, curves.items(), strict=False):
        for name, (x, y) in methods.items():
            ax.plot(x, y, markersize=3.5, linewidth=1.2, **styles[name])
        ax.set_title(label(title), fontsize="medium")
        ax.set(xlabel=xlabel, ylabel=ylabel)
    for ax in axes[len(curves) :]:
        ax.set_axis_off()
    handles = [
        axes[0].plot([], [], label=name, **style)[0] for name, style in styles.items()
    ]
    if handles:
        legend_above(figure, list(styles), handles=handles)
    return figure


def rank_chart(methods: list[str], means: np.ndarray) -> Any:
    """Critical difference diagram as in Demšar."""
    figure, (ax,) = canvas(1, 1, 6.5, 1.2 + 0.3 * len(methods))
    ax.spines[["left"]].set_visible(False)
    ax.set_yticks([])
    ax.set_xlabel("mean rank (1 is best)")
    if not len(means):
        return figure
    ranks = mean_ranks(means)
    order = np.argsort(ranks)
    distance = critical_difference(len(methods), len(means))
    for row, k in enumerate(order):
        ax.plot(ranks[k], -row, "o", color=BLUE)
        ax.annotate(methods[k], (ranks[k], -row), (6, -3), textcoords="offset points")
    sorted_ranks = ranks[order]
    reach = bars_drawn = 0
    for first in range(len(order)):
        last = int(np.searchsorted(sorted_ranks, sorted_ranks[first] + distance)) - 1
        if last > reach and last > first:
            reach = last
            bars_drawn += 1
            y = 0.25 + 0.25 * bars_drawn
            ax.plot([sorted_ranks[first], sorted_ranks[last]], [y, y], color="black")
    ax.plot([1.0, 1.0 + distance], [-len(order)] * 2, color=GREY, marker="|")
    start = (1.0, -len(order))
    text = {"textcoords": "offset points", "color": GREY}
    ax.annotate("critical difference", start, (4, 4), **text)
    ax.set_xlim(0.8, len(methods) + 1.2)
    ax.set_ylim(-len(order) - 0.6, max(1.2, 0.5 + 0.25 * bars_drawn))
    return figure
