"""The ranges and values of a scorecard, and its evaluation on a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .content import Group
from .origins import CLASS_WEIGHTS, Origin, read_origins
from .statistics import LEAST, Distribution, Ranges, Statistics, Values

if TYPE_CHECKING:
    from .model import PortableModel
    from .scorecard import Scorecard

# Sums of squares with a smaller relative difference are equal.
TOL = 1e-9


@dataclass(frozen=True)
class CardPart:
    """Ranges or values: what each adds to the score, and its number of rows."""

    levels: np.ndarray
    counts: np.ndarray
    build: Callable[[tuple[int, ...]], Ranges | Values]


def parts_of(model: PortableModel, statistics: Statistics, bins: int) -> list[CardPart]:
    """A part for each feature, or for a variable of several 0/1 features."""
    variables = [
        group
        for group in model.groups
        if group.name in statistics.variables
        and len(group.features) > 1
        # Weights inside a group that have signs are not moved.
        and not any(name in model.signs for name in group.features)
    ]
    grouped = {name for group in variables for name in group.features}
    origins = read_origins(model)
    return [
        _range_part(j, origins[j], model, statistics, bins)
        for j, name in enumerate(model.names)
        if name not in grouped
    ] + [_values_part(group, model, statistics) for group in variables]


def _range_part(
    j: int, origin: Origin, model: PortableModel, statistics: Statistics, bins: int
) -> CardPart:
    """The ranges of a feature, each of neighbouring bins that are most alike."""
    feature, distribution = model.features[j], statistics.features[j]
    edges, centres = list(distribution.edges), np.array(distribution.centres)
    counts = np.array(distribution.counts, dtype=np.float64)
    if origin.is_zero_or_one:
        # Both values are possible, however rare.
        ones = _n_ones(distribution)
        edges, centres = [0.5], np.array([0.0, 1.0])
        counts = np.array([statistics.n_rows - ones, ones], dtype=np.float64)
    elif origin.is_number and origin.fill is not None:
        # Numbers that are imputed are not in the counts.
        k, n = int(distribution.bins(np.array(origin.fill))), statistics.missing[j]
        centres[k] = (counts[k] * centres[k] + n * origin.fill) / (counts[k] + n)
        counts[k] += n
    starts = _starts(centres, counts, bins)
    sums = np.add.reduceat(counts, starts)
    # A range without rows has the mean of its values.
    means = np.add.reduceat(centres * np.maximum(counts, TOL), starts)
    means /= np.add.reduceat(np.maximum(counts, TOL), starts)
    limits = [edges[k - 1] for k in starts[1:]]
    assert isinstance(feature.weight, float)
    levels = (means - feature.mean) / feature.scale * feature.weight

    def build(points: tuple[int, ...]) -> Ranges:
        # Neighbours with the same points are one range.
        ends = [k for k, (a, b) in enumerate(pairwise(points)) if a != b]
        return Ranges(
            feature.name,
            feature.unit,
            tuple(limits[k] for k in ends),
            (points[0], *(points[k + 1] for k in ends)),
            origin.is_zero_or_one,
        )

    return CardPart(levels, sums, build)


def _values_part(
    group: Group, model: PortableModel, statistics: Statistics
) -> CardPart:
    """The values of a variable, and any other value."""
    columns = [model.names.index(name) for name in group.features]
    per_unit = model.coef[0, columns] / model.column("scale")[columns]
    others = -float(per_unit @ model.column("mean")[columns])
    counts = [_n_ones(statistics.features[j]) for j in columns]
    n_others = statistics.n_rows - sum(counts)
    # Fewer rows may be those of rare values, which are not counted.
    counts.append(n_others if n_others >= LEAST or not any(counts) else 0)
    return CardPart(
        np.array([*(others + per_unit), others]),
        np.array(counts, dtype=np.float64),
        lambda points: Values(group.name, group.features, points),
    )


def _n_ones(distribution: Distribution) -> int:
    """Rows in which a 0/1 feature is 1."""
    pairs = zip(distribution.centres, distribution.counts, strict=True)
    return sum(count for centre, count in pairs if centre > 0.5)


def _starts(centres: np.ndarray, counts: np.ndarray, n_ranges: int) -> list[int]:
    """The first bin of each range, for the least squared distances within ranges."""
    n = centres.size
    if n <= n_ranges:
        return list(range(n))
    x = centres - np.average(centres, weights=counts)
    x = x / np.abs(x).max()
    sums = [np.append(0.0, np.cumsum(counts * x**power)) for power in range(3)]
    ends = _ends(n, n_ranges)
    n_rows, total, squares = (np.diff(moments[ends]) for moments in sums)
    inside = (squares - total**2 / n_rows).sum(axis=1)
    best = np.argmax(inside <= inside.min() + TOL * sums[2][-1])
    return ends[best, :-1].tolist()


@cache
def _ends(n: int, n_ranges: int) -> np.ndarray:
    """All ways to join bins to ranges, in rows: where they begin, and the end."""
    inner = combinations(range(1, n), n_ranges - 1)
    return np.array([(0, *starts, n) for starts in inner])


# --- Evaluation on a table ------------------------------------------------------------

# Bands of totals with about equally many rows, apart from the threshold.
N_BANDS = 8


class Band(NamedTuple):
    """Rows with similar totals of points.

    Attributes
    ----------
    first, last : int
        The totals of the band.
    n_samples : int
    probability : float
        The mean of the card's probabilities of the second class.
    observed : float
        The share of the second class.
    """

    first: int
    last: int
    n_samples: int
    probability: float
    observed: float


class CardEvaluation(NamedTuple):
    """A scorecard on a table.

    Attributes
    ----------
    name : str
        Name of the table.
    n_samples : int
    accuracy, model_accuracy : float
        Accuracy of the card and of the original model.
    balanced_accuracy, model_balanced_accuracy : float
        The same with equal weight for both classes, shown if the model had class
        weights.
    n_changed : int
        Rows for which the card and the model predict different classes.
    constant : label or None
        The class that the card predicts for all rows; None if it predicts both.
    bands : tuple of Band
        Predicted probabilities and observed shares, for low to high totals.
    all : Band
        The same for all rows.
    is_weighted : bool
        Whether the model had class weights.
    """

    name: str
    n_samples: int
    accuracy: float
    model_accuracy: float
    balanced_accuracy: float
    model_balanced_accuracy: float
    n_changed: int
    constant: Any
    bands: tuple[Band, ...]
    all: Band
    is_weighted: bool

    @property
    def changed(self) -> float:
        """Share of rows for which card and model predict different classes."""
        return self.n_changed / self.n_samples

    @property
    def accuracy_loss(self) -> float:
        """Accuracy lost compared with the model; negative if the card gains."""
        return self.model_accuracy - self.accuracy

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Points, rows, probability and observed share of the bands and of all rows."""
        points = [
            str(band.first)
            if band.first == band.last
            else f"{band.first} to {band.last}"
            for band in self.bands
        ]

        def row(points: str, band: Band) -> tuple[str, str, str, str]:
            chances = f"{100 * band.probability:.1f} %", f"{100 * band.observed:.1f} %"
            return points, f"{band.n_samples:,}", *chances

        return [*map(row, points, self.bands), row("all", self.all)]

    def verdict(self) -> str:
        """Accuracies, and rows on which card and model differ."""
        name, card, model = "Accuracy", self.accuracy, self.model_accuracy
        if self.is_weighted:
            # With a rare class, a card that never predicts it may be the most accurate.
            name = "Balanced accuracy"
            card, model = self.balanced_accuracy, self.model_balanced_accuracy
        loss = 100 * (model - card)
        return (
            f"{name} {100 * card:.1f} %, {abs(loss):.1f} percentage points "
            f"{'less' if loss >= 0 else 'more'} than the model's {100 * model:.1f} %; "
            f"they differ on {rows_of(self.n_changed, self.n_samples)}."
        )


def rows_of(n: int, n_rows: int) -> str:
    """A number of rows, and their share."""
    return f"{n:,} row{'s' * (n != 1)} ({100 * n / n_rows:.1f} %)"


def evaluate(
    card: Scorecard, values: np.ndarray, positive: np.ndarray, name: str
) -> CardEvaluation:
    """Apply a card to rows of feature values."""
    model = card.model
    total = card.total_of(values)
    by_model = model.codes(model.scores_of(values)) == 1
    predicted = total >= card.threshold
    chances = card.probability(total)

    def band(first: int, last: int, mask: np.ndarray) -> Band:
        means = float(chances[mask].mean()), float(positive[mask].mean())
        return Band(first, last, int(mask.sum()), *means)

    parts = np.arange(1, N_BANDS) / N_BANDS
    cuts = np.quantile(total, parts, method="inverted_cdf").astype(np.int64)
    least, most = (min(card.min_points, total.min()), max(card.max_points, total.max()))
    ends = np.unique([least, *cuts, card.threshold, most + 1])
    ends = ends[(ends >= least) & (ends <= most + 1)]
    bands = [
        band(int(first), int(end) - 1, (total >= first) & (total < end))
        for first, end in pairwise(ends)
        if ((total >= first) & (total < end)).any()
    ]
    return CardEvaluation(
        name,
        total.size,
        float((predicted == positive).mean()),
        float((by_model == positive).mean()),
        _balanced(predicted, positive),
        _balanced(by_model, positive),
        int((predicted != by_model).sum()),
        model.classes[int(predicted[0])]
        if np.ptp(predicted.astype(int)) == 0
        else None,
        tuple(bands),
        band(int(total.min()), int(total.max()), np.ones(total.size, dtype=bool)),
        CLASS_WEIGHTS in model.metadata,
    )


def _balanced(predicted: np.ndarray, positive: np.ndarray) -> float:
    """Balanced accuracy."""
    return float((predicted[positive].mean() + (~predicted[~positive]).mean()) / 2)
