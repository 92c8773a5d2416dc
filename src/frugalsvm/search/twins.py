"""Twins: features that are correlated with a feature, and may do better in its place.

The price of a twin is small while its feature is in the support, since they explain the
same samples. So exchanges ranked among the features with the largest prices do not
include those of a feature for its twins, however much better one of them is.
"""

from __future__ import annotations

import numpy as np

from ..engine.ordering import smallest
from ..engine.work import product_work
from ..problem.problem import Problem
from .parameters import SearchParameters

# Rows whose norms are computed at a time.
CHUNK = 256


class Twins:
    """The twins of features, each found once, by one product with the data.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    is_used : bool
        Whether there are features that have no place among the largest prices.
    paid : set of int
        Features whose product has been counted as work. It only changes between the
        descents that share it, so that their work does not depend on timing.
    """

    def __init__(self, problem: Problem):
        # Whether features are correlated does not depend on labels.
        problem = problem.machines[0]
        parameters = problem.parameters(SearchParameters).estimates
        self._problem = problem
        self._least = parameters.min_correlation
        most = parameters.twins
        self._most = max(1, most // max(problem.max_features, 1)) if most else 0
        is_wide = problem.candidates.size > parameters.exchanged
        self.is_used = is_wide and problem.source is None and self._most > 0
        # Features of several columns have no correlation.
        self.is_used &= not problem.columns.has_groups
        self.paid: set[int] = set()
        self._found: dict[int, np.ndarray] = {}
        self._scales: np.ndarray | None = None

    def of(self, feature: int) -> np.ndarray:
        """The most correlated admissible features, best first."""
        if not self.is_used:
            return np.empty(0, dtype=np.int64)
        found = self._found.get(feature)
        if found is None:
            found = self._found[feature] = self._search(feature)
        return found

    def work(self) -> float:
        """The work of finding the twins of a feature."""
        return product_work(self._problem.engine) if self.is_used else 0.0

    def _search(self, feature: int) -> np.ndarray:
        problem = self._problem
        if self._scales is None:
            self._scales = _deviations(problem)
        row = problem.engine.signed_rows(np.array([feature]))[0] * problem.y
        products = problem.engine.products(problem.y * (row - row.mean()))
        correlations = np.zeros(problem.n_features)
        scales = self._scales * self._scales[feature]
        np.divide(products, scales, out=correlations, where=scales > 0.0)
        others = problem.candidates[problem.candidates != feature]
        strengths = np.abs(correlations[others])
        best = smallest(-strengths, self._most)
        return others[best[strengths[best] >= self._least]]


def _deviations(problem: Problem) -> np.ndarray:
    """The norms of all features, centred; zero for those that hardly vary."""
    engine = problem.engine
    squares = np.empty(problem.n_features)
    for first in range(0, problem.n_features, CHUNK):
        chunk = np.arange(first, min(first + CHUNK, problem.n_features))
        rows = engine.signed_rows(chunk)
        squares[chunk] = np.einsum("ij,ij->i", rows, rows)
    centred = squares - engine.products(problem.y) ** 2 / problem.n_samples
    return np.sqrt(np.where(centred > 1e-9 * squares, centred, 0.0))
