"""Rounds on a growing part of a problem, all in one compiled call.

At the optimum of a relaxation most features have z = 0, and most samples lie beyond the
margin (alpha = 0) or inside it (alpha = C). So a working set of features and a set of
active samples are solved, the dual variables of the other samples staying where they
are; then all features are priced and all margins computed by one product with the data
each, what was left out wrongly joins, and so on until the dual bound over *all*
features meets the primal value over *all* samples.

The call takes many tasks and lets other threads run meanwhile. ``tasks`` packs them and
says what they are.
"""

import numpy as np

from ._jit import jit, jit_nogil
from .hinge import best_intercept, hinge_sum
from .interior_point import interior_point
from .linalg import copy_to, dot, kth_largest
from .rows import far_sides
from .screening import screen

# Columns of the packed arrays; see ``tasks``.
N_FORCED, N_FREE, N_WORKING, N_WARM, K, N_BEFORE, MAX_ROUNDS, ROUGH = range(8)
BUDGET, TOL, FINE_TOL, CUTOFF = range(4)
BOUND, PRIMAL, DUAL, INTERCEPT, ROUNDS, ITERATIONS, FINISHED, N_FOCUS = range(8)
N_DECIDED, PRICE = range(8, 10)

# Starts to try in turn: barrier and whether products are proportional to C. The first
# is for warm starts, the second right for nearly all data; extreme scales of features
# or weights may need another.
UNITS = np.array([0.1, 1.0, 100.0, 1e4, 1e-4, 10.0])
PROPORTIONAL = np.array([True, True, False, True, True, False])
# First rounds only have to find the right features.
ROUGH_TOL = 1e-2
# Rounds after which no feature is dropped again, so that rounds come to an end.
DROP_ROUNDS = 8
# A working set beyond this part of the free features is replaced by all of them.
LARGE_PART = 0.7
# Features worth this part of the price stay in the working set.
NEARLY = 0.7
# ... and so much puts them into a focus: prices move from parent to child.
FOCUS_NEARLY = 0.6
# With fewer free features than this all of them are in a focus.
SMALL_FOCUS = 300
# Active samples in a focus: so many per sample strictly between its bounds, and more.
ACTIVE_RATE, ACTIVE_EXTRA = 1.5, 50
# Freezing fewer than this part of the samples is not worth while.
LEAST_FROZEN = 0.3


@jit
def _part(array, start, size):
    """A copy of ``array[start : start + size]``."""
    part = np.empty(size, dtype=array.dtype)
    for t in range(size):
        part[t] = array[start + t]
    return part


@jit
def _join(first, second):
    """One array after the other."""
    size = first.shape[0]
    both = np.empty(size + second.shape[0], dtype=np.int64)
    for t in range(size):
        both[t] = first[t]
    for t in range(second.shape[0]):
        both[size + t] = second[t]
    return both


@jit
def _is_any_frozen(side):
    frozen = False
    for i in range(side.shape[0]):
        frozen |= side[i] != 0
    return frozen


@jit
def _where(features, condition):
    """The features for which a condition holds."""
    size = 0
    chosen = np.empty(features.shape[0], dtype=np.int64)
    for t in range(features.shape[0]):
        if condition[t]:
            chosen[size] = features[t]
            size += 1
    return _part(chosen, 0, size)


@jit
def _budget_rows(costs, working, k, budget):
    """Rows ``R z <= h`` of the working set: its number, and its costs if limited."""
    free = working.shape[0]
    n_rows = 0 if free == 0 else 1 if budget == np.inf else 2
    R = np.ones((n_rows, free))
    h = np.empty(n_rows)
    if n_rows > 0:
        h[0] = k
    if n_rows > 1:
        h[1] = budget
        for j in range(free):
            R[1, j] = costs[working[j]]
    return R, h


@jit
def _values(squares, features, costs, budget):
    """What features are worth, per unit of cost if costs are limited."""
    value = np.empty(features.shape[0])
    for t in range(features.shape[0]):
        j = features[t]
        value[t] = squares[j] if budget == np.inf else squares[j] / costs[j]
    return value


@jit
def _price(value, features, costs, k, budget):
    """Value of the last feature that the budgets admit when filled greedily."""
    if budget == np.inf:
        return kth_largest(value, min(k, value.shape[0]))
    left = value.copy()
    spent = 0.0
    price = np.inf
    for _ in range(min(k, value.shape[0])):
        best = 0
        for t in range(1, left.shape[0]):
            if left[t] > left[best]:
                best = t
        spent += costs[features[best]]
        if spent > budget and price < np.inf:
            break
        price = left[best]
        left[best] = -np.inf
    return price


@jit
def _grow_samples(margins, side):
    """Make samples active whose margin is on the other side; whether there were any."""
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


@jit
def _grow_features(working, free, squares, costs, k, budget, may_drop):
    """Keep what is worth nearly the price, add the most valuable of the others.

    Returns the new working set and whether any feature joined.
    """
    inside = np.zeros(squares.shape[0], dtype=np.bool_)
    for j in working:
        inside[j] = True
    value = _values(squares, working, costs, budget)
    price = _price(value, working, costs, k, budget)
    left_out = np.empty(free.shape[0], dtype=np.bool_)
    for t in range(free.shape[0]):
        left_out[t] = not inside[free[t]]
    outside = _where(free, left_out)
    others = _values(squares, outside, costs, budget)
    n_kept = 0
    for t in range(working.shape[0]):
        n_kept += not may_drop or value[t] > NEARLY * price
    n_better = 0
    for t in range(outside.shape[0]):
        n_better += others[t] > price
    n_new = min(n_better, max(50, n_kept))
    # When half of everything is violated the working set is the whole set.
    if 2 * n_better > free.shape[0] or n_kept + n_new > LARGE_PART * free.shape[0]:
        return free, True
    grown = np.empty(n_kept + n_new, dtype=np.int64)
    at = 0
    for t in range(working.shape[0]):
        if not may_drop or value[t] > NEARLY * price:
            grown[at] = working[t]
            at += 1
    least = kth_largest(others, n_new) if n_new > 0 else np.inf
    for t in range(outside.shape[0]):
        if others[t] > price and others[t] >= least and at < grown.shape[0]:
            grown[at] = outside[t]
            at += 1
    return grown, n_new > 0


@jit
def _focus_features(free, squares, costs, k, budget):
    """The features that mattered, for children to start from."""
    if free.shape[0] <= SMALL_FOCUS:
        return free
    value = _values(squares, free, costs, budget)
    price = _price(value, free, costs, k, budget)
    nearly = np.empty(free.shape[0], dtype=np.bool_)
    for t in range(free.shape[0]):
        nearly[t] = value[t] > FOCUS_NEARLY * price
    return _where(free, nearly)


@jit
def _polish_intercept(margins, y, C, w, means, intercept):
    """Best intercept for w, in units of the uncentred data, and the objective."""
    p = means.shape[0]
    half_norm = 0.5 * dot(w, w, p)
    if not intercept:
        return 0.0, half_norm + hinge_sum(margins, C)
    # The exact breakpoint; rounding may let the interior point's own b win.
    own = w[p]
    scores = np.empty(y.shape[0])
    for i in range(y.shape[0]):
        scores[i] = margins[i] * y[i] - own
    best_b = own
    best = hinge_sum(margins, C)
    b = best_intercept(scores, y, C)
    for i in range(y.shape[0]):
        scores[i] = (scores[i] + b) * y[i]
    loss = hinge_sum(scores, C)
    if loss < best:
        best, best_b = loss, b
    return best_b - dot(w, means, p), half_norm + best


@jit
def _write(features, working, z_working, w, n_forced, free, z, weights):
    """A solution in terms of all features (z) and of forced and free ones (weights)."""
    for j in range(n_forced):
        z[features[j]] = 1.0
        weights[j] = w[j]
    place = np.empty(z.shape[0], dtype=np.int64)
    for t in range(free.shape[0]):
        place[free[t]] = t
        weights[n_forced + t] = 0.0
    for t in range(working.shape[0]):
        z[working[t]] = z_working[t]
        weights[n_forced + place[working[t]]] = w[n_forced + t]


@jit_nogil
def solve_tasks(
    A, norms, y, C, intercept, costs, stop, sizes, numbers, all_forced, all_free,
    all_working, warm_w, side, alpha, squares, z, weights, decision, focus, results,
):  # fmt: skip
    """Solve every task of the packed arrays and write what comes out into the rest.

    Ends early, with bounds that are weaker but valid, once ``stop`` is not zero.
    Without row norms the tasks are plain SVMs and nothing is judged; see ``tasks``.
    """
    m = y.shape[0]
    judged = norms.shape[0] > 0
    at_forced = 0
    at_free = 0
    at_working = 0
    at_warm = 0
    for t in range(sizes.shape[0]):
        n_forced = sizes[t, N_FORCED]
        n_free = sizes[t, N_FREE]
        k = sizes[t, K]
        forced = _part(all_forced, at_forced, n_forced)
        free = _part(all_free, at_free, n_free)
        working = _part(all_working, at_working, sizes[t, N_WORKING])
        start = _part(warm_w, at_warm, sizes[t, N_WARM])
        cold = _part(warm_w, 0, 0)
        budget = numbers[t, BUDGET]
        tol = numbers[t, TOL]
        fine_tol = numbers[t, FINE_TOL]
        cutoff = numbers[t, CUTOFF]
        own_side = _part(side[t], 0, m)

        limit = sizes[t, MAX_ROUNDS]
        round_tol = ROUGH_TOL if sizes[t, ROUGH] != 0 else tol
        best_bound = -np.inf
        best_price = 0.0
        rounds = 0
        iterations = 0
        first = 0 if start.shape[0] > 0 else 1
        while True:
            has_all_features = working.shape[0] == n_free
            had_all = has_all_features and not _is_any_frozen(own_side)
            # The bound over all features can only be lower than that over some.
            enough = cutoff if has_all_features else np.inf
            wanted = 0.5 * round_tol if judged else round_tol
            features = _join(forced, working)
            R, h = _budget_rows(costs, working, k, budget)
            dual = -np.inf
            bound = -np.inf
            primal = np.inf
            for attempt in range(first, UNITS.shape[0]):
                found = interior_point(
                    A, norms, y, C, intercept, costs, free, budget, features, own_side,
                    R, h, wanted, enough, start if attempt == 0 else cold,
                    UNITS[attempt], PROPORTIONAL[attempt], stop,
                )  # fmt: skip
                iterations += found[10]
                better = found[3] > bound or (found[3] == bound and found[1] > dual)
                if attempt == first or better:
                    point, dual, own_squares, bound, price = (
                        found[0], found[1], found[2], found[3], found[11],
                    )  # fmt: skip
                if attempt == first or found[6] < primal:
                    own_z, own_w, primal, margins, value, means = (
                        found[4], found[5], found[6], found[7], found[8], found[9],
                    )  # fmt: skip
                if dual > enough or primal - dual <= wanted * abs(primal):
                    break
                if stop[0] != 0:
                    break
            rounds += 1
            if rounds == 1 or bound > best_bound:
                best_bound = bound
                best_price = price
                copy_to(point, alpha[t])
                copy_to(own_squares, squares[t])
            if not judged:
                break
            gap = value - best_bound
            finished = gap <= tol * abs(value) or best_bound > cutoff
            finished = finished or (had_all and round_tol <= tol)
            solved_on = working
            if not finished:
                grown = _grow_samples(margins, own_side)
                if not has_all_features:
                    working, more = _grow_features(
                        working, free, own_squares, costs, k, budget,
                        sizes[t, N_BEFORE] + rounds <= DROP_ROUNDS,
                    )  # fmt: skip
                    grown = grown or more
                finished = not grown and round_tol <= tol
                has_all = working.shape[0] == n_free and not _is_any_frozen(own_side)
                if not grown or gap <= 0.05 * abs(value) or has_all:
                    round_tol = tol
            if stop[0] != 0:
                finished = False
                break
            if not finished and rounds < limit:
                continue
            if finished and best_bound <= cutoff:
                working = _focus_features(free, own_squares, costs, k, budget)
                own_side = far_sides(
                    alpha[t], C, margins, ACTIVE_RATE, ACTIVE_EXTRA, LEAST_FROZEN
                )
            # Too coarse to tell whether the node can be pruned?
            if fine_tol < tol and best_bound <= cutoff < value:
                tol = fine_tol
                round_tol = fine_tol
                limit = rounds + 2 * sizes[t, MAX_ROUNDS]
                if not k < working.shape[0] <= LARGE_PART * n_free:
                    working = free
                continue
            break

        if judged:
            _write(
                features, solved_on, own_z, own_w, n_forced, free, z[t],
                weights[at_forced + at_free :],
            )  # fmt: skip
            results[t, BOUND] = best_bound
            results[t, PRICE] = best_price
            results[t, PRIMAL] = value
            results[t, FINISHED] = finished
            results[t, N_FOCUS] = working.shape[0]
            copy_to(own_side, side[t])
            copy_to(working, focus[at_free:])
            n_decided = 0
            if best_bound <= cutoff:
                decided = screen(
                    alpha[t], squares[t], forced, free, k, costs, budget, cutoff
                )
                copy_to(decided, decision[at_free:])
                for j in range(n_free):
                    n_decided += decided[j] != 0
            results[t, N_DECIDED] = n_decided
        else:
            b, objective = _polish_intercept(margins, y, C, own_w, means, intercept)
            for j in range(n_forced):
                weights[at_forced + j] = own_w[j]
            results[t, INTERCEPT] = b
            results[t, PRIMAL] = objective
        results[t, DUAL] = dual
        results[t, ROUNDS] = rounds
        results[t, ITERATIONS] = iterations
        at_forced += n_forced
        at_free += n_free
        at_working += sizes[t, N_WORKING]
        at_warm += sizes[t, N_WARM]
