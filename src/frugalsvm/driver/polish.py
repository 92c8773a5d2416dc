"""Polish: the weights of an SVM in full precision.

A solver ends when its gap is small, and weights may then be wrong from the seventh
digit on. On categories and integers many samples lie exactly on the margin, or have the
score 0, and such an error would decide which side they are on. So the samples on the
margin are found, and the SVM is solved once more with these equations, directly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..problem.problem import Problem
from .ghosts import PrimalPoint

# The objective may be larger by this fraction of it, whatever the gap.
RISE = 1e-9
# Weights that matter less than this fraction of the most important one become zero.
NOTHING = 1e-9
# Samples are tried as being on the margin if they are so near it.
NEAR = (1e-4, 1e-6, 1e-8)
# On the margin, once solved.
EXACT = 1e-10
# Solutions of the equations, each of which corrects the rounding of the one before.
REFINEMENTS = 3
# Changes of the samples on the margin.
ROUNDS = 3
# Smaller singular values are zero, relatively.
RANK = 1e-11


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
        With the same features, or fewer; the same object if there are no better
        numbers.
    """
    if problem.n_machines > 1:
        return _by_machine(problem, model, limit)
    value = problem.objective if objective_of is None else objective_of
    limit = min(limit, model.objective + RISE * abs(model.objective))
    best, known = model, None
    for _ in range(ROUNDS):
        equations = _Equations(problem, best, value)
        if equations.counts == known:
            break
        tries = equations.solutions()
        within = [one for one in tries if one.objective <= limit]
        if not within:
            break
        best, known = min(within, key=lambda one: one.objective), equations.counts
    return best


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

    Parameters
    ----------
    problem : Problem
        Of one machine.
    model : PrimalPoint
    value : callable
        Gives the objective.
    """

    def __init__(
        self,
        problem: Problem,
        model: PrimalPoint,
        value: Callable[[np.ndarray, Any], float],
    ):
        self._problem, self._value, self._coef = problem, value, model.coef
        self._used = used = np.flatnonzero(model.coef)
        w = model.coef[used]
        # Those of the intercept come last; without one they are zero.
        sign = problem.y if problem.fit_intercept else np.zeros(problem.n_samples)
        self._rows = np.vstack([problem.data.few_rows(used), sign])
        shifted = model.intercept + float(w @ problem.shift[used])
        self._start = np.append(w, shifted)
        scales = problem.norms[used] / np.sqrt(problem.n_samples)
        self._scales = np.append(np.where(scales > 0, scales, 1.0), 1.0)
        margins = self._start @ self._rows
        self._below = [margins < 1.0 - near for near in NEAR]
        self._near = [np.abs(1.0 - margins) <= near for near in NEAR]
        # Sets that contain each other differ if their numbers do.
        pairs = zip(self._near, self._below, strict=True)
        self.counts = [tuple(map(np.count_nonzero, pair)) for pair in pairs]

    def solutions(self) -> list[PrimalPoint]:
        """Models for different sets of samples on the margin."""
        sizes = np.abs(self._start) * self._scales
        matter = sizes > NOTHING * sizes.max()
        matter[-1] = self._problem.fit_intercept
        masks = [matter]
        if not matter[:-1].all():
            masks.append(np.append(np.ones(self._used.size, bool), matter[-1]))
        found = []
        for k, counts in enumerate(self.counts):
            if counts in self.counts[:k]:
                continue
            for mask in masks:
                solution = self._solution(self._near[k], self._below[k], mask)
                if solution is not None:
                    found += self._models(solution)
        return found

    def _solution(
        self, is_near: np.ndarray, is_below: np.ndarray, mask: np.ndarray
    ) -> np.ndarray | None:
        """Weights and intercept; None if these samples cannot all be on the margin.

        The SVM is the least ``1/2 ||w||^2 - g v`` among the points ``v`` of weights and
        intercept for which they are, where g is the sum of the samples below.
        """
        rows = self._rows if mask.all() else self._rows[mask]
        scales = self._scales[mask]
        weighted = np.where(is_below, self._problem.C, 0.0)
        g = (rows @ weighted) / scales
        # In units in which all columns are of the same size.
        near = (rows[:, is_near] / scales[:, np.newaxis]).T
        M = _independent(near)
        is_weight = np.flatnonzero(mask) < self._used.size
        squares = np.where(is_weight, scales**-2.0, 0.0)
        back, free = _inverse(M)
        if not is_near.any():
            # The intercept is anywhere between two margins.
            free = free[:, free[-1] == 0.0] if mask[-1] else free
        H = free.T @ (squares[:, np.newaxis] * free)
        v = self._start[mask] * scales
        for _ in range(REFINEMENTS):
            v = v + back @ (1.0 - M @ v)
            if free.shape[1]:
                slope = free.T @ (g - squares * v)
                v = v + free @ np.linalg.lstsq(H, slope, rcond=1e-15)[0]
        v = v + back @ (1.0 - M @ v)
        if not np.isfinite(v).all():
            return None
        if np.abs(1.0 - near @ v).max(initial=0.0) > EXACT:
            return None
        full = np.zeros(mask.size)
        full[mask] = v / scales
        return full

    def _models(self, solution: np.ndarray) -> list[PrimalPoint]:
        """The model of a solution, with zeros for what does not matter."""
        sizes = np.abs(solution) * self._scales
        few = np.where(sizes > NOTHING * sizes.max(), solution, 0.0)
        if (few[:-1] * self._start[:-1] < 0).any():
            return []
        coef = np.zeros_like(self._coef)
        coef[self._used] = few[:-1]
        intercept = float(self._problem.unshifted_intercept(coef, few[-1]))
        return [PrimalPoint(coef, intercept, self._value(coef, intercept))]


def _independent(rows: np.ndarray) -> np.ndarray:
    """Rows of which all others are combinations, by elimination."""
    if len(rows) > rows.shape[1]:
        # On categories there are many copies.
        keys = np.round(rows @ np.cos(np.arange(rows.shape[1])), 9)
        rows = rows[np.unique(keys, return_index=True)[1]]
    rest, chosen, largest = rows.copy(), [], 0.0
    for _ in range(min(rows.shape)):
        i, j = divmod(int(np.abs(rest).argmax()), rest.shape[1])
        pivot = rest[i, j]
        largest = largest or abs(pivot)
        if abs(pivot) <= RANK * largest:
            break
        chosen.append(i)
        rest -= np.outer(rest[:, j] / pivot, rest[i])
    return rows[chosen]


def _inverse(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of a matrix of full row rank, and a basis of its null space."""
    rank, n = M.shape
    if rank == 0:
        return np.zeros((n, 0)), np.eye(n)
    U, s, Vt = np.linalg.svd(M)
    return (Vt[:rank].T / s) @ U.T, Vt[rank:].T
