"""The refit: weights of the selected features, computed with a C of their own.

One C does two jobs: how strongly the selection is regularised, and how large the
weights are. The SVM on a given set of features is convex, so its dual point proves its
optimum.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..problem.problem import Problem
from ..run.blas import single_threaded_blas
from ..run.stopping import StopCondition
from ..run.supervision import supervise
from ..tree.listing import Found, solve_support
from .constant import constant_sign, never_predicted
from .ghosts import PrimalPoint, ghost_limit, without_ghosts
from .polish import polished
from .result import Refit, Result, by_machine


def with_refit(problem: Problem, result: Result, C: float) -> Result:
    """A result with the SVM on its features, included ones too, for another C.

    Parameters
    ----------
    problem : Problem
        The one that was solved.
    result : Result
    C : float

    Returns
    -------
    Result
        With ``refit``, and a certificate that proves both if there was one.
    """
    other = problem.with_C(C)
    support = np.union1d(result.selected, problem.include).astype(np.int64)
    work = partial(_solve, other, support)
    (found, alpha), _ = supervise(work, StopCondition(), patient=False)
    columns = problem.columns.of(support)
    coef = np.zeros(problem.n_columns)
    coef[columns] = found.coef
    model = PrimalPoint(coef, found.intercept, found.objective)
    limit = ghost_limit(model.objective, found.bound, 0.0)
    model = polished(other, without_ghosts(other, model, limit), limit=limit)
    refit = Refit(
        float(C), by_machine(problem, model.coef), model.intercept, model.objective,
        max(0.0, found.bound),
    )  # fmt: skip
    proof = result.certificate
    if proof is not None:
        own = other.blocks(support, model.coef[columns])
        proof = proof.with_refit(
            other.weights, own, refit.intercept, refit.objective, refit.lower_bound,
            alpha,
        )  # fmt: skip
    constant = constant_sign(problem, model.coef, model.intercept)
    never = never_predicted(problem, model.coef, model.intercept)
    return replace(
        result, refit=refit, certificate=proof, constant=constant, never=never
    )


def _solve(problem: Problem, support: np.ndarray) -> tuple[Found, np.ndarray]:
    with single_threaded_blas():
        return solve_support(problem, support)
