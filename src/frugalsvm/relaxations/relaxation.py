"""The decomposed relaxation DSCoP of a whole problem, by the native kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..kernels.perspective import perspective
from ..problem import Problem


@dataclass(frozen=True)
class Relaxation:
    """Solution of a relaxation.

    Attributes
    ----------
    bound : float
        Valid lower bound of FS-SVM, recomputed from ``alpha``.
    value : float
        Primal value of the relaxation; ``bound`` reaches it up to the tolerance.
    u : ndarray of shape (n_features,)
        The paper's u, 0 for features the relaxation selects, 1 for those it rejects.
    w : ndarray of shape (n_features,)
        Weights of the relaxed solution.
    squares : ndarray of shape (n_features,)
        ``c_j(alpha)^2``, what the features are worth at the dual point.
    alpha : ndarray of shape (n_kept_samples,)
        The dual point, feasible in exact arithmetic.
    seconds : float
    iterations : int
    """

    bound: float
    value: float
    u: np.ndarray
    w: np.ndarray
    squares: np.ndarray
    alpha: np.ndarray
    seconds: float
    iterations: int


def relax(
    problem: Problem,
    *,
    tol: float = 1e-6,
    should_stop: Callable[[], bool] | None = None,
) -> Relaxation:
    """Solve DSCoP for a problem.

    Parameters
    ----------
    problem : Problem
    tol : float, default=1e-6
        Relative gap between ``value`` and ``bound``.
    should_stop : callable, default=None
        Asked between rounds; the bound is valid whenever it stops.

    Returns
    -------
    Relaxation
    """
    started = time.perf_counter()
    node = perspective(
        problem.A, problem.norms, problem.y, problem.C, problem.fit_intercept,
        problem.costs, problem.root_node(), tol=tol, should_stop=should_stop,
    )  # fmt: skip
    return Relaxation(
        bound=node.bound,
        value=node.primal,
        u=1.0 - node.z,
        w=node.w,
        squares=node.squares,
        alpha=node.alpha,
        seconds=time.perf_counter() - started,
        iterations=node.iterations,
    )
