"""Exchanges of single features of the best model, tried before the tree search.

A list that a limit cuts short then still has the substitutes of features in the best
model, and the tree starts from any better model that is found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..engine.ordering import smallest
from ..problem.problem import Problem
from ..search.evaluator import Evaluator, Stop, insert
from ..search.sampled import is_for_samples, n_searched
from ..tree.listing import Listing, solve_support

# Maximum number of substitutes tried for each feature, the most promising first, and
# the work limit for all but the first of them, see ``frugalsvm.engine.work``.
N_SUBSTITUTES, WORK = 20, 1e9
# How often the exchanges move to a better model.
MAX_TURNS = 3


class ExchangeTrials:
    """Tries to replace features of the best model, and lists the good results.

    Parameters
    ----------
    problem : Problem
        Its compiled code watches the stop flag.
    listing : Listing
        With at least one model.
    should_stop : callable

    Attributes
    ----------
    n_tried : int
        Exchanges whose SVMs were solved or proved to be beyond the tolerance.
    """

    def __init__(
        self, problem: Problem, listing: Listing, should_stop: Callable[[], bool]
    ):
        self.problem = problem
        self.listing = listing
        self.n_tried = 0
        self._evaluator = Evaluator(problem, should_stop)
        self._should_stop = should_stop
        self._ranker: Evaluator | None = None
        # Models whose exchanges were tried, and the results at the last one.
        self._centres: set[tuple[int, ...]] = set()
        self._last: tuple[int, ...] | None = None
        self._objectives: dict[int, dict[int, float]] = {}

    @property
    def substitutes(self) -> dict[int, dict[int, float]]:
        """Results of the exchanges of the best model, listed or cut."""
        best = self.listing.supports()[0]
        return self._objectives if best.key == self._last else {}

    def run(self) -> None:
        """Try exchanges at the best model, and at better ones that are found."""
        for _ in range(MAX_TURNS):
            best = self.listing.supports()[0]
            if best.key in self._centres or self._should_stop():
                return
            self._centres.add(best.key)
            self._last, self._objectives = best.key, {}
            # Features of small weight are the easiest to replace.
            order = best.support[np.argsort(best.lengths, kind="stable")]
            try:
                self._around(best.support, order)
            except Stop:
                return

    def _around(self, support: np.ndarray, order: np.ndarray) -> None:
        """One exchange per feature, then more within the work limit."""
        rest = []
        self._evaluator.max_work = np.inf
        for feature in order[~self._evaluator.is_fixed[order]].tolist():
            others = support[support != feature]
            ranked = self._ranked(others, feature)
            for substitute in ranked[:1]:
                self._try(others, feature, substitute)
            rest.append((others, feature, ranked[1:]))
        self._evaluator.max_work = self._evaluator.work + WORK
        for turn in range(N_SUBSTITUTES - 1):
            for others, feature, ranked in rest:
                if turn < len(ranked):
                    self._try(others, feature, ranked[turn])

    def _ranked(self, others: np.ndarray, feature: int) -> list[int]:
        """Candidate substitutes of a feature, the most promising first."""
        ranker = self._ranking()
        solution = ranker.solve(others)
        assert solution is not None
        features = ranker.addable(others)
        features = features[features != feature]
        if features.size == 0:
            return []
        estimates = ranker.addition_estimates(solution, features)
        return features[smallest(estimates, N_SUBSTITUTES)].tolist()

    def _ranking(self) -> Evaluator:
        """The ranking of exchanges, on a subsample if there are many samples."""
        if self._ranker is None:
            problem = self.problem
            if is_for_samples(problem):
                problem = problem.drawn(n_searched(problem), np.random.default_rng(0))
            self._ranker = Evaluator(problem, self._should_stop)
        return self._ranker

    def _try(self, others: np.ndarray, feature: int, substitute: int) -> None:
        """List an exchange if its SVM is within the tolerance."""
        cutoff = self.listing.threshold.cutoff
        support = insert(others, substitute)
        solution = self._evaluator.solve(support, cutoff)
        self.n_tried += 1
        if solution is None:
            return
        found, _ = solve_support(self.problem, support)
        if found.objective <= cutoff:
            # This is not a leaf; the tree will treat it like any other set.
            self.listing.add(replace(found, bound=-np.inf))
            self._objectives.setdefault(feature, {})[substitute] = found.objective
