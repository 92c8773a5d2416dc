"""Choice of budget and C by their cross-validation scores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from ..run.monitor import relative_gaps
from ..run.words import bound_words, gap_words
from .grid import GridFold, GridWork

RULES = ("one-se", "best")
# One standard error of the score, two or three points on 200 samples, is much to give
# up by default.
DEFAULT_RULE = "best"
# Means with a smaller relative difference are equal up to rounding.
SAME = 1e-10


@dataclass(frozen=True, repr=False)
class ScoredPath:
    """Objective, bound and score of every budget and C.

    All arrays have shape (n_C, n_budgets). It prints as a table.

    Attributes
    ----------
    max_features : ndarray of shape (n_budgets,)
        The budgets in increasing order.
    C : ndarray of shape (n_C,)
        The weights of the loss in increasing order.
    objectives, lower_bounds : ndarray
        Of FS-SVM on all data (standardised, unless ``scale`` says otherwise).
    score_mean, score_se : ndarray
        Mean score over the folds, and its standard error.
    refit_C : ndarray or None
        The C used to compute the weights, if it differs from the one that selected the
        features. Like the scores, NaN in cells that a fit which ended early has not
        reached.
    best : tuple of int
        Row and column of the choice.
    """

    max_features: np.ndarray
    C: np.ndarray
    objectives: np.ndarray
    lower_bounds: np.ndarray
    score_mean: np.ndarray
    score_se: np.ndarray
    refit_C: np.ndarray | None
    best: tuple[int, int]

    @property
    def gaps(self) -> np.ndarray:
        """Relative gaps between objectives and bounds."""
        return relative_gaps(self.objectives, self.lower_bounds)

    def to_dict(self) -> dict[str, np.ndarray]:
        """The columns of the table, C by C and budget by budget."""
        columns = {
            "C": np.repeat(self.C, self.max_features.size),
            "max_features": np.tile(self.max_features, self.C.size),
            "objective": self.objectives.ravel(),
            "lower_bound": self.lower_bounds.ravel(),
            "gap": self.gaps.ravel(),
            "score_mean": self.score_mean.ravel(),
            "score_se": self.score_se.ravel(),
        }
        if self.refit_C is not None:
            columns["refit_C"] = self.refit_C.ravel()
        is_best = np.zeros(self.objectives.shape, dtype=bool)
        is_best[self.best] = True
        return columns | {"is_best": is_best.ravel()}

    def to_frame(self) -> Any:
        """The table as a pandas data frame."""
        from pandas import DataFrame

        return DataFrame(self.to_dict())

    def __repr__(self) -> str:
        return (
            f"ScoredPath({self.C.size} C, {self.max_features.size} budgets, best "
            f"C={self.C[self.best[0]]:g}, "
            f"max_features={self.max_features[self.best[1]]})"
        )

    def __str__(self) -> str:
        columns = self.to_dict()
        heads = ["C", "budget", "objective", "bound", "gap", "score", "se"]
        lines = ["{:>10} {:>7} {:>12} {:>12} {:>8} {:>8} {:>7}".format(*heads)]
        if self.refit_C is not None:
            lines[0] += f" {'refit C':>10}"
        for t in range(self.objectives.size):
            row = {name: values[t] for name, values in columns.items()}
            line = (
                f"{row['C']:10.4g} {row['max_features']:7d} {row['objective']:12.6g} "
                f"{bound_words(row['lower_bound']):>12} "
                f"{gap_words(row['gap'], '.2f'):>8} "
                f"{row['score_mean']:8.4f} {row['score_se']:7.4f}"
            )
            if self.refit_C is not None:
                line += f" {row['refit_C']:10.4g}"
            lines.append(line + (" *" if row["is_best"] else ""))
        return "\n".join(lines)


def standard_error(scores: np.ndarray) -> np.ndarray:
    """Standard error of the mean over the last axis; 0 for a single fold."""
    n_folds = scores.shape[-1]
    if n_folds == 1:
        return np.zeros(scores.shape[:-1])
    return scores.std(axis=-1, ddof=1) / np.sqrt(n_folds)


def _finite_or_lowest(scores: np.ndarray) -> np.ndarray:
    """Scores with minus infinity for those that are not finite."""
    return np.where(np.isfinite(scores), scores, -np.inf)


def one_standard_error(mean: np.ndarray, se: np.ndarray) -> float:
    """The best mean score less its standard error; minus infinity without scores."""
    usable = _finite_or_lowest(mean)
    best = np.argmax(usable)
    return float(usable.flat[best] - np.asarray(se).flat[best])


def choose(mean: np.ndarray, se: np.ndarray, rule: str) -> tuple[int, int]:
    """Row and column, i.e. C and budget, chosen by a rule.

    ``best`` considers the highest mean, ``one-se`` all means within one standard error
    of it. Among these the fewest features win, then the best mean, then the middle of
    the longest run of C with that mean.
    """
    usable = _finite_or_lowest(mean)
    if not np.isfinite(usable.max()):
        raise ValueError(
            "the scores of all candidates are not finite; check cv and scoring."
        )
    least = one_standard_error(mean, se) if rule == "one-se" else float(usable.max())
    column = int(np.argmax(_reach(usable, least).any(axis=0)))
    return middle_of_best(usable[:, column]), column


def middle_of_best(values: np.ndarray) -> int:
    """The middle of the longest run of values that equal the maximum.

    The lower one of two, and of runs of the same length the first.
    """
    equal = np.flatnonzero(_reach(values, float(values.max())))
    runs = np.split(equal, np.flatnonzero(np.diff(equal) > 1) + 1)
    longest = max(runs, key=len)
    return int(longest[(longest.size - 1) // 2])


def _reach(values: np.ndarray, least: float) -> np.ndarray:
    """Which values are not below a threshold, up to rounding."""
    if not np.isfinite(least):
        return values >= least
    return values >= least - SAME * max(1.0, abs(least))


@dataclass(frozen=True)
class Choice:
    """Scores of all folds and their summary.

    Attributes
    ----------
    scores : ndarray of shape (n_C, n_budgets, n_refit_C, n_folds)
    refit : ndarray of shape (n_C, n_budgets)
        Index of the C that gives the weights: the middle of those with the best score.
    mean, se : ndarray of shape (n_C, n_budgets)
        Of the scores with that C.
    cell : tuple of int
        The chosen C and budget.
    is_forced : bool
        Whether constant models were admitted, since no other is better than chance.
    """

    scores: np.ndarray
    refit: np.ndarray
    mean: np.ndarray
    se: np.ndarray
    cell: tuple[int, int]
    is_forced: bool = False

    @classmethod
    def of(
        cls,
        folds: list[GridFold],
        rule: str,
        barred: Collection[tuple[int, int, int]] = (),
    ) -> Choice:
        """Choose by a rule.

        Models that predict one class in most of the folds, and ``barred`` models (by C,
        budget and refit C), are not chosen if any other is better than chance by its
        own standard error.
        """
        scores = np.stack([fold.scores for fold in folds], axis=-1)
        means, errors = scores.mean(axis=-1), standard_error(scores)
        constant = np.mean([fold.constant for fold in folds], axis=0) > 0.5
        for key in barred:
            constant[key] = True
        better = ~constant & (means - errors > _chance(folds))
        usable = _finite_or_lowest(means)
        ranked = np.where(constant, -np.inf, usable) if better.any() else usable
        refit = np.zeros(means.shape[:2], dtype=np.intp)
        for i, j in np.ndindex(*refit.shape):
            # A cell that has only constant models keeps the best of them.
            row = ranked[i, j] if np.isfinite(ranked[i, j]).any() else usable[i, j]
            refit[i, j] = middle_of_best(row)
        at = refit[..., None]
        mean = np.take_along_axis(means, at, axis=-1)[..., 0]
        se = np.take_along_axis(errors, at, axis=-1)[..., 0]
        open_ = np.isfinite(np.take_along_axis(ranked, at, axis=-1)[..., 0])
        cell = choose(np.where(open_, mean, np.nan), se, rule)
        return cls(scores, refit, mean, se, cell, not better.any())

    @property
    def key(self) -> tuple[int, int, int]:
        """The chosen C, budget and refit C."""
        return (*self.cell, int(self.refit[self.cell]))

    @property
    def index(self) -> int:
        """The chosen row of the table."""
        return int(np.ravel_multi_index(self.key, self.scores.shape[:3]))

    def path(
        self, work: GridWork, objectives: np.ndarray, lower_bounds: np.ndarray
    ) -> ScoredPath:
        """The scores with objectives and bounds on all data."""
        refit = work.refit_weights
        if refit is not None:
            refit = np.where(np.isfinite(self.mean), refit[self.refit], np.nan)
        return ScoredPath(
            work.budgets,
            work.weights,
            objectives,
            lower_bounds,
            self.mean,
            self.se,
            refit,
            self.cell,
        )

    def table(self, work: GridWork, folds: list[GridFold]) -> dict[str, Any]:
        """The ``cv_results_`` dictionary of scikit-learn."""
        shape = self.scores.shape[:3]
        i, j, r = (index.ravel() for index in np.indices(shape))
        columns = {"max_features": work.budgets[j], "C": work.weights[i]}
        if work.refit_weights is not None:
            columns["refit_C"] = work.refit_weights[r]
        by_row = zip(*(values.tolist() for values in columns.values()), strict=True)
        table: dict[str, Any] = {
            f"param_{name}": values for name, values in columns.items()
        }
        table["params"] = [dict(zip(columns, row, strict=True)) for row in by_row]
        scores = self.scores.reshape(i.size, -1)
        for k, fold in enumerate(folds):
            table[f"split{k}_test_score"] = scores[:, k]
            table[f"split{k}_objective"] = fold.objectives[i, j]
        table["mean_test_score"] = mean = scores.mean(axis=1)
        table["std_test_score"] = scores.std(axis=1)
        table["se_test_score"] = standard_error(scores)
        ranks = rankdata(-_finite_or_lowest(mean), method="min")
        table["rank_test_score"] = ranks.astype(np.int32)
        return table


def _chance(folds: list[GridFold]) -> float:
    """Mean score of always predicting the better class; minus infinity if unknown."""
    chance = np.array([fold.chance for fold in folds])
    is_scored = np.isfinite(chance).all(axis=1)
    return float(chance[is_scored].mean(axis=0).max()) if is_scored.any() else -np.inf
