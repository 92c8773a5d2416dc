"""The working set: the features and samples that a relaxation is solved on.

At the optimum of a relaxation most features have z = 0, and most samples lie beyond the
margin (alpha = 0) or inside it (alpha = C). Features and samples join the working set
if the prices and margins of *all* of them show that they are missing. Its samples are
*active*, all others *frozen* at their bound.
"""

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, new_indices, new_marks, new_matrix, new_vector, part
from .bounds import TINY, knapsack_bound
from .data import WorkingSetArrays
from .linalg import kth_largest

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
# of the largest and of its own bound.
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
    n_above = 0
    for t in range(features.shape[0]):
        n_above += value[t] > least
    size = min(n_above, count)
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
def grow_features(region, costs, squares, features, may_drop):
    """Keep features nearly worth their price, add the most valuable of the others.

    Returns the new working set and whether any feature joined.
    """
    prices = _prices(region, costs, squares, features)
    ratio = _price_ratios(costs, squares, features, prices)
    others = _outside(region, features, squares.shape[0])
    other_ratio = _price_ratios(costs, squares, others, prices)
    kept = _above(features, ratio, NEARLY, features.shape[0])
    if not may_drop:
        kept = features
    n_missing = _count_above(other_ratio, 1.0)
    n_new = min(n_missing, max(LEAST_JOINING, kept.shape[0]))
    size = kept.shape[0] + n_new
    n_free = region.free.shape[0]
    if n_missing > MANY_MISSING * n_free or size > LARGE_FRACTION * n_free:
        return region.free, True
    grown = new_indices(size)
    copy_to(kept, grown)
    copy_to(_above(others, other_ratio, 1.0, n_new), grown[kept.shape[0] :])
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
    distance = new_vector(m)
    for i in range(m):
        if BETWEEN * largest < alpha[i] < (1.0 - BETWEEN) * C[i]:
            between += 1
        distance[i] = abs(1.0 - margins[i])
    size = int(ACTIVE_RATE * between) + ACTIVE_EXTRA
    if size >= (1.0 - LEAST_FROZEN) * m:
        return side
    near = kth_largest(distance, m - size + 1)
    for i in range(m):
        if distance[i] > near:
            side[i] = 1 if margins[i] < 1.0 else -1
    return side
