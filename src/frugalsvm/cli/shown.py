"""How a model is printed: digits of weights, and the limit that belongs to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.ties import most_frequent
from .fitting import Fit
from .study import PreparedTable
from .validation import features_of_all

# Digits of printed weights; as many more as the classes of the rows need.
DIGITS, MOST_DIGITS = 5, 15
# A share of rows with the same score that is worth mentioning.
MANY = 0.25


class ShownRule(NamedTuple):
    """How many digits of weights are shown, and above which score a row is positive.

    With these digits and this limit, all rows get the class that the model predicts.
    The limit is a little larger than that of the model if scores are equal to it.
    """

    digits: int
    limit: float


def shown_rule(data: PreparedTable, fit: Fit) -> ShownRule:
    """The smallest number of digits that is enough for all rows."""
    used = np.flatnonzero(fit.model.coef)
    features = features_of_all(data, fit.preparation, used)
    limit = fit.threshold or 0.0
    positive = fit.model.scores_of(features, used) > limit
    values = features * fit.preparation.scales[used] + fit.preparation.means[used]
    for digits in range(DIGITS, MOST_DIGITS):
        weights = [float(f"{one:.{digits}g}") for one in fit.weights[used]]
        scores = values @ np.array(weights) + float(f"{fit.intercept:.{digits + 1}g}")
        high = scores[~positive].max(initial=-np.inf)
        low = scores[positive].min(initial=np.inf)
        if high > limit:
            rise = 10.0 ** np.ceil(np.log10(2.0 * (high - limit)))
            shown = float(f"{limit + rise:.{digits + 1}g}")
        else:
            shown = float(f"{limit:.{digits + 1}g}")
        if high <= shown < low:
            return ShownRule(digits, shown)
    return ShownRule(MOST_DIGITS, limit)


def tie_words(scores: np.ndarray) -> str:
    """That many rows have the same score; empty if no large part of them has."""
    score, count = most_frequent(scores)
    if count < max(2.0, MANY * scores.size):
        return ""
    return (
        f"{count:,} of {scores.size:,} rows have the same score, {score:+.6g}: the "
        "model cannot tell them apart"
    )
