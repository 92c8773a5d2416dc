"""Scorecard: integer points for ranges of features, to add up by hand."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime import markup
from .calibration import Sigmoid, fit_sigmoid
from .origins import CLASS_WEIGHTS
from .parts import Group
from .points import Ranges, Values, are_values, places

if TYPE_CHECKING:
    from .model import PortableModel

# Significant digits of the limits between ranges.
DIGITS = 3
# Number of rows in the table of probabilities.
N_TOTALS = 11


@dataclass(frozen=True, repr=False)
class Scorecard:
    """Integer points for ranges of features, from ``PortableModel.to_scorecard``.

    Attributes
    ----------
    ranges : tuple of Ranges and Values
        One per feature, the one with the most points first. A group of 0/1 features of
        which at most one is 1 is one variable: the value with the fewest points has 0.
    threshold : int
        At this total of points or more, the second class is predicted. It is the one
        that agrees best with the labels that the model predicts for those samples.
    classes : tuple of two labels
    calibration : Sigmoid
        Turns a total of points into the probability of the second class.
    n_samples : int
        Number of samples it was made from.
    accuracy, model_accuracy : float
        Accuracy of the card and of the original model, on those samples.
    balanced_accuracy, model_balanced_accuracy : float
        The same, if both classes count alike; shown if the model had class weights.
    changed : float
        Fraction of those samples on which the two differ.
    constant : label or None
        The class that the card predicts for all samples; None if it predicts both.
    model : PortableModel
        The original model.
    """

    ranges: tuple[Ranges | Values, ...]
    threshold: int
    classes: tuple[Any, ...]
    calibration: Sigmoid
    n_samples: int
    accuracy: float
    model_accuracy: float
    balanced_accuracy: float
    model_balanced_accuracy: float
    changed: float
    constant: Any
    model: PortableModel

    @property
    def accuracy_loss(self) -> float:
        """Accuracy lost compared with the model; negative if the card gains."""
        return self.model_accuracy - self.accuracy

    @property
    def max_points(self) -> int:
        """The largest possible total of points."""
        return sum(max(one.points) for one in self.ranges)

    def total(self, X: Any) -> np.ndarray:
        """Totals of points; X as for :meth:`PortableModel.select`."""
        return _total(self.ranges, self.model, X)

    def predict(self, X: Any) -> np.ndarray:
        """Labels of samples."""
        positive = self.total(X) >= self.threshold
        return np.array(self.classes)[positive.astype(np.intp)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, one row per sample."""
        positive = self.probability(self.total(X))
        return np.column_stack([1.0 - positive, positive])

    def probability(self, total: Any) -> np.ndarray:
        """Probability of the second class for totals of points."""
        return self.calibration.probability(np.asarray(total, dtype=np.float64))

    def to_frame(self) -> Any:
        """Points of all ranges as a DataFrame."""
        from ...api.estimators.summary import pandas

        columns = ["feature", "unit", "range", "points"]
        return pandas().DataFrame(self._rows(), columns=columns)

    def _rows(self) -> list[tuple[str, str | None, str, int]]:
        return [
            (one.name, one.unit, words, points)
            for one in self.ranges
            for words, points in zip(one.words(), one.points, strict=True)
        ]

    def _totals(self) -> list[tuple[int, float]]:
        """Some totals of points with their probabilities."""
        spaced = np.linspace(0, self.max_points, min(N_TOTALS, self.max_points + 1))
        totals = np.unique(np.append(np.round(spaced), self.threshold).astype(int))
        totals = totals[totals <= self.max_points]
        return list(
            zip(totals.tolist(), self.probability(totals).tolist(), strict=True)
        )

    def _warning(self) -> str:
        """What is said first of a card that predicts one class; empty otherwise."""
        if self.constant is None:
            return ""
        return (
            f"Constant card, of no use: it predicts {self.constant} for all "
            f"{self.n_samples:,} samples. "
            + (
                "So does the model."
                if self.changed == 0
                else "Its points are too coarse: try more points or bins."
            )
        )

    def _rule(self) -> str:
        """Which totals mean which class."""
        first, second = self.classes
        if self.threshold > self.max_points:
            return f"any total: {first}"
        if self.threshold <= sum(min(one.points) for one in self.ranges):
            return f"any total: {second}"
        return f"{self.threshold} points or more: {second}; fewer: {first}"

    def _verdict(self) -> str:
        name, own, models = "accuracy", self.accuracy, self.model_accuracy
        if CLASS_WEIGHTS in self.model.metadata:
            # Of a rare class, accuracy is highest for a card that never finds it.
            name = "balanced accuracy"
            own, models = self.balanced_accuracy, self.model_balanced_accuracy
        loss = 100 * (models - own)
        word = "less" if loss >= 0 else "more"
        return (
            f"{name} {100 * own:.1f} % on {self.n_samples:,} samples, "
            f"{abs(loss):.1f} percentage points {word} than the model's "
            f"{100 * models:.1f} %; they differ on {100 * self.changed:.1f} %"
        )

    def __repr__(self) -> str:
        return (
            f"Scorecard({len(self.ranges)} features, {self.max_points} points, "
            f"{self.classes[1]!r} from {self.threshold}, "
            f"accuracy loss={100 * self.accuracy_loss:.1f} %)"
        )

    def __str__(self) -> str:
        rows = [(_titled(name, unit), r, p) for name, unit, r, p in self._rows()]
        wide = max((len(name) for name, _, _ in rows), default=0)
        span = max((len(words) for _, words, _ in rows), default=0)
        lines, before = [], None
        for name, words, points in rows:
            shown = "" if name == before else name
            lines.append(f"{shown:<{wide}}  {words:<{span}} {points:>5}")
            before = name
        lines += ["", self._rule()]
        lines += [
            f"{total:>5} points: probability {100 * p:5.1f} %"
            for total, p in self._totals()
        ]
        first = [self._warning(), ""] if self._warning() else []
        return "\n".join([*first, *lines, "", self._verdict()])

    def _repr_html_(self) -> str:
        cells, before = [], None
        for name, unit, words, points in self._rows():
            shown = "" if name == before else markup.escaped(_titled(name, unit))
            cells.append([shown, markup.escaped(words), str(points)])
            before = name
        totals = [[str(total), f"{100 * p:.1f} %"] for total, p in self._totals()]
        return markup.box(
            self._warning() or self._rule(),
            markup.table(["feature", "range", "points"], cells, "llr"),
            markup.table(["sum", "probability"], totals, "rr"),
            markup.facts([("", self._verdict())]),
        )


def build_scorecard(
    model: PortableModel, X: Any, y: Any, points: int, bins: int
) -> Scorecard:
    """See :meth:`PortableModel.to_scorecard`."""
    for name, value, least in (("points", points, 1), ("bins", bins, 2)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be an integer >= {least}, got {value!r}.")
    values = model.select(X)
    positive = _positive(model, y, len(values))
    contributions = _contributions(model, values)
    table = dict(zip(model.names, values.T, strict=True))
    groups = [one for one in model.groups if _is_variable(one, model, table)]
    grouped = {name for one in groups for name in one.features}
    single = [j for j, one in enumerate(model.features) if one.name not in grouped]
    limits = [_limits(values[:, j], bins) for j in single]
    levels = [
        _levels(values[:, j], contributions[:, j], some)
        for j, some in zip(single, limits, strict=True)
    ]
    parts = [_value_parts(one, model) for one in groups]
    known = [
        part[
            : len(part) - 1 + bool((places(one.features, table) == len(part) - 1).any())
        ]
        for one, part in zip(groups, parts, strict=True)
    ]
    span = sum(float(np.ptp(level)) for level in [*levels, *known])
    unit = span / points if span > 0 else 1.0
    ranges: list[Ranges | Values] = [
        _ranges(
            model.features[j].name, model.features[j].unit, some, _integers(level, unit)
        )
        for j, some, level in zip(single, limits, levels, strict=True)
    ]
    ranges += [
        Values(one.name, one.features, _integers(part, unit, float(few.min())))
        for one, part, few in zip(groups, parts, known, strict=True)
    ]
    ranges.sort(key=lambda one: -max(one.points))
    total = _total(ranges, model, X)
    own = model.predict(X) == model.classes[1]
    threshold = _threshold(total, own)
    card = total >= threshold
    return Scorecard(
        tuple(ranges),
        threshold,
        model.classes,
        fit_sigmoid(total.astype(np.float64), positive),
        len(values),
        float((card == positive).mean()),
        float((own == positive).mean()),
        _balanced(card, positive),
        _balanced(own, positive),
        float((card != own).mean()),
        model.classes[int(card[0])] if (card == card[0]).all() else None,
        model,
    )


def _total(ranges: Any, model: PortableModel, X: Any) -> np.ndarray:
    values = model.select(X)
    table = dict(zip(model.names, values.T, strict=True))
    nothing = np.zeros(len(values), dtype=np.int64)
    return sum((one.of_table(table) for one in ranges), nothing)


def _positive(model: PortableModel, y: Any, n_samples: int) -> np.ndarray:
    labels = np.asarray(y)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"y must have one label for each of the {n_samples} samples, got shape "
            f"{labels.shape}."
        )
    unknown = set(labels.tolist()) - set(model.classes)
    if unknown:
        raise ValueError(
            f"y has label {next(iter(unknown))!r}, but the model knows "
            f"{model.classes[0]!r} and {model.classes[1]!r}."
        )
    positive = labels == model.classes[1]
    if positive.all() or not positive.any():
        raise ValueError("y must have samples of both classes.")
    return positive


def _contributions(model: PortableModel, values: np.ndarray) -> np.ndarray:
    """What each feature adds to the score of each sample."""
    scaled = (values - model.column("mean")) / model.column("scale")
    return scaled * model.column("weight")


def _is_variable(
    group: Group, model: PortableModel, table: dict[str, np.ndarray]
) -> bool:
    """Whether a group is a categorical variable whose weights may be shifted."""
    if any(name in model.signs for name in group.features):
        return False
    return len(group.features) > 1 and are_values(group.features, table)


def _value_parts(group: Group, model: PortableModel) -> np.ndarray:
    """What each value of a variable adds to the score, and any other value."""
    own = [model.names.index(name) for name in group.features]
    per_unit = model.coef[0, own] / model.column("scale")[own]
    others = -float(per_unit @ model.column("mean")[own])
    return np.array([*(others + per_unit), others])


def _limits(values: np.ndarray, bins: int) -> np.ndarray:
    """Limits between ranges of about equal sample counts, in round numbers."""
    distinct = np.unique(values)
    if distinct.size <= bins:
        return (distinct[1:] + distinct[:-1]) / 2
    parts = np.arange(1, bins) / bins
    # If most values are equal to the smallest, the others still get a range.
    exact = np.unique(np.maximum(np.quantile(values, parts), distinct[1]))
    rounded = np.array([float(f"{limit:.{DIGITS}g}") for limit in exact])
    # Far from zero, three digits may not be enough.
    limits = np.unique(rounded if np.unique(rounded).size == exact.size else exact)
    # Only ranges with samples have a level.
    taken = np.unique(np.searchsorted(limits, values, side="right"))
    return limits[taken[1:] - 1]


def _levels(
    values: np.ndarray, contributions: np.ndarray, limits: np.ndarray
) -> np.ndarray:
    """Mean contribution to the score in each range."""
    place = np.searchsorted(limits, values, side="right")
    n_ranges = limits.size + 1
    sums = np.bincount(place, weights=contributions, minlength=n_ranges)
    return sums / np.bincount(place, minlength=n_ranges)


def _ranges(
    name: str, unit: str | None, limits: np.ndarray, points: tuple[int, ...]
) -> Ranges:
    """Merge neighbouring ranges with the same points."""
    kept = [k for k in range(limits.size) if points[k] != points[k + 1]]
    return Ranges(
        name,
        unit,
        tuple(limits[kept].tolist()),
        (points[0], *(points[k + 1] for k in kept)),
    )


def _integers(
    levels: np.ndarray, unit: float, least: float | None = None
) -> tuple[int, ...]:
    zero = levels.min() if least is None else least
    return tuple(np.rint((levels - zero) / unit).astype(int).tolist())


def _threshold(total: np.ndarray, own: np.ndarray) -> int:
    """The threshold that agrees best with a model's labels; the middle of equals.

    All samples are on one side of it only if they are for the model, too, or if all
    totals are the same.
    """
    totals, place = np.unique(total, return_inverse=True)
    # All thresholds between neighbouring totals are equivalent: try one for each gap.
    first = np.append(totals[0], totals + 1)
    last = np.append(totals, totals[-1] + 1)
    # Totals below a threshold agree where the model says no, the others where yes.
    below = np.append(0, np.cumsum(np.bincount(place, ~own)))
    above = np.append(0, np.cumsum(np.bincount(place, own)))
    agreeing = below + above[-1] - above
    if own.any() and not own.all() and totals.size > 1:
        agreeing[[0, -1]] = -1
    best = np.flatnonzero(agreeing == agreeing.max())
    middle = best[best.size // 2]
    return int((first[middle] + last[middle]) // 2)


def _balanced(predicted: np.ndarray, positive: np.ndarray) -> float:
    """Balanced accuracy."""
    return float((predicted[positive].mean() + (~predicted[~positive]).mean()) / 2)


def _titled(name: str, unit: str | None) -> str:
    return f"{name} [{unit}]" if unit else name
