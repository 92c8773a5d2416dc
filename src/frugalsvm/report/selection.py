"""Features selected in folds or half-samples, as a heat map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..estimators.fitted import open_fitted
from .style import (
    BLUE,
    LIGHT_GREY,
    name_rows,
    new_axes,
    note_more,
    note_rows,
    rows_height,
    rows_width,
)


class SelectionDisplay:
    """Features by runs: what each run selected, the most frequent feature first.

    Parameters
    ----------
    masks : array-like of bool of shape (n_runs, n_features)
        What each run selected.
    names : sequence of str
    runs : str, default="runs"
        What to call the runs in the axis label.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    mesh_ : matplotlib QuadMesh
    """

    def __init__(self, masks: Any, names: Sequence[str], runs: str = "runs") -> None:
        self.masks = np.asarray(masks, dtype=bool)
        self.names = [str(name) for name in names]
        self.runs = runs
        if self.masks.ndim != 2 or self.masks.shape[1] != len(self.names):
            raise ValueError(
                f"masks must have a row per run and a column for each of the "
                f"{len(self.names)} names, got shape {self.masks.shape}."
            )

    @classmethod
    def from_stability(
        cls, stability: Any, *, ax: Any = None, max_display: int = 25
    ) -> SelectionDisplay:
        """Draw the result of :func:`~frugalsvm.stability_selection`.

        Parameters
        ----------
        stability : StabilitySelection
        ax : matplotlib Axes, default=None
        max_display : int, default=25
            Maximum number of features shown.

        Returns
        -------
        SelectionDisplay
        """
        display = cls(stability.masks, stability.feature_names, "half-samples")
        return display.plot(ax=ax, max_display=max_display)

    @classmethod
    def from_estimators(
        cls,
        estimators: Iterable[Any],
        *,
        ax: Any = None,
        max_display: int = 25,
        runs: str = "folds",
    ) -> SelectionDisplay:
        """Draw fitted estimators, e.g. of all folds of a cross-validation.

        Parameters
        ----------
        estimators : iterable of fitted estimators
            ``cross_validate(..., return_estimator=True)["estimator"]``.
        ax : matplotlib Axes, default=None
        max_display : int, default=25
            Maximum number of features shown.
        runs : str, default="folds"
            What the estimators are.

        Returns
        -------
        SelectionDisplay
        """
        opened = [open_fitted(one) for one in estimators]
        if not opened:
            raise ValueError("estimators is empty: there is nothing to draw.")
        masks = [one.column_support() for one in opened]
        display = cls(masks, opened[0].column_names, runs)
        return display.plot(ax=ax, max_display=max_display)

    def plot(self, *, ax: Any = None, max_display: int = 25) -> SelectionDisplay:
        """Draw into axes, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_display : int, default=25
            Maximum number of features shown.

        Returns
        -------
        SelectionDisplay
        """
        frequencies = self.masks.mean(axis=0)
        order = np.argsort(-frequencies, kind="stable")
        order = order[frequencies[order] > 0]
        shown = order[:max_display]
        n_runs = len(self.masks)
        names = [self.names[j] for j in shown]
        ax = new_axes(ax, rows_width(names), rows_height(shown.size))
        self.mesh_ = draw_cells(ax, self.masks[:, shown].T, [LIGHT_GREY, BLUE])
        name_rows(ax, names)
        note_rows(ax, [f"{100 * frequencies[j]:.0f} %" for j in shown])
        ax.set_xlabel(f"{n_runs} {self.runs}")
        ax.set_xticks([])
        note_more(ax, order.size - shown.size, "features")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def draw_cells(ax: Any, cells: np.ndarray, colours: list[str]) -> Any:
    """A matrix of indices into a list of colours, with lines between its cells."""
    from matplotlib.colors import ListedColormap

    n_rows, n_columns = cells.shape
    lines = {"edgecolors": "white", "linewidth": 0.8 if n_columns <= 60 else 0.2}
    mesh = ax.pcolormesh(
        np.arange(n_columns + 1) - 0.5, np.arange(n_rows + 1) - 0.5, cells,
        cmap=ListedColormap(colours), vmin=0, vmax=len(colours) - 1, **lines,
    )  # fmt: skip
    ax.set_xlim(-0.5, n_columns - 0.5)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return mesh
