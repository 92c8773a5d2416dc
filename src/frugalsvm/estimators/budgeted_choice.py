"""Folds of a choice of budget and C, and what an estimator keeps of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..solving.result import Status
from .cells import WatchedFolds
from .choice import Choice, ScoredPath
from .final_fit import FinalModel
from .folds import FoldJob, Split
from .frugal_svc import FrugalSVC
from .grid import GridFold, GridWork, budgets_of, weights_of
from .pace import pace_of
from .samples import ProblemMaker, Samples
from .scored_choice import ScoredChoice, part_of
from .scoring import BalancedAccuracy, ByScorer, Scoring


class BudgetedChoice(ScoredChoice):
    """Makes the work and the jobs of folds, and stores what they found.

    The folds use swap search only. What they found is a start for the fit of all data.
    """

    C: Any
    refit_C: Any
    effort: str
    gap_tol: float
    time_limit: float | None
    initial_support: Any
    path_: ScoredPath

    def _work(self, maker: ProblemMaker) -> GridWork:
        scorer, included = self._scorer(), np.unique(maker.constraints["include"])
        scoring: Scoring = BalancedAccuracy()
        if scorer is not None:
            template = FrugalSVC(class_weight=self.class_weight)
            names = getattr(self, "feature_names_in_", None)
            scoring = ByScorer(
                scorer, template, self.classes_, names,
                self._features.columns_of(included), self._groups,
            )  # fmt: skip
        pace, n = pace_of(self.effort), self._features.n_features
        return GridWork(
            budgets_of(self.max_features, n, included.size, pace.budgets),
            *weights_of(self.C, self.refit_C, self.classes_.size, pace.refit_C),
            self.effort,
            maker,
            scoring,
            pace=pace,
        )

    def _jobs(
        self,
        samples: Samples,
        splits: list[Split],
        score_params: dict[str, Any],
        seeds: np.random.SeedSequence,
    ) -> Iterator[FoldJob]:
        """The jobs of the folds, made as they are needed."""
        for k, (train, test) in enumerate(splits):
            weights = samples.sample_weight[train]
            yield FoldJob(
                k,
                train,
                test,
                seeds.spawn(1)[0],
                self._weights(train, samples.y[train], weights),
                part_of(score_params, test),
            )

    def _take_choice(
        self, work: GridWork, folds: list[GridFold], choice: Choice
    ) -> None:
        """Set the attributes that come from the folds."""
        i, j = choice.place
        self.n_splits_ = len(folds)
        self.best_C_ = float(work.weights[i])
        self.best_max_features_ = int(work.budgets[j])
        self.best_refit_C_ = self.best_C_
        if work.refit_weights is not None:
            self.best_refit_C_ = float(work.refit_weights[choice.refit[i, j]])
        self.best_score_ = float(choice.mean[i, j])
        self.best_index_ = choice.index
        self.cv_results_ = choice.table(work, folds)
        chosen = np.zeros(self.n_features_in_)
        for fold in folds:
            support = fold.supports[i][j]
            assert support is not None
            chosen[self._features.columns_of(support)] += 1
        self.selection_frequency_ = chosen / len(folds)
        self.n_iter_ = sum(fold.n_solves for fold in folds)

    def _take_fit(self, fitted: FinalModel) -> None:
        """Set the attributes that come from the fit of all data."""
        self.path_ = fitted.path
        self._take_result(fitted.result)
        self.coef_ = np.atleast_2d(fitted.model.coef)
        self.intercept_ = np.atleast_1d(fitted.model.intercept)
        self.n_iter_ += fitted.n_solves
        self._included = self._features.columns_of(fitted.included)
        self._take_selected()

    def _warn_of_limit(self, found: WatchedFolds) -> None:
        """Warn if the time limit ended the choice, or the final fit."""
        words = []
        if found.was_late:
            words.append(
                f"the choice: {found.n_finished:,} of {self.path_.objectives.size:,} "
                "pairs of budget and C are finished in all folds, and the best of "
                "them was taken"
            )
        if found.n_shortened:
            words.append(
                f"the searches of {found.n_shortened:,} pairs of budget and C, which "
                "share the time"
            )
        if self.result_.status is Status.TIME_LIMIT:
            words.append(
                f"the fit to all data: {self.result_.verdict}, which is above "
                f"gap_tol={self.gap_tol:g}"
            )
        if words:
            warnings.warn(
                f"time_limit={self.time_limit} ended {'; and '.join(words)}. Raise "
                "time_limit to search on.",
                ConvergenceWarning,
                stacklevel=3,
            )
