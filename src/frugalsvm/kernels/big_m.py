"""Bounds that use or yield a big-M, from any dual point, valid in floating point.

With ``|w_j| <= M_j z_j`` added, the dual functions of the relaxations are

    DSCoMP:  sum(alpha) - top-k sum of H_j,   H_j = Huber_Mj(c_j)
    BoxMP:   sum(alpha) - 1/2 min_{t >= 0} [ k t + sum_j g_j(t) ]

with ``Huber_M(c) = c^2/2`` for ``|c| <= M`` and ``M |c| - M^2/2`` beyond, and
``g_j(t)`` the maximum of ``(2 M |c| - t) v - M^2 v^2`` over ``0 <= v <= 1``.
Conversely, a solution of objective UB at most that uses feature j satisfies

    | w_j - c_j(alpha) |  <=  sqrt( 2 (UB - LB_j(alpha)) )

where LB_j is the bound with feature j forced in: by weak duality for the program that
maximises ``w_j``, whose multiplier of the row "objective <= UB" has been optimised in
closed form.

Roundings are always against the conclusion.
"""

import numpy as np

from ._jit import jit_strict
from .bounds import (
    UNIT_ROUNDOFF,
    bound_and_price,
    largest_sum_bound,
    reduced_values,
    round_down,
    round_up,
)

# Halvings of the interval that holds a price.
PRICE_BISECTIONS = 60


@jit_strict
def _sizes(squares):
    """Upper bounds of ``|c_j|`` from upper bounds of the squares."""
    sizes = np.empty(squares.shape[0])
    for j in range(squares.shape[0]):
        sizes[j] = round_up(np.sqrt(squares[j]))
    return sizes


@jit_strict
def huber_values(squares, M):
    """Upper bounds of ``2 Huber_Mj(c_j)``, given upper bounds of ``c_j^2``.

    In place of the squares in ``bound_and_price`` they give the bound of DSCoMP.
    """
    sizes = _sizes(squares)
    values = np.empty(squares.shape[0])
    for j in range(squares.shape[0]):
        values[j] = squares[j]
        if sizes[j] > M[j]:
            line = round_up(round_up(2.0 * M[j] * sizes[j]) - round_down(M[j] * M[j]))
            values[j] = min(values[j], line)
    return values


@jit_strict
def _gain(size, M, t):
    """Upper bound of ``g(t)``, and the v that attains it."""
    p = round_up(round_up(2.0 * M * size) - t)
    if p <= 0.0:
        return 0.0, 0.0
    square = M * M
    # The parabola's top holds for every p; beyond 2 M^2 the line holds and is smaller.
    if p > 2.0 * square * (1.0 + 8.0 * UNIT_ROUNDOFF):
        return round_up(p - round_down(square)), 1.0
    root = round_up(p / (2.0 * M) * (1.0 + 2.0 * UNIT_ROUNDOFF))
    return round_up(root * root), min(1.0, p / (2.0 * square))


@jit_strict
def _box_penalty(sizes, M, costs, free, k, budget, price, mu):
    """``k price + budget mu + sum g_j``, and how much the v use of both budgets."""
    value = round_up(k * price)
    if mu > 0.0:
        value = round_up(value + round_up(budget * mu))
    count = 0.0
    spent = 0.0
    for j in free:
        # The factor covers the roundings of the sum and the product.
        t = (price + mu * costs[j]) * (1.0 - 4.0 * UNIT_ROUNDOFF)
        gain, v = _gain(sizes[j], M[j], t)
        value = round_up(value + gain)
        count += v
        spent += costs[j] * v
    return value, count, spent


@jit_strict
def _over_price(sizes, M, costs, free, k, budget, mu, top):
    """Smallest penalty over the price of the cardinality row, and its spending."""
    best, count, spent = _box_penalty(sizes, M, costs, free, k, budget, 0.0, mu)
    if count <= k:
        return best, spent
    low, high = 0.0, top
    for _ in range(PRICE_BISECTIONS):
        middle = 0.5 * (low + high)
        value, count, cost = _box_penalty(sizes, M, costs, free, k, budget, middle, mu)
        if value < best:
            best, spent = value, cost
        if count > k:
            low = middle
        else:
            high = middle
    return best, spent


@jit_strict
def box_bound(alpha, squares, M, forced, free, k, costs, budget):
    """Lower bound of BoxMP; parameters as in ``bound_and_price``, and M per feature.

    The penalty is convex in the two prices; any pair is valid, and bisection on how
    much the v use finds the best.
    """
    sizes = _sizes(squares)
    top = 0.0
    cheapest = np.inf
    for j in free:
        top = max(top, 2.0 * M[j] * sizes[j])
        cheapest = min(cheapest, costs[j])
    best, spent = _over_price(sizes, M, costs, free, k, budget, 0.0, top)
    if spent > budget:
        low, high = 0.0, top / cheapest
        for _ in range(PRICE_BISECTIONS):
            mu = 0.5 * (low + high)
            value, spent = _over_price(sizes, M, costs, free, k, budget, mu, top)
            best = min(best, value)
            if spent > budget:
                low = mu
            else:
                high = mu
    penalty = best
    values = huber_values(squares, M)
    for j in forced:
        penalty = round_up(penalty + values[j])
    total = 0.0
    for i in range(alpha.shape[0]):
        total += alpha[i]
    return round_down(total - 0.5 * penalty)


@jit_strict
def _bound_with(j, alpha, squares, forced, free, k, costs, budget):
    """Lower bound of solutions that use the free feature j, at the best price."""
    bound, _ = bound_and_price(
        alpha,
        squares,
        np.append(forced, j),
        free[free != j],
        k - 1,
        costs,
        round_up(budget - costs[j]),
    )
    return bound


@jit_strict
def weight_intervals(
    alpha, c, squares, forced, free, k, costs, budget, upper_bound, priced=-1
):
    """Intervals that hold the weights of every solution of objective UB at most.

    ``alpha`` must be repaired, ``c`` are computed products, ``squares`` their upper
    bounds; the rest is as in ``bound_and_price``. Returns lower and upper ends for all
    features: both are zero for features that no such solution uses. With a cost budget
    one price serves all features except ``priced``, which gets a better one.
    """
    n = c.shape[0]
    lower = np.zeros(n)
    upper = np.zeros(n)
    sizes = _sizes(squares)
    bound, mu = bound_and_price(alpha, squares, forced, free, k, costs, budget)
    for j in forced:
        radius = _radius(upper_bound, bound)
        error = round_up(sizes[j] - abs(c[j]))
        upper[j] = round_up(round_up(c[j] + error) + radius)
        lower[j] = round_down(round_down(c[j] - error) - radius)
    if k == 0:
        return lower, upper
    total = 0.0
    for i in range(alpha.shape[0]):
        total += alpha[i]
    fixed = 0.0
    for j in forced:
        fixed = round_up(fixed + squares[j])
    reduced = reduced_values(squares[free], costs[free], mu)
    with_it = largest_sum_bound(reduced, k)
    without = largest_sum_bound(reduced, k - 1)
    for t in range(free.shape[0]):
        j = free[t]
        if costs[j] > budget:
            continue
        # The k - 1 largest of the others: j is among the k largest, or is not.
        others = min(without, round_up(with_it - reduced[t]))
        charge = round_up(round_up(budget - costs[j]) * mu) if mu > 0.0 else 0.0
        penalty = round_up(round_up(round_up(fixed + squares[j]) + others) + charge)
        bound = round_down(total - 0.5 * penalty)
        if j == priced and budget < np.inf:
            better = _bound_with(j, alpha, squares, forced, free, k, costs, budget)
            bound = max(bound, better)
        radius = _radius(upper_bound, bound)
        if radius < 0.0:
            continue
        error = round_up(sizes[j] - abs(c[j]))
        # A feature may also be unused: zero belongs to the interval.
        upper[j] = max(0.0, round_up(round_up(c[j] + error) + radius))
        lower[j] = min(0.0, round_down(round_down(c[j] - error) - radius))
    return lower, upper


@jit_strict
def _radius(upper_bound, bound):
    """``sqrt(2 (UB - LB))`` rounded up, or -1 if the bound exceeds UB."""
    if bound > upper_bound:
        return -1.0
    return round_up(np.sqrt(round_up(2.0 * round_up(upper_bound - bound))))
