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
from .arrays import copy_to, join, new_vector
from .bounds import dual_bound
from .data import ActiveSet
from .hinge import hinge_sum
from .interior_point import Goal, solve_program
from .program import dual_point, margins_of, restrict

# First rounds only have to find the right features.
ROUGH_TOL = 1e-2
# Below this relative gap rounds are no longer rough.
NEAR = 0.05
# Rounds after which no feature is dropped again, so that rounds come to an end.
DROP_ROUNDS = 8
# The interior point is to leave this part of the gap that is allowed.
INNER_TOL = 0.5


class RelaxationGoal(NamedTuple):
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
    curvature : array
        Of the working set.
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
    curvature: np.ndarray


class Relaxed(NamedTuple):
    """The best bound and its price, the last round, and what comes next."""

    bound: float
    price: float
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
    """Solve the relaxation on an active set, and judge it."""
    features = join(region.forced, active.features)
    R, h = budget_rows(region, data.costs, active.features)
    part = restrict(data, features, active.side, R, h)
    goal = Goal(tol, cutoff, data.stop)
    found = solve_program(part.program, new_vector(0), goal)
    w, z, own_alpha = found.solution
    bound, alpha, squares, price = _bound(data, region, dual_point(part, own_alpha))
    margins = margins_of(data, features, w, part.means)
    value = _primal_value(w, z, region.forced.shape[0], margins, data.C)
    return Judged(
        bound, price, alpha, squares, value, active.features, z, w, margins,
        found.iterations, found.curvature,
    )  # fmt: skip


@jit_new
def _grow(data, region, active, last, may_drop):
    """Let join what was left out wrongly; the active set, and whether any did."""
    features = active.features
    grown = grow_samples(last.margins, active.side)
    if features.shape[0] < region.free.shape[0]:
        features, joined = grow_features(
            region, data.costs, last.squares, features, may_drop
        )
        grown = grown or joined
    return ActiveSet(features, active.side), grown


@jit_new
def _rounds(
    data, region, active, first_tol, tol, limit, cutoff, before, alpha, squares
):
    """Rounds until the gap is closed or there are as many as the limit.

    ``before`` are the bound, its price, the rounds and the iterations of earlier ones;
    ``alpha`` and ``squares`` receive what a better bound belongs to.
    """
    bound, price, rounds, iterations = before
    limit += rounds
    round_tol = first_tol
    while True:
        had_all = is_whole(region, active)
        is_partial = active.features.shape[0] < region.free.shape[0]
        # The bound over all features can only be lower than that over some.
        own_cutoff = np.inf if is_partial else cutoff
        last = _solve(data, region, active, INNER_TOL * round_tol, own_cutoff)
        rounds += 1
        iterations += last.iterations
        if not last.bound <= bound:
            bound, price = last.bound, last.price
            copy_to(last.alpha, alpha)
            copy_to(last.squares, squares)
        gap = last.value - bound
        finished = gap <= tol * abs(last.value) or bound > cutoff
        finished = finished or (had_all and round_tol <= tol)
        if not finished:
            active, grown = _grow(data, region, active, last, rounds <= DROP_ROUNDS)
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
        active = active_set(region, data, last.squares, alpha, last.margins)
    return Relaxed(bound, price, last, active, rounds, iterations, finished)


@jit_new
def relax(data, region, active, goal, alpha, squares):
    """Solve the relaxation of a region, starting from an active set.

    ``alpha`` and ``squares`` receive the dual point behind the bound, repaired, and
    upper bounds of its ``c_j^2``.
    """
    first_tol = ROUGH_TOL if goal.rough else goal.tol
    tol, limit = goal.tol, goal.max_rounds
    # A zero of known type: for a literal all would be compiled once more.
    before = (-np.inf, 0.0, goal.n_before, np.int64(0))
    while True:
        found = _rounds(
            data, region, active, first_tol, tol, limit, goal.cutoff, before, alpha,
            squares,
        )  # fmt: skip
        # Too coarse to tell whether the region can be pruned?
        is_open = found.bound <= goal.cutoff < found.last.value
        if not (goal.fine_tol < tol and is_open and data.stop[0] == 0):
            break
        first_tol, tol, limit = goal.fine_tol, goal.fine_tol, 2 * goal.max_rounds
        before = (found.bound, found.price, found.rounds, found.iterations)
        active = found.active
        if not _is_usable(region, active.features):
            active = ActiveSet(region.free, active.side)
    return found


@jit
def _is_usable(region, features):
    """Whether a working set is neither too small nor too large to start from."""
    return region.k < features.shape[0] <= LARGE_PART * region.free.shape[0]
