"""How models do on rows that they have not seen: the numbers, without the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# A model is described by its errors in so many rows; in more if a class is rarer than
# so many of them, or if there are errors and they would round to none.
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
        """One of the scores; None if there is none of this name."""
        return next((one for one in self.scores if one.name == name), None)


class ErrorCosts(NamedTuple):
    """What errors cost, relative to one another.

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
        """From this probability on, predicting the positive class costs less."""
        return self.fp / (self.fp + self.fn)


@dataclass(frozen=True)
class ScoreThreshold:
    """The score above which a row is predicted to be positive, if that is not zero.

    Attributes
    ----------
    score : float
    probability : float or None
        The same as a probability, if the model has them.
    costs : ErrorCosts or None
        What errors cost, if the threshold was learned from that.
    confusion_at_zero : ndarray of int of shape (2, 2) or None
        Of the cross-validation, for a threshold of zero.
    """

    score: float
    probability: float | None = None
    costs: ErrorCosts | None = None
    confusion_at_zero: np.ndarray | None = None


@dataclass(frozen=True)
class Tally:
    """What a model gets right and wrong in a number of rows that is easy to picture.

    Whole numbers that add up; all errors together, and those missed, are rounded.

    Attributes
    ----------
    n_rows : int
        100, or more for a rare class, or for rare errors. All rows, if there are not
        as many.
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
        """From rows by true and columns by predicted class.

        One for each table of the same rows, all in the same number of rows.
        """
        total = int(confusions[0].sum())
        counts = confusions[0].sum(axis=1)
        rarest = min((int(one) for one in counts if one), default=0)
        n_rows = FEWEST_ROWS
        while True:
            tallies = tuple(cls._rounded(one, min(n_rows, total)) for one in confusions)
            is_fair = rarest * n_rows >= FEWEST_OF_A_CLASS * total and all(
                one._shows(confusion)
                for one, confusion in zip(tallies, confusions, strict=True)
            )
            if n_rows >= total or is_fair:
                return tallies
            n_rows *= 10

    def _shows(self, confusion: np.ndarray) -> bool:
        """Whether all and none are said only where it is exactly so."""
        kept = self.n_negative - self.n_false
        shown = np.array([[kept, self.n_false], [self.n_missed, self.n_caught]])
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
        """Rows of the larger class, for all of which always saying it is right."""
        return max(self.n_positive, self.n_negative)

    def cost(self, costs: ErrorCosts) -> float:
        """What the errors cost."""
        return costs.fp * self.n_false + costs.fn * self.n_missed

    def always(self, label: int) -> Tally:
        """The same rows if one class is predicted for all."""
        missed, false = (0, self.n_negative) if label else (self.n_positive, 0)
        return Tally(self.n_rows, self.n_positive, missed, false, self.is_all)
