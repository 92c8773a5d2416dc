"""The best intercept for given weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.intercept import intercept_of
from ..problem.problem import Problem


def best_intercept(problem: Problem, coef: np.ndarray) -> Any:
    """Minimise the hinge loss over b; zero for problems without an intercept.

    One number for each of several machines.
    """
    if problem.n_machines > 1:
        weights = coef.reshape(problem.n_machines, -1)
        pairs = zip(problem.machines, weights, strict=True)
        return np.array([best_intercept(one, w) for one, w in pairs])
    if not problem.fit_intercept:
        return 0.0
    scores = problem.y * problem.margins(coef, 0.0)
    return float(intercept_of(scores, problem.y, problem.C))
