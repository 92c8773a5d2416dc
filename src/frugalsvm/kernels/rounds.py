"""The relaxation of a region, by rounds on a growing part of it.

An active set of features and samples is solved, the dual variables of the other samples
staying where they are; then all features are priced and all margins computed by one
product with the data each, what was left out wrongly joins, and so on until the dual
bound over *all* features meets the primal value over *all* samples.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .active_set import (
    LARGE_PART,
    active_set,
    budget_rows,
    grow_features,
    grow_samples,
    is_whole,
)
from .arrays import join, new_vector
from .bounds import dual_bound
from .data import ActiveSet
from .hinge import hinge_sum
from .interior_point import UNITS, interior_point
from .program import dual_point, margins_of, restrict

# First rounds only have to find the right features.
ROUGH_TOL = 1e-2
# Below this relative gap rounds are no longer rough.
NEAR = 0.05
# Rounds after which no feature is dropped again, so that rounds come to an end.
DROP_ROUNDS = 8
# The interior point is to leave this part of the gap that is allowed.
INNER_TOL = 0.5


class Goal(NamedTuple):
    """What is asked of a relaxation; see ``engine.protocol.Task``."""

    tol: float
    fine_tol: float
    cutoff: float
    max_rounds: int
    rough: bool
    n_before: int


class Judged(NamedTuple):
    """A relaxation on an active set, judged by all features and samples.

    Attributes
    ----------
    bound, price : float
        Valid bound of the region, and the price of the cost budget behind it.
    alpha, squares : arrays (m,), (n,)
        The dual point, repaired, and upper bounds of its ``c_j^2``.
    value : float
        Primal value.
    features : integer array
        The working set.
    z, w : arrays
        z of the working set; weights of forced features and working set.
    margins : array (m,)
    iterations : int
    """

    bound: float
    price: float
    alpha: np.ndarray
    squares: np.ndarray
    value: float
    features: np.ndarray
    z: np.ndarray
    w: np.ndarray
    margins: np.ndarray
    iterations: int


class Relaxed(NamedTuple):
    """The rounds of a relaxation: the best bound, the last round, what comes next."""

    best: Judged
    last: Judged
    active: ActiveSet
    rounds: int
    iterations: int
    finished: bool


@jit
def _primal_value(w, z, n_forced, margins, C):
    """``1/2 sum w_j^2 / z_j`` and the losses."""
    quadratic = 0.0
    for j in range(n_forced):
        quadratic += w[j] * w[j]
    for j in range(z.shape[0]):
        quadratic += w[n_forced + j] * w[n_forced + j] / z[j]
    return 0.5 * quadratic + hinge_sum(margins, C)


@jit_new
def _bound(data, region, alpha):
    return dual_bound(
        data.A, data.norms, data.y, data.C, data.intercept, data.costs, region.forced,
        region.free, region.k, region.budget, alpha,
    )  # fmt: skip


@jit_new
def _solve(data, region, active, tol, cutoff):
    """Solve the relaxation on an active set, from another start if one fails."""
    features = join(region.forced, active.features)
    R, h = budget_rows(region, data.costs, active.features)
    part = restrict(data, features, active.side, R, h)
    cold = new_vector(0)
    iterations = 0
    dual, primal, bound = -np.inf, np.inf, -np.inf
    for attempt in range(1, UNITS.shape[0]):
        found = interior_point(part.program, cold, attempt, tol, cutoff, data.stop)
        iterations += found.iterations
        point = dual_point(part, found.solution.alpha)
        judged, point, its_squares, its_price = _bound(data, region, point)
        if attempt == 1 or judged > bound or (judged == bound and found.dual > dual):
            bound, alpha, squares, price = judged, point, its_squares, its_price
            dual = found.dual
        if attempt == 1 or found.primal < primal:
            primal, solution = found.primal, found.solution
        done = dual > cutoff or primal - dual <= tol * abs(primal)
        if done or data.stop[0] != 0:
            break
    z, w = solution.z, solution.w
    margins = margins_of(data, features, w, part.means)
    value = _primal_value(w, z, region.forced.shape[0], margins, data.C)
    return Judged(
        bound, price, alpha, squares, value, active.features, z, w, margins, iterations
    )


@jit_new
def _rounds(data, region, active, first_tol, tol, cutoff, known, n_before, limit):
    """Rounds until the gap to the best bound, or one ``known`` before, is closed."""
    round_tol = first_tol
    bound = known
    rounds = 0
    iterations = 0
    while True:
        had_all = is_whole(region, active)
        is_partial = active.features.shape[0] < region.free.shape[0]
        # The bound over all features can only be lower than that over some.
        own_cutoff = np.inf if is_partial else cutoff
        last = _solve(data, region, active, INNER_TOL * round_tol, own_cutoff)
        rounds += 1
        iterations += last.iterations
        if rounds == 1 or last.bound > bound:
            best, bound = last, max(known, last.bound)
        gap = last.value - bound
        finished = gap <= tol * abs(last.value) or bound > cutoff
        finished = finished or (had_all and round_tol <= tol)
        if not finished:
            grown = grow_samples(last.margins, active.side)
            if is_partial:
                may_drop = n_before + rounds <= DROP_ROUNDS
                features, joined = grow_features(
                    region, data.costs, last.squares, active.features, may_drop
                )
                active = ActiveSet(features, active.side)
                grown = grown or joined
            finished = not grown and round_tol <= tol
            near = gap <= NEAR * abs(last.value)
            if not grown or near or is_whole(region, active):
                round_tol = tol
        if data.stop[0] != 0:
            finished = False
            break
        if finished or rounds >= limit:
            break
    if finished and bound <= cutoff:
        active = active_set(region, data, last.squares, best.alpha, last.margins)
    return Relaxed(best, last, active, rounds, iterations, finished)


@jit_new
def relax(data, region, active, goal):
    """Solve the relaxation of a region, starting from an active set."""
    cutoff = goal.cutoff
    first_tol = ROUGH_TOL if goal.rough else goal.tol
    coarse = _rounds(
        data, region, active, first_tol, goal.tol, cutoff, -np.inf, goal.n_before,
        goal.max_rounds,
    )  # fmt: skip
    # Too coarse to tell whether the region can be pruned?
    is_open = coarse.best.bound <= cutoff < coarse.last.value
    if not (goal.fine_tol < goal.tol and is_open and data.stop[0] == 0):
        return coarse
    features = coarse.active.features
    if not region.k < features.shape[0] <= LARGE_PART * region.free.shape[0]:
        features = region.free
    fine = _rounds(
        data, region, ActiveSet(features, coarse.active.side), goal.fine_tol,
        goal.fine_tol, cutoff, coarse.best.bound, goal.n_before + coarse.rounds,
        2 * goal.max_rounds,
    )  # fmt: skip
    best = fine.best if fine.best.bound > coarse.best.bound else coarse.best
    return Relaxed(
        best, fine.last, fine.active, coarse.rounds + fine.rounds,
        coarse.iterations + fine.iterations, fine.finished,
    )  # fmt: skip
