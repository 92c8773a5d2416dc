"""Fixing features at a node from its dual point and an upper bound.

Forcing a feature in, or out, changes the bound ``LB(alpha)`` of the node by a known
amount. Where the changed bound exceeds the objective of a known solution, no better
solution has the feature in, or out. With ``r_j = c_j^2 - mu cost_j`` and ``r_[k]`` the
k-th largest of their positive parts:

    LB + 1/2 (r_[k] - r_j)   > UB   =>   z_j = 0 in every better solution
    LB + 1/2 (r_j - r_[k+1]) > UB   =>   z_j = 1 in every better solution

All roundings go against the conclusion, so a fixing is as reliable as the bound.
"""

import numpy as np

from ._jit import jit_strict_part
from .arrays import new_marks
from .bounds import affordable, bound_and_price, reduced_values
from .linalg import kth_largest

FIXED_OUT, OPEN, FIXED_IN = -1, 0, 1


@jit_strict_part
def _down(x):
    return np.nextafter(x, -np.inf)


@jit_strict_part
def _half_gain(larger, smaller):
    """``1/2 max(0, larger - smaller)``, rounded down."""
    return 0.5 * max(0.0, _down(larger - smaller))


@jit_strict_part
def screen(alpha, squares, forced, free, k, costs, budget, cutoff):
    """Decide free features of a node: FIXED_OUT, OPEN or FIXED_IN for each.

    Parameters are those of ``bound_and_price``, and the cutoff is the objective of a
    known solution. Decisions hold for all solutions that are strictly better.
    """
    decision = new_marks(free.shape[0])
    bound, mu = bound_and_price(alpha, squares, forced, free, k, costs, budget)
    values, prices = affordable(squares, free, costs, budget)
    reduced = reduced_values(values, prices, mu)
    kth = kth_largest(reduced, k) if 0 < k <= reduced.shape[0] else 0.0
    next_ = kth_largest(reduced, k + 1) if 0 < k < reduced.shape[0] else 0.0
    position = 0
    for t in range(free.shape[0]):
        j = free[t]
        if k == 0 or costs[j] > budget:
            decision[t] = FIXED_OUT
            continue
        # Value of the feature less its cost, rounded up; may be negative.
        worth = np.nextafter(values[position] - mu * prices[position], np.inf)
        worth = np.nextafter(worth + 1e-15 * abs(mu * prices[position]), np.inf)
        if _down(bound + _half_gain(kth, worth)) > cutoff:
            decision[t] = FIXED_OUT
        elif _down(bound + _half_gain(reduced[position], next_)) > cutoff:
            decision[t] = FIXED_IN
        position += 1
    return decision
