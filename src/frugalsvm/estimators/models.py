"""Linear models on the features that a search has found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..problem.solution import rounded
from ..run.threads import single_threaded_blas

if TYPE_CHECKING:
    from ..problem.problem import Problem
    from ..search.path_search import GridSolutions
    from ..solving.result import Result

# Accuracy of the SVMs that predict.
FINAL_TOL = 1e-12


class Linear(NamedTuple):
    """A linear model: weights of all columns, and an intercept.

    A row of weights and an intercept for each of more than two classes.
    """

    coef: np.ndarray
    intercept: Any

    @classmethod
    def of(cls, result: Result) -> Linear:
        """The weights that predict: those of the refit if there is one."""
        model = result if result.refit is None else result.refit
        return cls(model.coef, model.intercept)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.coef.shape[-1]

    def scores(self, X: Any) -> np.ndarray:
        """The scores of samples; reads the columns it needs."""
        columns = np.flatnonzero(np.atleast_2d(self.coef).any(axis=0))
        return self.scores_of(X[:, columns], columns)

    def scores_of(self, values: Any, columns: np.ndarray) -> np.ndarray:
        """The scores of samples, given the columns with weights."""
        scores = np.asarray(values @ self.coef[..., columns].T + self.intercept)
        return np.asarray(rounded(scores, self.coef, self.intercept))

    def predict(self, X: Any) -> np.ndarray:
        """The numbers of the predicted classes; reads the columns it needs."""
        return codes_of(self.scores(X))

    def is_constant(self, X: Any) -> bool:
        """Whether all samples are predicted to be of one class."""
        # Usually the first samples are of both classes.
        if np.unique(self.predict(X[:1000])).size > 1:
            return False
        return np.unique(self.predict(X)).size < 2


def signs_of(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Class numbers as labels -1 and +1, in a column for each of more than two."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)
    return np.where(codes[:, np.newaxis] == np.arange(n_classes), 1.0, -1.0)


def codes_of(scores: np.ndarray) -> np.ndarray:
    """The number of the class that each score predicts.

    With a column for each class, that of the largest score. Scores must be rounded, see
    ``frugalsvm.problem.solution``.
    """
    if scores.ndim == 2:
        return np.asarray(np.argmax(scores, axis=1))
    return (scores > 0).astype(np.intp)


def svm_on(problem: Problem, support: np.ndarray, tol: float = FINAL_TOL) -> Linear:
    """The SVM on a support, as a model of all columns."""
    from ..search.evaluator import Evaluator
    from ..solving.polish import PrimalPoint, polished
    from ..solving.result import by_machine

    # As in a run: the threads of small products would only wait for each other.
    with single_threaded_blas():
        solution = Evaluator(problem).solve(support, tol=tol)
    assert solution is not None
    model = polished(problem, PrimalPoint.of(problem, solution))
    return Linear(by_machine(problem, model.coef), model.intercept)


def grid_models(
    problem: Problem,
    grid: GridSolutions,
    weights: np.ndarray,
    refit_weights: np.ndarray | None = None,
) -> Iterator[tuple[tuple[int, int, int], Linear]]:
    """The SVMs on the supports of a grid.

    Parameters
    ----------
    problem : Problem
        That of the grid.
    grid : GridSolutions
    weights : ndarray
        The values of C that selected the supports.
    refit_weights : ndarray, default=None
        Values of C for the SVMs; None to use the one that selected the support.

    Yields
    ------
    key : tuple of int
        Indices of C, budget and ``refit_weights``.
    model : Linear
    """
    for i, row in enumerate(grid.rows):
        for j, solution in enumerate(row):
            tried = weights[i : i + 1] if refit_weights is None else refit_weights
            for r, C in enumerate(tried.tolist()):
                yield (i, j, r), svm_on(problem.with_C(C), solution.support)
