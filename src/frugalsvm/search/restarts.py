"""Restarts of the swap search: perturb good solutions, descend again, keep the best.

Work is done in batches whose size does not depend on the number of threads, and every
restart has its own random generator, so the outcome depends only on the data and the
seed. A new start is made in one of four ways, at random:

* perturb: drop 20 to 80 % of an elite solution and refill it;
* cross: join two elite supports and drop the least weights until the budgets hold;
* grow: add some promising features to an elite solution and shrink it again;
* replace: exchange features of an elite solution for twins, several at once.

With many features there are too many local optima to find the best one by descents
alone. Then parallel tempering (:mod:`~frugalsvm.search.tempering`) runs from the elite
pool between batches of restarts, and the best solutions it visits are starts, too.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..engine.columns import smallest
from ..engine.work import svm_work
from ..problem.options import Options, check_integer
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import SINCE_BEST, Incumbent
from .estimates import Twins
from .evaluator import Evaluator, Stop
from .parameters import DEFAULTS, SearchParameters
from .swap import begins_by_estimates, fill, swap_search
from .tempering import Tempering, can_temper, is_worth_tempering


@dataclass(frozen=True)
class SwapOptions(Options):
    """Options of the swap search.

    Parameters
    ----------
    patience : int, default=250
        How long to go on without improvement; 0 for a single descent. A restart that
        ends in a new swap optimum costs 1; one that ends in a known optimum costs 5,
        since it suggests that few optima are left. A tempering round costs 40; it takes
        a twentieth of the work limit, if there is one. By default, methods ``auto`` and
        ``swap`` use the patience of their effort, reduced if the gap is below 1 %. An
        explicit value also lifts the work limit that the effort sets for the search.
    width : int, default=20
        Number of features tried in exchange for one.
    tries : int, default=3
        Number of features tried for removal after an addition.
    n_elites : int, default=12
        Size of the elite pool, from which restarts start.
    """

    patience: int = 250
    width: int = 20
    tries: int = 3
    n_elites: int = 12

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        check_integer("patience", self.patience, 0)
        check_integer("width", self.width, 1)
        check_integer("tries", self.tries, 1)
        check_integer("n_elites", self.n_elites, 1)


def uses_tempering(problem: Problem, options: Options) -> bool:
    """Whether a search with these options may use tempering."""
    if not isinstance(options, SwapOptions):
        return False
    least = problem.parameters(SearchParameters).tempering.min_patience
    return is_worth_tempering(problem) and options.patience >= least


class ElitePool:
    """The elite pool: good distinct solutions to start from, best first."""

    def __init__(self, size: int, parameters: SearchParameters = DEFAULTS):
        self._size = size
        self._min_improvement = parameters.min_improvement
        self.solutions: list[Solution] = []

    @property
    def supports(self) -> list[np.ndarray]:
        """The supports of the solutions, best first."""
        return [solution.support for solution in self.solutions]

    def add(self, solution: Solution) -> bool:
        """Add a solution; return whether it is notably better than all others."""
        if any(solution.key == other.key for other in self.solutions):
            return False
        first = self.solutions[0].objective if self.solutions else np.inf
        improves = solution.objective < first * (1 - self._min_improvement)
        self.solutions.append(solution)
        self.solutions.sort(key=lambda s: (s.objective, s.key))
        del self.solutions[self._size :]
        return improves


def shrink(evaluator: Evaluator, support: np.ndarray) -> Solution:
    """Solve on an oversized support and drop smallest weights until it fits."""
    solution = evaluator.solve(support)
    assert solution is not None
    while not evaluator.fits(solution.support):
        excess = solution.support.size - evaluator.problem.max_features
        # Halve the excess at first; drop the last features one by one.
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


def _grow(
    evaluator: Evaluator, elites: list[Solution], rng: np.random.Generator
) -> Solution:
    solution = elites[rng.integers(len(elites))]
    candidates = np.setdiff1d(evaluator.problem.candidates, solution.support)
    bounds = evaluator.addition_bounds(solution, candidates)
    promising = candidates[smallest(bounds, 4 * solution.support.size + 20)]
    count = max(1, round(rng.uniform(0.2, 0.6) * solution.support.size))
    added = rng.choice(promising, min(count, promising.size), replace=False)
    return shrink(evaluator, np.union1d(solution.support, added))


def _replace(
    evaluator: Evaluator, elites: list[Solution], rng: np.random.Generator
) -> Solution:
    """Exchange about half of the features that have twins for any of their twins."""
    pick = 0 if rng.random() < 0.5 else rng.integers(len(elites))
    support = elites[pick].support
    for feature in support[~evaluator.is_fixed[support]].tolist():
        twins = np.setdiff1d(evaluator.twins_of(feature), support)
        if twins.size == 0 or rng.random() < 0.5:
            continue
        twin = twins[rng.integers(twins.size)]
        replaced = np.sort(np.append(support[support != feature], twin))
        if evaluator.fits(replaced):
            support = replaced
    if np.array_equal(support, elites[pick].support):
        return _perturb(evaluator, elites, rng)
    solution = evaluator.solve(support)
    assert solution is not None
    return solution


def _new_start(
    elites: list[Solution], rng: np.random.Generator, evaluator: Evaluator
) -> Solution:
    draw = rng.random()
    if draw < 0.25 and len(elites) > 1:
        first, second = rng.choice(len(elites), 2, replace=False)
        union = np.union1d(elites[first].support, elites[second].support)
        return shrink(evaluator, union)
    if draw < 0.5:
        return _grow(evaluator, elites, rng)
    if draw < 0.75 and evaluator.has_twins:
        return _replace(evaluator, elites, rng)
    return _perturb(evaluator, elites, rng)


Start = Callable[[Evaluator], Solution]


class RestartSearch:
    """Swap descents from initial solutions and from new starts, in batches.

    Parameters
    ----------
    problem : Problem
    incumbent : Incumbent
        Receives the best elite solution.
    options : SwapOptions
    pool : Executor
        Where the descents of a batch run.
    seed : SeedSequence
        Of the random generators of the restarts.
    should_stop : callable
        Asked before every SVM.
    max_work : float, default=inf
        Work limit, at which all descents end and no more are started.
    gain : callable, default=None
        Returns the largest fraction of the objective that could still be gained; None
        if patience does not depend on it.

    Attributes
    ----------
    parameters : SearchParameters
    work : float
        Work of descents and tempering.
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
        self.parameters = problem.parameters(SearchParameters)
        self.incumbent = incumbent
        self.should_stop = should_stop
        self._gain = gain
        self.options = options
        self.pool = pool
        self.seed = seed
        self.idle = 0
        self.work = 0.0
        self.max_work = max_work
        self.elite_pool = ElitePool(options.n_elites, self.parameters)
        self.counters = {"restarts": 0, SINCE_BEST: 0, "SVM solves": 0}
        self._can_temper = uses_tempering(problem, options) and can_temper(problem)
        self._tempering: Tempering | None = None
        self._tempering_rounds_due = 0
        # Local optima so far; a descent that reaches one again stops there.
        self._optima: set[tuple[int, ...]] = set()
        # Local optima with a full neighbourhood search.
        self._fully_searched: set[tuple[int, ...]] = set()
        # Where the work limit ended descents: perhaps no optima.
        self._unfinished: set[tuple[int, ...]] = set()
        self._seen: dict[bytes, float] = {}
        self._twins = Twins(problem)

    def start(self, solutions: list[Solution]) -> None:
        """Descend from solutions."""
        for solution in solutions:
            self.elite_pool.add(solution)
        self._run_batch([partial(_unchanged, solution) for solution in solutions])
        if self.options.patience == 0:
            self._search_full_neighbourhood()

    def raise_limits(self, patience: int, max_work: float) -> None:
        """Go on with more patience and work.

        Patience already used up counts, unless there was no tempering so far. So a
        search that goes to the limits of a smaller effort first, and then on, has done
        the same as the smaller effort.
        """
        self.options = replace(self.options, patience=patience)
        self.max_work = max_work
        failed = self._tempering is not None and self._tempering.failed
        is_allowed = uses_tempering(self.problem, self.options) and can_temper(
            self.problem
        )
        if is_allowed and not (self._can_temper or failed):
            # Failures without tempering say little about tempering.
            self.idle = 0
        self._can_temper = is_allowed and not failed
        self._optima -= self._unfinished
        self._fully_searched -= self._unfinished
        self._unfinished.clear()

    @property
    def work_left(self) -> float:
        """Work left until the limit."""
        return max(0.0, self.max_work - self.work)

    @property
    def is_idle(self) -> bool:
        """Whether patience or work is used up."""
        # Patience is reduced if there is little to gain.
        full = self.parameters.full_patience_gain
        share = 1.0 if self._gain is None else min(1.0, self._gain() / full)
        return share * self.options.patience <= self.idle or self.work >= self.max_work

    def restart_until_idle(self, is_finished: Callable[[], bool]) -> None:
        """Restart until patience or work is used up."""
        while not (self.is_idle or self.should_stop() or is_finished()):
            self.restart()

    def restart(self, tempering_work: float = np.inf) -> None:
        """A batch of restarts or, if due, a tempering round within a work limit."""
        work = self._tempering_work(tempering_work)
        effort = self._temper(work) if work else self._restart_batch()
        if effort and self._search_full_neighbourhood():
            effort = 0
        batch = self.parameters.restart_batch
        self.counters["restarts"] += batch
        self.idle = self.idle + effort if effort else 0
        since = self.counters[SINCE_BEST]
        self.counters[SINCE_BEST] = since + batch if effort else 0

    def _restart_batch(self) -> int:
        """Descents from new starts; their effort, or 0 if one improved the best."""
        elites, parameters = list(self.elite_pool.solutions), self.parameters
        seeds = self.seed.spawn(parameters.restart_batch)
        rngs = [np.random.default_rng(child) for child in seeds]
        self._tempering_rounds_due = parameters.tempering.rounds
        return self._run_batch([partial(_new_start, elites, rng) for rng in rngs])

    def _temper(self, work: float) -> int:
        """Temper, and descend from the best solutions; effort as for restarts."""
        self._tempering_rounds_due -= 1
        if self._tempering is None:
            rng = np.random.default_rng(self.seed.spawn(1)[0])
            self._tempering = Tempering(self.problem, self._full_elites(), rng)
        self._tempering.visit(self.elite_pool.solutions[0])
        batch = self.parameters.restart_batch
        result = self._tempering.run(self.pool, work, self.should_stop, batch)
        self.counters["SVM solves"] += result.n_svms
        self.work += result.work
        self._can_temper = not self._tempering.failed
        starts: list[Start] = [partial(_resolved, s) for s in result.solutions]
        effort = self._run_batch(starts) if starts else 1
        cost = self.parameters.tempering.cost
        return cost if effort and self._can_temper else effort

    def _full_elites(self) -> list[Solution]:
        """Elite solutions to which no feature can be added: chains only exchange."""
        evaluator, elites = Evaluator(self.problem), self.elite_pool.solutions
        full = [e for e in elites if evaluator.addable(e.support).size == 0]
        return full or elites

    def _tempering_work(self, work: float) -> float:
        """Work of the tempering that is due, 0 if none is."""
        if not self._can_temper or self._tempering_rounds_due == 0:
            return 0.0
        problem, parameters = self.problem, self.parameters.tempering
        least = parameters.min_svms * svm_work(
            problem.n_samples, problem.max_features, warm=True
        )
        share = min(parameters.work_fraction * self.max_work, work, self.work_left)
        return share if share >= least else 0.0

    def learn(self, solution: Solution) -> None:
        """Add a solution found elsewhere."""
        if self.elite_pool.add(solution):
            self.idle = self.counters[SINCE_BEST] = 0

    def _search_full_neighbourhood(self) -> bool:
        """Search the full neighbourhood of the best solution, unless already done.

        Returns whether it was improved.
        """
        best = self.elite_pool.solutions[0]
        by_estimates = begins_by_estimates(self.problem)
        is_done = best.key in self._fully_searched or not by_estimates
        if is_done or self.work >= self.max_work:
            return False
        effort = self._run_batch([partial(_unchanged, best)], full_neighbourhood=True)
        self._fully_searched.update(s.key for s in self.elite_pool.solutions[:1])
        return effort == 0

    def _run_batch(self, starts: list[Start], full_neighbourhood: bool = False) -> int:
        """Descents from several starts; their effort, or 0 if one improved the best."""
        share = self.work_left / len(starts)
        evaluators = [
            Evaluator(self.problem, self.should_stop, self._seen, share, self._twins)
            for _ in starts
        ]
        optima = frozenset(self._fully_searched if full_neighbourhood else self._optima)
        jobs = [
            self.pool.submit(
                _descend, evaluator, start, self.options, optima, full_neighbourhood
            )
            for evaluator, start in zip(evaluators, starts, strict=True)
        ]
        effort, costs = 0, self.parameters.optimum_costs
        improved = False
        for job, evaluator in zip(jobs, evaluators, strict=True):
            solution = job.result()
            if solution is not None:
                if evaluator.is_out_of_work:
                    self._unfinished.add(solution.key)
                effort += costs[solution.key in self._optima]
                self._optima.add(solution.key)
                # A slightly lower value on a known support is noise and not reported,
                # since solves inside a search are not that accurate.
                is_better = self.elite_pool.add(solution)
                event = "swap" if is_better else ""
                self.incumbent.offer(self.elite_pool.solutions[0], event)
                improved |= is_better
        # Merged in order and only between batches: timing must not change the outcome.
        for evaluator in evaluators:
            self.counters["SVM solves"] += evaluator.n_solves
            self.work += evaluator.work
            self._twins.paid |= evaluator.paid
            if len(self._seen) < self.parameters.max_seen:
                self._seen.update(evaluator.values)
        # Descents stopped before they began do not count as success.
        return 0 if improved else max(effort, 1)


def _unchanged(solution: Solution, evaluator: Evaluator) -> Solution:
    return solution


def _resolved(solution: Solution, evaluator: Evaluator) -> Solution:
    """A tempering solution, re-solved: active-set steps accumulate rounding errors."""
    evaluator.reached = solution
    return evaluator.solve(solution.support, warm=solution) or solution


def _descend(
    evaluator: Evaluator,
    start: Callable[[Evaluator], Solution],
    options: SwapOptions,
    optima: frozenset[tuple[int, ...]],
    full_neighbourhood: bool,
) -> Solution | None:
    """A descent; if stopped, the last solution it reached."""
    try:
        return swap_search(
            evaluator,
            start(evaluator),
            width=options.width,
            tries=options.tries,
            optima=optima,
            full_neighbourhood=full_neighbourhood,
        )
    except Stop:
        return evaluator.reached
