"""Objectives, bounds and scores by budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators import choose, one_standard_error, open_fitted
from .displays import BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, new_axes


class BudgetPathDisplay:
    """Objectives, bounds and scores for budgets of increasing size.

    Parameters
    ----------
    max_features : array-like of shape (n_budgets,)
        The budgets in increasing order.
    objectives, lower_bounds : array-likes of shape (n_budgets,), default=None
    scores, standard_errors : array-likes of shape (n_budgets,), default=None
        Means over the folds of a cross-validation, and their standard errors.
    chosen : int, default=None
        The chosen budget; by default the smallest whose score is within one standard
        error of the best.
    C : float, default=None
        For the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        max_features: Any,
        *,
        objectives: Any = None,
        lower_bounds: Any = None,
        scores: Any = None,
        standard_errors: Any = None,
        chosen: int | None = None,
        C: float | None = None,
    ) -> None:
        self.max_features = np.asarray(max_features)
        self.objectives = self._row("objectives", objectives)
        self.lower_bounds = self._row("lower_bounds", lower_bounds)
        self.scores = self._row("scores", scores)
        self.standard_errors = self._row("standard_errors", standard_errors)
        if self.objectives is None and self.scores is None:
            raise ValueError("give objectives, scores or both.")
        if chosen is None and self.scores is not None:
            _, column = choose(self.scores[None], self._errors()[None], "one-se")
            chosen = self.max_features[column]
        self.chosen = None if chosen is None else int(chosen)
        self.C = C

    def _row(self, name: str, values: Any) -> np.ndarray | None:
        if values is None:
            return None
        row = np.asarray(values, dtype=np.float64)
        if row.shape != self.max_features.shape:
            raise ValueError(
                f"{name} must have one entry for each of the {self.max_features.size} "
                f"budgets, got shape {row.shape}."
            )
        return row

    def _errors(self) -> np.ndarray:
        """The standard errors; zeros if there are none."""
        assert self.scores is not None
        errors = self.standard_errors
        return np.zeros(self.scores.shape) if errors is None else errors

    @classmethod
    def from_path(
        cls, path: Any, *, C: float | None = None, ax: Any = None
    ) -> BudgetPathDisplay:
        """Draw objectives and bounds of :func:`~frugalsvm.frugal_path`.

        Parameters
        ----------
        path : FrugalPath
        C : float, default=None
            Which C of the path; not needed if it has only one.
        ax : matplotlib Axes, default=None

        Returns
        -------
        BudgetPathDisplay
        """
        row = _row_of(path.C, C)
        display = cls(
            path.max_features,
            objectives=path.objectives[row],
            lower_bounds=path.lower_bounds[row],
            C=float(path.C[row]),
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        C: float | None = None,
        kind: str | None = None,
        ax: Any = None,
    ) -> BudgetPathDisplay:
        """Draw the path of a cross-validated FrugalSVC, with its choice.

        Parameters
        ----------
        estimator : fitted estimator with ``path_``
            Alone or at the end of a pipeline.
        C : float, default=None
            Which C of the path; by default the chosen one.
        kind : {"objective", "score"}, default=None
            What to draw; by default scores.
        ax : matplotlib Axes, default=None

        Returns
        -------
        BudgetPathDisplay
        """
        last = open_fitted(estimator).last
        path = getattr(last, "path_", None)
        if path is None:
            raise ValueError(
                f"{type(last).__name__} has no path_ over budgets; use from_path for "
                "the result of frugal_path."
            )
        weight = last.best_C_ if C is None else C
        row = _row_of(path.C, weight)
        display = cls(
            path.max_features,
            objectives=path.objectives[row],
            lower_bounds=path.lower_bounds[row],
            scores=path.score_mean[row],
            standard_errors=path.score_se[row],
            # The choice is of B and C together.
            chosen=last.best_max_features_ if weight == last.best_C_ else None,
            C=float(path.C[row]),
        )
        return display.plot(kind=kind, ax=ax)

    def plot(self, *, kind: str | None = None, ax: Any = None) -> BudgetPathDisplay:
        """Draw into axes, or into a new figure.

        Parameters
        ----------
        kind : {"objective", "score"}, default=None
            What to draw; by default scores, if there are any.
        ax : matplotlib Axes, default=None

        Returns
        -------
        BudgetPathDisplay
        """
        if kind is None:
            kind = "objective" if self.scores is None else "score"
        curves = {"objective": self.objectives, "score": self.scores}
        if curves.get(kind) is None:
            kinds = [repr(name) for name, curve in curves.items() if curve is not None]
            raise ValueError(f"kind must be {' or '.join(kinds)} here, got {kind!r}.")
        ax = new_axes(ax)
        if kind == "objective":
            self._draw_objectives(ax)
        else:
            self._draw_scores(ax)
        if self.C is not None:
            ax.set_title(f"C = {self.C:g}", loc="right", fontsize="small", color=GREY)
        ax.set_xlabel("budget (maximum number of features)")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_objectives(self, ax: Any) -> None:
        assert self.objectives is not None
        budgets = self.max_features
        ax.plot(budgets, self.objectives, "o-", color=BLUE, label="objective")
        if self.lower_bounds is not None:
            ax.fill_between(
                budgets,
                self.lower_bounds,
                self.objectives,
                color=LIGHT_GREY,
                linewidth=0,
            )
            ax.plot(
                budgets, self.lower_bounds, "v--", color=ORANGE, label="lower bound"
            )
        self._mark_chosen(ax)
        ax.set(ylabel="objective")
        ax.set_ylim(bottom=0.0)

    def _draw_scores(self, ax: Any) -> None:
        assert self.scores is not None
        budgets = self.max_features
        best = int(np.nanargmax(self.scores))
        ax.errorbar(
            budgets, self.scores, yerr=self.standard_errors, fmt="o-", color=BLUE,
            ecolor=BLUE, elinewidth=1.0, capsize=2.5, label="mean, standard error",
        )  # fmt: skip
        ax.plot(
            budgets[best],
            self.scores[best],
            "*",
            color=ORANGE,
            markersize=13,
            label=f"best: {budgets[best]}",
        )
        if self.standard_errors is not None:
            ax.axhline(
                one_standard_error(self.scores, self._errors()),
                color=GREY,
                linestyle=":",
                linewidth=1.0,
                label="best minus one standard error",
            )
        self._mark_chosen(ax)
        ax.set(ylabel="score")

    def _mark_chosen(self, ax: Any) -> None:
        if self.chosen is not None:
            ax.axvline(
                self.chosen,
                color=GREEN,
                linestyle="-.",
                linewidth=1.4,
                label=f"chosen: {self.chosen}",
            )


def _row_of(weights: np.ndarray, C: float | None) -> int:
    """The row of a C in a path."""
    listed = ", ".join(f"{weight:g}" for weight in weights)
    if C is None:
        if len(weights) > 1:
            raise ValueError(
                f"the path has several C ({listed}); choose one with C=..."
            )
        return 0
    rows = np.flatnonzero(np.isclose(weights, C, rtol=1e-9, atol=0.0))
    if rows.size == 0:
        raise ValueError(f"the path has C = {listed}, got C={C!r}.")
    return int(rows[0])
