"""Restarts of the swap search: perturb good solutions, descend again, keep the best.

Work is done in batches whose size does not depend on the number of threads, and every
restart has a random generator of its own, so the outcome depends on the data and the seed
only. Three ways to a new start, drawn at random:

* perturb: drop 20 to 50 % of an elite solution and refill it;
* cross: join two elite supports and drop the least weights until the budgets hold;
* grow: add some promising features to an elite solution and shrink it again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..monitor import Monitor
from ..problem import Problem
from .evaluator import IMPROVEMENT, Evaluator, Solution, Stop
from .swap import fill, swap_search

# Restarts between two exchanges of elite solutions.
BATCH = 4


@dataclass(frozen=True)
class SwapOptions:
    """Options of the swap search.

    Parameters
    ----------
    patience : int, default=40
        Restarts without improvement before the search ends; 0 for a single descent.
    width : int, default=20
        Features that are tried in exchange for one.
    tries : int, default=3
        Features that are tried to be dropped after an addition.
    n_elites : int, default=6
        Good solutions that restarts start from.
    """

    patience: int = 40
    width: int = 20
    tries: int = 3
    n_elites: int = 6


class Elites:
    """The best distinct solutions, best first."""

    def __init__(self, size: int):
        self._size = size
        self.solutions: list[Solution] = []

    @property
    def best(self) -> Solution:
        """The best solution."""
        return self.solutions[0]

    def add(self, solution: Solution) -> bool:
        """Add a solution; whether it is a new best one."""
        if any(solution.key == other.key for other in self.solutions):
            return False
        improves = not self.solutions or solution.objective < self.best.objective * (
            1 - IMPROVEMENT
        )
        self.solutions.append(solution)
        self.solutions.sort(key=lambda s: (s.objective, s.key))
        del self.solutions[self._size :]
        return improves


def _shrink(evaluator: Evaluator, support: np.ndarray) -> Solution:
    """Solve on a support that is too large and drop least weights until it fits."""
    solution = evaluator.solve(support)
    assert solution is not None
    while not evaluator.problem.admits(solution.support):
        excess = solution.support.size - evaluator.problem.max_features
        # Halve the excess at first; the last features go one by one.
        count = max(1, excess // 2)
        drop = evaluator.removable(solution)[:count]
        smaller = evaluator.solve(np.delete(solution.support, drop), warm=solution)
        assert smaller is not None
        solution = smaller
    return solution


def _perturb(evaluator, elites, rng) -> Solution:
    # Half of the time the best solution, otherwise any elite one.
    pick = 0 if rng.random() < 0.5 else rng.integers(len(elites))
    solution = elites[pick]
    positions = evaluator.removable(solution)
    count = max(1, round(rng.uniform(0.2, 0.5) * positions.size))
    drop = rng.choice(positions, min(count, positions.size), replace=False)
    smaller = evaluator.solve(np.delete(solution.support, drop))
    return fill(evaluator, smaller, rng, spread=3)


def _cross(evaluator, elites, rng) -> Solution:
    first, second = rng.choice(len(elites), 2, replace=False)
    union = np.union1d(elites[first].support, elites[second].support)
    return _shrink(evaluator, union)


def _grow(evaluator, elites, rng) -> Solution:
    solution = elites[rng.integers(len(elites))]
    candidates = np.setdiff1d(evaluator.problem.candidates, solution.support)
    bounds = evaluator.addition_bounds(solution, candidates)
    pool = candidates[np.argsort(bounds, kind="stable")[: 4 * solution.support.size + 20]]
    count = max(1, round(rng.uniform(0.2, 0.6) * solution.support.size))
    added = rng.choice(pool, min(count, pool.size), replace=False)
    return _shrink(evaluator, np.union1d(solution.support, added))


def _new_start(evaluator: Evaluator, elites: list[Solution], rng) -> Solution:
    draw = rng.random()
    if draw < 0.25 and len(elites) > 1:
        return _cross(evaluator, elites, rng)
    if draw < 0.5:
        return _grow(evaluator, elites, rng)
    return _perturb(evaluator, elites, rng)


def _descend(
    evaluator: Evaluator,
    start: Callable[[Evaluator], Solution],
    options: SwapOptions,
    known: frozenset[tuple[int, ...]],
) -> Solution | None:
    """A descent; if stopped, the last solution it reached."""
    try:
        solution = start(evaluator)
        return swap_search(
            evaluator,
            solution,
            width=options.width,
            tries=options.tries,
            known=known,
        )
    except Stop:
        return evaluator.reached


def restart_search(
    problem: Problem,
    starts: list[Solution],
    monitor: Monitor,
    *,
    options: SwapOptions,
    n_jobs: int = 1,
    seed: np.random.SeedSequence,
) -> tuple[Solution, dict[str, int]]:
    """Improve the given solutions by swaps and restarts; best solution and counters."""
    elites = Elites(options.n_elites)
    counters = {"restarts": 0, "SVM solves": 0}

    def run(tasks):
        """Descents from several starts, in parallel, reported in order."""
        evaluators = [Evaluator(problem, monitor.should_stop) for _ in tasks]
        jobs = [
            pool.submit(_descend, evaluator, task, options, frozenset(optima))
            for evaluator, task in zip(evaluators, tasks, strict=True)
        ]
        improved = False
        for job, evaluator in zip(jobs, evaluators, strict=True):
            solution = job.result()
            counters["SVM solves"] += evaluator.n_solves
            if solution is None:
                continue
            optima.add(solution.key)
            if elites.add(solution):
                improved = True
                monitor.update(objective=solution.objective, event="swap")
        return improved

    # Swap optima found so far: a descent that reaches one need not verify it again.
    optima: set[tuple[int, ...]] = set()
    for solution in starts:
        elites.add(solution)
    with ThreadPoolExecutor(n_jobs) as pool:
        run([lambda _, s=s: s for s in starts])
        idle = 0
        while idle < options.patience and not monitor.finished():
            snapshot = list(elites.solutions)
            rngs = [np.random.default_rng(child) for child in seed.spawn(BATCH)]
            improved = run([lambda e, g=g: _new_start(e, snapshot, g) for g in rngs])
            counters["restarts"] += BATCH
            idle = 0 if improved else idle + BATCH
    return elites.best, counters
