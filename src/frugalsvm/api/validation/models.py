"""Linear models on the features that a search has found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ...driver.result import Result
    from ...problem.problem import Problem
    from ...search.path_search import GridSolutions

# Accuracy of the SVMs that predict.
FINAL_TOL = 1e-9
# Samples among which both classes are looked for first.
FEW = 1000


class Linear(NamedTuple):
    """A linear model: weights of all columns, and an intercept."""

    coef: np.ndarray
    intercept: float

    @classmethod
    def of(cls, result: Result) -> Linear:
        """The weights of a result that predict: those of the refit if there is one."""
        last = result if result.refit is None else result.refit
        return cls(last.coef, last.intercept)

    def predicts_positive(self, X: Any) -> np.ndarray:
        """Whether samples are predicted to be positive; reads the columns it needs."""
        used = np.flatnonzero(self.coef)
        return np.asarray(X[:, used] @ self.coef[used] + self.intercept > 0)

    def is_constant(self, X: Any) -> bool:
        """Whether all samples are predicted to be of one class."""
        few = self.predicts_positive(X[:FEW])
        if few.any() and not few.all():
            return False
        positive = self.predicts_positive(X)
        return bool(positive.all() or not positive.any())


def svm_on(problem: Problem, support: np.ndarray) -> Linear:
    """The SVM on a support, as a model of all columns."""
    from ...search.evaluator import Evaluator

    solution = Evaluator(problem).solve(support, tol=FINAL_TOL)
    assert solution is not None
    coef = np.zeros(problem.n_columns)
    coef[problem.columns.of(solution.support)] = solution.w
    return Linear(coef, problem.unshifted_intercept(coef, solution.b))


def grid_models(
    problem: Problem,
    found: GridSolutions,
    weights: np.ndarray,
    refit_weights: np.ndarray | None = None,
) -> Iterator[tuple[tuple[int, int, int], Linear]]:
    """The SVMs on the supports of a grid.

    Parameters
    ----------
    problem : Problem
        That of the grid.
    found : GridSolutions
    weights : ndarray
        The values of C that selected the supports.
    refit_weights : ndarray, default=None
        Values of C for the SVMs; None to use the one that selected the support.

    Yields
    ------
    place : tuple of int
        C, budget and ``refit_weights`` by their numbers.
    model : Linear
    """
    for i, row in enumerate(found.rows):
        for j, one in enumerate(row):
            tried = weights[i : i + 1] if refit_weights is None else refit_weights
            for r, C in enumerate(tried.tolist()):
                yield (i, j, r), svm_on(problem.with_C(C), one.support)
