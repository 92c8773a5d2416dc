"""Restarts of the swap search: perturb good solutions, descend again, keep the best.

Work is done in batches whose size does not depend on the number of threads, and every
restart has a random generator of its own, so the outcome depends on the data and the
seed only. Three ways to a new start, drawn at random:

* perturb: drop 20 to 80 % of an elite solution and refill it;
* cross: join two elite supports and drop the least weights until the budgets hold;
* grow: add some promising features to an elite solution and shrink it again.

Where features are many there are too many optima to find the best one by descents
alone. There elite solutions are tempered (:mod:`~frugalsvm.search.tempering`), for a
while between batches of restarts, and the best that are met are starts, too.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..engine.ordering import smallest
from ..engine.work import svm_work
from ..problem.options import Options, check_integer
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..runtime import compilation
from ..runtime.incumbent import Incumbent
from ..runtime.progress import SINCE_BEST
from .evaluator import IMPROVEMENT, Evaluator, Stop
from .swap import begins_roughly, fill, swap_search
from .tempering import Tempering, can_temper, may_temper, warm_up

# Restarts between two exchanges of elite solutions.
BATCH = 4
# What a restart takes from the patience: one that finds a new optimum, and another.
COSTS = 1, 5
# What a stretch of tempering takes from the patience and of all work; with less work
# than for so many SVMs it is not worth while.
STRETCH_COST, STRETCH_PART, LEAST_SVMS = 40, 0.05, 160
# Stretches between two batches of restarts; with less patience there are none.
STRETCHES, LEAST_PATIENCE = 3, 80
# Patience is shorter if less than this part of the objective can be gained.
FULL_GAIN = 0.01
# Supports remembered across restarts.
MAX_SEEN = 500_000


@dataclass(frozen=True)
class SwapOptions(Options):
    """Options of the swap search.

    Parameters
    ----------
    patience : int, default=250
        How long to go on without improvement; 0 for a single descent. A restart that
        ends in a new swap optimum costs 1; one that ends in a known one costs 5, for it
        is a sign that few optima are left to be found. A stretch of tempering, a
        twentieth of all work if that has a limit, costs 40.
        Methods ``auto`` and ``swap`` take that of their effort, less of it where the
        gap is below 1 %; one that is given lifts the effort's other limit of the
        search, too.
    width : int, default=20
        Features that are tried in exchange for one.
    tries : int, default=3
        Features that are tried to be dropped after an addition.
    n_elites : int, default=12
        Good solutions that restarts start from.
    """

    patience: int = 250
    width: int = 20
    tries: int = 3
    n_elites: int = 12

    def check(self) -> None:
        """Raise ValueError if an option is not what it must be."""
        check_integer("patience", self.patience, 0)
        check_integer("width", self.width, 1)
        check_integer("tries", self.tries, 1)
        check_integer("n_elites", self.n_elites, 1)


def prepare(problem: Problem, options: SwapOptions) -> None:
    """Compile what tempering needs, if there may be any, before the clock starts."""
    if may_temper(problem) and options.patience >= LEAST_PATIENCE:
        compilation.ensure("tempering", warm_up)


class Elites:
    """Good distinct solutions to start from, best first."""

    def __init__(self, size: int):
        self._size = size
        self.solutions: list[Solution] = []

    @property
    def supports(self) -> list[np.ndarray]:
        """Their supports, best first."""
        return [solution.support for solution in self.solutions]

    def add(self, solution: Solution) -> bool:
        """Add a solution; whether it is notably better than all others."""
        if any(solution.key == other.key for other in self.solutions):
            return False
        first = self.solutions[0].objective if self.solutions else np.inf
        improves = solution.objective < first * (1 - IMPROVEMENT)
        self.solutions.append(solution)
        self.solutions.sort(key=lambda s: (s.objective, s.key))
        del self.solutions[self._size :]
        return improves


def shrink(evaluator: Evaluator, support: np.ndarray) -> Solution:
    """Solve on a support that is too large and drop least weights until it fits."""
    solution = evaluator.solve(support)
    assert solution is not None
    while not evaluator.fits(solution.support):
        excess = solution.support.size - evaluator.problem.max_features
        # Halve the excess at first; the last features go one by one.
        count = max(1, excess // 2)
        drop = evaluator.removable(solution)[:count]
        smaller = evaluator.solve(np.delete(solution.support, drop), warm=solution)
        assert smaller is not None
        solution = smaller
    return solution


def _perturb(
    evaluator: Evaluator, elites: list[Solution], rng: np.random.Generator
) -> Solution:
    # Half of the time the best solution, otherwise any elite one.
    pick = 0 if rng.random() < 0.5 else rng.integers(len(elites))
    solution = elites[pick]
    positions = evaluator.removable(solution)
    count = max(1, round(rng.uniform(0.2, 0.8) * positions.size))
    drop = rng.choice(positions, min(count, positions.size), replace=False)
    smaller = evaluator.solve(np.delete(solution.support, drop))
    assert smaller is not None
    return fill(evaluator, smaller, rng, spread=6)


def _cross(
    evaluator: Evaluator, elites: list[Solution], rng: np.random.Generator
) -> Solution:
    first, second = rng.choice(len(elites), 2, replace=False)
    union = np.union1d(elites[first].support, elites[second].support)
    return shrink(evaluator, union)


def _grow(
    evaluator: Evaluator, elites: list[Solution], rng: np.random.Generator
) -> Solution:
    solution = elites[rng.integers(len(elites))]
    candidates = np.setdiff1d(evaluator.problem.candidates, solution.support)
    bounds = evaluator.addition_bounds(solution, candidates)
    pool = candidates[smallest(bounds, 4 * solution.support.size + 20)]
    count = max(1, round(rng.uniform(0.2, 0.6) * solution.support.size))
    added = rng.choice(pool, min(count, pool.size), replace=False)
    return shrink(evaluator, np.union1d(solution.support, added))


def _new_start(
    elites: list[Solution], rng: np.random.Generator, evaluator: Evaluator
) -> Solution:
    draw = rng.random()
    if draw < 0.25 and len(elites) > 1:
        return _cross(evaluator, elites, rng)
    if draw < 0.5:
        return _grow(evaluator, elites, rng)
    return _perturb(evaluator, elites, rng)


Start = Callable[[Evaluator], Solution]


class RestartSearch:
    """Swap descents from given and from new starts, in batches.

    Parameters
    ----------
    problem : Problem
    incumbent : Incumbent
        Offered the best of the elite solutions.
    options : SwapOptions
    pool : Executor
        Where the descents of a batch run.
    seed : SeedSequence
        Of the random generators of the restarts.
    should_stop : callable
        Asked before every SVM.
    max_work : float, default=inf
        Where all descents end, and no more are begun.
    gain : callable, default=None
        The part of the objective that could still be gained at most; None if patience
        does not depend on it.

    Attributes
    ----------
    work : float
        What descents and tempering have cost.
    idle : int
        Effort spent since the last improvement, in units of the patience.
    """

    def __init__(
        self,
        problem: Problem,
        incumbent: Incumbent,
        options: SwapOptions,
        pool: Executor,
        seed: np.random.SeedSequence,
        should_stop: Callable[[], bool],
        max_work: float = np.inf,
        gain: Callable[[], float] | None = None,
    ):
        self.problem = problem
        self.incumbent = incumbent
        self.should_stop = should_stop
        self._gain = gain
        self.options = options
        self.pool = pool
        self.seed = seed
        self.idle = 0
        self.work = 0.0
        self.max_work = max_work
        self.elites = Elites(options.n_elites)
        self.counters = {"restarts": 0, SINCE_BEST: 0, "SVM solves": 0}
        has_patience = options.patience >= LEAST_PATIENCE
        self._can_temper = has_patience and can_temper(problem)
        self._tempering: Tempering | None = None
        self._stretches_due = 0
        # Ends of descents so far: one that is reached again is not looked at again.
        self._optima: set[tuple[int, ...]] = set()
        # Those that were looked at closely.
        self._close: set[tuple[int, ...]] = set()
        self._seen: dict[bytes, float] = {}

    def start(self, solutions: list[Solution]) -> None:
        """Descend from the given solutions."""
        for solution in solutions:
            self.elites.add(solution)
        self._run_batch([partial(_given, solution) for solution in solutions])
        if self.options.patience == 0:
            self._look_closely()

    @property
    def work_left(self) -> float:
        """Work until the limit."""
        return max(0.0, self.max_work - self.work)

    @property
    def is_idle(self) -> bool:
        """Whether patience or work are spent."""
        return self._patience_left <= 0 or self.work >= self.max_work

    @property
    def _patience_left(self) -> float:
        """How long to go on, given what can be gained."""
        part = 1.0 if self._gain is None else min(1.0, self._gain() / FULL_GAIN)
        return part * self.options.patience - self.idle

    def restart_until_idle(self, is_finished: Callable[[], bool]) -> None:
        """Restart until patience ends, or there is nothing left to do."""
        while not (self.is_idle or self.should_stop() or is_finished()):
            self.restart()

    def restart(self, tempering_work: float = np.inf) -> None:
        """A batch of restarts, or, if it is due, tempering for this work at most."""
        work = self._tempering_work(tempering_work)
        effort = self._temper(work) if work else self._restart_batch()
        if effort and self._look_closely():
            effort = 0
        self.counters["restarts"] += BATCH
        self.idle = self.idle + effort if effort else 0
        since = self.counters[SINCE_BEST]
        self.counters[SINCE_BEST] = since + BATCH if effort else 0

    def _restart_batch(self) -> int:
        """Descents from new starts; their effort, or 0 if they found a new best."""
        elites = list(self.elites.solutions)
        rngs = [np.random.default_rng(child) for child in self.seed.spawn(BATCH)]
        self._stretches_due = STRETCHES
        return self._run_batch([partial(_new_start, elites, rng) for rng in rngs])

    def _temper(self, work: float) -> int:
        """Temper, and descend from the best that are met; effort as of restarts."""
        self._stretches_due -= 1
        if self._tempering is None:
            rng = np.random.default_rng(self.seed.spawn(1)[0])
            self._tempering = Tempering(self.problem, self._full_elites(), rng)
        self._tempering.visit(self.elites.solutions[0])
        found = self._tempering.run(self.pool, work, self.should_stop, BATCH)
        self.counters["SVM solves"] += found.n_svms
        self.work += found.work
        self._can_temper = not self._tempering.fails
        starts: list[Start] = [partial(_solved, one) for one in found.solutions]
        effort = self._run_batch(starts) if starts else 1
        return STRETCH_COST if effort and self._can_temper else effort

    def _full_elites(self) -> list[Solution]:
        """Elites that no feature can be added to: walks do not add any."""
        evaluator = Evaluator(self.problem)
        elites = self.elites.solutions
        full = [one for one in elites if evaluator.addable(one.support).size == 0]
        return full or elites

    def _tempering_work(self, work: float) -> float:
        """Work of the tempering that is due, 0 if none is."""
        if not self._can_temper or self._stretches_due == 0:
            return 0.0
        problem = self.problem
        least = LEAST_SVMS * svm_work(
            problem.n_samples, problem.max_features, warm=True
        )
        own = min(STRETCH_PART * self.max_work, work, self.work_left)
        return own if own >= least else 0.0

    def learn(self, solution: Solution) -> None:
        """Take in a solution that was found elsewhere."""
        if self.elites.add(solution):
            self.idle = self.counters[SINCE_BEST] = 0

    def _look_closely(self) -> bool:
        """Descend from the best solution in all its neighbourhood, unless that is done.

        Returns whether it was improved.
        """
        best = self.elites.solutions[0]
        is_done = best.key in self._close or not begins_roughly(self.problem)
        if is_done or self.work >= self.max_work:
            return False
        effort = self._run_batch([partial(_given, best)], closely=True)
        self._close.update(s.key for s in self.elites.solutions[:1])
        return effort == 0

    def _run_batch(self, starts: list[Start], closely: bool = False) -> int:
        """Descents from several starts; their effort, or 0 if they found a new best."""
        share = self.work_left / len(starts)
        evaluators = [
            Evaluator(self.problem, self.should_stop, self._seen, share) for _ in starts
        ]
        known = frozenset(self._close if closely else self._optima)
        jobs = [
            self.pool.submit(_descend, evaluator, start, self.options, known, closely)
            for evaluator, start in zip(evaluators, starts, strict=True)
        ]
        effort = 0
        improved = False
        for job in jobs:
            solution = job.result()
            if solution is not None:
                effort += COSTS[solution.key in self._optima]
                self._optima.add(solution.key)
                improved |= self._keep(solution)
        # Merged in order and between batches only: timing must not change the outcome.
        for evaluator in evaluators:
            self.counters["SVM solves"] += evaluator.n_solves
            self.work += evaluator.work
            if len(self._seen) < MAX_SEEN:
                self._seen.update(evaluator.values)
        # Descents that were stopped before they began are no success.
        return 0 if improved else max(effort, 1)

    def _keep(self, solution: Solution) -> bool:
        """Take in a solution; whether it is notably better than all others.

        A known support that ends a little lower than before is noise, and nobody is
        told: solves inside a search are not that accurate.
        """
        improves = self.elites.add(solution)
        self.incumbent.offer(self.elites.solutions[0], "swap" if improves else "")
        return improves


def _given(solution: Solution, evaluator: Evaluator) -> Solution:
    return solution


def _solved(solution: Solution, evaluator: Evaluator) -> Solution:
    """A solution by pivots, solved anew: they carry their rounding errors along."""
    evaluator.reached = solution
    return evaluator.solve(solution.support, warm=solution) or solution


def _descend(
    evaluator: Evaluator,
    start: Callable[[Evaluator], Solution],
    options: SwapOptions,
    known: frozenset[tuple[int, ...]],
    closely: bool,
) -> Solution | None:
    """A descent; if stopped, the last solution it reached."""
    try:
        return swap_search(
            evaluator, start(evaluator), width=options.width, tries=options.tries,
            known=known, closely=closely,
        )  # fmt: skip
    except Stop:
        return evaluator.reached
