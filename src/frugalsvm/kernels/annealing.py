"""Simulated annealing of a support: exchanges that may be for the worse.

What a good temperature is depends on the data, so it is governed by what it does: it is
raised or lowered until the part of accepted exchanges is the one that is wanted, and
that part falls during the run.

Exchanges are ranked by a model (:mod:`~frugalsvm.kernels.smoothing`), made anew after
each one that is accepted, and when half of them were tried; one that was tried is not
tried again before. The SVM after an exchange is solved by pivots
(:mod:`~frugalsvm.kernels.pivots`).
"""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new, jit_nogil
from .arrays import filled, new_indices, new_marks, new_vector
from .data import Data
from .draws import draw
from .linalg import dot, kth_largest
from .near import Near, near_part
from .pivots import (
    EXCEEDED,
    FAILED,
    SOLVED,
    PivotGoal,
    Vertex,
    change_inverse,
    copy_vertex,
    dual_value,
    factorise,
    new_scratch,
    new_vertex,
    pivot,
    settle,
    start_cold,
)
from .smoothing import barrier_weight, exchange_model, smoothen

# Temperature at the beginning, as a part of the objective, and its limits.
FIRST_TEMPERATURE = 0.02
LEAST_TEMPERATURE, MOST_TEMPERATURE = 3e-4, 0.3
# How fast the temperature follows what is accepted.
ADAPTATION = 0.05
# Relative gap of the SVMs, and pivots after which one is given up: for each weight, and
# some more; of the first one, for each sample.
TOL = 1e-5
PIVOT_RATE, PIVOT_EXTRA, FIRST_PIVOTS = 8, 200, 20
# SVMs after which annealing ends if more than half of them were given up: where many
# samples change sides with each exchange, pivots are not the way.
TRIAL_SVMS = 40
# Rounds of an SVM in which samples that seemed far may come near.
MAX_ROUNDS = 4
# Accepted exchanges between two looks at the prices of all features, and how many of
# the largest are looked at each time.
REPRICE, POOL = 8, 1000
# Part of the exchanges after which all may be tried again, by another temperature.
MOST_TRIED = 0.5
# Part of the way after which the best is kept.
LATE = 0.5
# What is counted, and where.
SVMS, PIVOTS, MODELS, ITERATIONS = 0, 1, 2, 3
# Where the entries of one argument end and those of the next begin.
_DATA = len(Data._fields)


class AnnealTask(NamedTuple):
    """An annealing.

    Attributes
    ----------
    support : integer array (p,)
        Where to start.
    candidates : integer array
        Features that may be used.
    fixed : array (n,)
        Not zero for features that must not go.
    budget : float
        What the support may cost.
    turns : int
        Exchanges to try.
    first, last : float
        Part of the exchanges that are accepted, at the beginning and at the end.
    width : int
        Features of the largest prices that may come.
    n_near : int
        Samples near the margin.
    state : array (1,)
        Of the random numbers, not zero.
    costs : array (4,)
        Work of an SVM, of a pivot, of a model and of an iteration for a model.
    max_work : float
        Where the annealing ends if there are turns left.
    """

    support: np.ndarray
    candidates: np.ndarray
    fixed: np.ndarray
    budget: float
    turns: int
    first: float
    last: float
    width: int
    n_near: int
    state: np.ndarray
    costs: np.ndarray
    max_work: float


class Annealed(NamedTuple):
    """The best support that was met and its SVM.

    Attributes
    ----------
    support : integer array (p,)
        In no order.
    w, b, alpha, objective
        Its SVM; the objective is infinite if there is none.
    counts : integer array (4,)
        SVMs, pivots, models, and iterations for models.
    fails : bool
        Whether most SVMs were given up, and so was the annealing.
    """

    support: np.ndarray
    w: np.ndarray
    b: float
    alpha: np.ndarray
    objective: float
    counts: np.ndarray
    fails: bool


class Place(NamedTuple):
    """A support and its solution.

    Attributes
    ----------
    support : integer array (p,)
    near : Near
    vertex : Vertex
    alpha : array (m,)
        The dual point, for all samples.
    """

    support: np.ndarray
    near: Near
    vertex: Vertex
    alpha: np.ndarray


@jit_new
def _slacks(data, support, w, b):
    """1 less the margin, for all samples."""
    m = data.y.shape[0]
    slack = new_vector(m)
    for i in range(m):
        slack[i] = 1.0 - b * data.y[i]
    for j in range(support.shape[0]):
        row = data.A[support[j]]
        for i in range(m):
            slack[i] -= w[j] * row[i]
    return slack


@jit_new
def _spread(near, own, alpha):
    """Dual variables of the near samples among those of all."""
    spread = alpha.copy()
    for t in range(own.shape[0]):
        spread[near.samples[t]] = own[t]
    return spread


@jit_new
def _placed(data, support, slack, alpha, n_near):
    """A place around the samples of the smallest slacks."""
    near = near_part(data, support, slack, alpha, n_near)
    size, p = near.samples.shape[0], support.shape[0]
    vertex = new_vertex(size, p)
    for t in range(size):
        vertex.alpha[t] = alpha[near.samples[t]]
    settle(near, vertex, data.intercept, new_scratch(size, p))
    return Place(support, near, vertex, alpha)


@jit
def _objective(data, w, slack):
    value = 0.5 * dot(w, w, w.shape[0])
    for i in range(slack.shape[0]):
        value += data.C[i] * max(0.0, slack[i])
    return value


@jit_new
def _look_at_all(data, place, goal, n_near):
    """From the solution for the near samples to that for all, if there is one.

    Returns what pivots return, how many there were, and the place.
    """
    pivots = 0
    for _ in range(MAX_ROUNDS):
        near, vertex = place.near, place.vertex
        w, b = vertex.w, vertex.numbers[0]
        slack = _slacks(data, place.support, w, b)
        alpha = _spread(near, vertex.alpha, place.alpha)
        objective = _objective(data, w, slack)
        place = _placed(data, place.support, slack, alpha, n_near)
        place.vertex.numbers[0], place.vertex.numbers[1] = b, objective
        dual = dual_value(place.near, place.vertex)
        if abs(objective - dual) <= TOL * objective:
            return SOLVED if objective <= goal.cutoff else EXCEEDED, pivots, place
        scratch = new_scratch(place.near.samples.shape[0], w.shape[0])
        status, count = pivot(place.near, place.vertex, data.intercept, goal, scratch)
        pivots += count
        if status != SOLVED:
            return status, pivots, place
    return FAILED, pivots, place


@jit_new
def _first_place(data, task):
    """The solution on the first support; whether there is one, and its pivots."""
    m, p = data.y.shape[0], task.support.shape[0]
    alpha = filled(m, 0.0)
    near = near_part(data, task.support, alpha, alpha, m)
    vertex, scratch = new_vertex(m, p), new_scratch(m, p)
    start_cold(near, vertex, data.intercept, scratch)
    goal = PivotGoal(TOL, np.inf, FIRST_PIVOTS * m)
    status, count = pivot(near, vertex, data.intercept, goal, scratch)
    place = Place(task.support.copy(), near, vertex, alpha)
    if status != SOLVED:
        return status, count, place
    status, more, place = _look_at_all(data, place, goal, task.n_near)
    return status, count + more, place


@jit
def _write_row(near, position, row):
    """Another feature at a position."""
    for t in range(row.shape[0]):
        near.rows[position, t] = near.columns[t, position] = row[t]


@jit_new
def _exchanged(data, place, position, feature, goal, n_near):
    """The place after an exchange, if it is within the cutoff.

    Returns what pivots return, how many there were, and the place.
    """
    near, vertex = place.near, place.vertex
    size, p = near.samples.shape[0], vertex.w.shape[0]
    trial, scratch = new_vertex(size, p), new_scratch(size, p)
    before, after = near.rows[position].copy(), new_vector(size)
    for t in range(size):
        after[t] = data.A[feature, near.samples[t]]
    far_before = near.far_w[position]
    copy_vertex(vertex, trial)
    trial.w[position] = dot(data.A[feature], place.alpha, place.alpha.shape[0])
    near.far_w[position] = trial.w[position] - dot(after, vertex.alpha, size)
    _write_row(near, position, after)
    # First the one that comes: without it the matrix may be singular.
    is_kept = change_inverse(trial, after, 1.0, scratch)
    is_kept = is_kept and change_inverse(trial, before, -1.0, scratch)
    if not is_kept:
        factorise(near, trial, data.intercept, scratch)
    status, pivots = pivot(near, trial, data.intercept, goal, scratch)
    if status == SOLVED:
        support = place.support.copy()
        support[position] = feature
        other = Place(support, near, trial, place.alpha)
        status, more, other = _look_at_all(data, other, goal, n_near)
        if status == SOLVED:
            return status, pivots + more, other
        pivots += more
    _write_row(near, position, before)
    near.far_w[position] = far_before
    return status, pivots, place


@jit_new
def _products(data, features, alpha):
    """Products of some features with alpha."""
    values = new_vector(features.shape[0])
    for t in range(features.shape[0]):
        values[t] = dot(data.A[features[t]], alpha, alpha.shape[0])
    return values


@jit_new
def _dearest(features, products, is_in, count):
    """Where the largest prices are, of features that are not in the support."""
    size = features.shape[0]
    prices = new_vector(size)
    for t in range(size):
        prices[t] = -1.0 if is_in[features[t]] != 0 else products[t] * products[t]
    limit = 0.0
    if count < size:
        limit = max(0.0, kth_largest(prices, count))
    places = new_indices(size)
    found = 0
    for t in range(size):
        if prices[t] >= limit and found < count:
            places[found] = t
            found += 1
    return places[:found]


@jit_new
def _pool(data, task, alpha, is_in):
    """Features that are looked at for a while."""
    if task.candidates.shape[0] <= POOL:
        return task.candidates
    products = _products(data, task.candidates, alpha)
    places = _dearest(task.candidates, products, is_in, POOL)
    pool = new_indices(places.shape[0])
    for t in range(places.shape[0]):
        pool[t] = task.candidates[places[t]]
    return pool


@jit_new
def _model(data, task, place, pool, is_in):
    """What exchanges cost, and the iterations that it took."""
    near, vertex = place.near, place.vertex
    m, p = data.y.shape[0], vertex.w.shape[0]
    tau = barrier_weight(vertex.numbers[1], m, p)
    smooth = smoothen(near, vertex, data.intercept, tau, data.stop)
    alpha = _spread(near, smooth.alpha, place.alpha)
    products = _products(data, pool, alpha)
    places = _dearest(pool, products, is_in, task.width)
    features, c = new_indices(places.shape[0]), new_vector(places.shape[0])
    for t in range(places.shape[0]):
        features[t], c[t] = pool[places[t]], products[places[t]]
    model = exchange_model(data, near, smooth, features, c)
    for j in range(p):
        if task.fixed[place.support[j]] != 0:
            for t in range(features.shape[0]):
                model.losses[j, t] = np.inf
    return model, smooth.iterations


@jit
def _drawn(losses, state):
    """An exchange; the logarithm of its rank is about uniform. -1 if there is none.

    It is the best of some that are drawn at random.
    """
    count = losses.size
    best, least = -1, np.inf
    if count == 0:
        return best
    for _ in range(int((count + 1) ** draw(state))):
        at = int(count * draw(state))
        loss = losses.flat[at]
        if loss < least:
            best, least = at, loss
    return best


@jit
def _work(task, counts):
    """What has been done so far."""
    work = 0.0
    for t in range(counts.shape[0]):
        work += task.costs[t] * counts[t]
    return work


@jit
def _cost(data, support):
    cost = 0.0
    for j in range(support.shape[0]):
        cost += data.costs[support[j]]
    return cost


@jit
def _warmer(temperature, missing):
    """Another temperature if fewer exchanges are accepted than wanted, or more."""
    temperature *= np.exp(ADAPTATION * missing)
    return min(max(temperature, LEAST_TEMPERATURE), MOST_TEMPERATURE)


@jit_new
def _annealed(place, is_any, counts, fails):
    """The answer, given the best place."""
    w, b, objective = place.vertex.w, place.vertex.numbers[0], np.inf
    if is_any:
        objective = place.vertex.numbers[1]
    return Annealed(place.support, w, b, place.alpha, objective, counts, fails)


@jit_new
def anneal(data, task):
    """Anneal from a support; the best that was met late, or where it ends."""
    counts = new_indices(4)
    for t in range(4):
        counts[t] = 0
    status, pivots, place = _first_place(data, task)
    counts[SVMS], counts[PIVOTS] = 1, pivots
    best = place
    if status != SOLVED:
        return _annealed(best, False, counts, True)
    is_in = new_marks(data.A.shape[0])
    for j in range(place.support.shape[0]):
        is_in[place.support[j]] = 1
    spent, temperature = _cost(data, place.support), FIRST_TEMPERATURE
    max_pivots = PIVOT_RATE * place.support.shape[0] + PIVOT_EXTRA
    pool = _pool(data, task, place.alpha, is_in)
    model, iterations = _model(data, task, place, pool, is_in)
    is_new, tried, failures, fails = False, 0, 0, False
    for turn in range(task.turns):
        done = max(turn / task.turns, _work(task, counts) / task.max_work)
        fails = counts[SVMS] > TRIAL_SVMS and 2 * failures > counts[SVMS]
        if done >= 1.0 or fails or data.stop[0] != 0:
            break
        if is_new or tried > MOST_TRIED * model.losses.size:
            if counts[MODELS] % REPRICE == 0:
                pool = _pool(data, task, place.alpha, is_in)
            model, iterations = _model(data, task, place, pool, is_in)
            counts[MODELS] += 1
            counts[ITERATIONS] += iterations
            is_new, tried = False, 0
        target = task.first * (task.last / task.first) ** done
        heat = -temperature * np.log(1.0 - draw(task.state))
        goal = PivotGoal(TOL, place.vertex.numbers[1] * np.exp(heat), max_pivots)
        at = _drawn(model.losses, task.state)
        if at >= 0:
            position, k = divmod(at, model.features.shape[0])
            feature, gone = model.features[k], place.support[position]
            model.losses[position, k] = np.inf
            tried += 1
            change = data.costs[feature] - data.costs[gone]
            if spent + change <= task.budget:
                status, pivots, place = _exchanged(
                    data, place, position, feature, goal, task.n_near
                )
                counts[SVMS] += 1
                counts[PIVOTS] += pivots
                failures += status == FAILED
                is_new = status == SOLVED
            if is_new:
                is_in[gone], is_in[feature] = 0, 1
                spent += change
                is_better = place.vertex.numbers[1] < best.vertex.numbers[1]
                if is_better or done < LATE:
                    best = place
        temperature = _warmer(temperature, target - is_new)
    return _annealed(best, True, counts, fails)


@jit_nogil
def _anneal(*parts):
    return anneal(Data(*parts[:_DATA]), AnnealTask(*parts[_DATA:]))


def solve_annealing(data, task):
    """Anneal in compiled code; ends early once the flag of the data is set."""
    return _anneal(*data, *task)
