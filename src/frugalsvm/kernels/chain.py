"""A chain of exchanges of features; a temperature controls which ones are accepted.

Exchanges are ranked by a model (:mod:`~frugalsvm.kernels.smoothing`), which is rebuilt
after each accepted exchange and when half of the exchanges were tried; until then none
is tried twice. The SVM after an exchange is solved by active-set steps
(:mod:`~frugalsvm.kernels.active_set_steps`).
"""

from typing import NamedTuple

import numpy as np

from ._jit import is_cached, jit, jit_new, jit_nogil
from .active_set_steps import FAILED, SOLVED, StepGoal
from .column_exchanges import admitted_columns, column_model
from .data import Data
from .linalg import dot, draw, kth_largest, new_indices, new_marks, new_vector
from .smoothing import barrier_weight, exchange_model, smoothen
from .support_solutions import TOL, after_exchange, first_solution, spread

# Most active-set steps of an SVM: this many for each weight, and some more; for the
# first SVM, this many for each sample.
STEP_RATE, STEP_EXTRA, FIRST_STEPS = 8, 1000, 20
# A chain fails if more than half of at least this many SVMs were not solved: if many
# samples change sides with each exchange, active-set steps are not suitable.
TRIAL_SVMS = 40
# Accepted exchanges after which all features are priced again, and how many of those
# with the largest prices are considered until then.
REPRICE, SHORTLIST = 8, 1000
# Fraction of the exchanges after which all may be tried again, in a new random order.
MOST_TRIED = 0.5
# Positions of the counts.
SVMS, STEPS, MODELS, ITERATIONS = 0, 1, 2, 3
# Where the entries of one argument end and those of the next begin.
_DATA = len(Data._fields)


class ChainTask(NamedTuple):
    """The task of a chain.

    Attributes
    ----------
    support : integer array (p,)
        The first support.
    alpha : array (m,)
        Its dual point, from an earlier run; zero if it is not known.
    candidates : integer array
        Features that may be used.
    fixed : array (n,)
        Nonzero for features that must stay in the support.
    budget : float
        Maximum cost of the support.
    max_tries : int
        Maximum number of exchanges to try.
    temperature : float
        As a fraction of the objective.
    width : int
        Number of features with the largest prices that may enter.
    n_near : int
        Number of samples near the margin.
    rng_state : array (1,)
        State of the random numbers, not zero; it is updated.
    costs : array (4,)
        Work of an SVM, an active-set step, a model and an iteration of a model.
    max_work : float
        Work limit.
    """

    support: np.ndarray
    alpha: np.ndarray
    candidates: np.ndarray
    fixed: np.ndarray
    budget: float
    max_tries: int
    temperature: float
    width: int
    n_near: int
    rng_state: np.ndarray
    costs: np.ndarray
    max_work: float


class ChainResult(NamedTuple):
    """The final state of a chain, and the best support it visited.

    Attributes
    ----------
    support : integer array (p,)
        The last support, in no particular order.
    alpha : array (m,)
        Its dual point.
    objective : float
        Its objective; infinite if the first SVM could not be solved.
    best_support : integer array (p,)
        The best support, in no particular order.
    best_columns : integer array
        Its active columns, which best_w belongs to.
    best_w, best_b, best_alpha, best_objective
        Its SVM.
    accepted : int
        Number of accepted exchanges.
    counts : integer array (4,)
        Numbers of SVMs, active-set steps, models and iterations of models.
    failed : bool
        Whether the chain ended because most SVMs, or the first one, were not solved.
    """

    support: np.ndarray
    alpha: np.ndarray
    objective: float
    best_support: np.ndarray
    best_columns: np.ndarray
    best_w: np.ndarray
    best_b: float
    best_alpha: np.ndarray
    best_objective: float
    accepted: int
    counts: np.ndarray
    failed: bool


@jit_new
def _products(data, features, alpha):
    """Products of some features with alpha; lengths if they are not plain columns."""
    values = new_vector(features.shape[0])
    has_plain_columns = data.starts.shape[0] + data.signs.shape[0] == 0
    for t in range(features.shape[0]):
        if has_plain_columns:
            values[t] = dot(data.A[features[t]], alpha, alpha.shape[0])
            continue
        square = 0.0
        for j in admitted_columns(data, features[t : t + 1], alpha):
            square += dot(data.A[j], alpha, alpha.shape[0]) ** 2
        values[t] = np.sqrt(square)
    return values


@jit_new
def _highest_priced(features, products, in_support, count):
    """Positions of the largest prices among features outside the support."""
    size = features.shape[0]
    prices = new_vector(size)
    for t in range(size):
        prices[t] = -1.0 if in_support[features[t]] != 0 else products[t] * products[t]
    limit = 0.0
    if count < size:
        limit = max(0.0, kth_largest(prices, count))
    positions = new_indices(size)
    n_chosen = 0
    for t in range(size):
        if prices[t] >= limit and n_chosen < count:
            positions[n_chosen] = t
            n_chosen += 1
    return positions[:n_chosen]


@jit_new
def _shortlist(data, task, alpha, in_support):
    """The features to consider until all are priced again."""
    if task.candidates.shape[0] <= SHORTLIST:
        return task.candidates
    products = _products(data, task.candidates, alpha)
    positions = _highest_priced(task.candidates, products, in_support, SHORTLIST)
    shortlist = new_indices(positions.shape[0])
    for t in range(positions.shape[0]):
        shortlist[t] = task.candidates[positions[t]]
    return shortlist


@jit_new
def _model(data, task, solution, shortlist, in_support):
    """Estimated costs of exchanges, and the iterations of the estimate."""
    near, point = solution.near, solution.point
    m, p = data.y.shape[0], point.w.shape[0]
    tau = barrier_weight(point.numbers[1], m, p)
    smooth = smoothen(near, point, data.intercept, tau, data.stop)
    alpha = spread(near, smooth.alpha, solution.alpha)
    products = _products(data, shortlist, alpha)
    positions = _highest_priced(shortlist, products, in_support, task.width)
    features, c = new_indices(positions.shape[0]), new_vector(positions.shape[0])
    for t in range(positions.shape[0]):
        features[t], c[t] = shortlist[positions[t]], products[positions[t]]
    if data.starts.shape[0] + data.signs.shape[0] == 0:
        model = exchange_model(data, near, smooth, features, c)
    else:
        model = column_model(data, solution, smooth, features, alpha)
    for j in range(solution.support.shape[0]):
        if task.fixed[solution.support[j]] != 0:
            for t in range(features.shape[0]):
                model.losses[j, t] = np.inf
    return model, smooth.iterations


@jit
def _draw_exchange(losses, rng_state):
    """A random exchange, -1 if there is none; good ones are preferred.

    It is the best of a random number of exchanges drawn uniformly, such that the
    logarithm of its rank is about uniform.
    """
    count = losses.size
    best, least = -1, np.inf
    if count == 0:
        return best
    for _ in range(int((count + 1) ** draw(rng_state))):
        at = int(count * draw(rng_state))
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
def _first_solution(data, task):
    """The solution on the first support, within the work limit."""
    most = FIRST_STEPS * data.y.shape[0]
    if task.costs[STEPS] * most > task.max_work:
        most = int(task.max_work / task.costs[STEPS])
    return first_solution(data, task.support, task.alpha, task.n_near, most)


@jit
def _n_removable(task):
    """Number of features of the support that may leave."""
    count = task.support.shape[0]
    for j in range(task.support.shape[0]):
        count -= task.fixed[task.support[j]] != 0
    return count


class ChainState(NamedTuple):
    """The state of a chain, which every exchange updates.

    Attributes
    ----------
    in_support : array (n,)
        Nonzero for the features of the support.
    spent : array (1,)
        Their cost.
    counts : integer array (4,)
        Numbers of SVMs, active-set steps, models and iterations of models.
    failures : integer array (1,)
        Number of SVMs that were not solved.
    """

    in_support: np.ndarray
    spent: np.ndarray
    counts: np.ndarray
    failures: np.ndarray


@jit_new
def _new_state(data, solution, n_steps):
    """The first state of a chain that starts from a solution."""
    in_support = new_marks(data.costs.shape[0])
    for j in range(solution.support.shape[0]):
        in_support[solution.support[j]] = 1
    spent, counts, failures = new_vector(1), new_indices(4), new_indices(1)
    for t in range(4):
        counts[t] = 0
    counts[SVMS], counts[STEPS] = 1, n_steps
    spent[0], failures[0] = _cost(data, solution.support), 0
    return ChainState(in_support, spent, counts, failures)


@jit
def _has_failed(state):
    """Whether most SVMs were not solved."""
    n_svms = state.counts[SVMS]
    return n_svms > TRIAL_SVMS and 2 * state.failures[0] > n_svms


@jit_new
def _counted_model(data, task, state, solution, shortlist):
    """The model at a solution; its work is counted."""
    model, iterations = _model(data, task, solution, shortlist, state.in_support)
    state.counts[MODELS] += 1
    state.counts[ITERATIONS] += iterations
    return model


@jit_new
def _try_exchange(data, task, state, solution, model, at, cutoff):
    """Try an exchange; whether it is within the cutoff, and the current solution."""
    position, k = divmod(at, model.features.shape[0])
    entering, leaving = model.features[k], solution.support[position]
    model.losses[position, k] = np.inf
    spent = state.spent[0] + (data.costs[entering] - data.costs[leaving])
    if spent > task.budget:
        return False, solution
    max_steps = STEP_RATE * solution.columns.shape[0] + STEP_EXTRA
    goal = StepGoal(TOL, cutoff, max_steps)
    status, n_steps, solution = after_exchange(
        data, solution, position, entering, goal, task.n_near
    )
    state.counts[SVMS] += 1
    state.counts[STEPS] += n_steps
    state.failures[0] += status == FAILED
    if status != SOLVED:
        return False, solution
    state.in_support[leaving], state.in_support[entering] = 0, 1
    state.spent[0] = spent
    return True, solution


@jit
def _work(task, counts):
    """Work done so far."""
    work = 0.0
    for t in range(counts.shape[0]):
        work += task.costs[t] * counts[t]
    return work


@jit
def _is_over(data, task, state, n_exchanges):
    """Whether the work limit is reached, nothing can be exchanged, or a stop is set."""
    is_spent = _work(task, state.counts) >= task.max_work
    return is_spent or n_exchanges == 0 or _has_failed(state) or data.stop[0] != 0


@jit_new
def _result(solution, best, accepted, counts, failed):
    """The result, given the last solution and the best one."""
    return ChainResult(
        solution.support, solution.alpha, solution.point.numbers[1],
        best.support, best.columns, best.point.w, best.point.numbers[0], best.alpha,
        best.point.numbers[1], accepted, counts, failed,
    )  # fmt: skip


@jit_new
def simulate(data, task):
    """Exchange features until the limit of tries or work is reached."""
    status, n_steps, solution = _first_solution(data, task)
    state, best = _new_state(data, solution, n_steps), solution
    if status != SOLVED:
        solution.point.numbers[1] = np.inf
        return _result(solution, solution, 0, state.counts, data.stop[0] == 0)
    shortlist = _shortlist(data, task, solution.alpha, state.in_support)
    model = _counted_model(data, task, state, solution, shortlist)
    n_removable, accepted, is_new, tried = _n_removable(task), 0, False, 0
    for _ in range(task.max_tries):
        n_exchanges = n_removable * model.features.shape[0]
        if _is_over(data, task, state, n_exchanges):
            break
        if is_new or tried > MOST_TRIED * n_exchanges:
            if state.counts[MODELS] % REPRICE == 0:
                shortlist = _shortlist(data, task, solution.alpha, state.in_support)
            model = _counted_model(data, task, state, solution, shortlist)
            is_new, tried = False, 0
        tried += 1
        at = _draw_exchange(model.losses, task.rng_state)
        if at < 0:
            continue
        increase = -task.temperature * np.log(1.0 - draw(task.rng_state))
        cutoff = solution.point.numbers[1] * np.exp(increase)
        is_new, solution = _try_exchange(data, task, state, solution, model, at, cutoff)
        if is_new:
            accepted += 1
            if solution.point.numbers[1] < best.point.numbers[1]:
                best = solution
    return _result(solution, best, accepted, state.counts, _has_failed(state))


@jit_nogil
def _run(*parts):
    last = simulate(Data(*parts[:_DATA]), ChainTask(*parts[_DATA:]))
    return (
        last.support, last.alpha, last.objective, last.best_support, last.best_columns,
        last.best_w, last.best_b, last.best_alpha, last.best_objective, last.accepted,
        last.counts, last.failed,
    )  # fmt: skip


def run_chain(data, task):
    """Run a chain in compiled code; it ends early once the flag of the data is set."""
    return ChainResult(*_run(*data, *task))


def is_compiled():
    """Whether chains have been compiled, by this process or an earlier one."""
    return bool(_run.signatures) or is_cached(_run)
