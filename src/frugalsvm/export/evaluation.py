"""How a scorecard does on a table, beside the model that it was made from."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .origins import CLASS_WEIGHTS

if TYPE_CHECKING:
    from .scorecard import Scorecard

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
        Of the table.
    n_samples : int
    accuracy, model_accuracy : float
        Accuracy of the card and of the original model.
    balanced_accuracy, model_balanced_accuracy : float
        The same, if both classes count alike; shown if the model had class weights.
    n_changed : int
        Rows of which the card predicts another class than the model.
    constant : label or None
        The class that the card predicts for all rows; None if it predicts both.
    bands : tuple of Band
        Probabilities beside what was observed, for low to high totals.
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
        """Share of the rows of which the card predicts another class than the model."""
        return self.n_changed / self.n_samples

    @property
    def accuracy_loss(self) -> float:
        """Accuracy lost compared with the model; negative if the card gains."""
        return self.model_accuracy - self.accuracy

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Bands, and all rows, in words: points, rows, probability, observed."""
        named = [
            (str(one.first) if one.first == one.last else f"{one.first} to {one.last}")
            for one in self.bands
        ]
        rates = [
            (f"{100 * one.probability:.1f} %", f"{100 * one.observed:.1f} %")
            for one in (*self.bands, self.all)
        ]
        counts = [f"{one.n_samples:,}" for one in (*self.bands, self.all)]
        pairs = zip([*named, "all"], counts, rates, strict=True)
        return [(words, n, *rate) for words, n, rate in pairs]

    def verdict(self) -> str:
        """Accuracies, and rows on which card and model differ."""
        name, own, models = "Accuracy", self.accuracy, self.model_accuracy
        if self.is_weighted:
            # Of a rare class, accuracy is highest for a card that never finds it.
            name = "Balanced accuracy"
            own, models = self.balanced_accuracy, self.model_balanced_accuracy
        loss = 100 * (models - own)
        return (
            f"{name} {100 * own:.1f} %, {abs(loss):.1f} percentage points "
            f"{'less' if loss >= 0 else 'more'} than the model's {100 * models:.1f} %; "
            f"they differ on {rows_of(self.n_changed, self.n_samples)}."
        )


def rows_of(n: int, n_rows: int) -> str:
    """A number of rows, and their share."""
    return f"{n:,} row{'s' * (n != 1)} ({100 * n / n_rows:.1f} %)"


def evaluate(
    card: Scorecard, values: np.ndarray, positive: np.ndarray, name: str
) -> CardEvaluation:
    """Apply a card to the values of its features in some rows."""
    model = card.model
    total = card.total_of(values)
    own = model.codes(model.scores_of(values)) == 1
    predicted = total >= card.threshold
    chances = card.probability(total)

    def band(first: int, last: int, own: np.ndarray) -> Band:
        means = float(chances[own].mean()), float(positive[own].mean())
        return Band(first, last, int(own.sum()), *means)

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
        float((own == positive).mean()),
        _balanced(predicted, positive),
        _balanced(own, positive),
        int((predicted != own).sum()),
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
