"""Scorecard: integer points for ranges of features, to add up by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ..run import escaped
from .calibration import Calibration, fit_sigmoid, is_finite
from .card_parts import CardEvaluation, evaluate, parts_of, rows_of
from .origins import CLASS_WEIGHTS, columns_and_gaps
from .statistics import Ranges, Statistics, Values, class_codes

if TYPE_CHECKING:
    from .model import PortableModel

POINTS, BINS = 100, 6
# Integers up to this are exact as double-precision numbers.
MOST_POINTS = 2**53
# Number of rows in the table of probabilities.
N_TOTALS = 11


@dataclass(frozen=True, repr=False)
class Scorecard:
    """Integer points for ranges of features, from ``PortableModel.to_scorecard``.

    Attributes
    ----------
    ranges : tuple of Ranges and Values
        One per feature, that with the most points first. A group of 0/1 features of
        which at most one is 1 is one variable: the value with the fewest points has 0.
    threshold : int
        At this total of points or more, the second class is predicted: the first total
        whose score means that class for the model.
    offset, unit : float
        A total of t points stands for the score ``offset + unit * t`` of the model.
    calibration : Sigmoid or Isotonic
        Turns this score into the probability of the second class.
    model : PortableModel
        The original model.
    points, bins : int
        As requested.
    n_training : int
        Number of rows from which ranges and points were made.
    source : str or None
        The table with these rows, if they are not the training rows of the model, of
        which it has statistics.
    learned_from : str or None
        The table from which probabilities were learned, if any.
    evaluation : CardEvaluation or None
        Evaluation of the card on a table.
    """

    ranges: tuple[Ranges | Values, ...]
    threshold: int
    offset: float
    unit: float
    calibration: Calibration
    model: PortableModel
    points: int
    bins: int
    n_training: int
    source: str | None = None
    learned_from: str | None = None
    evaluation: CardEvaluation | None = None

    @property
    def classes(self) -> tuple[Any, ...]:
        """The two labels."""
        return self.model.classes

    @property
    def min_points(self) -> int:
        """The smallest possible total of points."""
        return sum(min(variable.points) for variable in self.ranges)

    @property
    def max_points(self) -> int:
        """The largest possible total of points."""
        return sum(max(variable.points) for variable in self.ranges)

    @property
    def constant(self) -> Any:
        """The class that the card predicts for all rows; None if it predicts both.

        Of the rows that it was evaluated on, or else of any.
        """
        if self.evaluation is not None:
            return self.evaluation.constant
        if self.min_points < self.threshold <= self.max_points:
            return None
        return self.classes[int(self.threshold <= self.min_points)]

    def total(self, X: Any) -> np.ndarray:
        """Totals of points; X as for :meth:`PortableModel.select`."""
        return self.total_of(self.model.select(X))

    def total_of(self, values: np.ndarray) -> np.ndarray:
        """Totals of points, for the values of the model's features."""
        table = dict(zip(self.model.names, values.T, strict=True))
        nothing = np.zeros(len(values), dtype=np.int64)
        return sum((variable.of_table(table) for variable in self.ranges), nothing)

    def predict(self, X: Any) -> np.ndarray:
        """Labels of samples."""
        is_second = self.total(X) >= self.threshold
        return np.array(self.classes)[is_second.astype(np.intp)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, one row per sample."""
        positive = self.probability(self.total(X))
        return np.column_stack([1.0 - positive, positive])

    def probability(self, total: Any) -> np.ndarray:
        """Probability of the second class for totals of points."""
        return self.calibration.probability(self.score(total))

    def score(self, total: Any) -> np.ndarray:
        """The scores of the model that totals of points stand for."""
        return self.offset + self.unit * np.asarray(total, dtype=np.float64)

    def to_frame(self) -> Any:
        """Points of all ranges as a DataFrame."""
        from ..estimators import pandas

        columns = ["feature", "unit", "range", "points"]
        return pandas().DataFrame(self._rows(), columns=columns)

    def _rows(self) -> list[tuple[str, str | None, str, int]]:
        return [
            (variable.name, variable.unit, text, points)
            for variable in self.ranges
            for text, points in zip(variable.words(), variable.points, strict=True)
        ]

    def totals(self) -> list[tuple[int, float]]:
        """Several totals of points with their probabilities."""
        spaced = np.linspace(0, self.max_points, min(N_TOTALS, self.max_points + 1))
        totals = np.unique(np.append(np.round(spaced), self.threshold).astype(int))
        totals = totals[totals <= self.max_points]
        return list(
            zip(totals.tolist(), self.probability(totals).tolist(), strict=True)
        )

    def warning(self) -> str:
        """A warning if the card predicts one class only, else an empty string."""
        if self.constant is None:
            return ""
        where, is_models = "whatever the points", False
        if self.evaluation is not None:
            where = f"for all {self.evaluation.n_samples:,} rows"
            is_models = self.evaluation.n_changed == 0
        return f"Constant card, of no use: it predicts {self.constant} {where}. " + (
            "So does the model."
            if is_models
            else "Its points are too coarse: try more points or bins."
        )

    def rule(self) -> str:
        """Which totals mean which class."""
        first, second = self.classes
        if self.threshold > self.max_points:
            return f"any total: {first}"
        if self.threshold <= self.min_points:
            return f"any total: {second}"
        return f"{self.threshold} points or more: {second}; fewer: {first}"

    def about(self) -> list[str]:
        """The origin of threshold, points and probabilities, in sentences."""
        return list(filter(None, (self._about_threshold(), self._about_points())))

    def _about_threshold(self) -> str:
        """Why a probability other than one half decides; empty if it is one half."""
        is_any = self.min_points < self.threshold <= self.max_points
        below, above = self.probability([self.threshold - 1, self.threshold]).tolist()
        if not is_any or below <= 0.5 <= above:
            return ""
        why = "the model predicts by its score, not by a probability"
        if self.model.threshold:
            why = (
                f"the model has the threshold {self.model.threshold:.4g} for its score"
            )
        elif CLASS_WEIGHTS in self.model.metadata:
            weights = self.model.metadata[CLASS_WEIGHTS]
            why = f"errors of the two classes had weights in the fit ({weights})"
        return (
            f"{self.classes[1]!r} is predicted from a probability of "
            f"{100 * above:.1f} % on, not from one half: {why}."
        )

    def _about_points(self) -> str:
        statistics, n = self.model.statistics, f"{self.n_training:,}"
        if statistics is None:
            text = (
                f"Made from the model and the {n} rows of {self.source}, as the model "
                "keeps no statistics of its training rows."
            )
        else:
            text = f"Made from the model and its statistics of {n} training rows"
            changed = rows_of(statistics.changed or 0, self.n_training)
            if statistics.changed is None:
                text += "; on how many of them card and model differ is not known."
            elif (self.points, self.bins) == (POINTS, BINS):
                text += f"; card and model differ on {changed}."
            else:
                text += (
                    f"; with {POINTS} points and {BINS} ranges, card and model differ "
                    f"on {changed}. With {self.points} and {self.bins} that is not "
                    "known: try the card on a table."
                )
        if self.learned_from is not None:
            return f"{text} Probabilities are learned from {self.learned_from}."
        if self.model.calibration is not None:
            return f"{text} Probabilities are by the calibration of the model."
        return (
            f"{text} Probabilities are learned from the training rows, and so "
            "optimistic; a calibrated model has better ones."
        )

    def title(self) -> str:
        """The table of the evaluation."""
        assert self.evaluation is not None
        about = f"On the {self.evaluation.n_samples:,} rows of {self.evaluation.name}"
        return f"{about}{', which it was made from' * (self.source is not None)}:"

    def __repr__(self) -> str:
        return (
            f"Scorecard({len(self.ranges)} features, {self.max_points} points, "
            f"{self.classes[1]!r} from {self.threshold})"
        )

    def __str__(self) -> str:
        rows = [(_titled(name, unit), r, p) for name, unit, r, p in self._rows()]
        name_width = max((len(name) for name, _, _ in rows), default=0)
        text_width = max((len(text) for _, text, _ in rows), default=0)
        lines, before = [], None
        for name, text, points in rows:
            shown = "" if name == before else name
            lines.append(f"{shown:<{name_width}}  {text:<{text_width}} {points:>5}")
            before = name
        lines += ["", self.rule()]
        lines += [
            f"{total:>5} points: probability of {self.classes[1]} {100 * p:5.1f} %"
            for total, p in self.totals()
        ]
        lines += ["", *self.about()]
        if self.evaluation is not None:
            header = ("points", "rows", "probability", "observed")
            table = [header, *self.evaluation.rows()]
            width = max(len(row[0]) for row in table)
            lines += ["", self.title()]
            lines += [f"{a:>{width}} {b:>9} {c:>12} {d:>9}" for a, b, c, d in table]
            lines.append(self.evaluation.verdict())
        warning = self.warning()
        return "\n".join([warning, "", *lines] if warning else lines)

    def _repr_html_(self) -> str:
        from ..report import notebook

        cells, before = [], None
        for name, unit, text, points in self._rows():
            shown = "" if name == before else escaped(_titled(name, unit))
            cells.append([shown, escaped(text), str(points)])
            before = name
        totals = [[str(total), f"{100 * p:.1f} %"] for total, p in self.totals()]
        parts = [
            notebook.table(["feature", "range", "points"], cells, "llr"),
            notebook.table(["sum", f"probability of {self.classes[1]}"], totals, "rr"),
            *map(notebook.note, self.about()),
        ]
        if self.evaluation is not None:
            header = ["sum", "rows", "probability", "observed"]
            parts += [
                notebook.note(self.title()),
                notebook.table(header, self.evaluation.rows(), "rrrr"),
                notebook.note(self.evaluation.verdict()),
            ]
        return notebook.box(self.warning() or self.rule(), *parts)


def build_scorecard(
    model: PortableModel,
    X: Any = None,
    y: Any = None,
    *,
    points: int = POINTS,
    bins: int = BINS,
    recalibrate: bool = False,
    name: str = "the table given",
) -> Scorecard:
    """See :meth:`PortableModel.to_scorecard`; ``name`` is that of X and y."""
    for what, value, least in (("points", points, 1), ("bins", bins, 2)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{what} must be an integer >= {least}, got {value!r}.")
    if (X is None) is not (y is None):
        raise ValueError("a scorecard needs both X and y, or neither.")
    if X is None:
        if recalibrate:
            raise ValueError("recalibrate needs X and y, to learn probabilities from.")
        if model.statistics is None:
            raise ValueError(
                "the model keeps no statistics of its training rows, so a scorecard "
                "needs a table for its ranges: give X and y, or the training rows to "
                "PortableModel.from_estimator."
            )
        return _card(model, model.statistics, points, bins)
    values, gaps = columns_and_gaps(model, X)
    codes = class_codes(model, y, len(values))
    if np.unique(codes).size < 2:
        raise ValueError("y must have samples of both classes.")
    statistics = model.statistics or Statistics.of(model, values, gaps, codes)
    card = _card(model, statistics, points, bins)
    if model.statistics is None:
        is_calibrated = model.calibration is not None
        learned_from = None if is_calibrated else name
        card = replace(card, source=name, learned_from=learned_from)
    if recalibrate:
        learned = fit_sigmoid(card.score(card.total_of(values)), codes)
        card = replace(card, calibration=learned, learned_from=name)
    return replace(card, evaluation=evaluate(card, values, codes == 1, name))


def n_changed(model: PortableModel, statistics: Statistics, values: np.ndarray) -> int:
    """Rows whose predicted class differs in the card of default points and ranges."""
    card = _card(model, statistics, POINTS, BINS)
    by_model = model.codes(model.scores_of(values)) == 1
    return int(((card.total_of(values) >= card.threshold) != by_model).sum())


@np.errstate(over="ignore", invalid="ignore")
def _card(
    model: PortableModel, statistics: Statistics, points: int, bins: int
) -> Scorecard:
    """A card of a model and its statistics."""
    parts = parts_of(model, statistics, bins)
    span = float(sum(np.ptp(part.levels[part.counts > 0]) for part in parts))
    unit = span / points if span > 0 else 1.0
    ranges, offset = [], float(model.intercepts[0])
    for part in parts:
        whole = np.rint((part.levels - part.levels[part.counts > 0].min()) / unit)
        # On average over the rows, a total stands for their score.
        offset += float(np.average(part.levels - unit * whole, weights=part.counts))
        if not (np.abs(whole) < MOST_POINTS).all():
            raise ValueError(
                "the weights of the model, or its statistics, are too far apart for "
                f"points: one feature would have {np.abs(whole).max():.3g}."
            )
        ranges.append(part.build(tuple(whole.astype(int).tolist())))
    ranges.sort(key=lambda variable: -max(variable.points))
    calibration = model.calibration
    if calibration is None:
        scores, counts = statistics.scores[0], np.array(statistics.scores[0].counts)
        shares = np.array(statistics.positive[0]) / counts
        calibration = fit_sigmoid(np.array(scores.centres), shares, counts)
    if not (np.isfinite([offset, unit]).all() and is_finite(calibration)):
        raise ValueError("the score of the model is too large for points.")
    card = Scorecard(
        tuple(ranges), 0, offset, unit, calibration, model, points, bins,
        statistics.n_rows,
    )  # fmt: skip
    return replace(card, threshold=_threshold(card))


def _threshold(card: Scorecard) -> int:
    """The first total whose score means the second class; above all if none does."""
    low, high = card.min_points, card.max_points + 1

    def is_positive(total: int) -> bool:
        return bool(card.model.are_positive(np.array([card.score(total)]))[0])

    if is_positive(low) and not is_positive(high):
        raise ValueError(
            "the probabilities of this model fall with its score, and those of a "
            "scorecard rise; calibrate the model again."
        )
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_positive(middle) else (middle + 1, high)
    return low


def _titled(name: str, unit: str | None) -> str:
    return f"{name} [{unit}]" if unit else name
