"""The best intercept for given weights."""

from __future__ import annotations

import numpy as np

from ..problem.problem import Problem


def best_intercept(problem: Problem, coef: np.ndarray) -> float:
    """Minimise the hinge loss over b; zero for problems without an intercept.

    The loss is piecewise linear in b with breakpoints ``y_i - w x_i``; the minimum is
    the first one, in increasing order, at which the slope is no longer negative.
    """
    if not problem.fit_intercept:
        return 0.0
    y, C = problem.y, problem.C
    breaks = y - y * problem.margins(coef, 0.0)
    order = np.argsort(breaks, kind="stable")
    slopes = np.cumsum(C[order]) - C[y > 0].sum()
    # Rounding must not push the index beyond the last breakpoint.
    position = min(np.searchsorted(slopes, 0.0), breaks.size - 1)
    return float(breaks[order[position]])
