"""Exchanges of single features of the best model: tried before the tree grows.

So a list that a limit ends early has the twins of the features in the best model, and
the tree begins with whatever better model they lead to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...engine.ordering import smallest
from ...problem.problem import Problem
from ...search.evaluator import Evaluator, Stop, insert
from ...search.sampled import N_DRAWN, is_for_samples
from ...tree.listing import Listing, solve_support

# Features that are tried in the place of each one, the most promising first, and what
# all but the first of them may cost, see ``frugalsvm.engine.work``.
N_SUBSTITUTES, WORK = 20, 1e9
# How often a better model is followed.
MAX_TURNS = 3


class ExchangeTrials:
    """Tries to replace features of the best model, and lists what is good enough.

    Parameters
    ----------
    problem : Problem
        Watches the flag of whoever asks it to stop.
    listing : Listing
        With a model at least.
    should_stop : callable

    Attributes
    ----------
    n_tried : int
        Exchanges whose SVMs were solved, or found to be beyond the tolerance.
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
        # Models around which exchanges were tried, and what came of those at the last.
        self._centres: set[tuple[int, ...]] = set()
        self._last: tuple[int, ...] | None = None
        self._objectives: dict[int, dict[int, float]] = {}

    @property
    def substitutes(self) -> dict[int, dict[int, float]]:
        """What exchanges of features of the best model lead to, listed or cut."""
        best = self.listing.supports()[0]
        return self._objectives if best.key == self._last else {}

    def run(self) -> None:
        """Try exchanges at the best model, and at a better one they lead to."""
        for _ in range(MAX_TURNS):
            best = self.listing.supports()[0]
            if best.key in self._centres or self._should_stop():
                return
            self._centres.add(best.key)
            self._last, self._objectives = best.key, {}
            size = np.abs(best.coef)
            # Those of small weights are the easiest to replace.
            order = best.support[np.argsort(size, kind="stable")]
            try:
                self._around(best.support, order)
            except Stop:
                return

    def _around(self, support: np.ndarray, order: np.ndarray) -> None:
        """One exchange of each feature, then more as far as the work goes."""
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
        """What may take the place of a feature beside others, best guess first."""
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
        """Who ranks exchanges: on some of the samples where these are many."""
        if self._ranker is None:
            problem = self.problem
            if is_for_samples(problem):
                problem = problem.drawn(N_DRAWN, np.random.default_rng(0))
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
            # It is no leaf: whatever else the tree has to say about it, it will.
            self.listing.add(replace(found, bound=-np.inf))
            self._objectives.setdefault(feature, {})[substitute] = found.objective
