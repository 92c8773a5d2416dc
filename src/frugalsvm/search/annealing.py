"""Simulated annealing: exchanges that may be for the worse, less and less so.

A descent stops at the first swap optimum; on wide data there are very many, and the
good ones are seldom a short walk from each other. Annealing takes thousands of single
exchanges instead, one SVM each, and accepts a worse one by a temperature. What a good
temperature is depends on the data, so it is governed by what it does: it is raised or
lowered until the part of accepted exchanges is the one that is wanted, and that part
falls during the run.

Features to add are drawn by rank, those to drop by their weights. Two ranks are in
use, after each exchange another one may be: prices, and estimates of second order. Some
solutions are found by the one, some by the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..solution import Solution
from .evaluator import Evaluator, insert, remove

# Part of the exchanges that are accepted, at the beginning and at the end.
ACCEPTED = (0.1, 0.02)
# Temperature at the beginning, as a part of the objective, and its limits.
FIRST_TEMPERATURE = 0.02
TEMPERATURES = (3e-4, 0.3)
# How fast the temperature follows what is accepted.
ADAPTATION = 0.05
# Mean rank of a feature that is added, and how many ranks there are.
MEAN_RANK, MAX_RANK = 15.0, 150
# Mean rank of a feature that is dropped, as a part of the support.
MEAN_DROP = 0.3


class _Choice(NamedTuple):
    """Features that may be added, best first, and positions that may be dropped."""

    added: np.ndarray
    dropped: np.ndarray


def anneal(
    evaluator: Evaluator,
    solution: Solution,
    rng: np.random.Generator,
    turns: int,
    by_price: float = 0.5,
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
    by_price : float, default=0.5
        How often features are ranked by their prices.
    """
    temperature = FIRST_TEMPERATURE
    current, best = solution, None
    choice = _choices(evaluator, current, rng.random() < by_price)
    first, last = ACCEPTED
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
        choice = _choices(evaluator, current, rng.random() < by_price)
        if 2 * turn >= turns and (best is None or new.objective < best.objective):
            best = new
    return current if best is None else best


def _choices(evaluator: Evaluator, solution: Solution, by_price: bool) -> _Choice:
    features = evaluator.outside(solution.support)
    rank = evaluator.addition_bounds if by_price else evaluator.addition_estimates
    values = rank(solution, features)
    if features.size > MAX_RANK:
        near = np.argpartition(values, MAX_RANK)[:MAX_RANK]
        features, values = features[near], values[near]
    added = features[np.argsort(values, kind="stable")]
    return _Choice(added, evaluator.removable(solution))


def _exchange(
    evaluator: Evaluator, solution: Solution, choice: _Choice, rng: np.random.Generator
) -> np.ndarray | None:
    """The support after an exchange drawn at random, if the budgets admit it."""
    added = int(rng.exponential(MEAN_RANK))
    dropped = int(rng.exponential(MEAN_DROP * solution.support.size))
    if added >= choice.added.size or dropped >= choice.dropped.size:
        return None
    smaller = remove(solution.support, int(choice.dropped[dropped]))
    support = insert(smaller, int(choice.added[added]))
    return support if evaluator.fits(support) else None
