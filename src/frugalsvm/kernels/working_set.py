"""The relaxation of a region, by rounds on a growing working set.

Each round solves for a working set of features and samples, with the dual variables of
all other samples frozen. Then one product with the data prices all features, another
computes all margins, and what is missing joins the working set, until the dual bound
over *all* features meets the primal value over *all* samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .bounds import TINY, dual_bound, knapsack_bound
from .data import WorkingSetArrays, sum_of_squares
from .interior_point import Goal, solve_program
from .linalg import (
    copy_to,
    kth_largest,
    new_indices,
    new_marks,
    new_matrix,
    new_vector,
    part,
)
from .program import dual_point, margins_of, restrict
from .smoothing import hinge_sum

# --- The working set: the features and samples that a relaxation is solved on ---------
#
# At the optimum of a relaxation most features have z = 0, and most samples lie beyond
# the margin (alpha = 0) or inside it (alpha = C). Features and samples join the working
# set if the prices and margins of *all* of them show that they are missing. Its samples
# are *active*, all others *frozen* at their bound.

# A working set with more than this fraction of the free features is
# replaced by all of them.
LARGE_FRACTION = 0.4
# The working set is replaced by all free features if more than this fraction of them
# is missing.
MANY_MISSING = 0.5
# Features worth this fraction of their price stay in the working set.
NEARLY = 0.7
# Minimum number of features that join at once, if that many are missing.
LEAST_JOINING = 50
# Features worth this fraction of their price are in the working set of a child, whose
# prices are different.
NEARLY_FOR_CHILDREN = 0.6
# Up to this many free features, all are in the working set of a child.
ALL_FREE_UP_TO = 300
# A dual variable is strictly between its bounds if it is this far from both, in units
# of the largest alpha and of its bound.
BETWEEN = 3e-2
# Active samples of a child per sample whose alpha is strictly between its bounds, since
# the margins of a child are different.
ACTIVE_RATE = 1.5
# Additional active samples of a child.
ACTIVE_EXTRA = 50
# Samples are frozen only if that is at least this fraction of all.
LEAST_FROZEN = 0.3


@jit
def is_whole(region, working_set):
    """Whether the working set has all free features and all samples."""
    whole = working_set.features.shape[0] == region.free.shape[0]
    for i in range(working_set.side.shape[0]):
        whole = whole and working_set.side[i] == 0
    return whole


@jit_new
def budget_rows(region, costs, features):
    """Rows ``R z <= h`` of the working set: its count, and its costs if limited."""
    free = features.shape[0]
    n_rows = 0 if free == 0 else 1 if region.budget == np.inf else 2
    R = new_matrix(n_rows, free)
    h = new_vector(n_rows)
    for r in range(n_rows):
        h[r] = region.k if r == 0 else region.budget
        for j in range(free):
            R[r, j] = 1.0 if r == 0 else costs[features[j]]
    return R, h


@jit_new
def _prices(region, costs, squares, features):
    """Prices of cost budget and count, if these were all free features."""
    size = features.shape[0]
    value = new_vector(size)
    cost = new_vector(size)
    for t in range(size):
        value[t] = squares[features[t]]
        cost[t] = costs[features[t]]
    mu = 0.0
    if region.budget < np.inf:
        mu = knapsack_bound(value, cost, region.k, region.budget)[1]
        for t in range(size):
            value[t] -= mu * cost[t]
    return mu, max(0.0, kth_largest(value, min(region.k, size)))


@jit_new
def _price_ratios(costs, squares, features, prices):
    """The values of features, as fractions of their prices."""
    mu, count_price = prices
    ratio = new_vector(features.shape[0])
    for t in range(features.shape[0]):
        j = features[t]
        ratio[t] = squares[j] / max(count_price + mu * costs[j], TINY)
    return ratio


@jit_new
def _outside(region, features, n):
    """The free features that are not in a working set."""
    is_inside = new_marks(n)
    for j in features:
        is_inside[j] = 1
    outside = new_indices(region.free.shape[0])
    size = 0
    for j in region.free:
        if is_inside[j] == 0:
            outside[size] = j
            size += 1
    return part(outside, 0, size)


@jit_new
def _above(features, value, least, count):
    """Up to ``count`` features with the largest values above ``least``."""
    size = min(_count_above(value, least), count)
    chosen = new_indices(size)
    threshold = kth_largest(value, size) if size > 0 else np.inf
    at = 0
    for t in range(features.shape[0]):
        if value[t] > least and value[t] >= threshold and at < size:
            chosen[at] = features[t]
            at += 1
    return chosen


@jit
def _count_above(value, least):
    count = 0
    for t in range(value.shape[0]):
        count += value[t] > least
    return count


@jit_new
def grow_features(region, costs, squares, features, can_drop):
    """Keep features nearly worth their price, add the most valuable of the others.

    Returns the new working set and whether any feature joined.
    """
    prices = _prices(region, costs, squares, features)
    ratio = _price_ratios(costs, squares, features, prices)
    others = _outside(region, features, squares.shape[0])
    other_ratio = _price_ratios(costs, squares, others, prices)
    selected = _above(features, ratio, NEARLY, features.shape[0])
    if not can_drop:
        selected = features
    n_missing = _count_above(other_ratio, 1.0)
    n_new = min(n_missing, max(LEAST_JOINING, selected.shape[0]))
    size = selected.shape[0] + n_new
    n_free = region.free.shape[0]
    if n_missing > MANY_MISSING * n_free or size > LARGE_FRACTION * n_free:
        return region.free, True
    grown = new_indices(size)
    copy_to(selected, grown)
    copy_to(_above(others, other_ratio, 1.0, n_new), grown[selected.shape[0] :])
    return grown, n_new > 0


@jit
def grow_samples(margins, side):
    """Activate samples whose margin is on the other side; whether there were any."""
    m = side.shape[0]
    wrong = 0
    frozen = 0
    for i in range(m):
        if (1.0 - margins[i]) * side[i] < 0.0:
            side[i] = 0
            wrong += 1
        frozen += side[i] != 0
    if frozen < LEAST_FROZEN * m:
        for i in range(m):
            side[i] = 0
    return wrong > 0


@jit_new
def child_working_set(region, data, squares, alpha, margins):
    """The features and samples that children start from."""
    features = region.free
    if features.shape[0] > ALL_FREE_UP_TO:
        prices = _prices(region, data.costs, squares, features)
        ratio = _price_ratios(data.costs, squares, features, prices)
        features = _above(features, ratio, NEARLY_FOR_CHILDREN, features.shape[0])
    return WorkingSetArrays(features, far_sides(alpha, data.C, margins))


@jit_new
def far_sides(alpha, C, margins):
    """Sides of the samples far from the margin, 0 for those near it."""
    m = alpha.shape[0]
    side = new_marks(m)
    largest = 0.0
    for i in range(m):
        largest = max(largest, alpha[i])
    between = 0
    for i in range(m):
        if BETWEEN * largest < alpha[i] < (1.0 - BETWEEN) * C[i]:
            between += 1
    size = int(ACTIVE_RATE * between) + ACTIVE_EXTRA
    if size < (1.0 - LEAST_FROZEN) * m:
        freeze_far(margins, size, side)
    return side


@jit_new
def freeze_far(margins, size, side):
    """Set the sides of all samples but the ``size`` nearest to the margin."""
    m = margins.shape[0]
    distance = new_vector(m)
    for i in range(m):
        distance[i] = abs(1.0 - margins[i])
    # Ties count as near: all distances may be equal.
    near = kth_largest(distance, m - size + 1)
    for i in range(m):
        if distance[i] > near:
            side[i] = 1 if margins[i] < 1.0 else -1


# --- Rounds ---------------------------------------------------------------------------

# First rounds only have to find the right features.
ROUGH_TOL = 1e-2
# Relative gap below which rounds are no longer rough.
NEAR = 0.05
# Rounds after which no more features are dropped, so that the rounds terminate.
DROP_ROUNDS = 8
# Fraction of the allowed gap that the interior point may leave.
INNER_TOL = 0.5


class RelaxationGoal(NamedTuple):
    """When to end a relaxation; see ``engine.protocol.RelaxationRequest``."""

    tol: float
    fine_tol: float
    cutoff: float
    max_rounds: int
    rough: bool
    n_before: int


class RoundResult(NamedTuple):
    """A relaxation on a working set, and its values over all features and samples.

    Attributes
    ----------
    bound, price : float
        Valid bound of the region, and the price of the cost budget in it.
    alpha, squares : arrays (m,), (n,)
        The repaired dual point, and upper bounds of its ``c_j^2``.
    value : float
        Primal value.
    features : integer array
        The working set.
    z, w : arrays
        z of the working set; weights of the columns of forced features and of those of
        the working set.
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


class RelaxedRegion(NamedTuple):
    """The best bound and its price, the last round, and the next working set."""

    bound: float
    price: float
    last: RoundResult
    working_set: WorkingSetArrays
    rounds: int
    iterations: int
    finished: bool


@jit
def _primal_value(w, z, n_forced, starts, margins, C):
    """``1/2 sum w_j^2 / z_j`` plus the losses."""
    quadratic = 0.0
    for f in range(n_forced):
        quadratic += w[f] * w[f]
    for j in range(z.shape[0]):
        quadratic += sum_of_squares(w, starts[j], starts[j + 1]) / z[j]
    return 0.5 * quadratic + hinge_sum(margins, C)


@jit_new
def _bound(data, region, alpha):
    return dual_bound(
        data.A, data.norms, data.starts, data.columns, data.signs, data.y, data.C,
        data.intercept, data.costs, region.forced, region.free, region.k, region.budget,
        data.n_machines, alpha,
    )  # fmt: skip


@jit_new
def _solve(data, region, working_set, tol, cutoff):
    """Solve the relaxation on a working set, and compute its values."""
    free = working_set.features
    R, h = budget_rows(region, data.costs, free)
    part = restrict(data, region.forced, free, working_set.side, R, h)
    program = part.program
    goal = Goal(tol, cutoff, data.stop)
    pair = solve_program(program, new_vector(0), goal)
    w, z, active_alpha = pair.solution
    bound, alpha, squares, price = _bound(data, region, dual_point(part, active_alpha))
    margins = margins_of(data, part.columns, w, part.means)
    value = _primal_value(w, z, program.n_forced, program.starts, margins, data.C)
    return RoundResult(
        bound, price, alpha, squares, value, free, z, w, margins, pair.iterations,
        pair.curvature,
    )  # fmt: skip


@jit_new
def _grow(data, region, working_set, last, can_drop):
    """Add missing features and samples; the working set, and whether there were any."""
    features = working_set.features
    grown = grow_samples(last.margins, working_set.side)
    if features.shape[0] < region.free.shape[0]:
        features, joined = grow_features(
            region, data.costs, last.squares, features, can_drop
        )
        grown = grown or joined
    return WorkingSetArrays(features, working_set.side), grown


@jit_new
def _rounds(
    data, region, working_set, first_tol, tol, limit, cutoff, before, alpha, squares
):
    """Run rounds until the gap is closed or the limit is reached.

    ``before`` holds bound, price, rounds and iterations of earlier calls; ``alpha`` and
    ``squares`` receive the dual point of a better bound.
    """
    bound, price, rounds, iterations = before
    limit += rounds
    round_tol = first_tol
    while True:
        had_all = is_whole(region, working_set)
        is_partial = working_set.features.shape[0] < region.free.shape[0]
        # The bound over all features is at most that over some of them.
        round_cutoff = np.inf if is_partial else cutoff
        last = _solve(data, region, working_set, INNER_TOL * round_tol, round_cutoff)
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
            working_set, grown = _grow(
                data, region, working_set, last, rounds <= DROP_ROUNDS
            )
            finished = not grown and round_tol <= tol
            near = gap <= NEAR * abs(last.value)
            if not grown or near or is_whole(region, working_set):
                round_tol = tol
        if data.stop[0] != 0:
            finished = False
            break
        if finished or rounds >= limit:
            break
    if finished and bound <= cutoff:
        working_set = child_working_set(region, data, last.squares, alpha, last.margins)
    return RelaxedRegion(bound, price, last, working_set, rounds, iterations, finished)


@jit_new
def relax(data, region, working_set, goal, alpha, squares):
    """Solve the relaxation of a region, starting from a working set.

    ``alpha`` and ``squares`` receive the repaired dual point of the bound, and upper
    bounds of its ``c_j^2``.
    """
    first_tol = ROUGH_TOL if goal.rough else goal.tol
    tol, limit = goal.tol, goal.max_rounds
    # A zero of known type: a literal would cause another compilation.
    before = (-np.inf, 0.0, goal.n_before, np.int64(0))
    while True:
        relaxed = _rounds(
            data, region, working_set, first_tol, tol, limit, goal.cutoff, before,
            alpha, squares,
        )  # fmt: skip
        # Too coarse to decide whether the region can be pruned?
        is_open = relaxed.bound <= goal.cutoff < relaxed.last.value
        if not (goal.fine_tol < tol and is_open and data.stop[0] == 0):
            break
        first_tol, tol, limit = goal.fine_tol, goal.fine_tol, 2 * goal.max_rounds
        before = (relaxed.bound, relaxed.price, relaxed.rounds, relaxed.iterations)
        working_set = relaxed.working_set
        size = working_set.features.shape[0]
        if not region.k < size <= LARGE_FRACTION * region.free.shape[0]:
            # Too small or too large to start from.
            working_set = WorkingSetArrays(region.free, working_set.side)
    return relaxed
