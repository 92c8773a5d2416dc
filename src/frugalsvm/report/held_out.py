"""The quality of models on rows that they have not seen, in numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from ..problem import rounded

# Rows in which the errors of a model are described, and their minimum in each class.
# There are more rows for a rarer class, or if errors would round to none.
FEWEST_ROWS, FEWEST_OF_A_CLASS = 100, 5


@dataclass(frozen=True)
class Score:
    """A measure of quality over the folds.

    Attributes
    ----------
    name : str
        ``"accuracy"``, ``"AUC"`` and the like.
    mean, spread : float
        Mean and standard deviation over the folds.
    low, high : float or None
        95 % interval of the mean, for the rows that might have been drawn instead.
    """

    name: str
    mean: float
    spread: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class RocCurve:
    """Mean ROC curve of the folds.

    Attributes
    ----------
    false_positives, true_positives : ndarray
        Rates, increasing.
    spread : ndarray
        Standard deviation of ``true_positives`` over the folds.
    auc, auc_spread : float
        Area under the curve: mean and standard deviation over the folds.
    """

    false_positives: np.ndarray
    true_positives: np.ndarray
    spread: np.ndarray
    auc: float
    auc_spread: float


@dataclass(frozen=True)
class CalibrationCurve:
    """Predicted probabilities and observed frequencies.

    Attributes
    ----------
    predicted, observed : ndarray of shape (n_bins,)
        Mean predicted probability of the second class, and its observed fraction.
    low, high : ndarray of shape (n_bins,)
        95 % interval of ``observed``.
    counts : ndarray of shape (n_bins,)
        Rows in each bin.
    brier : float
        Mean squared difference between probability and outcome.
    """

    predicted: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    counts: np.ndarray
    brier: float


@dataclass(frozen=True)
class CrossValidation:
    """How models fitted in the same way perform on rows that they have not seen.

    Attributes
    ----------
    confusion : ndarray of int of shape (2, 2)
        Rows by true class, columns by predicted class, all folds together.
    scores : tuple of Score
    n_folds : int
    repeated : tuple of str
        Steps repeated in every fold: "scaling", "feature selection" and so on.
    roc : RocCurve or None
    calibration : CalibrationCurve or None
    """

    confusion: np.ndarray
    scores: tuple[Score, ...]
    n_folds: int
    repeated: tuple[str, ...] = ()
    roc: RocCurve | None = None
    calibration: CalibrationCurve | None = None

    def score(self, name: str) -> Score | None:
        """The score of a name; None if there is none."""
        return next((score for score in self.scores if score.name == name), None)


class ErrorCosts(NamedTuple):
    """Costs of errors, relative to one another.

    Attributes
    ----------
    fp : float
        A negative row that is predicted to be positive.
    fn : float
        A positive row that is predicted to be negative.
    """

    fp: float
    fn: float

    @property
    def probability(self) -> float:
        """The probability from which predicting the positive class costs less."""
        return self.fp / (self.fp + self.fn)


@dataclass(frozen=True)
class ScoreThreshold:
    """The score above which a row is predicted to be positive, if it is not zero.

    Attributes
    ----------
    score : float
    probability : float or None
        The probability at this score, if the model has probabilities.
    costs : ErrorCosts or None
        The costs of errors from which the threshold was learned, if any.
    confusion_at_zero : ndarray of int of shape (2, 2) or None
        Confusion matrix of the cross-validation for a threshold of zero.
    """

    score: float
    probability: float | None = None
    costs: ErrorCosts | None = None
    confusion_at_zero: np.ndarray | None = None


@dataclass(frozen=True)
class Tally:
    """Right and wrong predictions in a number of rows that is easy to picture.

    Whole numbers that add up; the sum of errors, and the missed rows, are rounded.

    Attributes
    ----------
    n_rows : int
        100, or more for a rare class or rare errors; at most all rows.
    n_positive : int
    n_missed : int
        Positive rows that are predicted to be negative.
    n_false : int
        Negative rows that are predicted to be positive.
    is_all : bool
        Whether ``n_rows`` is the number of all rows.
    """

    n_rows: int
    n_positive: int
    n_missed: int
    n_false: int
    is_all: bool = False

    @classmethod
    def of(cls, *confusions: np.ndarray) -> tuple[Tally, ...]:
        """Tallies of confusion matrices of the same rows, with equally many rows."""
        total = int(confusions[0].sum())
        counts = confusions[0].sum(axis=1)
        rarest = min((int(count) for count in counts if count), default=0)
        n_rows = FEWEST_ROWS
        while True:
            tallies = tuple(
                cls._rounded(confusion, min(n_rows, total)) for confusion in confusions
            )
            is_fair = rarest * n_rows >= FEWEST_OF_A_CLASS * total and all(
                tally._shows(confusion)
                for tally, confusion in zip(tallies, confusions, strict=True)
            )
            if n_rows >= total or is_fair:
                return tallies
            n_rows *= 10

    def _shows(self, confusion: np.ndarray) -> bool:
        """Whether no entry that is positive is rounded to zero."""
        n_rejected = self.n_negative - self.n_false
        shown = np.array([[n_rejected, self.n_false], [self.n_missed, self.n_caught]])
        return bool((shown[confusion > 0] > 0).all())

    @classmethod
    def _rounded(cls, confusion: np.ndarray, n_rows: int) -> Tally:
        total, counts = int(confusion.sum()), confusion.sum(axis=1)
        share = n_rows / max(total, 1)
        n_positive = round(share * int(counts[1]))
        n_missed = min(round(share * int(confusion[1, 0])), n_positive)
        n_wrong = round(share * int(confusion[1, 0] + confusion[0, 1]))
        n_false = min(max(n_wrong - n_missed, 0), n_rows - n_positive)
        return cls(n_rows, n_positive, n_missed, n_false, n_rows == total)

    @property
    def n_negative(self) -> int:
        """Negative rows."""
        return self.n_rows - self.n_positive

    @property
    def n_caught(self) -> int:
        """Positive rows that are predicted to be positive."""
        return self.n_positive - self.n_missed

    @property
    def n_right(self) -> int:
        """Rows that are predicted correctly."""
        return self.n_rows - self.n_missed - self.n_false

    @property
    def larger(self) -> int:
        """The larger class: 1 if there are more positive rows, else 0."""
        return int(self.n_positive > self.n_negative)

    @property
    def n_larger(self) -> int:
        """Rows of the larger class."""
        return max(self.n_positive, self.n_negative)

    def cost(self, costs: ErrorCosts) -> float:
        """The cost of the errors."""
        return costs.fp * self.n_false + costs.fn * self.n_missed

    def always(self, label: int) -> Tally:
        """The same rows if class ``label`` is predicted for all."""
        missed, false = (0, self.n_negative) if label else (self.n_positive, 0)
        return Tally(self.n_rows, self.n_positive, missed, false, self.is_all)


# --- 95 % intervals of cross-validated scores, for other rows of the same kind --------
#
# The variance of a score is over the rows: for an AUC, that of DeLong, DeLong and
# Clarke-Pearson (1988), with the rows of all folds together as in LeDell, Petersen and
# van der Laan (2015); for other scores, that of a proportion. An interval is Wilson's
# for a proportion of as many rows as give this variance. Unlike the score plus and
# minus two standard errors, it stays between 0 and 1, and holds for scores near 1. It
# does not account for the different models of other folds or rows.

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

    Without a variance, for example if all rows are right, the number of rows is that of
    the rarer class; it never exceeds that of all rows.
    """
    count = float(n_rarer)
    if variance > 0:
        count = min(mean * (1 - mean) / variance, n_rows)
    low, high = wilson_interval(np.array(mean), np.array(max(count, 1.0)))
    # Rounding must not leave the score outside.
    return min(float(low), mean), max(float(high), mean)


def placements(positive: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The share of rows of the other class that each row is ordered correctly with.

    The mean over either class is the AUC. Ties count one half.
    """
    ranks, shares = rankdata(scores), np.empty(scores.size)
    n_first, n_second = int((~positive).sum()), int(positive.sum())
    shares[positive] = (ranks[positive] - rankdata(scores[positive])) / n_first
    below = (ranks[~positive] - rankdata(scores[~positive])) / n_second
    shares[~positive] = 1.0 - below
    return shares


def variance_of_mean(values: np.ndarray) -> float:
    """The variance of the mean of values; zero for fewer than two."""
    return float(values.var(ddof=1)) / values.size if values.size > 1 else 0.0


# --- Scores, confusion matrix, ROC and calibration from predictions for held-out rows -

# Rates of false positives at which the curves of the folds are averaged.
GRID = np.linspace(0.0, 1.0, 101)
# Maximum number of bins of a calibration curve, and minimum rows per bin.
N_BINS, ROWS_PER_BIN = 10, 20


def cross_validation_of(
    truth: ArrayLike,
    decisions: ArrayLike,
    folds: ArrayLike,
    *,
    predicted: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    repeated: tuple[str, ...] = (),
) -> CrossValidation:
    """Cross-validation results from predictions for held-out rows.

    Parameters
    ----------
    truth : array-like of bool of shape (n_samples,)
        Whether a row is of the second class.
    decisions : array-like of shape (n_samples,)
        Score of each row, from a model that has not seen it. Scores that differ only
        by rounding errors are equal.
    folds : array-like of int of shape (n_samples,)
        Fold of each row; rows with a negative number are ignored.
    predicted : array-like of bool, default=None
        Whether the second class is predicted; by default, if the score is positive.
    probabilities : array-like, default=None
        Probability of the second class, for the calibration curve.
    repeated : tuple of str
        Steps repeated in every fold.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from frugalsvm.report import cross_validation_of
    >>> scores = [-1.0, 2.0, 0.5, 1.0]
    >>> cross_validation_of([0, 1, 0, 1], scores, [0, 0, 1, 1]).confusion.tolist()
    [[1, 1], [0, 2]]
    """
    fold = np.asarray(folds)
    tested = fold >= 0
    fold = fold[tested]
    positive = np.asarray(truth, dtype=bool)[tested]
    scores = np.asarray(decisions, dtype=np.float64)[tested]
    scores = rounded(scores, scores)
    predictions = scores > 0
    if predicted is not None:
        predictions = np.asarray(predicted, dtype=bool)[tested]
    parts = [fold == k for k in np.unique(fold)]
    confusion = np.zeros((2, 2), dtype=np.int64)
    np.add.at(confusion, (positive.astype(int), predictions.astype(int)), 1)
    calibration = None
    if probabilities is not None:
        chances = np.asarray(probabilities, dtype=np.float64)[tested]
        calibration = calibration_of(positive, chances)
    return CrossValidation(
        confusion=confusion,
        scores=_scores(positive, predictions, scores, parts),
        n_folds=len(parts),
        repeated=repeated,
        roc=roc_of(positive, scores, parts),
        calibration=calibration,
    )


def _scores(
    positive: np.ndarray,
    predictions: np.ndarray,
    scores: np.ndarray,
    parts: list[np.ndarray],
) -> tuple[Score, ...]:
    measures: list[tuple[str, Callable[..., Any], bool]] = [
        ("accuracy", accuracy_score, False),
        ("balanced accuracy", balanced_accuracy_score, True),
        ("AUC", roc_auc_score, True),
        ("sensitivity", recall_score, True),
        ("specificity", partial(recall_score, pos_label=False), True),
    ]
    results = []
    for name, score, needs_both in measures:
        values = scores if name == "AUC" else predictions
        usable = [
            part
            for part in parts
            if not needs_both or np.unique(positive[part]).size == 2
        ]
        if values is scores and any(np.ptp(scores[part]) == 0 for part in usable):
            continue
        each = [float(score(positive[part], values[part])) for part in usable]
        if each:
            mean = float(np.mean(each))
            interval = _interval(name, mean, positive, values, usable)
            results.append(Score(name, mean, float(np.std(each)), *interval))
    return tuple(results)


def _interval(
    name: str,
    mean: float,
    positive: np.ndarray,
    values: np.ndarray,
    parts: list[np.ndarray],
) -> tuple[float, float]:
    """The 95 % interval of a score, from the rows of all folds."""
    right = np.concatenate(
        [
            placements(positive[part], values[part])
            if name == "AUC"
            else (positive[part] == values[part]).astype(float)
            for part in parts
        ]
    )
    is_second = np.concatenate([positive[part] for part in parts])
    kinds = {
        "accuracy": [right],
        "sensitivity": [right[is_second]],
        "specificity": [right[~is_second]],
    }.get(name, [right[is_second], right[~is_second]])
    variance = sum(map(variance_of_mean, kinds))
    if name == "balanced accuracy":
        variance /= 4.0
    return score_interval(mean, variance, min(map(len, kinds)), right.size)


def roc_of(
    positive: np.ndarray, scores: np.ndarray, parts: list[np.ndarray]
) -> RocCurve | None:
    """The mean ROC curve over folds.

    None if no fold has both classes, or if all scores of a fold are equal. Scores from
    different folds come from different models, so that curves are averaged, and scores
    are not pooled.
    """
    curves, areas = [], []
    for part in parts:
        if np.unique(positive[part]).size == 2:
            if np.ptp(scores[part]) == 0:
                return None
            false, true, _ = roc_curve(positive[part], scores[part])
            curves.append(np.interp(GRID, false, true))
            areas.append(roc_auc_score(positive[part], scores[part]))
    if not curves:
        return None
    mean = np.mean(curves, axis=0)
    # All curves start at the origin; interpolation would lose a first vertical step.
    return RocCurve(
        false_positives=np.concatenate([[0.0], GRID]),
        true_positives=np.concatenate([[0.0], mean]),
        spread=np.concatenate([[0.0], np.std(curves, axis=0)]),
        auc=float(np.mean(areas)),
        auc_spread=float(np.std(areas)),
    )


def calibration_of(positive: np.ndarray, probabilities: np.ndarray) -> CalibrationCurve:
    """Fractions of the second class in bins of about equal size."""
    n_bins = int(np.clip(positive.size // ROWS_PER_BIN, 1, N_BINS))
    order = np.argsort(probabilities, kind="stable")
    bins = [part for part in np.array_split(order, n_bins) if part.size]
    counts = np.array([part.size for part in bins])
    observed = np.array([positive[part].mean() for part in bins])
    low, high = wilson_interval(observed, counts)
    return CalibrationCurve(
        predicted=np.array([probabilities[part].mean() for part in bins]),
        observed=observed,
        low=low,
        high=high,
        counts=counts,
        brier=float(np.mean((probabilities - positive) ** 2)),
    )
