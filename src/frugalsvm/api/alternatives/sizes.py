"""Sizes of the weights of features, which may be groups of columns."""

from __future__ import annotations

import numpy as np

from ...problem.problem import Problem
from ...tree.listing import Found


def weight_sizes(problem: Problem, found: Found) -> np.ndarray:
    """The Euclidean length of the weights of each feature in a support."""
    if not problem.columns.has_groups:
        return np.abs(found.coef)
    squares = problem.columns.restrict(found.support).sums(found.coef**2)
    return np.sqrt(squares)
