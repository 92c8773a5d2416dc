"""The SVM on a support by pivots, from the solution of one that is much alike.

A dual point has variables at 0, at C and between. Those between are free: a step solves
for them with all others held, and ends where one meets a bound, which is then held,
too. When all free ones are optimal, the sample that is most on the wrong side is freed,
and then others that were nearly as far, as long as they are. The dual value rises all
the time, so that whoever only wants to know that a cutoff is exceeded need not wait for
the end.

Where few samples are free and few change sides, as after the exchange of a feature in a
support that separates the classes, this takes a handful of pivots, and each at most the
work of a product with the support's data. The inverse of the matrix of the free
variables is kept and updated, and so is what is aimed at. They carry their rounding
errors along: results are for searches, whose ends are solved anew.
"""

from typing import NamedTuple

from ._jit import jit
from .linalg import combine, dot
from .vertex import enter, factorise, leave, times

# Samples that are listed: as a part of how far the most wrong one is.
LISTED = 0.5
# After a step of less than this part, or with few free variables, the aim is made
# anew: directions that are so long hide what is left of them.
SHORT, FEW_FREE = 1e-3, 2
# How often the inverse is made anew where nothing else helps.
RENEWALS = 2

SOLVED, EXCEEDED, FAILED = 1, 0, -1


class PivotGoal(NamedTuple):
    """Relative gap to reach, dual value to give up at, pivots at most."""

    tol: float
    cutoff: float
    max_pivots: int


@jit
def imbalance(near, vertex):
    """What the classes differ by."""
    return near.far_sums[1] + dot(near.y, vertex.alpha, near.y.shape[0])


@jit
def _aim(near, vertex, intercept, scratch):
    """Where the free variables would be optimal, and the intercept with it."""
    size, p = vertex.size[0], vertex.w.shape[0]
    # Rounding lets the classes drift apart: what they differ by is made up for.
    scratch.right[0] = 0.0
    if intercept:
        scratch.right[0] = -imbalance(near, vertex)
    for t in range(size):
        margin = dot(near.columns[vertex.free[t]], vertex.w, p)
        scratch.right[t + 1] = 1.0 - margin
    times(vertex.inverse, size + 1, scratch.right, scratch.direction)


@jit
def _step(near, vertex, scratch):
    """Go there, or to the first bound.

    Returns the place of the variable that met it, or -1, and the part of the way.
    """
    longest, blocking = 1.0, -1
    for t in range(vertex.size[0]):
        change, value = scratch.direction[t + 1], vertex.alpha[vertex.free[t]]
        room = value if change < 0.0 else near.C[vertex.free[t]] - value
        if longest * abs(change) > room:
            longest, blocking = max(0.0, room / abs(change)), t
    for t in range(vertex.size[0]):
        sample, change = vertex.free[t], longest * scratch.direction[t + 1]
        vertex.alpha[sample] += change
        column = near.columns[sample]
        for j in range(vertex.w.shape[0]):
            vertex.w[j] += change * column[j]
    return blocking, longest


@jit
def dual_value(near, vertex):
    """What the dual point proves, but for rounding."""
    mass = near.far_sums[0]
    for i in range(vertex.alpha.shape[0]):
        mass += vertex.alpha[i]
    return mass - 0.5 * dot(vertex.w, vertex.w, vertex.w.shape[0])


@jit
def _slacks(near, vertex, scratch):
    """1 less the margin, for all near samples; the objective.

    The loss of samples that are far and at C is taken as linear.
    """
    w, b, p = vertex.w, vertex.numbers[0], vertex.w.shape[0]
    slack, y = scratch.slack, near.y
    combine(w, near.rows, slack)
    loss = near.far_sums[0] - dot(w, near.far_w, p) - b * near.far_sums[1]
    for i in range(y.shape[0]):
        slack[i] = 1.0 - slack[i] - b * y[i]
        loss += near.C[i] * max(0.0, slack[i])
    return 0.5 * dot(w, w, p) + loss


@jit
def _most_wrong(vertex, scratch):
    """The held sample that is furthest on the wrong side, -1 if none is.

    Others that are nearly as far are listed.
    """
    worst, found = 0.0, -1
    for i in range(vertex.side.shape[0]):
        wrong = -vertex.side[i] * scratch.slack[i]
        if wrong > worst:
            worst, found = wrong, i
    scratch.limit[0] = LISTED * worst
    size = 0
    for i in range(vertex.side.shape[0]):
        wrong = -vertex.side[i] * scratch.slack[i]
        if wrong > scratch.limit[0] and size < scratch.listed.shape[0]:
            scratch.listed[size] = i
            size += 1
    scratch.n_listed[0] = size
    return found


@jit
def _most_wrong_listed(near, vertex, scratch):
    """The same among the listed samples, -1 if none is far enough; and its slack."""
    worst, found, own = scratch.limit[0], -1, 0.0
    w, b = vertex.w, vertex.numbers[0]
    for t in range(scratch.n_listed[0]):
        i = scratch.listed[t]
        slack = 1.0 - dot(near.columns[i], w, w.shape[0]) - b * near.y[i]
        wrong = -vertex.side[i] * slack
        if wrong > worst:
            worst, found, own = wrong, i, slack
    return found, own


@jit
def _aim_without(vertex, place, length, scratch):
    """The aim after a part of the way, without the variable that met a bound."""
    inverse, direction, order = vertex.inverse, scratch.direction, vertex.size[0] + 1
    for s in range(1, order):
        direction[s] *= 1.0 - length
    at, last = place + 1, order - 1
    factor = direction[at] / inverse[at, at]
    for s in range(order):
        direction[s] -= factor * inverse[s, at]
    direction[at] = direction[last]


@jit
def _aim_with(vertex, slack, scratch):
    """The aim once the last variable is free, all others being where they should."""
    last = vertex.size[0]
    for s in range(1, last + 1):
        scratch.direction[s] = slack * vertex.inverse[s, last]
    scratch.direction[0] = vertex.numbers[0] + slack * vertex.inverse[0, last]


@jit
def _block(near, vertex, place, length, is_aimed, scratch):
    """Hold the variable that met a bound after a part of the way."""
    is_low = scratch.direction[place + 1] < 0.0
    if is_aimed:
        _aim_without(vertex, place, length, scratch)
    if is_low:
        leave(vertex, place, -1, 0.0)
    else:
        leave(vertex, place, 1, near.C[vertex.free[place]])


@jit
def _free_listed(near, vertex, intercept, is_aimed, scratch):
    """Free a listed sample that is still on the wrong side; whether there is one."""
    if vertex.size[0] == vertex.free.shape[0]:
        return False
    sample, slack = _most_wrong_listed(near, vertex, scratch)
    if sample < 0:
        return False
    enter(near, vertex, intercept, sample, scratch)
    if is_aimed:
        _aim_with(vertex, slack, scratch)
    return True


@jit
def pivot(near, vertex, intercept, goal, stop, scratch):
    """Pivot until the gap is closed or the cutoff exceeded, or the flag is set.

    Returns SOLVED, EXCEEDED or FAILED, and the pivots it took.
    """
    renewed, is_aimed = 0, False
    scratch.n_listed[0] = 0
    for count in range(1, goal.max_pivots + 1):
        if stop[0] != 0:
            return FAILED, count
        if not is_aimed:
            _aim(near, vertex, intercept, scratch)
        vertex.numbers[0] = scratch.direction[0]
        blocking, length = _step(near, vertex, scratch)
        dual = dual_value(near, vertex)
        if dual > goal.cutoff:
            return EXCEEDED, count
        is_aimed = length > SHORT and vertex.size[0] > FEW_FREE
        if blocking >= 0:
            _block(near, vertex, blocking, length, is_aimed, scratch)
            if vertex.size[0] > 0:
                continue
        if _free_listed(near, vertex, intercept, is_aimed, scratch):
            continue
        is_aimed = False
        objective = _slacks(near, vertex, scratch)
        if objective - dual <= goal.tol * objective:
            vertex.numbers[1] = objective
            return SOLVED, count
        sample = _most_wrong(vertex, scratch)
        if sample >= 0 and vertex.size[0] < vertex.free.shape[0]:
            enter(near, vertex, intercept, sample, scratch)
        elif renewed < RENEWALS:
            # The inverse is to blame.
            renewed += 1
            factorise(near, vertex, intercept, scratch)
        else:
            return FAILED, count
    return FAILED, goal.max_pivots
