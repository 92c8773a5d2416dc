"""Parallel tempering: walks at several temperatures that change places.

A descent stops at the first swap optimum; where there are very many, the good ones are
seldom a short walk from each other. A walk that accepts exchanges for the worse
(:mod:`frugalsvm.kernels.walk`) gets from one to the next, the further the warmer it is,
but only a cold one comes to their bottom. So there is a ladder of them, and neighbours
on it change places now and then, as Metropolis' rule has it: what a warm one has found
goes down, and what is stuck goes up. Nothing has to be cooled, so that there is no
schedule to choose, and the search may go on for as long as it likes.
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

# Walks on the ladder, and the part of the exchanges that the coldest and the warmest of
# them accept. Temperatures between are a geometric progression.
RUNGS, ACCEPTED = 8, (0.01, 0.2)
# Temperatures to begin with, as parts of the objective, and their limits.
FIRST_TEMPERATURES, LIMITS = (1e-3, 8e-3), (1e-4, 1.0)
# How fast temperatures follow what is accepted: at first, and later.
ADAPTATION, LEAST_ADAPTATION = 0.5, 0.05
# Exchanges of features between two changes of places, and how many of these a run has.
TURNS, ROUNDS = 200, 30
# The last round has this part of the work at least.
LEAST_PART = 0.2
# Features of the largest prices that may come.
WIDTH = 200
# Objectives that differ by a smaller part are the same: pivots are not that accurate.
SAME = 3e-5
# With so few features trees and descents are quicker.
FEW_FEATURES = 50


def may_temper(problem: Problem) -> bool:
    """Whether there are so many features that tempering may be worth while."""
    return problem.candidates.size > FEW_FEATURES


def can_temper(problem: Problem) -> bool:
    """The same, and compiled code has the data at hand, of not too many samples."""
    is_dense = type(problem.engine) is NativeEngine
    return may_temper(problem) and is_dense and problem.n_samples < MOST_SAMPLES


def warm_up(stop: StopCondition) -> None:
    """Temper a tiny problem: whatever is needed is compiled then."""
    problem = compilation.tiny_problem().watching(stop.flag)
    first = Evaluator(problem, stop.should_stop).solve(np.arange(problem.max_features))
    assert first is not None
    tempering = Tempering(problem, [first], np.random.default_rng(0))
    with ThreadPoolExecutor(1) as pool:
        tempering.run(pool, 1e6, stop.should_stop, 1)


class Chain(NamedTuple):
    """A solution on its way up and down the ladder.

    Attributes
    ----------
    support : integer array (p,)
        In no order.
    alpha : array (m,)
        Its dual point; zero if there is none that pivots can begin with.
    objective : float
    """

    support: np.ndarray
    alpha: np.ndarray
    objective: float


@dataclass
class TemperatureLevel:
    """A place on the ladder, and who is there.

    Attributes
    ----------
    state : array (1,)
        Of the random numbers.
    replica : Replica
    temperature : float
    """

    state: np.ndarray
    replica: Chain
    temperature: float = 0.0


class Tempered(NamedTuple):
    """What a run has found.

    Attributes
    ----------
    solutions : list of Solution
        The best that were met, best first; as accurate as pivots are.
    n_svms : int
    work : float
    """

    solutions: list[Solution]
    n_svms: int
    work: float


def _best_of(walked: Walked) -> Solution:
    """The best solution that was met, in order."""
    order = np.argsort(walked.best_support)
    return Solution(
        walked.best_support[order],
        walked.best_w[order],
        walked.best_b,
        walked.best_alpha,
        walked.best_objective,
    )


class Tempering:
    """Walks on a ladder of temperatures.

    Parameters
    ----------
    problem : Problem
    solutions : list of Solution
        Where to start, the best one first: that is where the coldest walk begins.
    rng : Generator

    Attributes
    ----------
    best : float
        Objective of the best support that was met.
    fails : bool
        Whether most walks came to nothing: others would, too.
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
        # One solution after the other, from the first again if they are too few.
        self._rungs = [
            TemperatureLevel(state, self._replica(solution))
            for state, solution in zip(states, cycle(solutions), strict=False)
        ]
        self._ends = np.array(FIRST_TEMPERATURES)
        self._n_rounds = 0
        self._set_temperatures()

    def _replica(self, solution: Solution) -> Chain:
        # Its dual point is not at its bounds, as pivots need it.
        return Chain(
            solution.support, np.zeros(self.problem.n_samples), solution.objective
        )

    def visit(self, solution: Solution) -> None:
        """Go on from a solution that was found elsewhere, if none as good was met."""
        if solution.objective < self.best * (1.0 - SAME):
            self._rungs[0].replica = self._replica(solution)

    def run(
        self,
        pool: Executor,
        max_work: float,
        should_stop: Callable[[], bool],
        n_best: int,
    ) -> Tempered:
        """Walk for about so much work; the best few solutions that were met."""
        work, n_svms = 0.0, 0
        met: dict[tuple[int, ...], Solution] = {}
        for _ in range(ROUNDS):
            if work >= max_work or self.fails or should_stop():
                break
            # A walk that has next to no work left comes to nothing.
            share = max(max_work - work, LEAST_PART * max_work) / RUNGS
            # In any order, by any thread: they have nothing in common.
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
        """A part of the way of the replica on a rung."""
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
        """Let replicas be where walks have led; who came to nothing is replaced."""
        replicas = [Chain(w.support, w.alpha, w.objective) for w in walks]
        living = [one for one in replicas if np.isfinite(one.objective)]
        if not living:
            return
        for rung, replica in zip(self._rungs, replicas, strict=True):
            is_alive = np.isfinite(replica.objective)
            other = living[self._rng.integers(len(living))]
            rung.replica = replica if is_alive else other

    def _adapt(self, coldest: Walked, warmest: Walked) -> None:
        """Warmer or colder, by what the walks at both ends have accepted."""
        self._n_rounds += 1
        speed = max(LEAST_ADAPTATION, ADAPTATION / self._n_rounds**0.5)
        for t, walked in enumerate((coldest, warmest)):
            if np.isfinite(walked.objective):
                # The first SVM is no exchange; one is added to be away from zero.
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
        """Neighbours change places, by the rule that keeps each at its temperature."""
        for lower, upper in pairwise(self._rungs):
            gain = np.log(lower.replica.objective / upper.replica.objective)
            colder = 1.0 / lower.temperature - 1.0 / upper.temperature
            if np.log1p(-self._rng.random()) < colder * gain:
                lower.replica, upper.replica = upper.replica, lower.replica
