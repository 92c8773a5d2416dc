"""A walk through supports: exchanges that may be for the worse, by a temperature.

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

# Pivots after which an SVM is given up: for each weight, and some more; for the first
# one, by sample.
PIVOT_RATE, PIVOT_EXTRA, FIRST_PIVOTS = 8, 1000, 20
# SVMs after which a walk ends if more than half of them were given up: where many
# samples change sides with each exchange, pivots are not the way.
TRIAL_SVMS = 40
# Accepted exchanges between two looks at the prices of all features, and how many of
# the largest are looked at each time.
REPRICE, POOL = 8, 1000
# Part of the exchanges after which all may be tried again, with other draws.
MOST_TRIED = 0.5
# What is counted, and where.
SVMS, PIVOTS, MODELS, ITERATIONS = 0, 1, 2, 3
# Where the entries of one argument end and those of the next begin.
_DATA = len(Data._fields)


class WalkTask(NamedTuple):
    """A walk.

    Attributes
    ----------
    support : integer array (p,)
        Where to start.
    alpha : array (m,)
        The dual point there, as a walk leaves it; zero if it is not known.
    candidates : integer array
        Features that may be used.
    fixed : array (n,)
        Not zero for features that must not go.
    budget : float
        What the support may cost.
    turns : int
        Exchanges to try.
    temperature : float
        As a part of the objective.
    width : int
        Features of the largest prices that may come.
    n_near : int
        Samples near the margin.
    state : array (1,)
        Of the random numbers, not zero; written.
    costs : array (4,)
        Work of an SVM, of a pivot, of a model and of an iteration for a model.
    max_work : float
        Where the walk ends if there are turns left.
    """

    support: np.ndarray
    alpha: np.ndarray
    candidates: np.ndarray
    fixed: np.ndarray
    budget: float
    turns: int
    temperature: float
    width: int
    n_near: int
    state: np.ndarray
    costs: np.ndarray
    max_work: float


class Walked(NamedTuple):
    """Where a walk led to.

    Attributes
    ----------
    support : integer array (p,)
        Where it ends; in no order.
    alpha : array (m,)
        The dual point there.
    objective : float
        There; infinite if not even the first SVM could be solved.
    best_support : integer array (p,)
        The best that was met, in no order.
    best_w, best_b, best_alpha, best_objective
        Its SVM.
    accepted : int
        Exchanges that were accepted.
    counts : integer array (4,)
        SVMs, pivots, models, and iterations for models.
    fails : bool
        Whether most SVMs were given up, or the first one, and so was the walk.
    """

    support: np.ndarray
    alpha: np.ndarray
    objective: float
    best_support: np.ndarray
    best_w: np.ndarray
    best_b: float
    best_alpha: np.ndarray
    best_objective: float
    accepted: int
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
def _cost(data, support):
    cost = 0.0
    for j in range(support.shape[0]):
        cost += data.costs[support[j]]
    return cost


@jit_new
def _first_place(data, task):
    """The solution on the first support, unless it is beyond the work."""
    most = FIRST_PIVOTS * data.y.shape[0]
    if task.costs[PIVOTS] * most > task.max_work:
        most = int(task.max_work / task.costs[PIVOTS])
    return first_place(data, task.support, task.alpha, task.n_near, most)


@jit
def _n_loose(task):
    """How many features of a support may go."""
    count = task.support.shape[0]
    for j in range(task.support.shape[0]):
        count -= task.fixed[task.support[j]] != 0
    return count


class ChainState(NamedTuple):
    """What a walk keeps along its way.

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
def _new_way(data, place, pivots):
    """A way that begins at a place."""
    is_in = new_marks(data.A.shape[0])
    for j in range(place.support.shape[0]):
        is_in[place.support[j]] = 1
    spent, counts, failures = new_vector(1), new_indices(4), new_indices(1)
    for t in range(4):
        counts[t] = 0
    counts[SVMS], counts[PIVOTS] = 1, pivots
    spent[0], failures[0] = _cost(data, place.support), 0
    return ChainState(is_in, spent, counts, failures)


@jit
def _fails(way):
    """Whether most SVMs are given up."""
    n_svms = way.counts[SVMS]
    return n_svms > TRIAL_SVMS and 2 * way.failures[0] > n_svms


@jit_new
def _counted_model(data, task, way, place, pool):
    """The model at a place."""
    model, iterations = _model(data, task, place, pool, way.is_in)
    way.counts[MODELS] += 1
    way.counts[ITERATIONS] += iterations
    return model


@jit_new
def _tried(data, task, way, place, model, at, cutoff):
    """Try an exchange, once: whether it is within the cutoff, and where to go on."""
    position, k = divmod(at, model.features.shape[0])
    feature, gone = model.features[k], place.support[position]
    model.losses[position, k] = np.inf
    spent = way.spent[0] + (data.costs[feature] - data.costs[gone])
    if spent > task.budget:
        return False, place
    max_pivots = PIVOT_RATE * place.support.shape[0] + PIVOT_EXTRA
    goal = PivotGoal(TOL, cutoff, max_pivots)
    status, pivots, place = exchanged(data, place, position, feature, goal, task.n_near)
    way.counts[SVMS] += 1
    way.counts[PIVOTS] += pivots
    way.failures[0] += status == FAILED
    if status != SOLVED:
        return False, place
    way.is_in[gone], way.is_in[feature] = 0, 1
    way.spent[0] = spent
    return True, place


@jit
def _work(task, counts):
    """What has been done so far."""
    work = 0.0
    for t in range(counts.shape[0]):
        work += task.costs[t] * counts[t]
    return work


@jit
def _is_over(data, task, way, n_exchanges):
    """Whether work is done, there is nothing to do, or somebody says so."""
    is_spent = _work(task, way.counts) >= task.max_work
    return is_spent or n_exchanges == 0 or _fails(way) or data.stop[0] != 0


@jit_new
def _walked(place, best, accepted, counts, fails):
    """The answer, given where the walk ends and the best place."""
    return Walked(
        place.support, place.alpha, place.vertex.numbers[1],
        best.support, best.vertex.w, best.vertex.numbers[0], best.alpha,
        best.vertex.numbers[1], accepted, counts, fails,
    )  # fmt: skip


@jit_new
def walk(data, task):
    """Walk from a support, so many turns or for so much work."""
    status, pivots, place = _first_place(data, task)
    way, best = _new_way(data, place, pivots), place
    if status != SOLVED:
        place.vertex.numbers[1] = np.inf
        return _walked(place, place, 0, way.counts, data.stop[0] == 0)
    pool = _pool(data, task, place.alpha, way.is_in)
    model = _counted_model(data, task, way, place, pool)
    n_loose, accepted, is_new, tried = _n_loose(task), 0, False, 0
    for _ in range(task.turns):
        n_exchanges = n_loose * model.features.shape[0]
        if _is_over(data, task, way, n_exchanges):
            break
        if is_new or tried > MOST_TRIED * n_exchanges:
            if way.counts[MODELS] % REPRICE == 0:
                pool = _pool(data, task, place.alpha, way.is_in)
            model = _counted_model(data, task, way, place, pool)
            is_new, tried = False, 0
        tried += 1
        at = _drawn(model.losses, task.state)
        if at < 0:
            continue
        heat = -task.temperature * np.log(1.0 - draw(task.state))
        cutoff = place.vertex.numbers[1] * np.exp(heat)
        is_new, place = _tried(data, task, way, place, model, at, cutoff)
        if is_new:
            accepted += 1
            if place.vertex.numbers[1] < best.vertex.numbers[1]:
                best = place
    return _walked(place, best, accepted, way.counts, _fails(way))


@jit_nogil
def _walk(*parts):
    return walk(Data(*parts[:_DATA]), WalkTask(*parts[_DATA:]))


def solve_walk(data, task):
    """Walk in compiled code; ends early once the flag of the data is set."""
    return _walk(*data, *task)
