"""Means, intervals and ranks for tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from frugalsvm import StabilitySelection

from .cells import Cell, Outcomes

LEVEL = 0.95


def numbers(outcomes: Outcomes, cells: Iterable[Cell], key: str) -> list[float]:
    """Entries that are not missing."""
    entries = (outcomes[cell].values.get(key) for cell in cells if cell in outcomes)
    return [float(entry) for entry in entries if entry is not None]


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def relative_gap(objective: float, bound: float) -> float:
    """``(objective - bound) / objective``, the paper's gap; 0 when they meet."""
    if not np.isfinite(objective):
        return np.inf
    difference = max(0.0, objective - bound)
    return difference / abs(objective) if difference > 0.0 else 0.0


def mean(values: Sequence[float]) -> float | None:
    """The mean; None for an empty list."""
    return float(np.mean(values)) if len(values) else None


def half_interval(values: Sequence[float]) -> float | None:
    """Half width of the 95 % interval of a mean (Student); None for fewer than two."""
    if len(values) < 2:
        return None
    error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    return error * float(stats.t.ppf(0.5 + LEVEL / 2, len(values) - 1))


def corrected_half_interval(values: Sequence[float], test_share: float) -> float | None:
    """Half width for scores on overlapping training sets (Nadeau and Bengio, 2003).

    Their variance is multiplied by ``1 / k + test / train`` instead of ``1 / k``.
    """
    if len(values) < 2:
        return None
    k = len(values)
    factor = 1.0 / k + test_share / (1.0 - test_share)
    error = float(np.std(values, ddof=1) * np.sqrt(factor))
    return error * float(stats.t.ppf(0.5 + LEVEL / 2, k - 1))


def rounded(value: Any, digits: int) -> Any:
    """A number with few decimals; anything else unchanged."""
    is_number = isinstance(value, float | np.floating)
    return round(float(value), digits) if is_number else value


def nogueira(masks: np.ndarray) -> float | None:
    """Stability of selected sets (Nogueira, Sechidis and Brown, 2018).

    Parameters
    ----------
    masks : ndarray of bool of shape (n_runs, n_features)

    Returns
    -------
    float or None
        1 if all are the same, about 0 for random sets; None if it is not defined.
    """
    if len(masks) < 2:
        return None
    stability = StabilitySelection(masks, [""] * masks.shape[1]).stability
    return None if np.isnan(stability) else stability


def critical_difference(n_methods: int, n_sets: int) -> float:
    """Critical difference of mean ranks by Nemenyi's test at 5 % (Demšar, 2006)."""
    q = float(stats.studentized_range.ppf(LEVEL, n_methods, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6.0 * n_sets)))


def mean_ranks(scores: np.ndarray) -> np.ndarray:
    """Mean rank of each method, 1 for the best; rows are data sets."""
    return np.asarray(stats.rankdata(-scores, axis=1).mean(axis=0))
