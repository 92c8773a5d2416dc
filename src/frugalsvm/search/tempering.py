"""Parallel tempering: chains at several temperatures that swap their states.

A descent stops at the first swap optimum. If there are very many optima, good ones are
seldom close to each other. A chain that also accepts worse exchanges
(:mod:`frugalsvm.kernels.chain`) moves between optima, the further the higher its
temperature, but only a cold chain reaches their bottom. So chains run at several
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

from ..engine.columns import Columns
from ..engine.native import NativeEngine
from ..engine.work import chain_costs
from ..kernels.chain import SVMS, ChainResult, ChainTask
from ..kernels.svm import MOST_SAMPLES, near_samples
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run import compilation
from ..run.stopping import StopCondition
from .parameters import SearchParameters


def is_worth_tempering(problem: Problem) -> bool:
    """Whether there are enough features for tempering to be worthwhile."""
    above = problem.parameters(SearchParameters).tempering.features_above
    return problem.candidates.size > above


def can_temper(problem: Problem) -> bool:
    """Whether tempering is worthwhile and compiled code can run it on the data."""
    is_dense = type(problem.engine) is NativeEngine
    return is_worth_tempering(problem) and is_dense and problem.n_samples < MOST_SAMPLES


def warm_up(stop: StopCondition) -> None:
    """Temper a tiny problem, so that all code is compiled."""
    problem = compilation.tiny_problem().watching(stop.flag)
    size = problem.max_features
    # Without an SVM, whose kernel may be compiled by another process at the same time.
    first = Solution(
        np.arange(size),
        np.zeros(size),
        0.0,
        np.zeros(problem.n_samples),
        float(problem.C.sum()),
    )
    tempering = Tempering(problem, [first], np.random.default_rng(0))
    with ThreadPoolExecutor(1) as pool:
        tempering.run(pool, 1e6, stop.should_stop, 1)


class Chain(NamedTuple):
    """The state of a chain: a solution that moves between temperature levels.

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
    rng_state : array (1,)
        State of the random numbers.
    chain : Chain
    temperature : float
    """

    rng_state: np.ndarray
    chain: Chain
    temperature: float = 0.0


class TemperingResult(NamedTuple):
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


def _best_of(result: ChainResult, columns: Columns) -> Solution:
    """The best solution visited, with sorted features."""
    support = np.sort(result.best_support)
    if columns.is_plain:
        w = result.best_w[np.argsort(result.best_support)]
    else:
        # Columns that are not active have no weight.
        weights = dict(zip(result.best_columns, result.best_w, strict=True))
        w = np.array([weights.get(j, 0.0) for j in columns.of(support)])
    return Solution(support, w, result.best_b, result.best_alpha, result.best_objective)


class Tempering:
    """Chains at several temperature levels.

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
    failed : bool
        Whether most chains failed, so that more tempering is not worthwhile.
    """

    def __init__(
        self, problem: Problem, solutions: list[Solution], rng: np.random.Generator
    ):
        self.problem = problem
        self._parameters = problem.parameters(SearchParameters).tempering
        self.best = np.inf
        self.failed = False
        self._rng = rng
        self._candidates = problem.candidates.astype(np.int64)
        self._fixed = np.zeros(problem.n_features, dtype=np.int8)
        self._fixed[problem.include] = 1
        n_levels = self._parameters.n_levels
        states = rng.integers(1, 2**63, size=(n_levels, 1), dtype=np.uint64)
        # Cycle through the solutions if there are too few.
        self._levels = [
            TemperatureLevel(rng_state, self._new_chain(solution))
            for rng_state, solution in zip(states, cycle(solutions), strict=False)
        ]
        self._ends = np.array(self._parameters.first_temperatures)
        self._n_swaps = 0
        self._set_temperatures()

    def _new_chain(self, solution: Solution) -> Chain:
        # Its dual point is interior; active-set steps need one at the bounds.
        return Chain(
            solution.support, np.zeros(self.problem.n_samples), solution.objective
        )

    def visit(self, solution: Solution) -> None:
        """Continue from another solution, if it is better than all visited ones."""
        if solution.objective < self.best * (1.0 - self._parameters.accuracy):
            self._levels[0].chain = self._new_chain(solution)

    def run(
        self,
        pool: Executor,
        max_work: float,
        should_stop: Callable[[], bool],
        n_best: int,
    ) -> TemperingResult:
        """Run within about a work limit; return the ``n_best`` best solutions."""
        parameters = self._parameters
        work, n_svms = 0.0, 0
        visited: dict[tuple[int, ...], Solution] = {}
        for _ in range(parameters.swaps):
            if work >= max_work or self.failed or should_stop():
                break
            # A chain with almost no work left would fail.
            least = parameters.min_last_round * max_work
            share = max(max_work - work, least) / parameters.n_levels
            # In any order and by any thread: they are independent.
            jobs = [pool.submit(self.run_chain, level, share) for level in self._levels]
            results = [job.result() for job in jobs]
            for level, result in zip(self._levels, results, strict=True):
                work += float(self._costs(level.chain) @ result.counts)
                n_svms += int(result.counts[SVMS])
                if np.isfinite(result.objective):
                    best = _best_of(result, self.problem.columns)
                    visited[best.key] = best
                    self.best = min(self.best, best.objective)
            n_failed = sum(result.failed for result in results)
            self.failed = 2 * n_failed > parameters.n_levels
            self._update_chains(results)
            self._swap_states()
            self._adapt(results[0], results[-1])
        ranked = sorted(
            visited.values(), key=lambda solution: (solution.objective, solution.key)
        )
        return TemperingResult(ranked[:n_best], n_svms, work)

    def run_chain(self, level: TemperatureLevel, max_work: float) -> ChainResult:
        """Run the chain at a temperature level until the next swap of states."""
        problem, chain, parameters = self.problem, level.chain, self._parameters
        task = ChainTask(
            chain.support, chain.alpha, self._candidates, self._fixed,
            float(problem.cost_budget), parameters.tries, level.temperature,
            parameters.width,
            near_samples(problem.n_samples, problem.columns.count(chain.support)),
            level.rng_state,
            self._costs(chain), max_work,
        )  # fmt: skip
        return cast(NativeEngine, problem.engine).run_chain(task)

    def _costs(self, chain: Chain) -> np.ndarray:
        size = self.problem.columns.count(chain.support)
        return chain_costs(self.problem.engine, size, self._parameters.width)

    def _update_chains(self, results: list[ChainResult]) -> None:
        """Update chains by their results; replace chains that failed."""
        chains = [Chain(w.support, w.alpha, w.objective) for w in results]
        alive = [chain for chain in chains if np.isfinite(chain.objective)]
        if not alive:
            return
        for level, chain in zip(self._levels, chains, strict=True):
            # Drawn for every level, so that random numbers do not depend on failures.
            substitute = alive[self._rng.integers(len(alive))]
            level.chain = chain if np.isfinite(chain.objective) else substitute

    def _adapt(self, coldest: ChainResult, warmest: ChainResult) -> None:
        """Adapt temperatures to the acceptance rates of the first and last level."""
        self._n_swaps += 1
        parameters = self._parameters
        least, limits = parameters.min_adaptation, parameters.temperature_limits
        speed = max(least, parameters.adaptation / self._n_swaps**0.5)
        for t, result in enumerate((coldest, warmest)):
            target = parameters.acceptance[t]
            if np.isfinite(result.objective):
                # The first SVM is not an exchange; one is added to avoid zero.
                rate = (result.accepted + target) / int(result.counts[SVMS])
                change = np.clip(np.log(target / rate), -1.0, 1.0)
                self._ends[t] = np.clip(self._ends[t] * np.exp(speed * change), *limits)
        self._set_temperatures()

    def _set_temperatures(self) -> None:
        coldest, warmest = self._ends
        n_levels = self._parameters.n_levels
        temperatures = np.geomspace(coldest, max(coldest, warmest), n_levels)
        for level, temperature in zip(self._levels, temperatures, strict=True):
            level.temperature = float(temperature)

    def _swap_states(self) -> None:
        """Swap states of neighbouring levels by the Metropolis rule."""
        for lower, upper in pairwise(self._levels):
            gain = np.log(lower.chain.objective / upper.chain.objective)
            colder = 1.0 / lower.temperature - 1.0 / upper.temperature
            if np.log1p(-self._rng.random()) < colder * gain:
                lower.chain, upper.chain = upper.chain, lower.chain
