"""One interior point for the SVM on a fixed support and for the relaxation DSCoP.

    min_z max_alpha  sum(alpha) - 1/2 [ sum_F c_j^2 + sum_P z_j c_j^2 ],   c = A alpha
    0 <= z <= 1,  R z <= h,  0 <= alpha <= C,  y alpha = 0

F are the forced features (a plain SVM has no others) and P the free ones; R has a row
of ones and, with feature costs, a row of costs. The conditions, with barrier tau, are

    c = A alpha,   y alpha = 0,   A'(z c) + b y - lower + upper = 1
    s + R' lam = c^2 + g,   alpha lower = (C - alpha) upper = tau
    g z = s (1 - z) = lam (h - R z) = kappa tau

All of alpha, c, z, b and the multipliers are independent variables, so the rounding
errors of one step are residuals that the next one removes. Mehrotra's
predictor-corrector solves the conditions; eliminating all but ``du = z dc + c dz`` (one
value per feature) or ``dalpha`` (one per sample) leaves a positive definite matrix, the
smaller of which is factored. The second-order terms of the products z c and c^2 are
corrected, too.
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, filled, new_vector
from .central_path import (
    advance,
    centre_choice,
    clear,
    longest_common_step,
    mean_product,
    start,
    weights_of,
    zero_point,
)
from .hinge import balance, hinge_sum
from .linalg import add, combine, correlate, dot, top_sum, total
from .newton import (
    factorise,
    find_residuals,
    is_by_feature,
    new_residuals,
    new_right_hand_side,
    new_scaling,
    new_system,
    newton_step,
    price_of,
    scale,
)

# Starts to try in turn, by their barrier in units of the mean C. The first is for warm
# starts, the second right for nearly all data; extreme scales of features or weights
# may need another.
UNITS = np.array([0.1, 1.0, 100.0, 1e4, 1e-4, 10.0])
# Whether such a start centres the products of sample i in proportion to C_i.
PROPORTIONAL = np.array([True, True, False, True, True, False])
# Fraction of the way to the boundary that a step may go.
STEP_TO_BOUNDARY = 0.99
# Progress is a gap or a barrier below this part of the best before.
PROGRESS = 0.9
# Iterations without progress before giving up.
PATIENCE = 12
# Iterations after which to give up in any case.
MAX_ITERATIONS = 150
# z is released once the SVM with uniform z is solved to this relative gap.
RELEASE_GAP = 0.3
# z is released after this many iterations in any case.
RELEASE_AFTER = 20
# When z is released its complementarity products sum to this part of the primal value
# at least.
RELEASE_PRODUCTS = 0.2
# A residual of c = A alpha above this part of c asks for refined solves.
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


class Found(NamedTuple):
    """What the interior point found: the best pair, its values, iterations."""

    solution: PrimalDual
    primal: float
    dual: float
    iterations: int


@jit_new
def _new_solution(program):
    q, m = program.rows.shape
    return PrimalDual(new_vector(q), new_vector(program.R.shape[1]), filled(m, 0.0))


@jit
def _read_primal(program, point, solution, margins):
    """Weights, z and margins at a point, and their primal value.

    The loss of a frozen sample is taken as linear: alpha_i (1 - margin_i).
    """
    w, z, c = solution.w, point.choice.z, point.c
    weights_of(z, c, point.b, w)
    copy_to(z, solution.z)
    combine(w, program.rows, margins)
    value = 0.5 * dot(w, c, c.shape[0]) + hinge_sum(margins, program.C)
    return value + program.mass - dot(w, program.offset, w.shape[0])


@jit_new
def _read_dual(program, point, alpha, squares):
    """Alpha after the repair of y alpha = 0, and the squares of its c.

    Returns the dual value without what the free features take away.
    """
    offset, p = program.offset, program.n_features
    copy_to(point.samples.alpha, alpha)
    if offset.shape[0] > p:
        balance(alpha, program.y, offset[p])
    c = new_vector(p)
    correlate(program.rows[:p], alpha, c)
    add(c, offset[:p], 1.0)
    for j in range(squares.shape[0]):
        squares[j] = c[program.n_forced + j] ** 2
    return total(alpha) - 0.5 * dot(c, c, program.n_forced) + program.mass


@jit
def _penalty(R, h, squares, lam):
    """What the free features take away from the dual value, at prices lam."""
    if h.shape[0] == 1:
        return top_sum(squares, int(h[0] + 0.5))
    penalty = dot(h, lam, h.shape[0])
    for j in range(squares.shape[0]):
        penalty += max(0.0, squares[j] - price_of(R, lam, j))
    return penalty


@jit_new
def _product_weights(C, proportional):
    """Products of sample i on the central path, in units of the barrier."""
    weight = filled(C.shape[0], 1.0)
    if proportional:
        mean_C = total(C) / C.shape[0]
        for i in range(C.shape[0]):
            weight[i] = C[i] / mean_C
    return weight


@jit
def _largest(x, size):
    largest = 0.0
    for i in range(size):
        largest = max(largest, abs(x[i]))
    return largest


@jit
def _predict_and_correct(
    program, point, residuals, scaling, system, rhs, weight, mu, kappa, refine, step
):
    """Mehrotra's step: as far as it may go, and how far that is."""
    per_alpha, per_room = scaling.samples.per_alpha, scaling.samples.per_room
    clear(step)
    tau, length = 0.0, 0.0
    for correct in (False, True):
        newton_step(
            program, point, residuals, scaling, system, rhs, weight, tau, kappa, length,
            refine, step,
        )  # fmt: skip
        longest = longest_common_step(point, step, per_alpha, per_room)
        if not correct:
            length = min(1.0, longest)
            ahead = mean_product(point, scaling.samples.room, kappa, step, length)
            tau = (ahead / mu) ** 3 * mu
    return min(1.0, STEP_TO_BOUNDARY * longest)


@jit_new
def interior_point(program, warm_w, attempt, tol, cutoff, stop):
    """Solve a program from one of the starts.

    Parameters
    ----------
    program : Program
    warm_w : array
        For an SVM: weights to start from; not used unless there is one per feature.
    attempt : int
        The start, an index of ``UNITS``.
    tol : float
        Relative gap to reach.
    cutoff : float
        Stop once the dual value exceeds it.
    stop : array (1,)
        Ends with the best found so far once another thread sets it.

    Returns
    -------
    Found
    """
    m, p, free = program.y.shape[0], program.n_features, program.R.shape[1]
    weight = _product_weights(program.C, PROPORTIONAL[attempt])
    mu = UNITS[attempt] * (total(program.C) / m)
    point = start(program, warm_w, mu, weight)
    step = zero_point(program)
    residuals = new_residuals(program)
    scaling = new_scaling(program)
    system = new_system(program, is_by_feature(program))
    rhs = new_right_hand_side(program)
    current, best = _new_solution(program), _new_solution(program)
    margins, squares = new_vector(m), new_vector(free)
    # Until alpha has found its scale z stays uniform: a plain SVM, linear in c.
    released = free == 0
    kappa = 0.0
    best_primal, best_dual = np.inf, -np.inf
    best_gap, best_mu = np.inf, np.inf
    stalled = 0
    iterations = 0
    refine = False
    expected = np.inf
    while True:
        primal = _read_primal(program, point, current, margins)
        if primal < best_primal:
            best_primal = primal
            copy_to(current.w, best.w)
            copy_to(current.z, best.z)
        value = _read_dual(program, point, current.alpha, squares)
        dual = value - 0.5 * _penalty(program.R, program.h, squares, point.choice.lam)
        if dual > best_dual:
            best_dual = dual
            copy_to(current.alpha, best.alpha)
        gap = best_primal - best_dual
        if gap <= tol * abs(best_primal) or best_dual > cutoff or stop[0] != 0:
            break
        if not released:
            uniform = value - 0.5 * point.choice.z[0] * total(squares)
            if primal - uniform <= RELEASE_GAP * primal or iterations >= RELEASE_AFTER:
                released = True
                least = RELEASE_PRODUCTS * primal / free
                product = centre_choice(
                    program.R, program.h, point.c, least, point.choice
                )
                kappa = product / mu
                continue

        scale(program, point, released, scaling)
        mu = mean_product(point, scaling.samples.room, kappa, step, 0.0)
        slow = gap > PROGRESS * best_gap and mu > PROGRESS * best_mu
        stalled = stalled + 1 if slow else 0
        if stalled >= PATIENCE or iterations >= MAX_ITERATIONS or not mu < np.inf:
            break
        best_gap, best_mu = min(gap, best_gap), min(mu, best_mu)
        iterations += 1

        find_residuals(program, point, margins, residuals)
        off = _largest(residuals.c, p)
        # More than the last step should have left: its solves lost digits.
        lost = off > max(2.0 * expected, REFINE_ABOVE * _largest(point.c, p))
        refine = refine or lost
        factorise(program, point.choice, scaling, system, stop)
        if stop[0] != 0:
            # The factorisation may be unfinished.
            break
        length = _predict_and_correct(
            program, point, residuals, scaling, system, rhs, weight, mu, kappa, refine,
            step,
        )  # fmt: skip
        advance(point, step, length)
        expected = (1.0 - length) * off
    return Found(best, best_primal, best_dual, iterations)
