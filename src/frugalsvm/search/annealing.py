"""Simulated annealing: exchanges that may be for the worse, less and less so.

A descent stops at the first swap optimum; on wide data there are very many, and the
good ones are seldom a short walk from each other. Annealing takes thousands of single
exchanges instead, one SVM each, and accepts a worse one by a temperature. What a good
temperature is depends on the data, so it is governed by what it does: it is raised or
lowered until the part of accepted exchanges is the one that is wanted, and that part
falls during the run.

Exchanges are drawn by rank, in one of three ways. Features to add may be ranked by
prices or by estimates of second order, those to drop by their weights; after each
exchange another rank of features to add may be in use. Or exchanges are ranked as such,
by estimates that know which feature can stand for which
(:mod:`~frugalsvm.search.exchanges`). Where samples are few these are much better, and
more exchanges may be accepted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.ordering import smallest
from ..solution import Solution
from .evaluator import Evaluator
from .exchanges import Exchanges, exchanged, ranked_exchanges

# Part of the exchanges that are accepted, at the beginning and at the end, if features
# are ranked, and if exchanges are.
ACCEPTED, ACCEPTED_BY_ESTIMATE = (0.1, 0.02), (0.5, 0.1)
# Temperature at the beginning, as a part of the objective, and its limits.
FIRST_TEMPERATURE = 0.02
TEMPERATURES = (3e-4, 0.3)
# How fast the temperature follows what is accepted.
ADAPTATION = 0.05
# Mean rank of a feature that is added, and how many ranks there are.
MEAN_RANK, MAX_RANK = 15.0, 150
# Mean rank of a feature that is dropped, as a part of the support.
MEAN_DROP = 0.3
# Exchanges that are ranked.
EXCHANGES = 1000


class _Features(NamedTuple):
    """Features that may be added, best first, and positions that may be dropped."""

    added: np.ndarray
    dropped: np.ndarray

    def draw(self, rng: np.random.Generator) -> tuple[int, int] | None:
        """A position to drop and a feature to add; None if there is none."""
        added = int(rng.exponential(MEAN_RANK))
        dropped = int(rng.exponential(MEAN_DROP * self.dropped.size))
        if added >= self.added.size or dropped >= self.dropped.size:
            return None
        return int(self.dropped[dropped]), int(self.added[added])


def anneal(
    evaluator: Evaluator,
    solution: Solution,
    rng: np.random.Generator,
    turns: int,
    by_price: float | None = 0.5,
) -> Solution:
    """The best solution met in the second half of the turns, or where they end.

    Parameters
    ----------
    evaluator : Evaluator
    solution : Solution
        Where to start.
    rng : Generator
    turns : int
        Exchanges to try.
    by_price : float or None, default=0.5
        How often features are ranked by their prices; None to rank exchanges instead.
    """
    temperature = FIRST_TEMPERATURE
    current, best = solution, None
    choice = _choices(evaluator, current, rng, by_price)
    first, last = ACCEPTED if by_price is not None else ACCEPTED_BY_ESTIMATE
    for turn in range(turns):
        target = first * (last / first) ** (turn / turns)
        cutoff = current.objective * np.exp(temperature * rng.exponential())
        support = _exchange(evaluator, current, choice, rng)
        new = None
        if support is not None:
            new = evaluator.solve(support, cutoff, warm=current)
        accepted = new is not None
        temperature *= np.exp(ADAPTATION * (target - accepted))
        temperature = min(max(temperature, TEMPERATURES[0]), TEMPERATURES[1])
        if new is None:
            continue
        current = new
        if evaluator.reached is None or new.objective < evaluator.reached.objective:
            evaluator.reached = new
        choice = _choices(evaluator, current, rng, by_price)
        if 2 * turn >= turns and (best is None or new.objective < best.objective):
            best = new
    return current if best is None else best


def _choices(
    evaluator: Evaluator,
    solution: Solution,
    rng: np.random.Generator,
    by_price: float | None,
) -> _Features | Exchanges:
    if by_price is None:
        return ranked_exchanges(evaluator, solution, EXCHANGES)
    return _ranked_features(evaluator, solution, rng.random() < by_price)


def _ranked_features(
    evaluator: Evaluator, solution: Solution, by_price: bool
) -> _Features:
    features = evaluator.outside(solution.support)
    rank = evaluator.addition_bounds if by_price else evaluator.addition_estimates
    values = rank(solution, features)
    best = smallest(values, MAX_RANK)
    return _Features(features[best], evaluator.removable(solution))


def _exchange(
    evaluator: Evaluator,
    solution: Solution,
    choice: _Features | Exchanges,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """The support after an exchange drawn at random, if the budgets admit it."""
    drawn = choice.draw(rng)
    if drawn is None:
        return None
    return exchanged(evaluator, solution, *drawn)
