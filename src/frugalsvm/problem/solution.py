"""Solution: the SVM on a support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Solution:
    """The SVM on a support: sorted features, weights, intercept and dual point.

    With several machines, the weights are those of ``Problem.columns``, and there is an
    intercept for each.
    """

    support: np.ndarray
    w: np.ndarray
    b: Any
    alpha: np.ndarray
    objective: float

    @property
    def key(self) -> tuple[int, ...]:
        """The support as a hashable value."""
        return tuple(self.support.tolist())


# --- Ties: scores that differ by rounding count as equal ------------------------------
#
# On categories and integers many samples have a score of exactly 0, 1 or -1, or share
# another score. Sums in another order differ in their last digits, and an order by
# these would be an order of rounding errors. So scores are rounded to decimals that
# depend on weights and intercept alone: in estimators, in exported models, and before
# any threshold, class or AUC. A score is above a threshold if it is after rounding
# both, and of several classes with equal scores the first is predicted.

# Decimals of scores whose unit is the margin of an SVM: far above rounding errors, and
# above the effect of noise in the ninth decimal of the data.
DECIMALS = 7
# Weights below 10^-3 may belong to scores as small, which get more decimals.
SMALL = 3
# Powers of ten beyond this overflow.
MOST_DECIMALS = 300
# Reliable digits of sums with an intercept: those of doubles, less their rounding.
DIGITS = 13
# Digits that are lost if features are in single precision.
FEWER_IN_SINGLE = 2


def decimals_of(
    coef: np.ndarray, intercept: Any = 0.0, *, is_single: bool = False
) -> int:
    """The number of decimals of the scores of a model.

    Large intercepts, which other terms cancel, and small weights of large numbers leave
    no more digits than sums in double precision have; ``is_single`` says that features
    were in single precision.
    """
    largest = float(np.abs(coef).max(initial=0.0))
    if largest == 0.0:
        return DECIMALS
    more = int(np.ceil(-np.log10(largest))) - SMALL
    decimals = min(DECIMALS + max(0, more), MOST_DECIMALS)
    offset = float(np.abs(intercept).max(initial=0.0))
    if 0.0 < offset < np.inf:
        decimals = min(decimals, DIGITS - int(np.floor(np.log10(offset))))
    return max(decimals - FEWER_IN_SINGLE * is_single, 0)


def rounded(
    scores: Any, coef: np.ndarray, intercept: Any = 0.0, *, is_single: bool = False
) -> Any:
    """The scores of a model, or a threshold of them, rounded."""
    decimals = decimals_of(coef, intercept, is_single=is_single)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.round(scores, decimals)
    # The largest numbers have no decimals. Adding zero turns -0.0 into 0.0.
    return np.where(np.isfinite(values), values, scores) + 0.0


def most_frequent(scores: np.ndarray) -> tuple[float, int]:
    """The most frequent of rounded scores, and its number of samples."""
    values, counts = np.unique(scores, return_counts=True)
    index = int(counts.argmax())
    return float(values[index]), int(counts[index])
