"""Weights of a linear classifier as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...api.estimators.fitted import open_fitted
from .style import (
    BLUE,
    ORANGE,
    label,
    name_rows,
    new_axes,
    note_more,
    note_rows,
    rows_height,
    rows_width,
)


class WeightsDisplay:
    """Weights of the selected features, the largest first.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        Zero weights are omitted.
    names : sequence of str
    classes : pair of labels, default=None
        What negative and positive scores mean.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
    """

    def __init__(
        self,
        weights: Any,
        names: Sequence[str],
        classes: tuple[Any, Any] | None = None,
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = [str(name) for name in names]
        self.classes = classes
        if self.weights.shape != (len(self.names),):
            raise ValueError(
                f"there must be a name for each weight, got {len(self.names)} names "
                f"and weights of shape {self.weights.shape}."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, max_display: int = 25
    ) -> WeightsDisplay:
        """Draw a fitted linear classifier of two classes, or a pipeline with one.

        Parameters
        ----------
        estimator : fitted estimator or PortableModel
        ax : matplotlib Axes, default=None
        max_display : int, default=25
            Maximum number of features shown.

        Returns
        -------
        WeightsDisplay
        """
        if hasattr(estimator, "to_json"):
            weights, names = estimator.column("weight"), estimator.names
            display = cls(weights, names, estimator.classes)
        else:
            fitted = open_fitted(estimator)
            classes = fitted.last.classes_
            weights, _ = fitted.linear()
            display = cls(weights, fitted.names(), (classes[0], classes[1]))
        return display.plot(ax=ax, max_display=max_display)

    def plot(self, *, ax: Any = None, max_display: int = 25) -> WeightsDisplay:
        """Draw into axes, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_display : int, default=25
            Maximum number of features shown.

        Returns
        -------
        WeightsDisplay
        """
        used = np.flatnonzero(self.weights)
        order = used[np.argsort(-np.abs(self.weights[used]), kind="stable")]
        shown = order[:max_display]
        weights = self.weights[shown]
        names = [self.names[j] for j in shown]
        ax = new_axes(ax, rows_width(names), rows_height(shown.size))
        colours = np.where(weights > 0, BLUE, ORANGE)
        self.bars_ = ax.barh(range(shown.size), weights, color=colours, height=0.7)
        ax.axvline(0.0, color="black", linewidth=0.8)
        name_rows(ax, names)
        note_rows(ax, [f"{weight:+.3g}" for weight in weights])
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(self._words())
        note_more(ax, order.size - shown.size, "features")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _words(self) -> str:
        if self.classes is None:
            return "weight"
        first, second = (label(one) for one in self.classes)
        return f"weight  (negative: {first}, positive: {second})"
