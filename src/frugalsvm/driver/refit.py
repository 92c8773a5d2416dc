"""The refit: weights of the selected features, computed with a C of their own.

One C does two jobs: how strongly the selection is regularised, and how large the
weights are. The SVM on a given set of features is convex, so its dual point proves its
optimum.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..problem.certificate import Certificate
from ..problem.problem import Problem
from ..runtime.blas import single_threaded_blas
from .constant import constant_sign
from .ghosts import PrimalPoint, ghost_limit, without_ghosts
from .result import Refit, Result

# Accuracy of the SVM.
REFIT_TOL = 1e-9


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
    with single_threaded_blas():
        svm = other.engine.solve_svm(support, tol=REFIT_TOL)
    coef = np.zeros(problem.n_features)
    coef[support] = svm.w
    intercept = other.unshifted_intercept(coef, svm.b)
    region = other.root_region()._replace(forced=support, free=support[:0], k=0)
    proved = other.engine.bound(region, svm.alpha)
    model = PrimalPoint(coef, intercept, other.objective(coef, intercept))
    limit = ghost_limit(model.objective, proved.bound, 0.0)
    model = without_ghosts(other, model, limit)
    refit = Refit(float(C), *model, max(0.0, proved.bound))
    proof = result.certificate
    if proof is not None:
        proof = _with_proof(proof, other, support, refit, proved.alpha)
    constant = constant_sign(problem, refit.coef, refit.intercept)
    return replace(result, refit=refit, certificate=proof, constant=constant)


def _with_proof(
    proof: Certificate,
    problem: Problem,
    support: np.ndarray,
    refit: Refit,
    alpha: np.ndarray,
) -> Certificate:
    return proof.with_refit(
        problem.weights, refit.coef[support], refit.intercept, refit.objective,
        refit.lower_bound, alpha,
    )  # fmt: skip
