"""Swap searches on a smaller problem: a subsample, or a shortlist of features."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np

from ..engine.columns import smallest
from ..engine.native import NativeEngine
from ..engine.work import svm_work
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import Incumbent
from .evaluator import Evaluator, Stop
from .parameters import SearchParameters
from .restarts import ElitePool, RestartSearch, SwapOptions


class IndirectSearch:
    """A search on a smaller problem, with the interface of ``RestartSearch``.

    Subclasses define how solutions are translated.
    """

    _search: RestartSearch

    @property
    def counters(self) -> dict[str, int]:
        """Work done."""
        return self._search.counters

    @property
    def work(self) -> float:
        """Work of all descents."""
        return self._search.work

    @work.setter
    def work(self, value: float) -> None:
        self._search.work = value

    @property
    def idle(self) -> int:
        """Effort spent since the last improvement."""
        return self._search.idle

    @idle.setter
    def idle(self, value: int) -> None:
        self._search.idle = value

    @property
    def work_left(self) -> float:
        """Work left until the limit."""
        return self._search.work_left

    @property
    def is_idle(self) -> bool:
        """Whether patience or work is used up."""
        return self._search.is_idle

    def raise_limits(self, patience: int, max_work: float) -> None:
        """Go on with more patience and work."""
        self._search.raise_limits(patience, max_work)


# --- A subsample, for too many samples to solve an SVM at every step ------------------
#
# The search runs on a random subsample, as a separate problem. Only supports are taken
# from it: the best ones are solved on all samples, and those solutions are offered.


def needs_subsample(problem: Problem) -> bool:
    """Whether a problem should be searched on a subsample."""
    least = problem.parameters(SearchParameters).sampled_min_samples
    return problem.n_machines == 1 and problem.n_samples >= least


def n_searched(problem: Problem) -> int:
    """Number of samples of the SVMs in a search."""
    n_drawn = problem.parameters(SearchParameters).n_drawn
    return n_drawn if needs_subsample(problem) else problem.n_samples


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
        """Descend from the supports of solutions."""
        for solution in solutions:
            self._add(solution)
        self._search.start(self._on_subsample(solutions))
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
        for small in self._on_subsample([solution]):
            self._search.learn(small)

    # --- translation of solutions ---------------------------------------------------

    def _add(self, solution: Solution) -> None:
        self._elite_pool.add(solution)
        self._refitted.add(solution.key)

    def _on_subsample(self, solutions: list[Solution]) -> list[Solution]:
        """The supports of solutions, solved on the subsample."""
        evaluator = Evaluator(self._small)
        solved = [evaluator.solve(solution.support) for solution in solutions]
        self._search.work += evaluator.work
        return [solution for solution in solved if solution is not None]

    def _refit(self, count: int) -> None:
        """Solve the best supports on all samples, unless already done."""
        elites = self._search.elite_pool.solutions[:count]
        within = 1.0 + self._parameters.refitted_within
        limit = elites[0].objective * within if elites else 0.0
        evaluator = Evaluator(self.problem, self._should_stop)
        for elite in elites:
            if elite.key in self._refitted or elite.objective > limit:
                continue
            try:
                refitted = evaluator.solve(elite.support, warm=elite)
            except Stop:
                break
            assert refitted is not None
            self._add(refitted)
            self.incumbent.offer(refitted, "swap")
        self._search.counters["SVM solves"] += evaluator.n_solves
        self._search.work += evaluator.n_solves * svm_work(
            self.problem.n_samples, self.problem.max_features
        )


# --- A shortlist, for too many features to price at every step ------------------------
#
# The search runs on a shortlist of features, as a separate problem: dense and in
# memory. A feature is shortlisted if its price at one of the good solutions so far is
# high, relative to the highest price there. Pricing takes one product with all data, so
# it is done only for the best solutions, after a search has ended; if it changes the
# list, the search continues.


class _List(NamedTuple):
    """The features of a list in increasing order, and their numbering."""

    features: np.ndarray

    def outside(self, solution: Solution) -> Solution:
        """A solution of the small problem in the numbering of all features."""
        return replace(solution, support=self.features[solution.support])

    def holds(self, solution: Solution) -> bool:
        """Whether all features of a solution are listed."""
        return bool(np.isin(solution.support, self.features).all())

    def inside(self, solution: Solution) -> Solution:
        """A solution within the list in the numbering of the small problem."""
        positions = np.searchsorted(self.features, solution.support)
        return replace(solution, support=positions.astype(np.int64))


class ShortlistSearch(IndirectSearch):
    """Restarts of the swap search on a shortlist of features.

    It has the interface and parameters of
    :class:`~frugalsvm.search.restarts.RestartSearch`; solutions passed in and out use
    the numbering of all features.

    Parameters
    ----------
    points : list of arrays
        Dual points whose prices determine the initial list.
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
        points: list[np.ndarray] | None = None,
    ):
        self.problem = problem
        self._parameters = problem.parameters(SearchParameters)
        self.incumbent = incumbent
        self._options, self._pool, self._seed = options, pool, seed
        self._should_stop = should_stop
        self._max_work, self._gain = max_work, gain
        self._scores = np.zeros(problem.n_features)
        self._priced: set[tuple[int, ...]] = set()
        self._n_updates = 0
        for alpha in points or []:
            self._price(alpha)
        self._list = _List(self._best([]))
        self._search = self._new_search()

    # --- search interface --------------------------------------------------------

    @property
    def elite_pool(self) -> ElitePool:
        """The elite pool, in the numbering of all features."""
        pool = ElitePool(self._options.n_elites, self._parameters)
        pool.solutions = [
            self._list.outside(solution)
            for solution in self._search.elite_pool.solutions
        ]
        return pool

    def start(self, solutions: list[Solution]) -> None:
        """Descend from solutions, on a list built for them."""
        self._price_solutions(solutions)
        self._make_list(solutions)
        self._search.start([self._list.inside(solution) for solution in solutions])
        self._extend()

    def restart(self, tempering_work: float = np.inf) -> None:
        """One batch of restarts, or a tempering round."""
        self._search.restart(tempering_work)

    def restart_until_idle(self, is_finished: Callable[[], bool]) -> None:
        """Restart until patience or work is used up."""
        while True:
            self._search.restart_until_idle(is_finished)
            if is_finished() or self._should_stop() or not self._extend():
                return

    def raise_limits(self, patience: int, max_work: float) -> None:
        """Go on with more patience and work, and allow as many new lists again."""
        self._options = replace(self._options, patience=patience)
        self._max_work = max_work
        self._n_updates = 0
        super().raise_limits(patience, max_work)

    def learn(self, solution: Solution) -> None:
        """Add a solution found elsewhere."""
        if not self._list.holds(solution):
            self._make_list([solution])
        self._search.learn(self._list.inside(solution))

    # --- the list ----------------------------------------------------------------

    def _extend(self) -> bool:
        """Price the best solutions; return whether a new list led to a better one."""
        parameters, best = self._parameters, self.incumbent.objective
        most = parameters.max_updates
        while self._n_updates < most and self._search.work_left > 0.0:
            elites = self.elite_pool.solutions[: parameters.n_priced]
            if self._should_stop() or not self._price_solutions(elites):
                break
            self._n_updates += 1
            if not self._make_list(elites):
                break
            self._search.start([self._list.inside(elite) for elite in elites])
        return self.incumbent.objective < best * (1 - parameters.min_improvement)

    def _price_solutions(self, solutions: list[Solution]) -> bool:
        """Record the best prices at solutions; return whether any solution was new."""
        new = [solution for solution in solutions if solution.key not in self._priced]
        for solution in new:
            self._priced.add(solution.key)
            self._price(solution.alpha)
        return bool(new)

    def _price(self, alpha: np.ndarray) -> None:
        problem = self.problem
        # If all features are listed anyway, prices are not needed.
        if self._length() >= problem.candidates.size:
            return
        squares = self._squares(alpha)[problem.candidates]
        if np.isfinite(problem.max_cost):
            squares /= problem.costs[problem.candidates]
        largest = squares.max(initial=0.0)
        if largest > 0.0:
            scores = self._scores
            scores[problem.candidates] = np.maximum(
                scores[problem.candidates], squares / largest
            )

    def _squares(self, alpha: np.ndarray) -> np.ndarray:
        """The prices ``c_j^2`` of features; zero if not among the best."""
        problem, engine = self.problem, self.problem.engine
        if isinstance(engine, NativeEngine) or np.isfinite(problem.max_cost):
            return engine.squares(alpha)
        # A feature among the best over several points is among the best at one of them.
        n_fixed = problem.n_features - problem.candidates.size
        return engine.prices(alpha, most=self._length() + n_fixed).certain ** 2

    def _length(self) -> int:
        """Number of features in a list."""
        problem, parameters = self.problem, self._parameters
        per_feature = 8.0 * problem.n_samples * problem.n_columns / problem.n_features
        fitting = int(parameters.max_listed_bytes // per_feature)
        least = parameters.listed_per_choice * problem.max_features
        return max(min(parameters.max_listed, fitting), least, 1)

    def _best(self, solutions: list[Solution]) -> np.ndarray:
        """The features of a list that holds some solutions."""
        problem = self.problem
        scores = self._scores[problem.candidates]
        best = problem.candidates[smallest(-scores, self._length())]
        parts = [best, problem.include, *(solution.support for solution in solutions)]
        return np.unique(np.concatenate(parts))

    def _make_list(self, solutions: list[Solution]) -> bool:
        """Rebuild the list from the current prices; return whether it changed."""
        elites = self.elite_pool.solutions
        features = self._best([*solutions, *elites])
        if np.isin(features, self._list.features).all():
            return False
        before = self._search
        self._list = _List(features)
        self._search = self._new_search()
        self._search.counters.update(before.counters)
        self._search.work, self._search.idle = before.work, before.idle
        for elite in elites:
            self._search.elite_pool.add(self._list.inside(elite))
        return True

    def _new_search(self) -> RestartSearch:
        small = Incumbent()
        listed = self._list

        def forward(solution: Solution, event: str) -> None:
            self.incumbent.offer(listed.outside(solution), event)

        small.listen(forward)
        # Long sparse rows are kept sparse: SVMs may merge samples.
        n_columns = self.problem.columns.count(listed.features)
        n_bytes = 8 * self.problem.n_samples * n_columns
        is_short = n_bytes <= self._parameters.max_dense_bytes
        problem = self.problem.restrict(listed.features, dense=is_short)
        kind = SampledSearch if needs_subsample(problem) else RestartSearch
        search = kind(
            problem, small, self._options, self._pool, self._seed, self._should_stop,
            self._max_work, self._gain,
        )  # fmt: skip
        # Both have the same interface.
        return cast(RestartSearch, search)
