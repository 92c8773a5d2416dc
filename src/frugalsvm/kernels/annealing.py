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
from .arrays import new_indices, new_marks, new_vector
from .data import Data
from .draws import draw
from .linalg import dot, kth_largest
from .pivots import FAILED, SOLVED, PivotGoal
from .places import TOL, exchanged, first_place, spread
from .smoothing import barrier_weight, exchange_model, smoothen

# Temperature at the beginning, as a part of the objective, and its limits.
FIRST_TEMPERATURE = 0.02
LEAST_TEMPERATURE, MOST_TEMPERATURE = 3e-4, 0.3
# How fast the temperature follows what is accepted.
ADAPTATION = 0.05
# Pivots after which an SVM is given up: for each weight, and some more; for the first
# one, by sample.
PIVOT_RATE, PIVOT_EXTRA, FIRST_PIVOTS = 8, 1000, 20
# SVMs after which annealing ends if more than half of them were given up: where many
# samples change sides with each exchange, pivots are not the way.
TRIAL_SVMS = 40
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
    alpha = spread(near, smooth.alpha, place.alpha)
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
def _first_place(data, task):
    """The solution on the first support, unless it is beyond the work."""
    most = FIRST_PIVOTS * data.y.shape[0]
    if task.costs[PIVOTS] * most > task.max_work:
        most = int(task.max_work / task.costs[PIVOTS])
    return first_place(data, task.support, task.n_near, most)


@jit
def _n_loose(task):
    """How many features of a support may go."""
    count = task.support.shape[0]
    for j in range(task.support.shape[0]):
        count -= task.fixed[task.support[j]] != 0
    return count


class Walk(NamedTuple):
    """What an annealing keeps along its way.

    Attributes
    ----------
    is_in : array (n,)
        Not zero for the features of the support.
    spent : array (1,)
        What they cost.
    counts : integer array (4,)
        SVMs, pivots, models, and iterations for models.
    failures : integer array (1,)
        SVMs that were given up.
    """

    is_in: np.ndarray
    spent: np.ndarray
    counts: np.ndarray
    failures: np.ndarray


@jit_new
def _new_walk(data, place, pivots):
    """A walk that begins at a place."""
    is_in = new_marks(data.A.shape[0])
    for j in range(place.support.shape[0]):
        is_in[place.support[j]] = 1
    spent, counts, failures = new_vector(1), new_indices(4), new_indices(1)
    for t in range(4):
        counts[t] = 0
    counts[SVMS], counts[PIVOTS] = 1, pivots
    spent[0], failures[0] = _cost(data, place.support), 0
    return Walk(is_in, spent, counts, failures)


@jit
def _fails(walk):
    """Whether most SVMs are given up."""
    n_svms = walk.counts[SVMS]
    return n_svms > TRIAL_SVMS and 2 * walk.failures[0] > n_svms


@jit_new
def _tried(data, task, walk, place, model, at, cutoff):
    """Try an exchange, once: whether it is within the cutoff, and where to go on."""
    position, k = divmod(at, model.features.shape[0])
    feature, gone = model.features[k], place.support[position]
    model.losses[position, k] = np.inf
    spent = walk.spent[0] + (data.costs[feature] - data.costs[gone])
    if spent > task.budget:
        return False, place
    max_pivots = PIVOT_RATE * place.support.shape[0] + PIVOT_EXTRA
    goal = PivotGoal(TOL, cutoff, max_pivots)
    status, pivots, place = exchanged(data, place, position, feature, goal, task.n_near)
    walk.counts[SVMS] += 1
    walk.counts[PIVOTS] += pivots
    walk.failures[0] += status == FAILED
    if status != SOLVED:
        return False, place
    walk.is_in[gone], walk.is_in[feature] = 0, 1
    walk.spent[0] = spent
    return True, place


@jit_new
def anneal(data, task):
    """Anneal from a support; the best that was met late, or where it ends."""
    status, pivots, place = _first_place(data, task)
    walk, best = _new_walk(data, place, pivots), place
    counts, is_in = walk.counts, walk.is_in
    if status != SOLVED:
        return _annealed(best, False, counts, data.stop[0] == 0)
    pool = _pool(data, task, place.alpha, is_in)
    model, iterations = _model(data, task, place, pool, is_in)
    temperature, n_loose = FIRST_TEMPERATURE, _n_loose(task)
    is_new, tried = False, 0
    for turn in range(task.turns):
        done = max(turn / task.turns, _work(task, counts) / task.max_work)
        is_stuck = n_loose == 0 or model.features.shape[0] == 0
        if done >= 1.0 or is_stuck or _fails(walk) or data.stop[0] != 0:
            break
        if is_new or tried > MOST_TRIED * n_loose * model.features.shape[0]:
            if counts[MODELS] % REPRICE == 0:
                pool = _pool(data, task, place.alpha, is_in)
            model, iterations = _model(data, task, place, pool, is_in)
            counts[MODELS] += 1
            counts[ITERATIONS] += iterations
            is_new, tried = False, 0
        heat = -temperature * np.log(1.0 - draw(task.state))
        at = _drawn(model.losses, task.state)
        if at >= 0:
            cutoff = place.vertex.numbers[1] * np.exp(heat)
            is_new, place = _tried(data, task, walk, place, model, at, cutoff)
            tried += 1
        if is_new:
            is_better = place.vertex.numbers[1] < best.vertex.numbers[1]
            if is_better or done < LATE:
                best = place
        wanted = task.first * (task.last / task.first) ** done
        temperature = _warmer(temperature, wanted - is_new)
    return _annealed(best, True, counts, _fails(walk))


@jit_nogil
def _anneal(*parts):
    return anneal(Data(*parts[:_DATA]), AnnealTask(*parts[_DATA:]))


def solve_annealing(data, task):
    """Anneal in compiled code; ends early once the flag of the data is set."""
    return _anneal(*data, *task)
