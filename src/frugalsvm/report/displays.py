"""Displays of weights, scores and progress, and the common parts of all plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimators import open_fitted
from ..run import gap_words, relative_gap

# From the colour-blind-safe palette of Okabe and Ito.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7f7f7f"
LIGHT_GREY = "#e6e6e6"
# Maximum number of characters of a name.
N_LETTERS = 36


def new_axes(ax: Any, width: float = 6.0, height: float = 3.8) -> Any:
    """The axes ``ax``, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plotting needs matplotlib, which is not installed: "
            "pip install frugalsvm[plot]."
        ) from error
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def rows_height(n_rows: int) -> float:
    """Height of a figure with one line of text per row."""
    return max(1.8, 1.0 + 0.27 * n_rows)


def rows_width(names: list[str]) -> float:
    """Width of a figure that leaves room for the names of its rows."""
    longest = max((len(label(name)) for name in names), default=0)
    return 4.4 + 0.075 * longest


def label(name: object) -> str:
    """A name for Matplotlib: shortened, and escaped so that it is not a formula."""
    text = " ".join(str(name).split())
    if len(text) > N_LETTERS:
        half = (N_LETTERS - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def name_rows(ax: Any, names: list[str]) -> None:
    """Names beside rows 0, 1, ... from top to bottom."""
    ax.set_yticks(range(len(names)), [label(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def note_rows(ax: Any, notes: list[str]) -> None:
    """A short text to the right of each row."""
    for row, text in enumerate(notes):
        ax.annotate(
            text,
            (1.0, row),
            (5, 0),
            va="center",
            fontsize="small",
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            annotation_clip=False,
        )


def note_more(ax: Any, n_more: int, noun: str) -> None:
    """A note below a plot on how many rows are not shown."""
    if n_more > 0:
        ax.annotate(
            f"and {n_more:,} more {noun}", (1.0, 0.0), (0, -32), ha="right", va="top",
            xycoords="axes fraction", textcoords="offset points", fontsize="small",
            color=GREY,
        )  # fmt: skip


# --- Weights of a linear classifier: bars, or a heat map of those of several classes --


class WeightsDisplay:
    """Weights of the selected features, the largest first.

    Parameters
    ----------
    weights : array-like of shape (n_features,) or (n_classes, n_features)
        Features whose weights are all zero are omitted.
    names : sequence of str
    classes : sequence of labels, default=None
        The classes of negative and positive scores, or the labels of several classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        For one row of weights.
    mesh_ : matplotlib QuadMesh
        For a row of weights per class.
    """

    def __init__(
        self, weights: Any, names: Sequence[str], classes: Sequence[Any] | None = None
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
        nonzero = np.flatnonzero(sizes)
        order = nonzero[np.argsort(-sizes[nonzero], kind="stable")]
        shown = order[:max_display]
        weights = self.weights[..., shown]
        names = [self.names[j] for j in shown]
        width = rows_width(names)
        if weights.ndim == 2:
            # Inches for each of more than five classes.
            width += 0.8 * max(0, len(weights) - 5)
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
        if self.classes is None:
            ax.set_xlabel("weight")
        else:
            first, second = map(label, self.classes)
            ax.set_xlabel(f"weight  (negative: {first}, positive: {second})")

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
            # White numbers in dark cells.
            ax.text(
                k,
                j,
                f"{weight:+.3g}",
                ha="center",
                va="center",
                fontsize="small",
                color="white" if abs(weight) > 0.75 * most else "black",
            )
        ax.spines[:].set_visible(False)
        classes = range(n_classes) if self.classes is None else self.classes
        ax.set_xticks(range(n_classes), [label(name) for name in classes])
        ax.tick_params(axis="x", length=0)
        ax.set_xlabel("weight by class")


# --- Distributions of scores by class -------------------------------------------------


class ScoresDisplay:
    """Histograms of the scores of two classes, with threshold and margins.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
    y : array-like of shape (n_samples,)
        Labels.
    classes : pair of labels
        The classes of negative and positive scores.

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
        for name, (colour, line) in zip(self.classes, kinds, strict=True):
            members = self.scores[self.y == name]
            common = {"bins": edges, "color": colour}
            ax.hist(members, alpha=0.3, **common)
            ax.hist(
                members,
                histtype="step",
                linewidth=1.6,
                linestyle=line,
                label=f"{label(name)}  ({members.size:,})",
                **common,
            )
        ax.axvline(0.0, color="black", linewidth=1.0)
        for margin in (-1.0, 1.0):
            ax.axvline(margin, color=GREY, linewidth=0.8, linestyle=":")
        ax.set(xlabel="score", ylabel="samples")
        wrong = ((self.scores > 0) != (self.y == self.classes[1])).mean()
        ax.set_title(
            f"{100 * wrong:.1f} % on the wrong side",
            loc="right",
            fontsize="small",
            color=GREY,
        )
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


# --- Incumbent and bound over time ----------------------------------------------------


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
        if positive.size and end / positive[0] > 20.0:
            ax.set_xscale("log")
            # Entries at time 0 are drawn a little before the rest.
            times = np.maximum(times, positive[0] / 2)
        is_finite = np.isfinite(objectives)
        ax.fill_between(
            times[is_finite],
            bounds[is_finite],
            objectives[is_finite],
            step="post",
            color=LIGHT_GREY,
            linewidth=0,
        )
        self.lines_ = [
            *ax.step(times[is_finite], objectives[is_finite], where="post", color=BLUE,
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
