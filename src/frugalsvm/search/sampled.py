"""Swap search on a subsample, for too many samples to solve an SVM at every step.

The search runs on a random subsample, as a separate problem. Only supports are taken
from it: the best ones are solved on all samples, and those solutions are offered.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from ..engine.work import svm_work
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.incumbent import Incumbent
from .evaluator import Evaluator, Stop
from .indirect import IndirectSearch
from .parameters import SearchParameters
from .restarts import ElitePool, RestartSearch, SwapOptions


def is_for_samples(problem: Problem) -> bool:
    """Whether a problem should be searched on a subsample."""
    least = problem.parameters(SearchParameters).sampled_min_samples
    return problem.n_machines == 1 and problem.n_samples >= least


def n_searched(problem: Problem) -> int:
    """Number of samples of the SVMs in a search."""
    n_drawn = problem.parameters(SearchParameters).n_drawn
    return n_drawn if is_for_samples(problem) else problem.n_samples


class SampledSearch(IndirectSearch):
    """Restarts of the swap search on a subsample.

    It has the interface and parameters of
    :class:`~frugalsvm.search.restarts.RestartSearch`; solutions passed in and out refer
    to all samples.
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
        self._parameters = problem.parameters(SearchParameters)
        self._should_stop = should_stop
        rng = np.random.default_rng(seed.spawn(1)[0])
        self._small = problem.drawn(self._parameters.n_drawn, rng)
        self._search = RestartSearch(
            self._small, Incumbent(), options, pool, seed, should_stop, max_work, gain
        )
        self._elite_pool = ElitePool(options.n_elites, self._parameters)
        # Supports solved on all samples, or rejected.
        self._refitted: set[tuple[int, ...]] = set()

    # --- search interface --------------------------------------------------------

    @property
    def elite_pool(self) -> ElitePool:
        """The elite pool, solved on all samples."""
        return self._elite_pool

    def start(self, solutions: list[Solution]) -> None:
        """Descend from the supports of the given solutions."""
        for one in solutions:
            self._add(one)
        self._search.start(self._on_samples(solutions))
        self._refit(1)

    def restart(self, tempering_work: float = np.inf) -> None:
        """One batch of restarts, or a tempering round."""
        self._search.restart(tempering_work)
        self._refit(1)

    def restart_until_idle(self, is_finished: Callable[[], bool]) -> None:
        """Restart until patience or work is used up."""
        self._search.restart_until_idle(is_finished)
        self._refit(self._parameters.n_refitted)

    def learn(self, solution: Solution) -> None:
        """Add a solution found elsewhere."""
        self._add(solution)
        for one in self._on_samples([solution]):
            self._search.learn(one)

    # --- translation of solutions ---------------------------------------------------

    def _add(self, solution: Solution) -> None:
        self._elite_pool.add(solution)
        self._refitted.add(solution.key)

    def _on_samples(self, solutions: list[Solution]) -> list[Solution]:
        """The supports of solutions, solved on the subsample."""
        evaluator = Evaluator(self._small)
        found = [evaluator.solve(one.support) for one in solutions]
        self._search.work += evaluator.work
        return [one for one in found if one is not None]

    def _refit(self, count: int) -> None:
        """Solve the best supports on all samples, unless already done."""
        elites = self._search.elite_pool.solutions[:count]
        within = 1.0 + self._parameters.refitted_within
        limit = elites[0].objective * within if elites else 0.0
        evaluator = Evaluator(self.problem, self._should_stop)
        for one in elites:
            if one.key in self._refitted or one.objective > limit:
                continue
            try:
                found = evaluator.solve(one.support, warm=one)
            except Stop:
                break
            assert found is not None
            self._add(found)
            self.incumbent.offer(found, "swap")
        self._search.counters["SVM solves"] += evaluator.n_solves
        self._search.work += evaluator.n_solves * svm_work(
            self.problem.n_samples, self.problem.max_features
        )
