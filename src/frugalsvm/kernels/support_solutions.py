"""The SVM on a support, and the step to that on a neighbouring support."""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .active_set_point import (
    ActiveSetPoint,
    change_inverse,
    complete_point,
    compute_inverse,
    copy_point,
    new_point,
    new_workspace,
    start_cold,
)
from .active_set_steps import (
    EXCEEDED,
    FAILED,
    SOLVED,
    StepGoal,
    dual_value,
    imbalance,
    take_steps,
)
from .column_exchanges import (
    NearSamples,
    admitted_columns,
    right_columns,
    select_near_samples,
    with_columns,
)
from .linalg import copy_to, dot, filled, new_vector

# Relative gap of the SVMs.
TOL = 1e-5
# Rounds of an SVM, after each of which the near samples are selected again.
SELECTION_ROUNDS = 4
# Rounds of an SVM, after each of which columns of wrong sign are left out.
SIGN_ROUNDS = 6


class SupportSolution(NamedTuple):
    """A support and the solution of its SVM.

    Attributes
    ----------
    support : integer array
    columns : integer array (p,)
        Its active columns: see ``column_exchanges``.
    near : NearSamples
    point : ActiveSetPoint
    alpha : array (m,)
        Dual variables of all samples.
    """

    support: np.ndarray
    columns: np.ndarray
    near: NearSamples
    point: ActiveSetPoint
    alpha: np.ndarray


@jit_new
def _slacks(data, columns, w, b):
    """1 minus the margin, for all samples."""
    m = data.y.shape[0]
    slack = new_vector(m)
    for i in range(m):
        slack[i] = 1.0 - b * data.y[i]
    for j in range(columns.shape[0]):
        row = data.A[columns[j]]
        for i in range(m):
            slack[i] -= w[j] * row[i]
    return slack


@jit_new
def spread(near, near_alpha, alpha):
    """The dual variables of all samples, given new ones for the near samples."""
    whole = alpha.copy()
    for t in range(near_alpha.shape[0]):
        whole[near.samples[t]] = near_alpha[t]
    return whole


@jit_new
def _solution_near(data, support, columns, slack, alpha, n_near):
    """The solution of given dual variables; samples of small slacks are near."""
    near = select_near_samples(data, columns, slack, alpha, n_near)
    size, p = near.samples.shape[0], columns.shape[0]
    point = new_point(size, p)
    for t in range(size):
        point.alpha[t] = alpha[near.samples[t]]
    complete_point(near, point, data.intercept, new_workspace(size, p))
    return SupportSolution(support, columns, near, point, alpha)


@jit
def _objective(data, w, slack):
    value = 0.5 * dot(w, w, w.shape[0])
    for i in range(slack.shape[0]):
        value += data.C[i] * max(0.0, slack[i])
    return value


@jit
def _is_closed(data, solution, objective):
    """Whether the dual point is feasible and proves the objective, up to ``TOL``."""
    near, point = solution.near, solution.point
    dual = dual_value(near, point)
    mass = dual + 0.5 * dot(point.w, point.w, point.w.shape[0])
    is_balanced = not data.intercept or abs(imbalance(near, point)) <= TOL * mass
    return is_balanced and abs(objective - dual) <= TOL * objective


@jit_new
def _check_all_samples(data, solution, goal, n_near):
    """Extend the solution for the near samples to all, in a few rounds.

    Returns the status of the steps, their number, and the solution.
    """
    n_steps = 0
    for _ in range(SELECTION_ROUNDS):
        near, point, columns = solution.near, solution.point, solution.columns
        w, b = point.w, point.numbers[0]
        slack = _slacks(data, columns, w, b)
        alpha = spread(near, point.alpha, solution.alpha)
        objective = _objective(data, w, slack)
        solution = _solution_near(data, solution.support, columns, slack, alpha, n_near)
        solution.point.numbers[0], solution.point.numbers[1] = b, objective
        if _is_closed(data, solution, objective):
            return SOLVED if objective <= goal.cutoff else EXCEEDED, n_steps, solution
        workspace = new_workspace(solution.near.samples.shape[0], w.shape[0])
        status, count = take_steps(
            solution.near, solution.point, data.intercept, goal, data.stop, workspace
        )
        n_steps += count
        if status != SOLVED:
            return status, n_steps, solution
    return FAILED, n_steps, solution


@jit_new
def first_solution(data, support, alpha, n_near, max_steps):
    """Solve the SVM on a first support, starting from a dual point or, if zero, cold.

    Returns the status of the steps, their number, and the solution.
    """
    columns = admitted_columns(data, support, alpha)
    m, p = data.y.shape[0], columns.shape[0]
    none = filled(m, 0.0)
    near = select_near_samples(data, columns, none, none, m)
    point, workspace = new_point(m, p), new_workspace(m, p)
    if dot(alpha, alpha, m) > 0.0:
        copy_to(alpha, point.alpha)
        complete_point(near, point, data.intercept, workspace)
    else:
        start_cold(near, point, data.intercept, workspace)
    goal = StepGoal(TOL, np.inf, max_steps)
    status, count = take_steps(near, point, data.intercept, goal, data.stop, workspace)
    solution = SupportSolution(support.copy(), columns, near, point, none)
    if status != SOLVED:
        return status, count, solution
    status, more, solution = _complete(data, solution, goal, n_near)
    return status, count + more, solution


@jit_new
def _complete(data, solution, goal, n_near):
    """Check all samples, and leave out columns whose weights have the wrong sign."""
    n_steps = 0
    for _ in range(SIGN_ROUNDS):
        status, count, solution = _check_all_samples(data, solution, goal, n_near)
        n_steps += count
        before = solution.columns
        after = right_columns(data, before, solution.point.w)
        if status != SOLVED or after.shape[0] == before.shape[0]:
            return status, n_steps, solution
        status, count, solution = _steps_with(
            data, solution, solution.support, after, goal
        )
        n_steps += count
        if status != SOLVED:
            return status, n_steps, solution
    return FAILED, n_steps, solution


@jit_new
def _steps_with(data, solution, support, columns, goal):
    """Take steps after a change of the active columns."""
    near, point, workspace = with_columns(
        data,
        data.intercept,
        solution.near,
        solution.point,
        solution.columns,
        columns,
        solution.alpha,
    )
    status, count = take_steps(near, point, data.intercept, goal, data.stop, workspace)
    other = SupportSolution(support, columns, near, point, solution.alpha)
    return status, count, other


@jit
def _write_row(near, position, row):
    """Put another feature at a position."""
    for t in range(row.shape[0]):
        near.rows[position, t] = near.columns[t, position] = row[t]


@jit_new
def after_exchange(data, solution, position, feature, goal, n_near):
    """The solution after an exchange, if it is within the cutoff.

    Returns the status of the steps, their number, and the solution.
    """
    if data.starts.shape[0] + data.signs.shape[0] > 0:
        support = solution.support.copy()
        support[position] = feature
        columns = admitted_columns(data, support, solution.alpha)
        status, n_steps, other = _steps_with(data, solution, support, columns, goal)
        if status == SOLVED:
            status, more, other = _complete(data, other, goal, n_near)
            n_steps += more
        return status, n_steps, other if status == SOLVED else solution
    near, point = solution.near, solution.point
    size, p = near.samples.shape[0], point.w.shape[0]
    trial, workspace = new_point(size, p), new_workspace(size, p)
    before, after = near.rows[position].copy(), new_vector(size)
    for t in range(size):
        after[t] = data.A[feature, near.samples[t]]
    far_before = near.far_w[position]
    copy_point(point, trial)
    trial.w[position] = dot(data.A[feature], solution.alpha, solution.alpha.shape[0])
    near.far_w[position] = trial.w[position] - dot(after, point.alpha, size)
    _write_row(near, position, after)
    # The entering feature first: without it the matrix may be singular.
    is_updated = change_inverse(trial, after, 1.0, workspace)
    is_updated = is_updated and change_inverse(trial, before, -1.0, workspace)
    if not is_updated:
        compute_inverse(near, trial, data.intercept, workspace)
    status, n_steps = take_steps(
        near, trial, data.intercept, goal, data.stop, workspace
    )
    if status == SOLVED:
        support = solution.support.copy()
        support[position] = feature
        other = SupportSolution(support, support, near, trial, solution.alpha)
        status, more, other = _check_all_samples(data, other, goal, n_near)
        if status == SOLVED:
            return status, n_steps + more, other
        n_steps += more
    _write_row(near, position, before)
    near.far_w[position] = far_before
    return status, n_steps, solution
