"""Ghosts: features whose weights together do not matter.

An SVM on a budget may leave weights of 1e-10 to features that it has no use for. They
would count as selected, and be measured, paid for and explained. Their weights become
exact zeros here, as long as the objective stays the same to within a millionth. Groups
of columns leave as a whole first, then single columns of those that stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..engine.columns import Columns
from ..problem.data import SignedData
from ..problem.problem import Problem
from ..problem.solution import Solution
from ..run.monitor import relative_gap
from ..run.stopping import StopCondition
from ..run.supervision import supervise
from ..run.threads import single_threaded_blas
from ..search.evaluator import Evaluator, best_intercept
from ..tree.listing import ListedSupport, solve_support
from .constant import constant_sign, never_predicted
from .result import Refit, Result, by_machine

# Fraction of the objective that the weights of ghosts change together.
GHOST = 1e-6
# Accuracy of the SVM on the features that stay.
TOL = 1e-9


class PrimalPoint(NamedTuple):
    """A solution in terms of X: weights of all columns, intercept, objective.

    Those of several machines one after the other, with an intercept for each.
    """

    coef: np.ndarray
    intercept: Any
    objective: float

    @classmethod
    def of(cls, problem: Problem, solution: Solution) -> PrimalPoint:
        """The solution on a support."""
        coef = np.zeros(problem.n_columns)
        coef[problem.columns.of(solution.support)] = solution.w
        intercept = problem.unshifted_intercept(coef, solution.b)
        return cls(coef, intercept, problem.objective(coef, intercept))


def ghost_limit(objective: float, bound: float, gap_tol: float) -> float:
    """The largest objective that dropping features may lead to.

    A solution that is proved optimal to within ``gap_tol`` remains so.
    """
    limit = objective + GHOST * abs(objective)
    if gap_tol < 1.0 and relative_gap(objective, bound) <= gap_tol:
        return max(objective, min(limit, bound / (1.0 - gap_tol)))
    return limit


def without_ghosts(
    problem: Problem,
    model: PrimalPoint,
    limit: float,
    *,
    objective_of: Callable[[np.ndarray, Any], float] | None = None,
    refit: bool = True,
) -> PrimalPoint:
    """The model without the features that do not matter; included ones stay.

    Parameters
    ----------
    problem : Problem
    model : PrimalPoint
        The SVM on its features.
    limit : float
        The objective stays at most this, see ``ghost_limit``.
    objective_of : callable, default=None
        Gives the objective of weights and intercept; that of ``problem`` by default.
    refit : bool, default=True
        Whether to solve the SVM on the features that stay.

    Returns
    -------
    PrimalPoint
        The same object if all features matter.
    """
    value = problem.objective if objective_of is None else objective_of
    columns = problem.columns
    while True:
        fewer = _cut(problem, columns, model, limit, value)
        if fewer is None:
            break
        model = _solved(problem, fewer) if refit else fewer
    if columns.has_groups:
        # Not solved again: the SVM would give them such weights once more.
        single = Columns.single(columns.n_columns)
        model = _cut(problem, single, model, limit, value) or model
    return model


def _cut(
    problem: Problem,
    columns: Columns,
    model: PrimalPoint,
    limit: float,
    value: Callable[[np.ndarray, Any], float],
) -> PrimalPoint | None:
    """The model with as many zeros as possible; None if there are no more.

    ``columns`` says what becomes zero as a whole.
    """
    coef = model.coef
    included = columns.used(np.isin(problem.columns.groups, problem.include))
    used = np.setdiff1d(columns.used(coef), included)
    # The objective is strongly convex: without a weight w it is larger by w^2 / 2.
    least = columns.sums(0.5 * coef**2)
    used = used[least[used] <= max(limit - model.objective, 0.0)]
    sizes = columns.sums(np.abs(coef) * problem.norms)
    order = used[np.argsort(sizes[used], kind="stable")]
    best, low, high = None, 0, order.size
    k = min(1, high)
    while low < high:
        fewer = coef.copy()
        fewer[columns.of(order[:k])] = 0.0
        intercept = best_intercept(problem, fewer)
        objective = value(fewer, intercept)
        if objective <= limit:
            best, low = PrimalPoint(fewer, intercept, objective), k
        elif k == 1:
            break
        else:
            high = k - 1
        # All at once is the most frequent case, after one.
        k = high if k == 1 else (low + high + 1) // 2
    return best


def _solved(problem: Problem, model: PrimalPoint) -> PrimalPoint:
    """The SVM on the features of a model, if it is better."""
    used = problem.columns.used(model.coef)
    support = np.union1d(used, problem.include).astype(np.int64)
    solution = Evaluator(problem).solve(support, tol=TOL)
    if solution is None:
        return model
    found = PrimalPoint.of(problem, solution)
    return min(model, found, key=lambda one: one.objective)


# --- Polish: the weights of an SVM in full precision ----------------------------------
#
# A solver ends when its gap is small, and weights may then be wrong from the seventh
# digit on. On categories and integers many samples lie exactly on the margin, or have
# the score 0, and such an error would decide which side they are on. So the samples on
# the margin are found, and the SVM is solved once more with these equations, directly.

# The objective may be larger by this fraction of it, whatever the gap.
RISE = 1e-9
# Weights that matter less than this fraction of the most important one become zero.
NOTHING = 1e-9
# Samples are tried as being on the margin if they are so near it.
NEAR = (1e-4, 1e-6, 1e-8)
# Solutions of the equations, each of which corrects the rounding of the one before.
REFINEMENTS = 3
# Changes of the samples on the margin.
ROUNDS = 3
# What differs from combinations of other samples by so little, relatively, follows from
# them, but for rounding; and by noise in the data.
RANK, SAME = 1e-11, 1e-6


def polished(
    problem: Problem,
    model: PrimalPoint,
    *,
    limit: float = np.inf,
    objective_of: Callable[[np.ndarray, Any], float] | None = None,
) -> PrimalPoint:
    """A model in full precision; weights keep their signs, and zeros stay zero.

    Parameters
    ----------
    problem : Problem
    model : PrimalPoint
        Nearly the SVM on its features.
    limit : float, default=inf
        The objective stays at most this, and is at most a billionth larger.
    objective_of : callable, default=None
        Gives the objective of weights and intercept; that of ``problem`` by default.

    Returns
    -------
    PrimalPoint
        With the same features, or fewer, but with all included ones; the same object if
        there are no better numbers.
    """
    if problem.n_machines > 1:
        return _by_machine(problem, model, limit)
    if not (problem.fit_intercept or model.coef.any()):
        return model
    value = problem.objective if objective_of is None else objective_of
    equations = _Equations(problem, model)
    with np.errstate(all="ignore"):
        try:
            point = equations.centred(equations.best())
        except np.linalg.LinAlgError:
            # Numbers of extreme sizes.
            return model
    coef = np.zeros_like(model.coef)
    coef[equations.used] = point[:-1]
    intercept = float(problem.unshifted_intercept(coef, point[-1]))
    objective = value(coef, intercept)
    if objective > min(limit, model.objective + RISE * abs(model.objective)):
        return model
    return PrimalPoint(coef, intercept, objective)


def _by_machine(problem: Problem, model: PrimalPoint, limit: float) -> PrimalPoint:
    """The models of several machines, each for itself."""
    parts = [
        polished(one, PrimalPoint(w, b, one.objective(w, b)))
        for one, w, b in problem.by_machine(model.coef, model.intercept)
    ]
    coef = np.concatenate([one.coef for one in parts])
    intercepts = np.array([one.intercept for one in parts])
    objective = problem.objective(coef, intercepts)
    if objective > limit:
        return model
    return PrimalPoint(coef, intercepts, objective)


class _Equations:
    """The equations of a model's SVM: its samples on the margin are exactly there.

    A point is its weights and, at the end, its intercept, for shifted columns.

    Parameters
    ----------
    problem : Problem
        Of one machine.
    model : PrimalPoint
    """

    def __init__(self, problem: Problem, model: PrimalPoint):
        self._C, self.used = problem.C, np.flatnonzero(model.coef)
        w = model.coef[self.used]
        assert isinstance(problem.data, SignedData)
        self._rows, self._y = problem.data.cached_rows(self.used), problem.y
        self._is_free = problem.fit_intercept
        self.start = np.append(w, model.intercept + w @ problem.shift[self.used])
        scales = problem.norms[self.used] / np.sqrt(problem.n_samples)
        self._scales = np.append(np.where(scales > 0, scales, 1.0), 1.0)
        stays = np.isin(problem.columns.groups[self.used], problem.include)
        # What a weight becomes that does not matter.
        self._nothing = np.append(np.where(stays, w, 0.0), 0.0)

    def best(self) -> np.ndarray:
        """The point with the least objective, of all that were tried."""
        point, known = self.start, None
        for _ in range(ROUNDS):
            counts = self._note_near(point)
            tries = [] if counts == known else self._solutions(point)
            better = min(tries, key=self._cost, default=point)
            if known is not None and not self._cost(better) < self._cost(point):
                break
            point, known = better, counts
        return point

    def _cost(self, point: np.ndarray) -> float:
        """The objective, but for rounding."""
        loss = np.maximum(self._gaps(point), 0.0)
        return float(0.5 * point[:-1] @ point[:-1] + self._C @ loss)

    def _gaps(self, point: np.ndarray) -> np.ndarray:
        """How far samples are below the margin."""
        return 1.0 - point[:-1] @ self._rows - point[-1] * self._y

    def centred(self, point: np.ndarray) -> np.ndarray:
        """A point with the intercept in the middle of those that are as good.

        If the slope of the loss is zero on one side of the intercept, the interval ends
        where it changes, on the margin of a sample.
        """
        gaps, y = self._gaps(point), self._y
        is_near = np.abs(gaps) <= NEAR[-1]
        below = gaps > NEAR[-1]
        centre, tiny = point[-1], RANK * self._C.sum()
        moves = [0.0, 0.0]
        for k, side in enumerate((1.0, -1.0) if self._is_free else ()):
            loses, gains = side * y < 0, side * y > 0
            slope = self._C @ (loses & (is_near | below)) - self._C @ (gains & below)
            if abs(slope) <= tiny:
                stops = np.abs(gaps[~is_near & (gains == below)])
                moves[k] = side * stops.min(initial=np.inf)
        both = np.isfinite(moves).all()
        return np.append(point[:-1], centre + sum(moves) / 2) if both else point

    def _note_near(self, point: np.ndarray) -> list[tuple[int, int]]:
        """Note the samples near the margin of a point, and below; return how many."""
        gaps = self._gaps(point)
        self._near = [np.abs(gaps) <= near for near in NEAR]
        self._below = [gaps > near for near in NEAR]
        pairs = zip(self._near, self._below, strict=True)
        return [(int(a.sum()), int(b.sum())) for a, b in pairs]

    def _solutions(self, point: np.ndarray) -> list[np.ndarray]:
        """Points for different sets of samples on the margin of another one."""
        sizes = np.abs(point) * self._scales
        matter = sizes > NOTHING * sizes.max()
        matter[-1] = self._is_free
        masks = [matter]
        if not matter[:-1].all():
            masks.append(np.append(np.ones(self.used.size, bool), self._is_free))
        found: list[np.ndarray] = []
        before = -1
        for is_near, is_below in zip(self._near, self._below, strict=True):
            # Sets that contain each other differ if their numbers do.
            number = int(is_near.sum())
            if number == before:
                continue
            before, weights = number, np.where(is_below, self._C, 0.0)
            pull = np.append(self._rows @ weights, self._y @ weights)
            near = np.vstack([self._rows[:, is_near], self._y[is_near]])
            for mask in masks:
                found += self._solved(point, near, pull, mask)
        return [one for one in map(self._cleaned, found) if self._keeps_signs(one)]

    def _cleaned(self, point: np.ndarray) -> np.ndarray:
        """A point with zeros for what does not matter; included features stay."""
        sizes = np.abs(point) * self._scales
        return np.where(sizes > NOTHING * sizes.max(), point, self._nothing)

    def _keeps_signs(self, point: np.ndarray) -> bool:
        return bool((point[:-1] * self.start[:-1] >= 0).all())

    def _solved(
        self,
        point: np.ndarray,
        near: np.ndarray,
        pull: np.ndarray,
        mask: np.ndarray,
    ) -> Iterator[np.ndarray]:
        """Points for which the samples ``near`` are on the margin.

        The SVM is the least ``1/2 ||w||^2 - pull v`` among the points ``v`` for which
        they are, where ``pull`` is the sum of the samples below the margin.
        """
        scales = self._scales[mask]
        rows, pull = near[mask] / scales[:, np.newaxis], pull[mask] / scales
        is_weight = np.flatnonzero(mask) < self.used.size
        squares = np.where(is_weight, scales**-2.0, 0.0)
        # In units in which all columns are of the same size.
        for M, ones in _independent(rows.T):
            back, free = _inverse(M)
            if not M.size and mask[-1]:
                # The intercept is anywhere between two margins.
                free = free[:, :-1]
            H = free.T @ (squares[:, np.newaxis] * free)
            v = point[mask] * scales
            for _ in range(REFINEMENTS):
                v = v + back @ (ones - M @ v)
                if free.shape[1]:
                    slope = free.T @ (pull - squares * v)
                    v = v + free @ np.linalg.lstsq(H, slope, rcond=1e-15)[0]
            v = v + back @ (ones - M @ v)
            if np.isfinite(v).all():
                full = np.zeros(mask.size)
                full[mask] = v / scales
                yield full


def _independent(rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Equations for ``rows @ v = 1`` without those that follow from others.

    If they contradict each other, there are also those of the least squares, without
    those that nearly follow from others.
    """
    if len(rows) > rows.shape[1]:
        # On categories there are many copies.
        keys = np.round(rows @ np.cos(np.arange(rows.shape[1])), 9)
        rows = rows[np.unique(keys, return_index=True)[1]]
    rest = rows.copy()
    chosen: list[int] = []
    sizes: list[float] = []
    for _ in range(min(rows.shape)):
        i, j = divmod(int(np.abs(rest).argmax()), rest.shape[1])
        pivot = rest[i, j]
        if abs(pivot) <= RANK * (sizes[0] if sizes else 0.0):
            break
        chosen.append(i)
        sizes.append(abs(pivot))
        rest -= np.outer(rest[:, j] / pivot, rest[i])
    M, ones = rows[chosen], np.ones(len(chosen))
    yield M, ones
    rank = sum(one > SAME * sizes[0] for one in sizes)
    if rank and np.abs(rows @ (_inverse(M)[0] @ ones) - 1.0).max() > RANK:
        basis = np.linalg.svd(M[:rank])[2][:rank]
        inner = rows @ basis.T
        yield inner.T @ inner @ basis / len(rows), inner.mean(axis=0)


def _inverse(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of a matrix of full row rank, and a basis of its null space."""
    rank, n = M.shape
    if rank == 0:
        return np.zeros((n, 0)), np.eye(n)
    U, s, Vt = np.linalg.svd(M)
    return (Vt[:rank].T / s) @ U.T, Vt[rank:].T


# --- The refit: weights of the selected features, computed with a C of their own ------
#
# One C does two jobs: how strongly the selection is regularised, and how large the
# weights are. The SVM on a given set of features is convex, so its dual point proves
# its optimum.


def with_refit(problem: Problem, result: Result, C: float) -> Result:
    """A result with the SVM on its features, included ones too, for another C.

    Parameters
    ----------
    problem : Problem
        The one that was solved.
    result : Result
    C : float

    Returns
    -------
    Result
        With ``refit``, and a certificate that proves both if there was one.
    """
    other = problem.with_C(C)
    support = np.union1d(result.selected, problem.include).astype(np.int64)
    work = partial(_solve, other, support)
    (found, alpha), _ = supervise(work, StopCondition(), patient=False)
    columns = problem.columns.of(support)
    coef = np.zeros(problem.n_columns)
    coef[columns] = found.coef
    model = PrimalPoint(coef, found.intercept, found.objective)
    limit = ghost_limit(model.objective, found.bound, 0.0)
    model = polished(other, without_ghosts(other, model, limit), limit=limit)
    refit = Refit(
        float(C),
        by_machine(problem, model.coef),
        model.intercept,
        model.objective,
        max(0.0, found.bound),
    )
    proof = result.certificate
    if proof is not None:
        own = other.blocks(support, model.coef[columns])
        proof = proof.with_refit(
            other.weights,
            own,
            refit.intercept,
            refit.objective,
            refit.lower_bound,
            alpha,
        )
    constant = constant_sign(problem, model.coef, model.intercept)
    never = never_predicted(problem, model.coef, model.intercept)
    return replace(
        result, refit=refit, certificate=proof, constant=constant, never=never
    )


def _solve(problem: Problem, support: np.ndarray) -> tuple[ListedSupport, np.ndarray]:
    with single_threaded_blas():
        return solve_support(problem, support)
