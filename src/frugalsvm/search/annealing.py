"""Simulated annealing: exchanges that may be for the worse, less and less so.

A descent stops at the first swap optimum; where there are very many, the good ones are
seldom a short walk from each other. Annealing tries thousands of single exchanges
instead and accepts a worse one by a temperature: :mod:`frugalsvm.kernels.annealing`.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from .. import compilation
from ..engine.native import NativeEngine
from ..engine.work import annealing_costs
from ..kernels.annealing import AnnealTask
from ..kernels.svm import MOST_SAMPLES, near_samples
from ..problem import Problem
from ..solution import Solution
from ..stopping import StopCondition
from .evaluator import Evaluator


class Schedule(NamedTuple):
    """How annealings go.

    Attributes
    ----------
    first, last : float
        Part of the exchanges that are accepted, at the beginning and at the end.
    costs : tuple
        What one takes from the patience of a search, and what it takes if it ends in
        the best solution that is known.
    part, growth : float
        What the first batch may take of all work, and what each takes more than the
        one before.
    """

    first: float
    last: float
    costs: tuple[int, int]
    part: float
    growth: float


# Where there are fewer samples than features, optima are many, and annealings come
# cheap. Where there are more, annealings take longer and are surer of their ends.
WIDE = Schedule(0.3, 0.03, (20, 25), 0.25, 0.0)
TALL = Schedule(0.1, 0.02, (20, 50), 0.2, 0.2)
# Features of the largest prices that may come.
WIDTH = 200
# With so few features trees and descents are quicker.
FEW_FEATURES = 50


def may_anneal(problem: Problem) -> bool:
    """Whether there are so many features that annealing may be worth while."""
    return problem.candidates.size > FEW_FEATURES


def can_anneal(problem: Problem) -> bool:
    """The same, and compiled code has the data at hand, of not too many samples."""
    is_dense = type(problem.engine) is NativeEngine
    return may_anneal(problem) and is_dense and problem.n_samples < MOST_SAMPLES


def schedule(problem: Problem) -> Schedule:
    """The schedule for a problem."""
    return WIDE if problem.n_samples < problem.candidates.size else TALL


def rehearse(stop: StopCondition) -> None:
    """Anneal a tiny problem: whatever is needed is compiled then."""
    problem = compilation.tiny_problem().watching(stop.flag)
    evaluator = Evaluator(problem, stop.should_stop)
    start = evaluator.solve(np.arange(problem.max_features))
    assert start is not None
    anneal(evaluator, start, np.random.default_rng(0), 10)


def anneal(
    evaluator: Evaluator,
    solution: Solution,
    rng: np.random.Generator,
    turns: int,
    max_work: float = np.inf,
) -> Solution:
    """The best solution that is met in the second half, or where it ends.

    Parameters
    ----------
    evaluator : Evaluator
    solution : Solution
        Where to start.
    rng : Generator
    turns : int
        Exchanges to try.
    max_work : float, default=inf
        Where it ends if there are turns left.
    """
    evaluator.check()
    problem = evaluator.problem
    own = schedule(problem)
    costs = annealing_costs(problem.engine, solution.support.size, WIDTH)
    task = AnnealTask(
        solution.support,
        problem.candidates.astype(np.int64),
        evaluator.is_fixed.astype(np.int8),
        float(problem.cost_budget),
        turns,
        own.first,
        own.last,
        WIDTH,
        near_samples(problem.n_samples, solution.support.size),
        rng.integers(1, 2**63, size=1, dtype=np.uint64),
        costs,
        float(min(max_work, evaluator.work_left)),
    )
    found = cast(NativeEngine, problem.engine).anneal(task)
    evaluator.n_solves += int(found.counts[0])
    evaluator.work += float(costs @ found.counts)
    evaluator.gave_up = evaluator.gave_up or found.fails
    if not np.isfinite(found.objective):
        return solution
    order = np.argsort(found.support)
    best = Solution(
        found.support[order], found.w[order], found.b, found.alpha, found.objective
    )
    evaluator.reached = best
    # Solved anew: pivots carry their rounding errors along.
    return evaluator.solve(best.support, warm=best) or best
