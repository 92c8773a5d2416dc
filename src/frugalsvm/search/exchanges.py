"""Exchanges of one feature for another, ranked by estimated cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.ordering import smallest
from ..problem.solution import Solution
from .evaluator import Evaluator, insert, remove


class Exchanges(NamedTuple):
    """Positions to drop and features to add, best exchange first."""

    dropped: np.ndarray
    added: np.ndarray


def ranked_exchanges(evaluator: Evaluator, solution: Solution, count: int) -> Exchanges:
    """The most promising exchanges, regardless of the budgets."""
    features = evaluator.outside(solution.support)
    features, losses = evaluator.exchange_losses(solution, features)
    positions = evaluator.removable(solution)
    best = smallest(losses[positions].ravel(), count)
    dropped, added = np.divmod(best, max(features.size, 1))
    return Exchanges(positions[dropped], features[added])


def after_exchange(
    evaluator: Evaluator, solution: Solution, position: int, feature: int
) -> np.ndarray | None:
    """The support after an exchange, if the budgets admit it."""
    support = insert(remove(solution.support, position), feature)
    return support if evaluator.fits(support) else None
