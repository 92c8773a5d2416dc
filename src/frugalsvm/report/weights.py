"""Weights of a linear classifier: bars, or a heat map of those of several classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators.fitted import open_fitted
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

# Inches for each of more than five classes.
CELL_WIDTH = 0.8
# Cells of larger weights, as parts of the largest one, have white numbers.
DARK = 0.75


class WeightsDisplay:
    """Weights of the selected features, the largest first.

    Parameters
    ----------
    weights : array-like of shape (n_features,) or (n_classes, n_features)
        Features whose weights are all zero are omitted.
    names : sequence of str
    classes : sequence of labels, default=None
        What negative and positive scores mean, or the labels of several classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        With one row of weights.
    mesh_ : matplotlib QuadMesh
        With a row for each class.
    """

    def __init__(
        self,
        weights: Any,
        names: Sequence[str],
        classes: Sequence[Any] | None = None,
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = [str(name) for name in names]
        self.classes = classes
        if self.weights.ndim not in (1, 2) or self.weights.shape[-1] != len(self.names):
            raise ValueError(
                f"there must be a name for each weight, got {len(self.names)} names "
                f"and weights of shape {self.weights.shape}."
            )
        n_rows = len(self.weights) if self.weights.ndim == 2 else 2
        if classes is not None and len(classes) != n_rows:
            raise ValueError(
                f"there must be a label for each of {n_rows} classes, got "
                f"{len(classes)} and weights of shape {self.weights.shape}."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, max_display: int = 25
    ) -> WeightsDisplay:
        """Draw a fitted linear classifier, or a pipeline with one.

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
            coef, names, classes = estimator.coef, estimator.names, estimator.classes
        else:
            fitted = open_fitted(estimator)
            coef, _ = fitted.linear()
            names, classes = fitted.names(), fitted.last.classes_
        display = cls(coef[0] if len(coef) == 1 else coef, names, tuple(classes))
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
        sizes = np.abs(np.atleast_2d(self.weights)).max(axis=0)
        used = np.flatnonzero(sizes)
        order = used[np.argsort(-sizes[used], kind="stable")]
        shown = order[:max_display]
        weights = self.weights[..., shown]
        names = [self.names[j] for j in shown]
        width = rows_width(names)
        if weights.ndim == 2:
            width += CELL_WIDTH * max(0, len(weights) - 5)
        ax = new_axes(ax, width, rows_height(shown.size))
        if weights.ndim == 1:
            self._draw_bars(ax, weights)
        else:
            self._draw_cells(ax, weights)
        name_rows(ax, names)
        note_more(ax, order.size - shown.size, "features")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Any, weights: np.ndarray) -> None:
        colours = np.where(weights > 0, BLUE, ORANGE)
        self.bars_ = ax.barh(range(weights.size), weights, color=colours, height=0.7)
        ax.axvline(0.0, color="black", linewidth=0.8)
        note_rows(ax, [f"{weight:+.3g}" for weight in weights])
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(self._words())

    def _draw_cells(self, ax: Any, weights: np.ndarray) -> None:
        """A column for each class, with the weights as numbers and as colours."""
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("weights", [ORANGE, "white", BLUE])
        n_classes, n_features = weights.shape
        most = float(np.abs(weights).max(initial=0.0)) or 1.0
        self.mesh_ = ax.pcolormesh(
            np.arange(n_classes + 1) - 0.5, np.arange(n_features + 1) - 0.5, weights.T,
            cmap=colours, vmin=-most, vmax=most, edgecolors="white", linewidth=0.8,
        )  # fmt: skip
        for (k, j), weight in np.ndenumerate(weights):
            ax.text(
                k, j, f"{weight:+.3g}", ha="center", va="center", fontsize="small",
                color="white" if abs(weight) > DARK * most else "black",
            )  # fmt: skip
        ax.spines[:].set_visible(False)
        classes = range(n_classes) if self.classes is None else self.classes
        ax.set_xticks(range(n_classes), [label(one) for one in classes])
        ax.tick_params(axis="x", length=0)
        ax.set_xlabel("weight by class")

    def _words(self) -> str:
        if self.classes is None:
            return "weight"
        first, second = map(label, self.classes)
        return f"weight  (negative: {first}, positive: {second})"
