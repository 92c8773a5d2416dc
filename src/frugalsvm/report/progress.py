"""Incumbent and bound over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators.fitted import open_fitted
from ..run.progress import relative_gap
from ..run.words import gap_words
from .style import BLUE, GREY, LIGHT_GREY, ORANGE, new_axes

# Above this ratio of times, the time axis is logarithmic.
LOG_RATIO = 20.0


class ProgressDisplay:
    """Best objective and lower bound over the time of a run.

    Parameters
    ----------
    history : sequence of (seconds, objective, lower_bound)
        As in :class:`~frugalsvm.Result`.
    seconds : float, default=None
        When the run ended; by default, the time of the last entry.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Objective and bound.
    """

    def __init__(
        self,
        history: Sequence[tuple[float, float, float]],
        seconds: float | None = None,
    ) -> None:
        if not len(history):
            raise ValueError("history is empty: there is nothing to draw.")
        table = np.array(history, dtype=np.float64)
        self.times, self.objectives, self.lower_bounds = table.T
        self.seconds = float(self.times[-1] if seconds is None else seconds)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ProgressDisplay:
        """Draw the run of a fitted FrugalSVC, or of a pipeline that ends with one.

        Parameters
        ----------
        estimator : fitted estimator with ``result_``
        ax : matplotlib Axes, default=None

        Returns
        -------
        ProgressDisplay
        """
        last = open_fitted(estimator).last
        if not hasattr(last, "result_"):
            raise ValueError(
                f"{type(last).__name__} has no result_ with a history; fit a FrugalSVC."
            )
        return cls.from_result(last.result_, ax=ax)

    @classmethod
    def from_result(cls, result: Any, *, ax: Any = None) -> ProgressDisplay:
        """Draw the history of a result.

        Parameters
        ----------
        result : Result
        ax : matplotlib Axes, default=None

        Returns
        -------
        ProgressDisplay
        """
        return cls(result.history, result.seconds).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ProgressDisplay:
        """Draw into axes, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None

        Returns
        -------
        ProgressDisplay
        """
        ax = new_axes(ax)
        end = max(self.seconds, self.times[-1])
        times = np.append(self.times, end)
        objectives = np.append(self.objectives, self.objectives[-1])
        bounds = np.append(self.lower_bounds, self.lower_bounds[-1])
        positive = times[times > 0]
        if positive.size and end / positive[0] > LOG_RATIO:
            ax.set_xscale("log")
            # Entries at time 0 are drawn a little before the rest.
            times = np.maximum(times, positive[0] / 2)
        found = np.isfinite(objectives)
        ax.fill_between(
            times[found], bounds[found], objectives[found], step="post",
            color=LIGHT_GREY, linewidth=0,
        )  # fmt: skip
        self.lines_ = [
            *ax.step(times[found], objectives[found], where="post", color=BLUE,
                     label="best objective"),
            *ax.step(times, bounds, where="post", color=ORANGE, linestyle="--",
                     label="lower bound"),
        ]  # fmt: skip
        gap = gap_words(relative_gap(float(objectives[-1]), float(bounds[-1])))
        ax.set_title(f"gap {gap}", loc="right", fontsize="small", color=GREY)
        ax.set(xlabel="seconds", ylabel="objective")
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
