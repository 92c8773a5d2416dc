"""The relaxation of a region, by rounds on a growing working set.

Each round solves for a working set of features and samples, with the dual variables of
all other samples frozen. Then one product with the data prices all features, another
computes all margins, and what is missing joins the working set, until the dual bound
over *all* features meets the primal value over *all* samples.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, new_vector
from .bounds import dual_bound
from .columns import sum_of_squares
from .data import WorkingSetArrays
from .hinge import hinge_sum
from .interior_point import Goal, solve_program
from .program import dual_point, margins_of, restrict
from .working_set import (
    LARGE_FRACTION,
    budget_rows,
    child_working_set,
    grow_features,
    grow_samples,
    is_whole,
)

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
    found = solve_program(program, new_vector(0), goal)
    w, z, own_alpha = found.solution
    bound, alpha, squares, price = _bound(data, region, dual_point(part, own_alpha))
    margins = margins_of(data, part.columns, w, part.means)
    value = _primal_value(w, z, program.n_forced, program.starts, margins, data.C)
    return RoundResult(
        bound, price, alpha, squares, value, free, z, w, margins, found.iterations,
        found.curvature,
    )  # fmt: skip


@jit_new
def _grow(data, region, working_set, last, may_drop):
    """Add missing features and samples; the working set, and whether there were any."""
    features = working_set.features
    grown = grow_samples(last.margins, working_set.side)
    if features.shape[0] < region.free.shape[0]:
        features, joined = grow_features(
            region, data.costs, last.squares, features, may_drop
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
        own_cutoff = np.inf if is_partial else cutoff
        last = _solve(data, region, working_set, INNER_TOL * round_tol, own_cutoff)
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
        found = _rounds(
            data, region, working_set, first_tol, tol, limit, goal.cutoff, before,
            alpha, squares,
        )  # fmt: skip
        # Too coarse to decide whether the region can be pruned?
        is_open = found.bound <= goal.cutoff < found.last.value
        if not (goal.fine_tol < tol and is_open and data.stop[0] == 0):
            break
        first_tol, tol, limit = goal.fine_tol, goal.fine_tol, 2 * goal.max_rounds
        before = (found.bound, found.price, found.rounds, found.iterations)
        working_set = found.working_set
        if not _is_usable(region, working_set.features):
            working_set = WorkingSetArrays(region.free, working_set.side)
    return found


@jit
def _is_usable(region, features):
    """Whether a working set is neither too small nor too large to start from."""
    return region.k < features.shape[0] <= LARGE_FRACTION * region.free.shape[0]
