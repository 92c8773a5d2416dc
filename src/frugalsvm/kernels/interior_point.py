"""One interior point for the SVM on a fixed support and for the relaxation DSCoP.

    min_z max_alpha  sum(alpha) - 1/2 [ sum_F q_j + sum_P z_j q_j ],   c = A alpha
    0 <= z <= 1,  R z <= h,  0 <= alpha <= C,  y alpha = 0

F are the forced features (a plain SVM has no others) and P the free ones, and ``q_j``
is the sum of ``v^2`` over the columns of a feature. In general ``v = c``; see
``admitted`` for weights that are limited in sign. R has a row of ones and, with feature
costs, a row of costs. The conditions, with barrier tau, are

    c = A alpha,   y alpha = 0,   A'(z v) + b y - lower + upper = 1
    s + R' lam = q + g,   alpha lower = (C - alpha) upper = tau
    g z = s (1 - z) = lam (h - R z) = kappa tau

All of alpha, c, z, b and the multipliers are independent variables, so the rounding
errors of one step are residuals that the next one removes. Mehrotra's
predictor-corrector solves the conditions; eliminating all but ``du = z dv + v dz`` (one
value per column) or ``dalpha`` (one per sample) leaves a positive definite matrix, the
smaller of which is factored. The second-order terms of the products z v and of q are
corrected, too.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .branching import find_curvatures
from .central_path import (
    Point,
    advance,
    centre_choice,
    clear,
    longest_common_step,
    mean_product,
    start,
    weights_of,
    zero_point,
)
from .data import Admitted, admit, admit_exactly, new_admitted, sum_of_squares, worth
from .linalg import add, copy_to, dot, fill, filled, new_vector, top_sum, total
from .newton import Newton, find_residuals, new_newton, newton_step
from .newton_system import factorise, price_of, scale
from .rows import combine_rows, correlate_rows
from .smoothing import balance_machines, hinge_sum

# Starts to try one after the other, by their barrier in units of the mean C. The first
# is for warm starts, the second suits nearly all data; extreme scales of features or
# weights may need another.
UNITS = np.array([0.1, 1.0, 100.0, 1e4, 1e-4, 10.0])
# Whether such a start centres the products of sample i in proportion to C_i.
PROPORTIONAL = np.array([True, True, False, True, True, False])
# Fraction of the way to the boundary that a step may go.
STEP_TO_BOUNDARY = 0.99
# Progress is a gap or a barrier below this fraction of the best before.
PROGRESS = 0.9
# Iterations without progress before giving up.
MOST_STALLED = 12
# Iterations after which to give up in any case.
MAX_ITERATIONS = 150
# z is released once the SVM with uniform z is solved to this relative gap.
RELEASE_GAP = 0.3
# z is released after this many iterations in any case.
RELEASE_AFTER = 20
# When z is released, its complementarity products sum to at least this fraction of the
# primal value.
RELEASE_PRODUCTS = 0.2
# Curvatures are computed at the first relative gap below this: closer to the optimum
# they only describe a small neighbourhood of z, further away they are inaccurate.
CURVATURE_GAP = 0.05
# A residual of c = A alpha above this fraction of c requires refined solves.
REFINE_ABOVE = 1e-9


class PrimalDual(NamedTuple):
    """A pair of feasible points of primal and dual.

    Attributes
    ----------
    w, z : arrays (q,), (free,)
        Weights of centred features, the intercept last if there is one, and z.
    alpha : array (m,)
    """

    w: np.ndarray
    z: np.ndarray
    alpha: np.ndarray


class Goal(NamedTuple):
    """When to end.

    Attributes
    ----------
    tol : float
        At this relative gap.
    cutoff : float
        Once the dual value exceeds it.
    stop : array (1,)
        Once another thread sets it.
    """

    tol: float
    cutoff: float
    stop: np.ndarray


class BestPair(NamedTuple):
    """The best pair found, its values, the iterations, and curvatures (or zeros)."""

    solution: PrimalDual
    primal: float
    dual: float
    iterations: int
    curvature: np.ndarray


class Pair(NamedTuple):
    """The feasible pair next to a point.

    Attributes
    ----------
    w, margins : arrays (q,), (m,)
        Weights, the intercept last if there is one, and margins.
    alpha, c, squares : arrays (m,), (p,), (free,)
        Alpha after the repair of y alpha = 0, what it admits of c, and the sums of
        squares of the free features.
    """

    w: np.ndarray
    margins: np.ndarray
    alpha: np.ndarray
    c: np.ndarray
    squares: np.ndarray


class Workspace(NamedTuple):
    """The arrays of the interior point."""

    point: Point
    step: Point
    admitted: Admitted
    newton: Newton
    pair: Pair
    weight: np.ndarray
    curvature: np.ndarray


@jit_new
def _new_workspace(program):
    q, m = program.offset.shape[0], program.y.shape[0]
    p, free = program.n_columns, program.R.shape[1]
    point, step = zero_point(program), zero_point(program)
    pair = Pair(
        new_vector(q), new_vector(m), new_vector(m), new_vector(p), new_vector(free)
    )
    return Workspace(
        point,
        step,
        new_admitted(program, point.c),
        new_newton(program),
        pair,
        new_vector(m),
        filled(free, 0.0),
    )


@jit_new
def _new_solution(program):
    q, m = program.offset.shape[0], program.y.shape[0]
    return PrimalDual(new_vector(q), new_vector(program.R.shape[1]), filled(m, 0.0))


@jit
def _read_primal(program, point, v, pair):
    """Weights and margins at a point, and their primal value.

    The loss of a frozen sample is taken as linear: alpha_i (1 - margin_i).
    """
    w, margins = pair.w, pair.margins
    weights_of(program.starts, point.choice.z, v, point.b, w)
    combine_rows(w, program.rows, margins)
    value = 0.5 * dot(w, v, v.shape[0]) + hinge_sum(margins, program.C)
    return value + program.mass - dot(w, program.offset, w.shape[0])


@jit
def _read_dual(program, point, pair):
    """Compute alpha and squares at a point; return the value without free features."""
    alpha, c, squares = pair.alpha, pair.c, pair.squares
    offset, p, n_forced = program.offset, program.n_columns, program.n_forced
    copy_to(point.samples.alpha, alpha)
    balance_machines(alpha, program.y, program.C, offset[p:], program.rows.first)
    correlate_rows(program.rows, alpha, c)
    add(c, offset[:p], 1.0)
    admit_exactly(program.signs, c, c)
    for j in range(squares.shape[0]):
        squares[j] = sum_of_squares(c, program.starts[j], program.starts[j + 1])
    return total(alpha) - 0.5 * dot(c, c, n_forced) + program.mass


@jit
def _find_worths(starts, admitted, worths):
    """The worth of each free feature."""
    for j in range(worths.shape[0]):
        worths[j] = worth(admitted, starts[j], starts[j + 1])


@jit
def _penalty(R, h, squares, lam):
    """The deduction of free features from twice the dual value, at prices lam."""
    if h.shape[0] == 1:
        return top_sum(squares, int(h[0] + 0.5))
    penalty = dot(h, lam, h.shape[0])
    for j in range(squares.shape[0]):
        penalty += max(0.0, squares[j] - price_of(R, lam, j))
    return penalty


@jit
def _weigh(C, mean_C, proportional, weight):
    """Products of sample i on the central path, in units of the barrier."""
    fill(weight, 1.0)
    if proportional:
        for i in range(C.shape[0]):
            weight[i] = C[i] / mean_C


@jit
def _largest(x, size):
    largest = 0.0
    for i in range(size):
        largest = max(largest, abs(x[i]))
    return largest


@jit
def _predict_and_correct(program, work, mu, kappa, refine):
    """Mehrotra's step; how far it may go, and the barrier it aims at."""
    point, step, admitted, newton, _, weight, _ = work
    room, per_alpha, per_room, _ = newton.scaling.samples
    clear(step)
    tau, length = 0.0, 0.0
    for correct in (False, True):
        newton_step(
            program, point, admitted, newton, weight, tau, kappa, length, refine, step
        )
        longest = longest_common_step(point, step, per_alpha, per_room)
        if not correct:
            length = min(1.0, longest)
            ahead = mean_product(point, room, kappa, step, length)
            tau = (ahead / mu) ** 3 * mu
    return min(1.0, STEP_TO_BOUNDARY * longest), tau


@jit
def interior_point(program, warm_w, attempt, goal, work, best, primal, dual):
    """Improve a pair and its two values, from a new start.

    Parameters
    ----------
    program : Program
    warm_w : array
        For an SVM: weights to start from; not used unless there is one per column.
    attempt : int
        The start, an index of ``UNITS``.
    goal : Goal
        Ends when it is reached.
    work : Workspace
    best : PrimalDual
        The best known pair, to be improved.
    primal, dual : float
        Its values, infinite for nothing.

    Returns
    -------
    primal, dual, iterations
    """
    point, step, admitted, newton, pair, weight, curvature = work
    p, R, h = program.n_columns, program.R, program.h
    mean_C = total(program.C) / program.C.shape[0]
    mu = UNITS[attempt] * mean_C
    _weigh(program.C, mean_C, PROPORTIONAL[attempt], weight)
    start(program, warm_w, mu, weight, point, admitted, pair.w, pair.margins)
    clear(step)
    # Until alpha has found its scale z stays uniform: a plain SVM, linear in c.
    released = R.shape[1] == 0
    kappa = 0.0
    best_gap, best_mu, expected = np.inf, np.inf, np.inf
    stalled, iterations = 0, 0
    refine, is_curved = False, R.shape[1] == 0
    while True:
        new_primal = _read_primal(program, point, admitted.v, pair)
        if new_primal < primal:
            primal = new_primal
            copy_to(pair.w, best.w)
            copy_to(point.choice.z, best.z)
        value = _read_dual(program, point, pair)
        new_dual = value - 0.5 * _penalty(R, h, pair.squares, point.choice.lam)
        if new_dual > dual:
            dual = new_dual
            copy_to(pair.alpha, best.alpha)
        if is_reached(goal, primal, dual):
            break
        if not released:
            uniform = value - 0.5 * point.choice.z[0] * total(pair.squares)
            near = new_primal - uniform <= RELEASE_GAP * new_primal
            if near or iterations >= RELEASE_AFTER:
                released = True
                least = RELEASE_PRODUCTS * new_primal / R.shape[1]
                worths = newton.residuals.z
                _find_worths(program.starts, admitted, worths)
                kappa = (
                    centre_choice(R, h, worths, least, point.choice, pair.squares) / mu
                )
                continue

        scale(program, point, admitted, released, newton.scaling)
        mu = mean_product(point, newton.scaling.samples.room, kappa, step, 0.0)
        gap = primal - dual
        slow = gap > PROGRESS * best_gap and mu > PROGRESS * best_mu
        stalled = stalled + 1 if slow else 0
        if stalled >= MOST_STALLED or iterations >= MAX_ITERATIONS or not mu < np.inf:
            break
        best_gap, best_mu = min(gap, best_gap), min(mu, best_mu)
        iterations += 1

        find_residuals(program, point, admitted, pair.margins, newton.residuals)
        off = _largest(newton.residuals.c, p)
        # More than expected after the last step: its solves lost digits.
        lost = off > max(2.0 * expected, REFINE_ABOVE * _largest(point.c, p))
        refine = refine or lost
        factorise(
            program, point.choice, admitted.v, newton.scaling, newton.system, goal.stop
        )
        if goal.stop[0] != 0:
            # The factorisation may be incomplete.
            break
        if released and not is_curved and gap <= CURVATURE_GAP * primal:
            find_curvatures(program, point, admitted.v, newton, curvature)
            is_curved = True
        length, tau = _predict_and_correct(program, work, mu, kappa, refine)
        advance(point, step, length)
        admitted.barrier[0] += length * (tau - admitted.barrier[0])
        admit(program.signs, point.c, admitted)
        expected = (1.0 - length) * off
    return primal, dual, iterations


@jit
def is_reached(goal, primal, dual):
    """Whether the gap is closed, the cutoff exceeded, or the flag set."""
    is_closed = primal - dual <= goal.tol * abs(primal)
    return is_closed or dual > goal.cutoff or goal.stop[0] != 0


@jit_new
def solve_program(program, warm_w, goal):
    """Solve a program, from another start if one ends above the tolerance.

    ``warm_w`` are weights to start from, for an SVM, or an empty array.
    """
    cold = new_vector(0)
    work = _new_workspace(program)
    best = _new_solution(program)
    primal, dual, iterations = np.inf, -np.inf, 0
    for attempt in range(0 if warm_w.shape[0] > 0 else 1, UNITS.shape[0]):
        guess = warm_w if attempt == 0 else cold
        primal, dual, more = interior_point(
            program, guess, attempt, goal, work, best, primal, dual
        )
        iterations += more
        if is_reached(goal, primal, dual):
            break
    return BestPair(best, primal, dual, iterations, work.curvature)
