"""The SVM on a support by active-set steps, from the solution of a similar one.

A dual point has variables at 0, at C and in between. Those in between are free: a step
solves for them with all others fixed, and ends where one of them reaches a bound, at
which it is then fixed. When all free variables are optimal, the sample that violates
its optimality condition most is freed, followed by others with a similar violation. The
dual value increases with every step, so the steps can end as soon as it exceeds a
cutoff.

If few samples are free and few change sides, as after the exchange of a feature in a
support that separates the classes, this takes a handful of steps, each at most as
expensive as a product with the support's data. The inverse of the matrix of the free
variables is updated rather than recomputed, and so is the direction. Both accumulate
rounding errors: searches use the results, and their final solutions are solved again.
"""

from typing import NamedTuple

from ._jit import jit
from .active_set_point import compute_inverse, fix_sample, free_sample, times
from .linalg import combine, dot

# Least violation of the samples that are listed, as a fraction of the largest one.
LISTED = 0.5
# After a step of less than this fraction, or with few free variables, the direction is
# recomputed: an update of such a long direction would lose digits.
SHORT_STEP, SMALL_MATRIX = 1e-3, 2
# How often the inverse is recomputed if no step makes progress.
RENEWALS = 2

SOLVED, EXCEEDED, FAILED = 1, 0, -1


class StepGoal(NamedTuple):
    """Relative gap to reach, dual value at which to stop, and most steps."""

    tol: float
    cutoff: float
    max_steps: int


@jit
def imbalance(near, point):
    """``y @ alpha`` over all samples, which should be zero."""
    return near.far_sums[1] + dot(near.y, point.alpha, near.y.shape[0])


@jit
def _find_direction(near, point, intercept, workspace):
    """The step to the optimum of the free variables, and the new intercept."""
    size, p = point.size[0], point.w.shape[0]
    # Corrects the imbalance that rounding errors accumulate.
    workspace.right[0] = 0.0
    if intercept:
        workspace.right[0] = -imbalance(near, point)
    for t in range(size):
        margin = dot(near.columns[point.free[t]], point.w, p)
        workspace.right[t + 1] = 1.0 - margin
    times(point.inverse, size + 1, workspace.right, workspace.direction)


@jit
def _move(near, point, workspace):
    """Move in this direction, at most until a variable reaches a bound.

    Returns the position of that variable, or -1, and the fraction of the step taken.
    """
    longest, blocking = 1.0, -1
    for t in range(point.size[0]):
        change, value = workspace.direction[t + 1], point.alpha[point.free[t]]
        room = value if change < 0.0 else near.C[point.free[t]] - value
        if longest * abs(change) > room:
            longest, blocking = max(0.0, room / abs(change)), t
    for t in range(point.size[0]):
        sample, change = point.free[t], longest * workspace.direction[t + 1]
        point.alpha[sample] += change
        column = near.columns[sample]
        for j in range(point.w.shape[0]):
            point.w[j] += change * column[j]
    return blocking, longest


@jit
def dual_value(near, point):
    """The value of the dual point, without regard to rounding errors."""
    mass = near.far_sums[0]
    for i in range(point.alpha.shape[0]):
        mass += point.alpha[i]
    return mass - 0.5 * dot(point.w, point.w, point.w.shape[0])


@jit
def _slacks(near, point, workspace):
    """Compute 1 minus the margin for all near samples; return the objective.

    The loss of far samples at C is taken as linear.
    """
    w, b, p = point.w, point.numbers[0], point.w.shape[0]
    slack, y = workspace.slack, near.y
    combine(w, near.rows, slack)
    loss = near.far_sums[0] - dot(w, near.far_w, p) - b * near.far_sums[1]
    for i in range(y.shape[0]):
        slack[i] = 1.0 - slack[i] - b * y[i]
        loss += near.C[i] * max(0.0, slack[i])
    return 0.5 * dot(w, w, p) + loss


@jit
def _largest_violation(point, workspace):
    """The fixed sample with the largest violation, -1 if there is none.

    Others with a similar violation are listed.
    """
    largest, worst = 0.0, -1
    for i in range(point.side.shape[0]):
        violation = -point.side[i] * workspace.slack[i]
        if violation > largest:
            largest, worst = violation, i
    workspace.limit[0] = LISTED * largest
    size = 0
    for i in range(point.side.shape[0]):
        violation = -point.side[i] * workspace.slack[i]
        if violation > workspace.limit[0] and size < workspace.listed.shape[0]:
            workspace.listed[size] = i
            size += 1
    workspace.n_listed[0] = size
    return worst


@jit
def _largest_listed_violation(near, point, workspace):
    """The listed sample with the largest violation, and its slack.

    The sample is -1 if none has a violation above the limit.
    """
    largest, worst, worst_slack = workspace.limit[0], -1, 0.0
    w, b = point.w, point.numbers[0]
    for t in range(workspace.n_listed[0]):
        i = workspace.listed[t]
        slack = 1.0 - dot(near.columns[i], w, w.shape[0]) - b * near.y[i]
        violation = -point.side[i] * slack
        if violation > largest:
            largest, worst, worst_slack = violation, i, slack
    return worst, worst_slack


@jit
def _direction_without(point, position, length, workspace):
    """Update the direction after a partial step that fixed a variable."""
    inverse, direction, order = point.inverse, workspace.direction, point.size[0] + 1
    for s in range(1, order):
        direction[s] *= 1.0 - length
    at, last = position + 1, order - 1
    factor = direction[at] / inverse[at, at]
    for s in range(order):
        direction[s] -= factor * inverse[s, at]
    direction[at] = direction[last]


@jit
def _direction_with(point, slack, workspace):
    """Update the direction when one more variable is free and all others optimal."""
    last = point.size[0]
    for s in range(1, last + 1):
        workspace.direction[s] = slack * point.inverse[s, last]
    workspace.direction[0] = point.numbers[0] + slack * point.inverse[0, last]


@jit
def _fix_blocking(near, point, position, length, has_direction, workspace):
    """Fix the variable that reached a bound after a partial step."""
    is_low = workspace.direction[position + 1] < 0.0
    if has_direction:
        _direction_without(point, position, length, workspace)
    if is_low:
        fix_sample(point, position, -1, 0.0)
    else:
        fix_sample(point, position, 1, near.C[point.free[position]])


@jit
def _free_listed(near, point, intercept, has_direction, workspace):
    """Free the listed sample with the largest violation; whether there is one."""
    if point.size[0] == point.free.shape[0]:
        return False
    sample, slack = _largest_listed_violation(near, point, workspace)
    if sample < 0:
        return False
    free_sample(near, point, intercept, sample, workspace)
    if has_direction:
        _direction_with(point, slack, workspace)
    return True


@jit
def take_steps(near, point, intercept, goal, stop, workspace):
    """Take steps until the gap is closed, the cutoff exceeded or the flag set.

    Returns SOLVED, EXCEEDED or FAILED, and the number of steps.
    """
    renewed, has_direction = 0, False
    workspace.n_listed[0] = 0
    for count in range(1, goal.max_steps + 1):
        if stop[0] != 0:
            return FAILED, count
        if not has_direction:
            _find_direction(near, point, intercept, workspace)
        point.numbers[0] = workspace.direction[0]
        blocking, length = _move(near, point, workspace)
        dual = dual_value(near, point)
        if dual > goal.cutoff:
            return EXCEEDED, count
        has_direction = length > SHORT_STEP and point.size[0] > SMALL_MATRIX
        if blocking >= 0:
            _fix_blocking(near, point, blocking, length, has_direction, workspace)
            if point.size[0] > 0:
                continue
        if _free_listed(near, point, intercept, has_direction, workspace):
            continue
        has_direction = False
        objective = _slacks(near, point, workspace)
        if objective - dual <= goal.tol * objective:
            point.numbers[1] = objective
            return SOLVED, count
        sample = _largest_violation(point, workspace)
        if sample >= 0 and point.size[0] < point.free.shape[0]:
            free_sample(near, point, intercept, sample, workspace)
        elif renewed < RENEWALS:
            # Rounding errors of the inverse must be the reason.
            renewed += 1
            compute_inverse(near, point, intercept, workspace)
        else:
            return FAILED, count
    return FAILED, goal.max_steps
