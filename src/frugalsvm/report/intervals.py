"""95 % intervals of cross-validated scores, for other rows of the same kind.

The variance of a score comes from the rows: as DeLong, DeLong and Clarke-Pearson (1988)
have it for an AUC, with the rows of all folds together as LeDell, Petersen and van der
Laan (2015) do, and as that of a proportion for the other scores. An interval is
Wilson's for a proportion of as many rows as give this variance. Unlike the score plus
and minus two standard errors, it stays between 0 and 1, and holds for scores near 1.
It does not contain that another choice of folds or rows would fit other models.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

# Quantile of a 95 % interval.
Z = 1.96


def wilson_interval(
    shares: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's 95 % intervals for proportions."""
    spread = Z**2 / counts
    centre = (shares + spread / 2) / (1 + spread)
    root = np.sqrt(shares * (1 - shares) / counts + spread / (4 * counts))
    half = Z * root / (1 + spread)
    return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)


def score_interval(
    mean: float, variance: float, n_rarer: int, n_rows: int
) -> tuple[float, float]:
    """The interval of a score between 0 and 1 whose variance is known.

    Without a variance, for example if all rows are right, as many rows count as the
    rarer class has; never more than all.
    """
    count = float(n_rarer)
    if variance > 0:
        count = min(mean * (1 - mean) / variance, n_rows)
    low, high = wilson_interval(np.array(mean), np.array(max(count, 1.0)))
    # Rounding must not leave the score outside.
    return min(float(low), mean), max(float(high), mean)


def placements(positive: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Of each row, the share of the rows of the other class that it is ordered after.

    Before, for rows of the first class; so the mean over either class is the AUC. Ties
    count one half.
    """
    ranks, found = rankdata(scores), np.empty(scores.size)
    n_first, n_second = int((~positive).sum()), int(positive.sum())
    found[positive] = (ranks[positive] - rankdata(scores[positive])) / n_first
    below = (ranks[~positive] - rankdata(scores[~positive])) / n_second
    found[~positive] = 1.0 - below
    return found


def variance_of_mean(values: np.ndarray) -> float:
    """The variance of the mean of some values; zero for fewer than two."""
    return float(values.var(ddof=1)) / values.size if values.size > 1 else 0.0
