"""Evaluator: solves SVMs on supports and prices the other features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine.work import product_work, svm_work
from ..kernels.smoothing import intercept_of
from ..problem.problem import Problem
from ..problem.solution import Solution
from .estimates import Twins, addition_gains, exchange_losses
from .parameters import SearchParameters


class Stop(Exception):
    """Raised inside a search when time is up or the user interrupts."""


class Evaluator:
    """Solves for one problem; counts solves and watches a stop condition.

    Parameters
    ----------
    problem : Problem
    should_stop : callable, default=None
        Called before each solve; ``Stop`` is raised if it returns True.
    seen : dict, default=None
        Lower bounds of supports solved earlier. It is read-only, so that several
        evaluators can share it; new bounds are collected in ``values``.
    max_work : float, default=inf
        ``Stop`` is raised before a solve that would exceed it.
    twins : Twins, default=None
        Shared by several evaluators; a new one by default.

    Attributes
    ----------
    parameters : SearchParameters
    n_solves : int
    work : float
        The work of solves and products, see ``frugalsvm.engine.work``.
    is_fixed : array (n,)
        Whether features must be in every support.
    paid : set of int
        Features whose twins this evaluator has counted as work.
    """

    def __init__(
        self,
        problem: Problem,
        should_stop: Callable[[], bool] | None = None,
        seen: dict[bytes, float] | None = None,
        max_work: float = np.inf,
        twins: Twins | None = None,
    ):
        self.problem = problem
        self._twins = Twins(problem) if twins is None else twins
        self.paid: set[int] = set()
        self.parameters = problem.parameters(SearchParameters)
        self._engine = problem.engine
        self.values: dict[bytes, float] = {}
        self._seen = {} if seen is None else seen
        self.n_solves = 0
        self.work = 0.0
        self.max_work = max_work
        # The last feasible solution of a descent, in case it is stopped.
        self.reached: Solution | None = None
        self._should_stop = should_stop or (lambda: False)
        self.is_fixed = np.zeros(problem.n_features, dtype=bool)
        self.is_fixed[problem.include] = True
        self._is_candidate = np.zeros(problem.n_features, dtype=bool)
        self._is_candidate[problem.candidates] = True

    @property
    def is_out_of_work(self) -> bool:
        """Whether the work limit is exceeded."""
        return self.work > self.max_work

    def check(self) -> None:
        """Raise ``Stop`` if the work limit is reached or a stop is requested."""
        if self.is_out_of_work or self._should_stop():
            raise Stop

    def solve(
        self,
        support: np.ndarray,
        cutoff: float = np.inf,
        warm: Solution | None = None,
        tol: float | None = None,
    ) -> Solution | None:
        """The SVM on ``support`` (sorted), or None if its value exceeds the cutoff.

        By default it has the accuracy of a search.
        """
        tol = self.parameters.svm_tol if tol is None else tol
        self.check()
        key = support.tobytes()
        if max(self._seen.get(key, -np.inf), self.values.get(key, -np.inf)) > cutoff:
            return None
        self.n_solves += 1
        start = None if warm is None else self._shared_weights(support, warm)
        svm = self._engine.solve_svm(support, tol=tol, cutoff=cutoff, warm_w=start)
        size = self._engine.columns.count(support)
        problem = self.problem
        work = svm_work(problem.n_samples, size, warm is not None, problem.n_machines)
        self.work += svm.rounds * work
        self.values[key] = svm.dual
        if svm.dual > cutoff or svm.primal > cutoff:
            return None
        return Solution(support, svm.w, svm.b, svm.alpha, svm.primal)

    def _shared_weights(self, support: np.ndarray, warm: Solution) -> np.ndarray:
        """The weights of a support's columns in another solution, zero for new ones."""
        columns = self._engine.columns
        if not columns.has_groups:
            # Done by hand: numpy.isin takes longer than a small SVM.
            shared = np.zeros(support.size)
            positions = np.searchsorted(support, warm.support)
            positions[positions == support.size] = 0
            common = (
                support[positions] == warm.support if support.size else positions < 0
            )
            shared[positions[common]] = warm.w[common]
            return shared
        owners, warm_owners = columns.owners(support), columns.owners(warm.support)
        shared = np.zeros(owners.size)
        shared[np.isin(owners, warm.support)] = warm.w[np.isin(warm_owners, support)]
        return shared

    def fits(self, support: np.ndarray) -> bool:
        """Whether a support is within the budgets; no other constraint is checked."""
        problem = self.problem
        if support.size > problem.max_features:
            return False
        if not np.isfinite(problem.max_cost):
            return True
        return bool(problem.costs[support].sum() <= problem.cost_budget)

    def outside(self, support: np.ndarray) -> np.ndarray:
        """Admissible features outside the support."""
        mask = self._is_candidate.copy()
        mask[support] = False
        return np.flatnonzero(mask)

    def removable(self, solution: Solution) -> np.ndarray:
        """Positions in the support that may be dropped, smallest weight first."""
        positions = np.flatnonzero(~self.is_fixed[solution.support])
        return positions[np.argsort(self.lengths(solution)[positions], kind="stable")]

    def lengths(self, solution: Solution) -> np.ndarray:
        """The length of the weights of each feature of a solution."""
        return self._engine.columns.lengths(solution.support, solution.w)

    def addable(self, support: np.ndarray) -> np.ndarray:
        """Features outside the support that still fit the budgets."""
        problem = self.problem
        if support.size >= problem.max_features:
            return np.empty(0, dtype=np.int64)
        features = self.outside(support)
        if np.isfinite(problem.max_cost):
            remaining = problem.cost_budget - problem.costs[support].sum()
            features = features[problem.costs[features] <= remaining]
        return features

    def addition_bounds(self, solution: Solution, features: np.ndarray) -> np.ndarray:
        """Lower bounds of the objective after adding each of the features.

        The dual point of the solution, scaled by the best t <= 1, is feasible for every
        larger support: ``max_t  t sum(alpha) - t^2/2 (||w||^2 + c_j^2)``.
        """
        squares = self._squares(solution)
        total = squares[solution.support].sum()
        return _best_on_ray(solution.alpha.sum(), total + squares[features])

    def addition_estimates(
        self, solution: Solution, features: np.ndarray
    ) -> np.ndarray:
        """Estimates of the objective after adding each of the features.

        They may be too high or too low, but they rank features better than the bounds.
        """
        self._count_rough(solution)
        gains = addition_gains(self.problem, solution.support, features)
        return solution.objective - gains

    def exchange_losses(
        self, solution: Solution, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best features, and the estimated costs of exchanges with them."""
        self._count_rough(solution)
        twins = [self.twins_of(j) for j in solution.support.tolist()]
        extra = np.concatenate(twins) if twins and self.has_twins else None
        return exchange_losses(self.problem, solution.support, features, extra)

    @property
    def has_twins(self) -> bool:
        """Whether exchanges for twins are tried."""
        return self._twins.is_used

    def twins_of(self, feature: int) -> np.ndarray:
        """Admissible features that are highly correlated with a feature, best first."""
        if feature not in self.paid and feature not in self._twins.paid:
            self.paid.add(feature)
            self.work += self._twins.work()
        return self._twins.of(feature)

    def exchange_bounds(self, solution: Solution, positions: np.ndarray) -> np.ndarray:
        """Lower bounds after dropping a position and adding any other feature.

        The same dual point as for additions, and the feature of the largest c_j^2.
        """
        squares = self._squares(solution)
        support_squares = squares[solution.support]
        largest = squares[self.outside(solution.support)].max(initial=0.0)
        reduced = np.maximum(support_squares.sum() - support_squares[positions], 0.0)
        return _best_on_ray(solution.alpha.sum(), reduced + largest)

    def _count_rough(self, solution: Solution) -> None:
        """Count the work of estimates."""
        size = self._engine.columns.count(solution.support)
        problem = self.problem
        # A rough solution costs half as much as an accurate one.
        self.work += 0.5 * svm_work(
            problem.n_samples, size, n_machines=problem.n_machines
        )
        # The model; mostly calls of small functions.
        self.work += product_work(self._engine) + 3.5e5

    def _squares(self, solution: Solution) -> np.ndarray:
        self.work += product_work(self._engine)
        return self._engine.squares(solution.alpha)


def _best_on_ray(mass: float, quadratic: np.ndarray) -> np.ndarray:
    """``max_t  t mass - t^2/2 quadratic`` over t <= 1."""
    with np.errstate(divide="ignore", over="ignore"):
        t = np.minimum(1.0, mass / quadratic)
    return t * mass - 0.5 * t * t * quadratic


def insert(support: np.ndarray, feature: int) -> np.ndarray:
    """The sorted support with one more feature."""
    # Done by hand: numpy.insert takes longer than a small SVM.
    position = int(support.searchsorted(feature))
    larger = np.empty(support.size + 1, dtype=np.int64)
    larger[:position] = support[:position]
    larger[position] = feature
    larger[position + 1 :] = support[position:]
    return larger


def remove(support: np.ndarray, position: int) -> np.ndarray:
    """The support without the feature at a position."""
    smaller = np.empty(support.size - 1, dtype=np.int64)
    smaller[:position] = support[:position]
    smaller[position:] = support[position + 1 :]
    return smaller


def best_intercept(problem: Problem, coef: np.ndarray) -> Any:
    """Minimise the hinge loss over b; zero for problems without an intercept.

    Several machines have an intercept each.
    """
    if problem.n_machines > 1:
        weights = coef.reshape(problem.n_machines, -1)
        pairs = zip(problem.machines, weights, strict=True)
        return np.array([best_intercept(machine, w) for machine, w in pairs])
    if not problem.fit_intercept:
        return 0.0
    scores = problem.y * problem.margins(coef, 0.0)
    return float(intercept_of(scores, problem.y, problem.C))
