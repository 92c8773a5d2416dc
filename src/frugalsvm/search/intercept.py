"""The best intercept for given weights."""

from __future__ import annotations

import numpy as np

from ..kernels.intercept import intercept_of
from ..problem.problem import Problem


def best_intercept(problem: Problem, coef: np.ndarray) -> float:
    """Minimise the hinge loss over b; zero for problems without an intercept."""
    if not problem.fit_intercept:
        return 0.0
    scores = problem.y * problem.margins(coef, 0.0)
    return float(intercept_of(scores, problem.y, problem.C))
