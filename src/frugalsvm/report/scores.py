"""Distributions of scores by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .style import BLUE, GREY, ORANGE, label, new_axes


class ScoresDisplay:
    """Histograms of the scores of two classes, with threshold and margins.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
    y : array-like of shape (n_samples,)
        Labels.
    classes : pair of labels
        What negative and positive scores mean.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, scores: Any, y: Any, classes: Any) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        self.y = np.asarray(y)
        self.classes = tuple(classes)
        if len(self.classes) != 2:
            raise ValueError(
                f"there are {len(self.classes)} classes, and histograms are of the "
                "score of one against the others: for class number k give "
                "scores[:, k], y == classes[k] and the classes (False, True)."
            )
        if self.scores.ndim != 1 or self.y.shape != self.scores.shape:
            raise ValueError(
                f"there must be a score and a label for each sample, got shapes "
                f"{self.scores.shape} and {self.y.shape}."
            )
        unknown = set(self.y.tolist()) - set(np.array(self.classes).tolist())
        if unknown:
            raise ValueError(
                f"y has label {next(iter(unknown))!r}, but the classes are "
                f"{self.classes[0]!r} and {self.classes[1]!r}."
            )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, bins: int = 30
    ) -> ScoresDisplay:
        """Draw the scores that a classifier gives to samples.

        Parameters
        ----------
        estimator : fitted classifier with ``decision_function``, or PortableModel
        X, y : array-likes
            Samples and their labels, preferably not those of the fit.
        ax : matplotlib Axes, default=None
        bins : int, default=30

        Returns
        -------
        ScoresDisplay
        """
        classes = getattr(estimator, "classes_", None)
        classes = estimator.classes if classes is None else classes
        scores = estimator.decision_function(X)
        return cls(scores, y, classes).plot(ax=ax, bins=bins)

    def plot(self, *, ax: Any = None, bins: int = 30) -> ScoresDisplay:
        """Draw into axes, or into a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        bins : int, default=30

        Returns
        -------
        ScoresDisplay
        """
        ax = new_axes(ax)
        edges = np.histogram_bin_edges(self.scores, bins=bins)
        # Line styles distinguish the classes if colours do not.
        kinds = ((ORANGE, "--"), (BLUE, "-"))
        for one, (colour, line) in zip(self.classes, kinds, strict=True):
            members = self.scores[self.y == one]
            common = {"bins": edges, "color": colour}
            ax.hist(members, alpha=0.3, **common)
            ax.hist(
                members, histtype="step", linewidth=1.6, linestyle=line,
                label=f"{label(one)}  ({members.size:,})", **common,
            )  # fmt: skip
        ax.axvline(0.0, color="black", linewidth=1.0)
        for margin in (-1.0, 1.0):
            ax.axvline(margin, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(xlabel="score", ylabel="samples")
        wrong = ((self.scores > 0) != (self.y == self.classes[1])).mean()
        ax.set_title(
            f"{100 * wrong:.1f} % on the wrong side", loc="right", fontsize="small",
            color=GREY,
        )  # fmt: skip
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
