"""From a relaxed solution to a support within the budgets."""

from __future__ import annotations

import numpy as np

from ..problem.problem import Problem
from .relaxations import Relaxation


def round_relaxation(problem: Problem, relaxation: Relaxation) -> np.ndarray:
    """The included features plus those with the largest ``z_j c_j^2`` that fit."""
    value = (1.0 - relaxation.u) * relaxation.squares
    value = value[problem.candidates]
    if np.isfinite(problem.max_cost):
        value = value / problem.costs[problem.candidates]
    ranked = problem.candidates[np.argsort(-value, kind="stable")]
    return fit_budgets(problem, ranked)


def fit_budgets(problem: Problem, ranked: np.ndarray) -> np.ndarray:
    """Take the ranked features in order, skipping those that no longer fit."""
    room = problem.max_features - problem.include.size
    if not np.isfinite(problem.max_cost):
        return np.sort(np.concatenate([problem.include, ranked[:room]]))
    left = problem.cost_budget - problem.costs[problem.include].sum()
    chosen: list[int] = []
    for j in ranked:
        if len(chosen) == room:
            break
        if problem.costs[j] <= left:
            chosen.append(int(j))
            left -= problem.costs[j]
    return np.sort(np.concatenate([problem.include, np.array(chosen, dtype=np.int64)]))
