"""The last steps of a run: remove ghosts, polish the weights, refit with another C.

Ghosts are features whose weights together do not matter. An SVM on a budget may leave
them weights of 1e-10, and they would count as selected, and be measured, paid for and
explained. Their weights become exact zeros here, as long as the objective stays the
same to within a millionth. Groups of columns become zero as a whole first, then single
columns of the remaining groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
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

# Maximum change of the objective by all ghosts together, as a fraction of it.
GHOST = 1e-6


class PrimalPoint(NamedTuple):
    """A solution in terms of X: weights of all columns, intercept, objective.

    The weights of several machines follow each other, and each has an intercept.
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
        Upper limit of the objective, see ``ghost_limit``.
    objective_of : callable, default=None
        The objective as a function of weights and intercept; that of ``problem`` by
        default.
    refit : bool, default=True
        Whether to solve the SVM on the remaining features.

    Returns
    -------
    PrimalPoint
        The same object if all features matter.
    """
    value = problem.objective if objective_of is None else objective_of
    columns = problem.columns
    while True:
        smaller = _cut(problem, columns, model, limit, value)
        if smaller is None:
            break
        model = _solved(problem, smaller) if refit else smaller
    if columns.has_groups:
        # Not solved again: the SVM would return the tiny weights.
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
    """The model with as many zeros as possible; None if nothing can become zero.

    ``columns`` has the groups of columns that become zero as a whole.
    """
    coef = model.coef
    included = columns.used(np.isin(problem.columns.groups, problem.include))
    ghosts = np.setdiff1d(columns.used(coef), included)
    # The objective is strongly convex: without a weight w it is larger by w^2 / 2.
    least = columns.sums(0.5 * coef**2)
    ghosts = ghosts[least[ghosts] <= max(limit - model.objective, 0.0)]
    sizes = columns.sums(np.abs(coef) * problem.norms)
    order = ghosts[np.argsort(sizes[ghosts], kind="stable")]
    best, low, high = None, 0, order.size
    k = min(1, high)
    while low < high:
        cut = coef.copy()
        cut[columns.of(order[:k])] = 0.0
        intercept = best_intercept(problem, cut)
        objective = value(cut, intercept)
        if objective <= limit:
            best, low = PrimalPoint(cut, intercept, objective), k
        elif k == 1:
            break
        else:
            high = k - 1
        # If one can become zero, mostly all can.
        k = high if k == 1 else (low + high + 1) // 2
    return best


def _solved(problem: Problem, model: PrimalPoint) -> PrimalPoint:
    """The SVM on the features of a model, if it is better."""
    selected = problem.columns.used(model.coef)
    support = np.union1d(selected, problem.include).astype(np.int64)
    solution = Evaluator(problem).solve(support, tol=1e-9)
    if solution is None:
        return model
    svm = PrimalPoint.of(problem, solution)
    return min(model, svm, key=lambda point: point.objective)


# --- Polish: the weights of an SVM in full precision ----------------------------------
#
# A solver ends when its gap is small, and weights may then be wrong from the seventh
# digit on. On categories and integers many samples lie exactly on the margin, or have
# the score 0, and such an error would decide which side they are on. So the samples on
# the margin are identified, and the SVM is solved once more with these equations,
# directly.

# The objective may rise by this fraction of it, whatever the gap.
RISE = 1e-9
# Weights smaller than this fraction of the largest become zero; both are scaled.
NOTHING = 1e-9
# Distances from the margin up to which samples are tried as being on it.
NEAR = (1e-4, 1e-6, 1e-8)
# Samples that differ from combinations of others by no more than this, relatively,
# depend on them: RANK allows for rounding, SAME for noise in the data.
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
        Upper limit of the objective, which also rises by at most a billionth.
    objective_of : callable, default=None
        The objective as a function of weights and intercept; that of ``problem`` by
        default.

    Returns
    -------
    PrimalPoint
        A model with the same features, or fewer, but with all included ones; the same
        object if there are no better weights.
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
    coef[equations.columns] = point[:-1]
    intercept = float(problem.unshifted_intercept(coef, point[-1]))
    objective = value(coef, intercept)
    if objective > min(limit, model.objective + RISE * abs(model.objective)):
        return model
    return PrimalPoint(coef, intercept, objective)


def _by_machine(problem: Problem, model: PrimalPoint, limit: float) -> PrimalPoint:
    """The models of several machines, polished one by one."""
    parts = [
        polished(part, PrimalPoint(w, b, part.objective(w, b)))
        for part, w, b in problem.by_machine(model.coef, model.intercept)
    ]
    coef = np.concatenate([part.coef for part in parts])
    intercepts = np.array([part.intercept for part in parts])
    objective = problem.objective(coef, intercepts)
    if objective > limit:
        return model
    return PrimalPoint(coef, intercepts, objective)


class _Equations:
    """The equations of a model's SVM: its samples on the margin are exactly there.

    A point is an array of weights and, at the end, the intercept for shifted columns.

    Parameters
    ----------
    problem : Problem
        A problem of one machine.
    model : PrimalPoint
    """

    def __init__(self, problem: Problem, model: PrimalPoint):
        columns = self.columns = np.flatnonzero(model.coef)
        self._C, w = problem.C, model.coef[columns]
        assert isinstance(problem.data, SignedData)
        self._rows, self._y = problem.data.cached_rows(columns), problem.y
        self._is_free = problem.fit_intercept
        self.start = np.append(w, model.intercept + w @ problem.shift[columns])
        scales = problem.norms[columns] / np.sqrt(problem.n_samples)
        self._scales = np.append(np.where(scales > 0, scales, 1.0), 1.0)
        is_included = np.isin(problem.columns.groups[columns], problem.include)
        # Negligible weights become these.
        self._nothing = np.append(np.where(is_included, w, 0.0), 0.0)

    def best(self) -> np.ndarray:
        """The point with the least objective among all that are tried."""
        point, previous = self.start, None
        # Each round may change the samples on the margin.
        for _ in range(3):
            counts = self._update_near(point)
            tries = [] if counts == previous else self._solutions(point)
            better = min(tries, key=self._cost, default=point)
            if previous is not None and not self._cost(better) < self._cost(point):
                break
            point, previous = better, counts
        return point

    def _cost(self, point: np.ndarray) -> float:
        """The objective, but for rounding."""
        loss = np.maximum(self._gaps(point), 0.0)
        return float(0.5 * point[:-1] @ point[:-1] + self._C @ loss)

    def _gaps(self, point: np.ndarray) -> np.ndarray:
        """The distances of the samples below the margin."""
        return 1.0 - point[:-1] @ self._rows - point[-1] * self._y

    def centred(self, point: np.ndarray) -> np.ndarray:
        """A point with the intercept in the middle of all that are equally good.

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

    def _update_near(self, point: np.ndarray) -> list[tuple[int, int]]:
        """Find the samples near the margin of a point, and below; return how many."""
        gaps = self._gaps(point)
        self._near = [np.abs(gaps) <= near for near in NEAR]
        self._below = [gaps > near for near in NEAR]
        pairs = zip(self._near, self._below, strict=True)
        return [(int(a.sum()), int(b.sum())) for a, b in pairs]

    def _solutions(self, point: np.ndarray) -> list[np.ndarray]:
        """Points for several sets of samples near the margin of a point."""
        matters = self._matters(point)
        matters[-1] = self._is_free
        masks = [matters]
        if not matters[:-1].all():
            masks.append(np.append(np.ones(self.columns.size, bool), self._is_free))
        points: list[np.ndarray] = []
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
                points += self._solved(point, near, pull, mask)
        # Zeros for negligible weights; other weights must keep their signs.
        points = [np.where(self._matters(v), v, self._nothing) for v in points]
        signs = self.start[:-1]
        return [v for v in points if (v[:-1] * signs >= 0).all()]

    def _matters(self, point: np.ndarray) -> np.ndarray:
        """Whether entries of a point are not negligible."""
        sizes = np.abs(point) * self._scales
        return sizes > NOTHING * sizes.max()

    def _solved(
        self,
        point: np.ndarray,
        near: np.ndarray,
        pull: np.ndarray,
        mask: np.ndarray,
    ) -> Iterator[np.ndarray]:
        """Points with the samples ``near`` on the margin.

        The SVM has the least ``1/2 ||w||^2 - pull v`` of all such points ``v``, where
        ``pull`` is the sum of the samples below the margin, weighted by C.
        """
        scales = self._scales[mask]
        rows, pull = near[mask] / scales[:, np.newaxis], pull[mask] / scales
        is_weight = np.flatnonzero(mask) < self.columns.size
        squares = np.where(is_weight, scales**-2.0, 0.0)
        # The units are such that all columns are of the same size.
        for M, ones in _independent(rows.T):
            back, free = _inverse(M)
            if not M.size and mask[-1]:
                # The intercept is anywhere between two margins.
                free = free[:, :-1]
            H = free.T @ (squares[:, np.newaxis] * free)
            v = point[mask] * scales
            # Each step corrects the rounding of the one before.
            for _ in range(3):
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
    """Equations for ``rows @ v = 1`` that do not follow from others.

    If the rows contradict each other, also the equations of the least squares, without
    those that nearly follow from others.
    """
    if len(rows) > rows.shape[1]:
        # Categories make many equal rows.
        keys = np.round(rows @ np.cos(np.arange(rows.shape[1])), 9)
        rows = rows[np.unique(keys, return_index=True)[1]]
    residuals = rows.copy()
    chosen: list[int] = []
    sizes: list[float] = []
    for _ in range(min(rows.shape)):
        i, j = divmod(int(np.abs(residuals).argmax()), rows.shape[1])
        pivot = residuals[i, j]
        if abs(pivot) <= RANK * (sizes[0] if sizes else 0.0):
            break
        chosen.append(i)
        sizes.append(abs(pivot))
        residuals -= np.outer(residuals[:, j] / pivot, residuals[i])
    M, ones = rows[chosen], np.ones(len(chosen))
    yield M, ones
    rank = sum(size > SAME * sizes[0] for size in sizes)
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


# --- The refit: weights of the selected features for a C of their own -----------------
#
# C regularises both the selection and the weights; a refit has a C for the latter. The
# SVM on given features is convex, so its dual point proves its optimum.


def with_refit(problem: Problem, result: Result, C: float) -> Result:
    """A result with the SVM on its features, included ones too, for another C.

    Parameters
    ----------
    problem : Problem
        The problem of the result.
    result : Result
    C : float

    Returns
    -------
    Result
        With ``refit``, and a certificate that proves both if there was one.
    """
    other = problem.with_C(C)
    support = np.union1d(result.selected, problem.include).astype(np.int64)

    def solve() -> tuple[ListedSupport, np.ndarray]:
        with single_threaded_blas():
            return solve_support(other, support)

    (svm, alpha), _ = supervise(solve, StopCondition(), patient=False)
    columns = problem.columns.of(support)
    coef = np.zeros(problem.n_columns)
    coef[columns] = svm.coef
    model = PrimalPoint(coef, svm.intercept, svm.objective)
    limit = ghost_limit(model.objective, svm.bound, 0.0)
    model = polished(other, without_ghosts(other, model, limit), limit=limit)
    refit = Refit(
        float(C),
        by_machine(problem, model.coef),
        model.intercept,
        model.objective,
        max(0.0, svm.bound),
    )
    proof = result.certificate
    if proof is not None:
        proof = proof.with_refit(
            other.weights,
            other.blocks(support, model.coef[columns]),
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
