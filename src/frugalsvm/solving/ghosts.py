"""Ghosts: features whose weights together do not matter.

An SVM on a budget may leave weights of 1e-10 to features that it has no use for. They
would count as selected, and be measured, paid for and explained. Their weights become
exact zeros here, as long as the objective stays the same to within a millionth. Groups
of columns leave as a whole first, then single columns of those that stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..engine.columns import Columns
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.progress import relative_gap
from ..search.evaluator import Evaluator
from ..search.intercept import best_intercept

# Fraction of the objective that the weights of ghosts change together.
GHOST = 1e-6
# Accuracy of the SVM on the features that stay.
TOL = 1e-9


class PrimalPoint(NamedTuple):
    """A solution in terms of X: weights of all columns, intercept, objective.

    Those of several machines one after the other, with an intercept for each.
    """

    coef: np.ndarray
    intercept: Any
    objective: float

    @classmethod
    def of(cls, problem: Problem, solution: Solution) -> PrimalPoint:
        """The solution on a support."""
        coef = np.zeros(problem.n_columns)
        coef[problem.columns.of(solution.support)] = solution.w
        intercept = problem.unshifted_intercept(coef, solution.b)
        return cls(coef, intercept, problem.objective(coef, intercept))


def ghost_limit(objective: float, bound: float, gap_tol: float) -> float:
    """The largest objective that dropping features may lead to.

    A solution that is proved optimal to within ``gap_tol`` remains so.
    """
    limit = objective + GHOST * abs(objective)
    if gap_tol < 1.0 and relative_gap(objective, bound) <= gap_tol:
        return max(objective, min(limit, bound / (1.0 - gap_tol)))
    return limit


def without_ghosts(
    problem: Problem,
    model: PrimalPoint,
    limit: float,
    *,
    objective_of: Callable[[np.ndarray, Any], float] | None = None,
    refit: bool = True,
) -> PrimalPoint:
    """The model without the features that do not matter; included ones stay.

    Parameters
    ----------
    problem : Problem
    model : PrimalPoint
        The SVM on its features.
    limit : float
        The objective stays at most this, see ``ghost_limit``.
    objective_of : callable, default=None
        Gives the objective of weights and intercept; that of ``problem`` by default.
    refit : bool, default=True
        Whether to solve the SVM on the features that stay.

    Returns
    -------
    PrimalPoint
        The same object if all features matter.
    """
    value = problem.objective if objective_of is None else objective_of
    columns = problem.columns
    while True:
        fewer = _cut(problem, columns, model, limit, value)
        if fewer is None:
            break
        model = _solved(problem, fewer) if refit else fewer
    if columns.has_groups:
        # Not solved again: the SVM would give them such weights once more.
        single = Columns.single(columns.n_columns)
        model = _cut(problem, single, model, limit, value) or model
    return model


def _cut(
    problem: Problem,
    columns: Columns,
    model: PrimalPoint,
    limit: float,
    value: Callable[[np.ndarray, Any], float],
) -> PrimalPoint | None:
    """The model with as many zeros as possible; None if there are no more.

    ``columns`` says what becomes zero as a whole.
    """
    coef = model.coef
    included = columns.used(np.isin(problem.columns.groups, problem.include))
    used = np.setdiff1d(columns.used(coef), included)
    # The objective is strongly convex: without a weight w it is larger by w^2 / 2.
    least = columns.sums(0.5 * coef**2)
    used = used[least[used] <= max(limit - model.objective, 0.0)]
    sizes = columns.sums(np.abs(coef) * problem.norms)
    order = used[np.argsort(sizes[used], kind="stable")]
    best, low, high = None, 0, order.size
    k = min(1, high)
    while low < high:
        fewer = coef.copy()
        fewer[columns.of(order[:k])] = 0.0
        intercept = best_intercept(problem, fewer)
        objective = value(fewer, intercept)
        if objective <= limit:
            best, low = PrimalPoint(fewer, intercept, objective), k
        elif k == 1:
            break
        else:
            high = k - 1
        # All at once is the most frequent case, after one.
        k = high if k == 1 else (low + high + 1) // 2
    return best


def _solved(problem: Problem, model: PrimalPoint) -> PrimalPoint:
    """The SVM on the features of a model, if it is better."""
    used = problem.columns.used(model.coef)
    support = np.union1d(used, problem.include).astype(np.int64)
    solution = Evaluator(problem).solve(support, tol=TOL)
    if solution is None:
        return model
    found = PrimalPoint.of(problem, solution)
    return min(model, found, key=lambda one: one.objective)
