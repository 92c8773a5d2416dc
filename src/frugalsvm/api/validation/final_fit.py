"""The final fit to all data with the chosen budget and C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...driver.result import Result
from .choice import Choice, ScoredPath
from .grid import GridFold, GridWork
from .models import Linear
from .samples import Samples

if TYPE_CHECKING:
    pass


class FinalModel(NamedTuple):
    """The result of the fit to all data.

    Attributes
    ----------
    path : ScoredPath
    result : Result
        Of the problem that selected the features.
    model : Linear
        In the original units of the data.
    included : ndarray of int
    n_solves : int
    """

    path: ScoredPath
    result: Result
    model: Linear
    included: np.ndarray
    n_solves: int


@dataclass(frozen=True)
class FinalFit:
    """The fit to all data, with the work that it shares with the folds.

    Attributes
    ----------
    work : GridWork
    gap_tol : float
    n_jobs : int or None
    verbose : int
    """

    work: GridWork
    gap_tol: float
    n_jobs: int | None
    verbose: int

    def run(
        self,
        samples: Samples,
        loss_weight: np.ndarray,
        folds: list[GridFold],
        choice: Choice,
        seeds: np.random.SeedSequence,
    ) -> FinalModel:
        """The path on all data, and the model of the chosen budget and C."""
        from ...driver.options import SolveOptions
        from ...driver.refit import with_refit
        from ...driver.solving import run_or_raise
        from ..path import bounded_grid

        work = self.work
        problem, units = work.maker.make(
            samples.data, samples.signs, loss_weight, samples.sample_weight
        )
        i, j = choice.place
        grid = bounded_grid(
            problem, work.budgets, work.weights, effort=work.effort,
            seed=seeds.spawn(1)[0], n_jobs=self.n_jobs, seeds=_supports_of(folds),
        )  # fmt: skip
        options = SolveOptions(
            effort=work.effort,
            gap_tol=self.gap_tol,
            initial_support=grid.supports[i][j],
            n_jobs=self.n_jobs,
            random_state=int(seeds.generate_state(1)[0]),
            verbose=self.verbose,
        )
        budget = int(work.budgets[j])
        result = run_or_raise(
            problem.with_C(float(work.weights[i])).with_budget(budget), options
        )
        grid = grid.knowing(i, j, result)
        model = Linear(result.coef, result.intercept)
        if work.refit_weights is not None:
            refit_C = float(work.refit_weights[choice.refit[i, j]])
            result = with_refit(problem.with_budget(budget), result, refit_C)
            assert result.refit is not None
            model = Linear(result.refit.coef, result.refit.intercept)
        return FinalModel(
            choice.path(work, grid.objectives, grid.lower_bounds),
            result,
            units.fold_back(model),
            np.array(problem.include),
            grid.n_solves + result.counters.get("SVM solves", 1),
        )


def _supports_of(folds: list[GridFold]) -> dict[tuple[int, int], list[np.ndarray]]:
    """The supports selected on the folds, by C and budget."""
    n_rows, n_columns = folds[0].objectives.shape
    return {
        (i, j): [fold.supports[i][j] for fold in folds]
        for i in range(n_rows)
        for j in range(n_columns)
    }
