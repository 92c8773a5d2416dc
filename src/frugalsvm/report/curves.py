"""Scores, confusion matrix, ROC and calibration from predictions for held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from ..problem.ties import rounded
from .held_out import CalibrationCurve, CrossValidation, RocCurve, Score
from .intervals import placements, score_interval, variance_of_mean, wilson_interval

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
    """The section on cross-validation, from predictions for held-out rows.

    Parameters
    ----------
    truth : array-like of bool of shape (n_samples,)
        Whether a row is of the second class.
    decisions : array-like of shape (n_samples,)
        Score of each row, from a model that has not seen it. Those that differ by
        rounding errors alone are equal.
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
    >>> found = cross_validation_of([0, 1, 0, 1], [-1.0, 2.0, 0.5, 1.0], [0, 0, 1, 1])
    >>> found.confusion.tolist()
    [[1, 1], [0, 2]]
    """
    numbers = np.asarray(folds)
    kept = numbers >= 0
    numbers = numbers[kept]
    positive = np.asarray(truth, dtype=bool)[kept]
    scores = np.asarray(decisions, dtype=np.float64)[kept]
    scores = rounded(scores, scores)
    said = scores > 0 if predicted is None else np.asarray(predicted, dtype=bool)[kept]
    parts = [numbers == one for one in np.unique(numbers)]
    confusion = np.zeros((2, 2), dtype=np.int64)
    np.add.at(confusion, (positive.astype(int), said.astype(int)), 1)
    calibration = None
    if probabilities is not None:
        chances = np.asarray(probabilities, dtype=np.float64)[kept]
        calibration = calibration_of(positive, chances)
    return CrossValidation(
        confusion=confusion,
        scores=_scores(positive, said, scores, parts),
        n_folds=len(parts),
        repeated=repeated,
        roc=roc_of(positive, scores, parts),
        calibration=calibration,
    )


def _scores(
    positive: np.ndarray, said: np.ndarray, scores: np.ndarray, parts: list[np.ndarray]
) -> tuple[Score, ...]:
    labels: list[tuple[str, Callable[..., Any], bool]] = [
        ("accuracy", accuracy_score, False),
        ("balanced accuracy", balanced_accuracy_score, True),
        ("AUC", roc_auc_score, True),
        ("sensitivity", recall_score, True),
        ("specificity", _specificity, True),
    ]
    found = []
    for name, score, needs_both in labels:
        values = scores if name == "AUC" else said
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
            found.append(Score(name, mean, float(np.std(each)), *interval))
    return tuple(found)


def _interval(
    name: str,
    mean: float,
    positive: np.ndarray,
    values: np.ndarray,
    parts: list[np.ndarray],
) -> tuple[float, float]:
    """The 95 % interval of a score, from the rows of all folds."""
    right = np.concatenate([
        placements(positive[part], values[part])
        if name == "AUC"
        else (positive[part] == values[part]).astype(float)
        for part in parts
    ])  # fmt: skip
    is_second = np.concatenate([positive[part] for part in parts])
    kinds = {
        "accuracy": [right],
        "sensitivity": [right[is_second]],
        "specificity": [right[~is_second]],
    }.get(name, [right[is_second], right[~is_second]])
    variance = sum(map(variance_of_mean, kinds))
    if name == "balanced accuracy":
        variance /= 4.0
    return score_interval(mean, variance, min(len(one) for one in kinds), right.size)


def _specificity(positive: np.ndarray, said: np.ndarray) -> float:
    return float(recall_score(~positive, ~said))


def roc_of(
    positive: np.ndarray, scores: np.ndarray, parts: list[np.ndarray]
) -> RocCurve | None:
    """The mean ROC curve over folds; None if no fold has both classes.

    There is none either if the scores of a fold are equal.

    Scores from different folds come from different models. So curves are averaged, and
    scores are not pooled.
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
