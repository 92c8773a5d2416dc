"""Lower bounds that hold in floating point, from any dual point.

    LB(alpha) = sum(alpha) - 1/2 [ sum_F c_j^2 + top-k sum over the free c_j^2 ]

with ``c = A alpha``; for features of several columns, or with signs, see
``square_bounds``. Three things make the value a theorem rather than an estimate:

* ``repair_dual`` moves alpha onto a grid of multiples of a power of two on which sums
  are exact, and makes the two classes sum to exactly the same number (a free intercept
  turns any residual of ``y @ alpha`` into an infinite error);
* products are bounded by ``|c_j| + gamma ||A_j|| ||alpha||``, which covers every order
  of summation, so they may come from any BLAS;
* factors and addends cover all other roundings.

Data are within the limits of ``Problem``: nothing overflows, and ``TINY`` is more than
all underflows together. The checker of certificates repairs points in the same way and
has smaller errors, so it confirms every bound that is claimed here.
"""

import math

import numpy as np

from ._jit import jit_strict, jit_strict_part
from .linalg import kth_largest, new_indices, new_vector

UNIT_ROUNDOFF = 2.0**-53
TINY = 1e-300
# The grid of dual points is no finer than this power of two.
FINEST_GRID = -1000


@jit_strict_part
def round_up(x):
    """The next larger number."""
    return np.nextafter(x, np.inf)


@jit_strict_part
def round_down(x):
    """The next smaller number."""
    return np.nextafter(x, -np.inf)


@jit_strict_part
def _grid(alpha):
    """Power of two such that the sum of all alpha is below 2^52 grid steps."""
    largest = 0.0
    for i in range(alpha.shape[0]):
        largest = max(largest, alpha[i])
    if largest == 0.0:
        return 1.0
    _, exponent = math.frexp(largest)
    count = alpha.shape[0]
    for _ in range(64):
        # One more for every bit of the number of samples.
        exponent += count > 0
        count >>= 1
    return math.ldexp(1.0, max(exponent - 52, FINEST_GRID))


@jit_strict_part
def length_bound(values):
    """Upper bound of the Euclidean length of a vector."""
    m = values.shape[0]
    largest = 0.0
    for i in range(m):
        largest = max(largest, abs(values[i]))
    if largest == 0.0:
        return 0.0
    scaled = 0.0
    for i in range(m):
        scaled += (values[i] / largest) ** 2
    return largest * math.sqrt(scaled) * (1.0 + 2 * (m + 8) * UNIT_ROUNDOFF) + TINY


@jit_strict_part
def _lower_class(steps, y, sign, excess):
    """Lower the class ``sign`` by exactly ``excess`` grid steps in total."""
    mass = 0
    for i in range(steps.shape[0]):
        if y[i] == sign:
            mass += steps[i]
    remaining = excess
    share = excess / mass
    for i in range(steps.shape[0]):
        if y[i] == sign:
            # Rounded down and capped: never more than the entry or what remains.
            part = min(remaining, min(steps[i], np.int64(steps[i] * share)))
            steps[i] -= part
            remaining -= part
    for i in range(steps.shape[0]):
        if y[i] == sign and remaining > 0:
            part = min(remaining, steps[i])
            steps[i] -= part
            remaining -= part


@jit_strict_part
def _balance(steps, y):
    """Make the two classes sum to the same number of grid steps."""
    balance = np.int64(0)
    for i in range(steps.shape[0]):
        balance += steps[i] if y[i] > 0 else -steps[i]
    if balance > 0:
        _lower_class(steps, y, 1.0, balance)
    elif balance < 0:
        _lower_class(steps, y, -1.0, -balance)


@jit_strict
def repair_dual(alpha, y, C, intercept):
    """The dual point near ``alpha`` that satisfies the dual constraints exactly.

    Returns alpha with ``0 <= alpha <= C`` and, with an intercept, ``y @ alpha == 0`` in
    exact arithmetic. All entries are multiples of one power of two and any sum of them
    is a floating-point number.
    """
    return repair_machines(alpha, y, C, intercept, 1)


@jit_strict
def repair_machines(alpha, y, C, intercept, n_machines):
    """``repair_dual`` for samples of several machines, each with its own intercept."""
    m = alpha.shape[0]
    clipped = new_vector(m)
    for i in range(m):
        # NaN compares false and becomes zero, which is always feasible.
        clipped[i] = min(alpha[i], C[i]) if alpha[i] > 0.0 else 0.0
    grid = _grid(clipped)
    steps = new_indices(m)
    for i in range(m):
        # Division by a power of two is exact; truncation keeps alpha <= C.
        steps[i] = np.int64(clipped[i] / grid)
    size = m // n_machines
    for k in range(n_machines if intercept else 0):
        _balance(steps[k * size : (k + 1) * size], y[k * size : (k + 1) * size])
    repaired = new_vector(m)
    for i in range(m):
        repaired[i] = steps[i] * grid
    return repaired


@jit_strict
def square_bounds(c, norms, alpha, starts, columns, signs):
    """Upper bounds of the exact ``q_j``, given computed products and row norms.

    ``q_j`` is the sum of ``c^2`` over the columns of a feature, as far as their signs
    admit c. ``norms`` must be upper bounds of the Euclidean norms of the rows, whose
    entries may be off by a rounding each. The error bound has a margin of a few
    roundings: a checker with accurate products never exceeds it.
    """
    gamma = (alpha.shape[0] + 8) * UNIT_ROUNDOFF
    reach = gamma / (1.0 - gamma) * length_bound(alpha)
    squares = new_vector(c.shape[0])
    for j in range(c.shape[0]):
        size = abs(c[j]) + reach * norms[j] + TINY
        if signs.shape[0] > 0 and signs[j] * c[j] < 0:
            size = max(0.0, reach * norms[j] + TINY - abs(c[j]))
        size *= 1.0 + 16 * UNIT_ROUNDOFF
        squares[j] = size * size * (1.0 + 16 * UNIT_ROUNDOFF) + 2.0 * TINY
    return squares if starts.shape[0] == 0 else _sums(squares, starts, columns)


@jit_strict_part
def _sums(squares, starts, columns):
    """Upper bounds of the sums over the columns of each feature."""
    sums = new_vector(starts.shape[0] - 1)
    for j in range(sums.shape[0]):
        total = 0.0
        for s in range(starts[j], starts[j + 1]):
            total = round_up(total + squares[columns[s]])
        sums[j] = total
    return sums


@jit_strict
def row_norm_bounds(rows):
    """Upper bounds of the Euclidean norms of the rows."""
    norms = new_vector(rows.shape[0])
    for j in range(rows.shape[0]):
        norms[j] = length_bound(rows[j])
    return norms


@jit_strict
def varying_rows(rows, y):
    """Whether the unsigned feature behind each signed row takes two values at least."""
    varies = np.empty(rows.shape[0], dtype=np.bool_)
    for j in range(rows.shape[0]):
        varies[j] = False
        first = rows[j, 0] * y[0]
        for i in range(1, rows.shape[1]):
            if rows[j, i] * y[i] != first:
                varies[j] = True
                break
    return varies


@jit_strict_part
def largest_sum_bound(values, k):
    """Upper bound of the sum of the ``k`` largest of non-negative ``values``."""
    if k <= 0 or values.shape[0] == 0:
        return 0.0
    threshold = kth_largest(values, k) if k < values.shape[0] else -1.0
    result = 0.0
    above = 0
    for j in range(values.shape[0]):
        if values[j] > threshold:
            result = round_up(result + values[j])
            above += 1
    if k < values.shape[0]:
        result = round_up(result + round_up((k - above) * threshold))
    return result


@jit_strict_part
def reduced_values(values, costs, mu):
    """Upper bounds of ``max(0, values - mu costs)``."""
    reduced = new_vector(values.shape[0])
    for j in range(values.shape[0]):
        # The factor covers the roundings of the product.
        charge = mu * costs[j] * (1.0 - 4.0 * UNIT_ROUNDOFF)
        reduced[j] = max(0.0, round_up(values[j] - charge))
    return reduced


@jit_strict_part
def _knapsack_value(values, costs, k, budget, mu):
    largest_sum = largest_sum_bound(reduced_values(values, costs, mu), k)
    return round_up(round_up(budget * mu) + largest_sum)


@jit_strict_part
def knapsack_bound(values, costs, k, budget):
    """Upper bound of ``max sum z_j values_j`` over the relaxed two-row knapsack.

    ``0 <= z <= 1``, ``sum z <= k``, ``sum costs z <= budget``. By duality the value is
    the minimum over mu >= 0 of ``budget mu + top-k sum of max(0, values - mu costs)``,
    a convex function of one variable; every mu gives a valid bound, so a search that
    stops early only loses tightness. Returns the bound and its mu.
    """
    best_mu = 0.0
    best = largest_sum_bound(values, k)
    low = 0.0
    high = 0.0
    for j in range(values.shape[0]):
        high = max(high, values[j] / costs[j])
    if high == 0.0 or budget == np.inf:
        return best, best_mu
    # Golden-section search.
    golden = 0.6180339887498949
    lower = high - golden * (high - low)
    upper = low + golden * (high - low)
    lower_value = _knapsack_value(values, costs, k, budget, lower)
    upper_value = _knapsack_value(values, costs, k, budget, upper)
    for _ in range(80):
        if lower_value <= upper_value:
            if lower_value < best:
                best, best_mu = lower_value, lower
            high, upper, upper_value = upper, lower, lower_value
            lower = high - golden * (high - low)
            lower_value = _knapsack_value(values, costs, k, budget, lower)
        else:
            if upper_value < best:
                best, best_mu = upper_value, upper
            low, lower, lower_value = lower, upper, upper_value
            upper = low + golden * (high - low)
            upper_value = _knapsack_value(values, costs, k, budget, upper)
        if high - low <= 1e-14 * high:
            break
    return best, best_mu


@jit_strict_part
def affordable(squares, free, costs, budget):
    """Values and costs of the free features that fit the budget."""
    values = new_vector(free.shape[0])
    prices = new_vector(free.shape[0])
    size = 0
    for j in free:
        if costs[j] <= budget:
            values[size] = squares[j]
            prices[size] = costs[j]
            size += 1
    return values[:size], prices[:size]


@jit_strict
def bound_and_price(alpha, squares, forced, free, k, costs, budget):
    """Lower bound of a node, and the price mu of the cost budget in it.

    ``alpha`` must be repaired and ``squares`` upper bounds of ``c_j^2``; ``forced`` and
    ``free`` index ``squares`` and ``costs``; ``k`` and ``budget`` are what is left for
    the free features. ``budget`` may be infinite. The bound may be negative: screening
    adds to it.
    """
    # Sums of grid points are exact: see repair_dual.
    total = 0.0
    for i in range(alpha.shape[0]):
        total += alpha[i]
    penalty = 0.0
    for j in forced:
        penalty = round_up(penalty + squares[j])
    values, prices = affordable(squares, free, costs, budget)
    free_penalty, mu = knapsack_bound(values, prices, k, budget)
    penalty = round_up(penalty + free_penalty)
    slack = 32 * UNIT_ROUNDOFF * (total + penalty)
    return total - 0.5 * penalty - slack, mu


@jit_strict_part
def _products(A, alpha, n_machines):
    """The products of all columns with alpha."""
    if n_machines == 1:
        return np.dot(A, alpha)
    n, m = A.shape[0] // n_machines, A.shape[1]
    c = new_vector(A.shape[0])
    for k in range(n_machines):
        products = np.dot(A[k * n : (k + 1) * n], alpha[k * m : (k + 1) * m])
        for j in range(n):
            c[k * n + j] = products[j]
    return c


@jit_strict
def dual_bound(
    A, norms, starts, columns, signs, y, C, intercept, costs, forced, free, k, budget,
    n_machines, alpha,
):  # fmt: skip
    """Bound of a node from any dual point, the repaired point, squares and price."""
    alpha = repair_machines(alpha, y, C, intercept, n_machines)
    c = _products(A, alpha, n_machines)
    squares = square_bounds(c, norms, alpha, starts, columns, signs)
    bound, mu = bound_and_price(alpha, squares, forced, free, k, costs, budget)
    # No objective is negative.
    return max(0.0, bound), alpha, squares, mu
