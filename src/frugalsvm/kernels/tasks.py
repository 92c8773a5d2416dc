"""Relaxations of many regions, one after the other."""

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new
from .arrays import copy_to, new_indices, new_marks, part
from .data import ActiveSet, Region
from .rounds import Goal, relax
from .screening import screen

# One task: sizes of its parts of the concatenated arrays, its region and its goal.
TASK = np.dtype(
    [
        ("n_forced", np.int64),
        ("n_free", np.int64),
        ("n_working", np.int64),
        ("k", np.int64),
        ("budget", np.float64),
        ("tol", np.float64),
        ("fine_tol", np.float64),
        ("cutoff", np.float64),
        ("max_rounds", np.int64),
        ("rough", np.int64),
        ("n_before", np.int64),
    ]
)
# One answer, but for its arrays; the last is the size of its active set.
ANSWER = np.dtype(
    [
        ("bound", np.float64),
        ("price", np.float64),
        ("primal", np.float64),
        ("rounds", np.int64),
        ("iterations", np.int64),
        ("finished", np.int64),
        ("n_decided", np.int64),
        ("n_working", np.int64),
    ]
)


class Tasks(NamedTuple):
    """Relaxations to solve, one after the other.

    Attributes
    ----------
    table : array of TASK
    forced, free, working : integer arrays
        Features of all tasks, concatenated.
    side : array (count, m)
    """

    table: np.ndarray
    forced: np.ndarray
    free: np.ndarray
    working: np.ndarray
    side: np.ndarray


class Answers(NamedTuple):
    """Where the answers go; see ``engine.protocol.Answer``.

    Attributes
    ----------
    table : array of ANSWER
    alpha, side : arrays (count, m)
    squares, z : arrays (count, n)
    w : array
        Weights of the forced and the free features of all tasks.
    decision, working : arrays
        Decisions and active sets, beginning where the free features of a task do.
    """

    table: np.ndarray
    alpha: np.ndarray
    side: np.ndarray
    squares: np.ndarray
    z: np.ndarray
    w: np.ndarray
    decision: np.ndarray
    working: np.ndarray


@jit_new
def _region(tasks, t, at_forced, at_free):
    """The region of a task, its features copied."""
    task = tasks.table[t]
    forced = part(tasks.forced, at_forced, task["n_forced"])
    free = part(tasks.free, at_free, task["n_free"])
    return Region(forced, free, task["k"], task["budget"])


@jit_new
def _start(tasks, t, at_working):
    """The active set that a task starts from, copied."""
    side = new_marks(tasks.side.shape[1])
    copy_to(tasks.side[t], side)
    features = part(tasks.working, at_working, tasks.table[t]["n_working"])
    return ActiveSet(features, side)


@jit
def _goal(task):
    return Goal(
        task["tol"], task["fine_tol"], task["cutoff"], task["max_rounds"],
        task["rough"] != 0, task["n_before"],
    )  # fmt: skip


@jit_new
def _write_primal(region, found, z, w):
    """The z of all features, and weights of the forced and the free ones."""
    n_forced = region.forced.shape[0]
    for j in range(z.shape[0]):
        z[j] = 0.0
    for j in range(n_forced):
        z[region.forced[j]] = 1.0
        w[j] = found.w[j]
    place = new_indices(z.shape[0])
    for t in range(region.free.shape[0]):
        place[region.free[t]] = n_forced + t
        w[n_forced + t] = 0.0
    for t in range(found.features.shape[0]):
        j = found.features[t]
        z[j] = found.z[t]
        w[place[j]] = found.w[n_forced + t]


@jit_new
def _decide(data, region, best, cutoff, decision):
    """Screen the features of a region that stays open; how many are decided."""
    count = 0
    if best.bound <= cutoff:
        decided = screen(
            best.alpha, best.squares, region.forced, region.free, region.k, data.costs,
            region.budget, cutoff,
        )  # fmt: skip
        copy_to(decided, decision)
        for j in range(decided.shape[0]):
            count += decided[j] != 0
    return count


@jit_new
def _write(region, found, answers, t, at_w, at_free):
    """Write an answer where it belongs."""
    best = found.best
    copy_to(best.alpha, answers.alpha[t])
    copy_to(best.squares, answers.squares[t])
    copy_to(found.active.side, answers.side[t])
    copy_to(found.active.features, answers.working[at_free:])
    _write_primal(region, found.last, answers.z[t], answers.w[at_w:])
    answer = answers.table[t]
    answer["bound"] = best.bound
    answer["price"] = best.price
    answer["primal"] = found.last.value
    answer["rounds"] = found.rounds
    answer["iterations"] = found.iterations
    answer["finished"] = found.finished
    answer["n_working"] = found.active.features.shape[0]


@jit_new
def solve_tasks(data, tasks, answers):
    """Solve all tasks.

    Ends early, with bounds that are weaker but valid, once the flag of the data is set.
    """
    at_forced = 0
    at_free = 0
    at_working = 0
    for t in range(tasks.table.shape[0]):
        task = tasks.table[t]
        region = _region(tasks, t, at_forced, at_free)
        found = relax(data, region, _start(tasks, t, at_working), _goal(task))
        _write(region, found, answers, t, at_forced + at_free, at_free)
        answers.table[t]["n_decided"] = _decide(
            data, region, found.best, task["cutoff"], answers.decision[at_free:]
        )
        at_forced += task["n_forced"]
        at_free += task["n_free"]
        at_working += task["n_working"]
