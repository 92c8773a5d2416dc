"""Parallel tempering: chains at several temperatures that swap their states.

A descent stops at the first swap optimum. If there are very many optima, good ones are
seldom close to each other. A chain that also accepts worse exchanges
(:mod:`frugalsvm.kernels.walk`) moves between optima, the further the higher its
temperature, but only a cold chain reaches their bottom. So chains run on a ladder of
temperature levels, and neighbouring levels swap states by the Metropolis rule: good
states move to cold levels, and stuck ones to warm levels. There is no cooling schedule
to choose, and the search can run for any length of time.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, pairwise
from typing import NamedTuple, cast

import numpy as np

from ..engine.native import NativeEngine
from ..engine.work import walk_costs
from ..kernels.svm import MOST_SAMPLES, near_samples
from ..kernels.walk import SVMS, Walked, WalkTask
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..runtime import compilation
from ..runtime.stopping import StopCondition
from .evaluator import Evaluator

# Number of temperature levels, and acceptance rates of the coldest and the warmest one.
# Temperatures between them form a geometric progression.
RUNGS, ACCEPTED = 8, (0.01, 0.2)
# Initial temperatures, as fractions of the objective, and their limits.
FIRST_TEMPERATURES, LIMITS = (1e-3, 8e-3), (1e-4, 1.0)
# Adaptation rates of the temperatures: at first, and later.
ADAPTATION, LEAST_ADAPTATION = 0.5, 0.05
# Feature exchanges between two swaps of states, and number of swaps in a run.
TURNS, ROUNDS = 200, 30
# Minimum work of the last round, as a fraction of the limit.
LEAST_PART = 0.2
# Number of features with the largest prices that may enter.
WIDTH = 200
# Relative accuracy of objectives computed by active-set steps.
SAME = 3e-5
# With fewer features, trees and descents are quicker.
FEW_FEATURES = 50


def may_temper(problem: Problem) -> bool:
    """Whether there are enough features for tempering to be worthwhile."""
    return problem.candidates.size > FEW_FEATURES


def can_temper(problem: Problem) -> bool:
    """Whether tempering is worthwhile and compiled code can run it on the data."""
    is_dense = type(problem.engine) is NativeEngine
    return may_temper(problem) and is_dense and problem.n_samples < MOST_SAMPLES


def warm_up(stop: StopCondition) -> None:
    """Temper a tiny problem, so that all code is compiled."""
    problem = compilation.tiny_problem().watching(stop.flag)
    first = Evaluator(problem, stop.should_stop).solve(np.arange(problem.max_features))
    assert first is not None
    tempering = Tempering(problem, [first], np.random.default_rng(0))
    with ThreadPoolExecutor(1) as pool:
        tempering.run(pool, 1e6, stop.should_stop, 1)


class Chain(NamedTuple):
    """A chain state: a solution that moves up and down the ladder.

    Attributes
    ----------
    support : integer array (p,)
        In no order.
    alpha : array (m,)
        Its dual point; zero if none is suitable for active-set steps.
    objective : float
    """

    support: np.ndarray
    alpha: np.ndarray
    objective: float


@dataclass
class TemperatureLevel:
    """A temperature level and the chain on it.

    Attributes
    ----------
    state : array (1,)
        Of the random numbers.
    replica : Chain
    temperature : float
    """

    state: np.ndarray
    replica: Chain
    temperature: float = 0.0


class Tempered(NamedTuple):
    """The result of a tempering run.

    Attributes
    ----------
    solutions : list of Solution
        The best solutions visited, best first, with the accuracy of active-set steps.
    n_svms : int
    work : float
    """

    solutions: list[Solution]
    n_svms: int
    work: float


def _best_of(walked: Walked) -> Solution:
    """The best solution visited, with sorted features."""
    order = np.argsort(walked.best_support)
    return Solution(
        walked.best_support[order],
        walked.best_w[order],
        walked.best_b,
        walked.best_alpha,
        walked.best_objective,
    )


class Tempering:
    """Chains on a ladder of temperature levels.

    Parameters
    ----------
    problem : Problem
    solutions : list of Solution
        Initial solutions, best first; the coldest chain starts from the first one.
    rng : Generator

    Attributes
    ----------
    best : float
        Objective of the best support visited.
    fails : bool
        Whether most walks failed, so that more of them are not worthwhile.
    """

    def __init__(
        self, problem: Problem, solutions: list[Solution], rng: np.random.Generator
    ):
        self.problem = problem
        self.best = np.inf
        self.fails = False
        self._rng = rng
        self._candidates = problem.candidates.astype(np.int64)
        self._fixed = np.zeros(problem.n_features, dtype=np.int8)
        self._fixed[problem.include] = 1
        states = rng.integers(1, 2**63, size=(RUNGS, 1), dtype=np.uint64)
        # Cycle through the solutions if there are too few.
        self._rungs = [
            TemperatureLevel(state, self._replica(solution))
            for state, solution in zip(states, cycle(solutions), strict=False)
        ]
        self._ends = np.array(FIRST_TEMPERATURES)
        self._n_rounds = 0
        self._set_temperatures()

    def _replica(self, solution: Solution) -> Chain:
        # Its dual point is interior; active-set steps need one at the bounds.
        return Chain(
            solution.support, np.zeros(self.problem.n_samples), solution.objective
        )

    def visit(self, solution: Solution) -> None:
        """Continue from a solution found elsewhere, if it beats all visited ones."""
        if solution.objective < self.best * (1.0 - SAME):
            self._rungs[0].replica = self._replica(solution)

    def run(
        self,
        pool: Executor,
        max_work: float,
        should_stop: Callable[[], bool],
        n_best: int,
    ) -> Tempered:
        """Run for about the given work; return the best few solutions visited."""
        work, n_svms = 0.0, 0
        met: dict[tuple[int, ...], Solution] = {}
        for _ in range(ROUNDS):
            if work >= max_work or self.fails or should_stop():
                break
            # A walk with almost no work left would fail.
            share = max(max_work - work, LEAST_PART * max_work) / RUNGS
            # In any order and by any thread: they are independent.
            jobs = [pool.submit(self.walk, rung, share) for rung in self._rungs]
            walks = [job.result() for job in jobs]
            for rung, walked in zip(self._rungs, walks, strict=True):
                work += float(self._costs(rung.replica) @ walked.counts)
                n_svms += int(walked.counts[SVMS])
                if np.isfinite(walked.objective):
                    best = _best_of(walked)
                    met[best.key] = best
                    self.best = min(self.best, best.objective)
            self.fails = 2 * sum(walked.fails for walked in walks) > RUNGS
            self._take_in(walks)
            self._change_places()
            self._adapt(walks[0], walks[-1])
        ranked = sorted(met.values(), key=lambda one: (one.objective, one.key))
        return Tempered(ranked[:n_best], n_svms, work)

    def walk(self, rung: TemperatureLevel, max_work: float) -> Walked:
        """A segment of the walk of the chain at a temperature level."""
        problem, replica = self.problem, rung.replica
        task = WalkTask(
            replica.support, replica.alpha, self._candidates, self._fixed,
            float(problem.cost_budget), TURNS, rung.temperature, WIDTH,
            near_samples(problem.n_samples, replica.support.size), rung.state,
            self._costs(replica), max_work,
        )  # fmt: skip
        return cast(NativeEngine, problem.engine).walk(task)

    def _costs(self, replica: Chain) -> np.ndarray:
        return walk_costs(self.problem.engine, replica.support.size, WIDTH)

    def _take_in(self, walks: list[Walked]) -> None:
        """Move chains to the ends of their walks; replace chains that failed."""
        replicas = [Chain(w.support, w.alpha, w.objective) for w in walks]
        living = [one for one in replicas if np.isfinite(one.objective)]
        if not living:
            return
        for rung, replica in zip(self._rungs, replicas, strict=True):
            is_alive = np.isfinite(replica.objective)
            other = living[self._rng.integers(len(living))]
            rung.replica = replica if is_alive else other

    def _adapt(self, coldest: Walked, warmest: Walked) -> None:
        """Adapt temperatures to the acceptance rates at both ends of the ladder."""
        self._n_rounds += 1
        speed = max(LEAST_ADAPTATION, ADAPTATION / self._n_rounds**0.5)
        for t, walked in enumerate((coldest, warmest)):
            if np.isfinite(walked.objective):
                # The first SVM is not an exchange; one is added to avoid zero.
                part = (walked.accepted + ACCEPTED[t]) / int(walked.counts[SVMS])
                change = np.clip(np.log(ACCEPTED[t] / part), -1.0, 1.0)
                self._ends[t] = np.clip(self._ends[t] * np.exp(speed * change), *LIMITS)
        self._set_temperatures()

    def _set_temperatures(self) -> None:
        coldest, warmest = self._ends
        for rung, one in zip(
            self._rungs,
            np.geomspace(coldest, max(coldest, warmest), RUNGS),
            strict=True,
        ):
            rung.temperature = float(one)

    def _change_places(self) -> None:
        """Swap states of neighbouring levels by the Metropolis rule."""
        for lower, upper in pairwise(self._rungs):
            gain = np.log(lower.replica.objective / upper.replica.objective)
            colder = 1.0 / lower.temperature - 1.0 / upper.temperature
            if np.log1p(-self._rng.random()) < colder * gain:
                lower.replica, upper.replica = upper.replica, lower.replica
