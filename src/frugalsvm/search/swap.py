"""Swap search: exchange features one for one until nothing improves.

Two ways to search the same neighbourhood, the cheaper one first:

* add-drop: add a promising feature, then drop the least useful one. Dropping i from a
  solution costs at least ``1/2 w_i^2``, so most drops are ruled out without a solve.
* drop-add: drop each feature in turn, re-solve, and price all others by the dual point
  of the reduced support; only features whose bound beats the incumbent are tried.

With many features, half of the candidates are those with the best bounds and half those
with the best estimates (:mod:`~frugalsvm.search.estimates`).

Verifying a local optimum takes most of the work and seldom finds an improvement. So
with many features a descent only tries a few exchanges that the estimates rank best,
repeatedly; a full neighbourhood search must be requested.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..engine.columns import smallest
from ..problem.problem import Problem
from ..problem.solution import Solution
from .evaluator import Evaluator, insert, remove
from .parameters import SearchParameters

# --- Exchanges ranked by estimated cost -----------------------------------------------


class Exchanges(NamedTuple):
    """Positions to drop and features to add, best exchange first."""

    dropped: np.ndarray
    added: np.ndarray


def ranked_exchanges(evaluator: Evaluator, solution: Solution, count: int) -> Exchanges:
    """The most promising exchanges, regardless of the budgets."""
    features = evaluator.outside(solution.support)
    features, losses = evaluator.exchange_losses(solution, features)
    positions = evaluator.removable(solution)
    best = smallest(losses[positions].ravel(), count)
    dropped, added = np.divmod(best, max(features.size, 1))
    return Exchanges(positions[dropped], features[added])


def after_exchange(
    evaluator: Evaluator, solution: Solution, position: int, feature: int
) -> np.ndarray | None:
    """The support after an exchange, if the budgets admit it."""
    support = insert(remove(solution.support, position), feature)
    return support if evaluator.fits(support) else None


# --- Descents -------------------------------------------------------------------------


def _most_promising(
    evaluator: Evaluator,
    solution: Solution,
    features: np.ndarray,
    limit: int,
    cutoff: float = np.inf,
) -> np.ndarray:
    """Features to add whose bounds are below the cutoff, most promising first."""
    if features.size == 0:
        return features
    bounds = evaluator.addition_bounds(solution, features)
    promising = bounds < cutoff
    features, bounds = features[promising], bounds[promising]
    by_bound = smallest(bounds, limit)
    if features.size <= evaluator.parameters.estimates_above_width * limit:
        return features[by_bound]
    estimates = evaluator.addition_estimates(solution, features)
    by_estimate = smallest(estimates, limit)
    # Taken alternately, without duplicates.
    alternating = np.column_stack([by_estimate, by_bound]).ravel()
    _, firsts = np.unique(alternating, return_index=True)
    return features[alternating[np.sort(firsts)[:limit]]]


def fill(
    evaluator: Evaluator,
    solution: Solution,
    rng: np.random.Generator | None = None,
    spread: int = 1,
) -> Solution:
    """Add features greedily while the budgets allow it.

    With a random generator, draw from the ``spread`` most promising features.
    """
    problem = evaluator.problem
    while True:
        features = evaluator.addable(solution.support)
        if features.size == 0:
            return solution
        many = features.size > evaluator.parameters.estimates_above
        rank = evaluator.addition_estimates if many else evaluator.addition_bounds
        gain = -rank(solution, features)
        if np.isfinite(problem.max_cost):
            gain = (gain + solution.objective) / problem.costs[features]
        if rng is None:
            chosen = features[np.argmax(gain)]
        else:
            best = features[smallest(-gain, spread)]
            chosen = best[rng.integers(best.size)]
        larger = evaluator.solve(insert(solution.support, chosen), warm=solution)
        assert larger is not None
        solution = larger


def _better_than(evaluator: Evaluator, solution: Solution) -> float:
    """The objective that is notably better than a solution's."""
    return solution.objective * (1 - evaluator.parameters.min_improvement)


def _try_drops(
    evaluator: Evaluator, larger: Solution, cutoff: float, tries: int
) -> Solution | None:
    """Best removal of one feature from ``larger`` that beats the cutoff, if any."""
    best, lengths = None, evaluator.lengths(larger)
    for position in evaluator.removable(larger)[:tries]:
        if larger.objective + 0.5 * lengths[position] ** 2 >= cutoff:
            break
        support = remove(larger.support, position)
        if not evaluator.fits(support):
            continue
        candidate = evaluator.solve(support, cutoff, warm=larger)
        if candidate is not None:
            best, cutoff = candidate, _better_than(evaluator, candidate)
    return best


def add_drop(
    evaluator: Evaluator, solution: Solution, width: int, tries: int
) -> Solution | None:
    """First improvement by adding one of ``width`` features, then dropping one."""
    cutoff = _better_than(evaluator, solution)
    features = evaluator.outside(solution.support)
    for feature in _most_promising(evaluator, solution, features, width):
        larger = evaluator.solve(
            insert(solution.support, feature), cutoff, warm=solution
        )
        if larger is None:
            continue
        if evaluator.fits(larger.support):
            return larger
        better = _try_drops(evaluator, larger, cutoff, tries)
        if better is not None:
            return better
    return None


def drop_add(evaluator: Evaluator, solution: Solution, width: int) -> Solution | None:
    """First improvement found by dropping a feature, then adding one of ``width``."""
    cutoff = _better_than(evaluator, solution)
    positions = evaluator.removable(solution)
    promising = evaluator.exchange_bounds(solution, positions) < cutoff
    for position in positions[promising]:
        smaller = evaluator.solve(remove(solution.support, position), warm=solution)
        assert smaller is not None
        best = None
        limit = cutoff
        features = evaluator.addable(smaller.support)
        for feature in _most_promising(evaluator, smaller, features, width, limit):
            candidate = evaluator.solve(
                insert(smaller.support, feature), limit, warm=smaller
            )
            if candidate is not None:
                best, limit = candidate, _better_than(evaluator, candidate)
        if best is not None:
            return best
    return None


def exchange(evaluator: Evaluator, solution: Solution) -> Solution | None:
    """First improvement among the exchanges that estimates rank best."""
    cutoff = _better_than(evaluator, solution)
    ranked = ranked_exchanges(evaluator, solution, evaluator.parameters.n_exchanges)
    for position, feature in zip(*ranked, strict=True):
        support = after_exchange(evaluator, solution, position, feature)
        if support is None:
            continue
        better = evaluator.solve(support, cutoff, warm=solution)
        if better is not None:
            return better
    return None


def begins_by_estimates(problem: Problem) -> bool:
    """Whether there are enough features for descents to begin by estimates."""
    above = problem.parameters(SearchParameters).estimates_above
    return problem.candidates.size > above


def _descend_by_estimates(evaluator: Evaluator, solution: Solution) -> Solution:
    """Descend by the exchanges with the best estimates, until a few of them fail."""
    while True:
        evaluator.reached = solution
        better = exchange(evaluator, solution)
        if better is None:
            return solution
        solution = fill(evaluator, better)


def swap_search(
    evaluator: Evaluator,
    solution: Solution,
    *,
    width: int = 20,
    tries: int = 3,
    optima: frozenset[tuple[int, ...]] = frozenset(),
    full_neighbourhood: bool = True,
) -> Solution:
    """Descend to a solution that neither add-drop nor drop-add improves.

    ``optima`` has supports of such solutions; reaching one ends the descent. With many
    features it ends when the exchanges with the best estimates fail, unless a full
    neighbourhood search is requested.
    """
    if begins_by_estimates(evaluator.problem):
        solution = _descend_by_estimates(evaluator, solution)
        if not full_neighbourhood:
            return solution
    while True:
        evaluator.reached = solution
        if solution.key in optima:
            return solution
        better = add_drop(evaluator, solution, width, tries)
        if better is None:
            better = drop_add(evaluator, solution, width)
        if better is None:
            return solution
        solution = fill(evaluator, better)
