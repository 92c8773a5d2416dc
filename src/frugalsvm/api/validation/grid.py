"""Many budgets and C in each fold of a cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...runtime.parallel import Shared
from .folds import FoldJob
from .models import grid_models
from .samples import ProblemMaker, Samples
from .scoring import Scoring

# Budgets for "auto", up to the number of features.
AUTO_BUDGETS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
# Values of C for "auto". 100 would take as long as all of these together, and did not
# score best on any of the paper's nine small data sets.
AUTO_C = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


def budgets_of(max_features: Any, n_features: int, n_included: int) -> np.ndarray:
    """Budgets in increasing order, none above the number of features."""
    from ..path import sorted_budgets

    if not is_word(max_features, "auto"):
        return sorted_budgets(np.minimum(sorted_budgets(max_features), n_features))
    most = min(n_features, AUTO_BUDGETS[-1])
    tried = [b for b in (*AUTO_BUDGETS, most) if n_included <= b <= most]
    return sorted_budgets(tried or [n_included])


def weights_of(C: Any) -> np.ndarray:
    """Values of C in increasing order."""
    from ..path import sorted_weights

    return sorted_weights(AUTO_C if is_word(C, "auto") else C)


def is_word(value: Any, word: str) -> bool:
    """Whether a parameter that may be an array is the given string."""
    return isinstance(value, str) and value == word


class GridFold(NamedTuple):
    """The result of one fold for all budgets and C.

    Attributes
    ----------
    scores : ndarray of shape (n_C, n_budgets, n_refit_C)
    objectives : ndarray of shape (n_C, n_budgets)
        On the training part.
    supports : list of list of ndarray
    n_solves : int
    """

    scores: np.ndarray
    objectives: np.ndarray
    supports: list[list[np.ndarray]]
    n_solves: int


@dataclass(frozen=True)
class GridWork:
    """The work on every fold: all budgets and C together, and their scores.

    Attributes
    ----------
    budgets, weights : ndarray
        Budgets and values of C, increasing.
    refit_weights : ndarray or None
        Values of C for the weights of the selected features; None to use the same C.
    effort : str
    maker : ProblemMaker
    scoring : Scoring
    """

    budgets: np.ndarray
    weights: np.ndarray
    refit_weights: np.ndarray | None
    effort: str
    maker: ProblemMaker
    scoring: Scoring

    def run(self, data: Shared[Samples], job: FoldJob) -> GridFold:
        """Fit and score one fold; KeyboardInterrupt if it is interrupted."""
        from ..path import search_grid

        assert job.seed is not None
        train, test = data.value.part(job.train), data.value.part(job.test)
        weight = np.ones(job.train.size) if job.loss_weight is None else job.loss_weight
        problem, units = self.maker.make(
            train.data, train.signs, weight, train.sample_weight
        )
        found = search_grid(
            problem, self.budgets, self.weights, effort=self.effort, seed=job.seed
        )
        n_refit = 1 if self.refit_weights is None else self.refit_weights.size
        scores = np.empty((self.weights.size, self.budgets.size, n_refit))
        models = grid_models(problem, found, self.weights, self.refit_weights)
        for (i, j, r), model in models:
            settings = {
                "max_features": int(self.budgets[j]), "C": float(self.weights[i])
            }  # fmt: skip
            scores[i, j, r] = self.scoring.score(
                units.fold_back(model), settings, test, job.score_params or {}
            )
        return GridFold(
            scores,
            np.array([[one.objective for one in row] for row in found.rows]),
            [[one.support for one in row] for row in found.rows],
            found.n_solves,
        )
