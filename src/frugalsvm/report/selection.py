"""Features selected in folds or half-samples, as a heat map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..estimators import open_fitted
from .displays import (
    BLUE,
    LIGHT_GREY,
    ORANGE,
    name_rows,
    new_axes,
    note_more,
    note_rows,
    rows_height,
    rows_width,
)


class SelectionDisplay:
    """Features selected by each run, the most frequent feature first.

    Parameters
    ----------
    masks : array-like of bool of shape (n_runs, n_features)
        The features selected by each run.
    names : sequence of str
    runs : str, default="runs"
        The name of the runs in the axis label.

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
            The name of the estimators in the axis label.

        Returns
        -------
        SelectionDisplay
        """
        opened = [open_fitted(estimator) for estimator in estimators]
        if not opened:
            raise ValueError("estimators is empty: there is nothing to draw.")
        masks = [fitted.column_support() for fitted in opened]
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
        np.arange(n_columns + 1) - 0.5,
        np.arange(n_rows + 1) - 0.5,
        cells,
        cmap=ListedColormap(colours),
        vmin=0,
        vmax=len(colours) - 1,
        **lines,
    )
    ax.set_xlim(-0.5, n_columns - 0.5)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return mesh


# --- Near-optimal supports as a matrix of features and models -------------------------


class SupportsDisplay:
    """Features used by each model, the best model first.

    Features that every model needs are in a different colour.

    Parameters
    ----------
    supports : iterable of arrays of int
        The features of each model.
    names : sequence of str
        Names of all features.
    objectives : array-like of shape (n_models,)
    indispensable : iterable of int, default=None
        Features in a different colour, by default those that all models use.
    complete : bool, default=True
        Whether these are all models; else the axis label says that there may be more.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    mesh_ : matplotlib QuadMesh
    """

    def __init__(
        self,
        supports: Iterable[Any],
        names: Sequence[str],
        objectives: Any,
        indispensable: Iterable[int] | None = None,
        complete: bool = True,
    ) -> None:
        arrays = [np.asarray(support, dtype=np.int64).ravel() for support in supports]
        values = np.asarray(objectives, dtype=np.float64)
        if not arrays or values.shape != (len(arrays),):
            raise ValueError(
                f"there must be at least one model, and an objective for each; got "
                f"{len(arrays)} supports and objectives of shape {values.shape}."
            )
        self.names = [str(name) for name in names]
        masks = np.zeros((len(arrays), len(self.names)), dtype=bool)
        for mask, support in zip(masks, arrays, strict=True):
            if support.size and not 0 <= support.min() <= support.max() < mask.size:
                raise ValueError(
                    f"support {support.tolist()} has a feature outside 0 to "
                    f"{mask.size - 1}; give a name for every feature."
                )
            mask[support] = True
        order = np.argsort(values, kind="stable")
        self.masks, self.objectives = masks[order], values[order]
        self.complete = complete
        marked = masks.all(axis=0) if indispensable is None else list(indispensable)
        self.marked = np.zeros(len(self.names), dtype=bool)
        self.marked[marked] = True

    @classmethod
    def from_near_optimal(
        cls,
        near_optimal: Any,
        *,
        names: Sequence[str] | None = None,
        ax: Any = None,
        max_display: int = 25,
        max_models: int = 60,
    ) -> SupportsDisplay:
        """Draw an object that has ``supports`` and ``objectives``.

        A :class:`~frugalsvm.NearOptimal` also says which features are indispensable: in
        an incomplete list, features that all models use need not be.

        Parameters
        ----------
        near_optimal : object
        names : sequence of str, default=None
            Names of all features; ``near_optimal.feature_names`` if it has them, else
            x0, x1 and so on.
        ax : matplotlib Axes, default=None
        max_display, max_models : int, default=25 and 60
            Maximum numbers of features and models shown.

        Returns
        -------
        SupportsDisplay
        """
        supports = [np.asarray(s, dtype=np.int64) for s in near_optimal.supports]
        if names is None:
            names = getattr(near_optimal, "feature_names", None)
        if names is None:
            last = max((int(s.max()) for s in supports if s.size), default=-1)
            names = [f"x{j}" for j in range(last + 1)]
        roles, needed = getattr(near_optimal, "roles", None), None
        if roles is not None:
            needed = [role.feature for role in roles if role.role == "indispensable"]
        complete = getattr(near_optimal, "complete", True)
        display = cls(supports, names, near_optimal.objectives, needed, complete)
        return display.plot(ax=ax, max_display=max_display, max_models=max_models)

    def plot(
        self, *, ax: Any = None, max_display: int = 25, max_models: int = 60
    ) -> SupportsDisplay:
        """Draw into axes, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        max_display, max_models : int, default=25 and 60
            Maximum numbers of features and models shown. Counts are over all models.

        Returns
        -------
        SupportsDisplay
        """
        counts = self.masks.sum(axis=0)
        n_models = len(self.masks)
        # Among ties, features that better models use come first.
        first = np.where(counts > 0, self.masks.argmax(axis=0), n_models)
        order = np.lexsort((first, -counts))
        order = order[counts[order] > 0]
        shown = order[:max_display]
        cells = self.masks[:max_models, shown].T.astype(int)
        cells[self.marked[shown]] *= 2
        names = [self.names[j] for j in shown]
        ax = new_axes(ax, rows_width(names), rows_height(shown.size) + 0.3)
        self.mesh_ = draw_cells(ax, cells, [LIGHT_GREY, BLUE, ORANGE])
        name_rows(ax, names)
        notes = ["all" if counts[j] == n_models else f"{counts[j]:,}" for j in shown]
        note_rows(ax, notes)
        self._mark_objectives(ax, cells.shape[1])
        note_more(ax, order.size - shown.size, "features")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _mark_objectives(self, ax: Any, n_shown: int) -> None:
        """Label some models with their distance from the best."""
        best = self.objectives[0]
        excess = 100 * (self.objectives - best) / abs(best or 1.0)
        # An objective per inch of the axis.
        inches = ax.get_window_extent().width / ax.figure.dpi
        n_ticks = int(min(max(2, inches), n_shown))
        ticks = np.unique(np.linspace(0, n_shown - 1, n_ticks).astype(int))
        ax.set_xticks(ticks, [f"+{excess[t]:.2g} %" if t else "best" for t in ticks])
        ax.tick_params(axis="x", length=0)
        n_models = len(self.masks)
        which = f"{n_models:,}" if n_shown == n_models else f"{n_shown} of {n_models:,}"
        remark = "" if self.complete else " found (there may be more)"
        ax.set_xlabel(f"{which} models{remark}, by objective")
