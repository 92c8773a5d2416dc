"""The compiled entry for an SVM, or for relaxations of several regions in turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._jit import jit, jit_new, jit_nogil
from .data import Data, RegionArrays, WorkingSetArrays, n_columns_of, starts_of
from .linalg import copy_to, fill, new_indices, new_marks, new_vector, part
from .screening import screen
from .svm import SVM, SVMTask, solve_svm
from .working_set import RelaxationGoal, relax

# One task: the positions and lengths of its parts of the concatenated arrays, its
# region and its goal.
TASK = np.dtype(
    [
        ("at_forced", np.int64),
        ("n_forced", np.int64),
        ("at_free", np.int64),
        ("n_free", np.int64),
        ("at_working", np.int64),
        ("n_working", np.int64),
        ("k", np.int64),
        ("budget", np.float64),
        ("tol", np.float64),
        ("fine_tol", np.float64),
        ("cutoff", np.float64),
        ("max_rounds", np.int64),
        ("rough", np.int64),
        ("n_before", np.int64),
        ("at_w", np.int64),
    ]
)
# One answer without its arrays; the last entry is the size of its working set.
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
    """Arrays for the answers; see ``engine.protocol.RelaxationResult``.

    Attributes
    ----------
    table : array of ANSWER
    alpha, side : arrays (count, m)
    squares, z, curvature : arrays (count, n)
    w : array
        Weights of the columns of the forced and the free features of all tasks.
    decision, working : arrays
        Screening decisions and features of working sets, at the positions of the free
        features of a task.
    """

    table: np.ndarray
    alpha: np.ndarray
    side: np.ndarray
    squares: np.ndarray
    z: np.ndarray
    curvature: np.ndarray
    w: np.ndarray
    decision: np.ndarray
    working: np.ndarray


@jit_new
def _region(tasks, t):
    """The region of a task, its features copied."""
    task = tasks.table[t]
    forced = part(tasks.forced, task["at_forced"], task["n_forced"])
    free = part(tasks.free, task["at_free"], task["n_free"])
    return RegionArrays(forced, free, task["k"], task["budget"])


@jit_new
def _start(tasks, t):
    """The working set that a task starts from, copied."""
    task = tasks.table[t]
    side = new_marks(tasks.side.shape[1])
    copy_to(tasks.side[t], side)
    features = part(tasks.working, task["at_working"], task["n_working"])
    return WorkingSetArrays(features, side)


@jit_new
def _write_primal(data, region, last, z, curvature, w):
    """Write z and curvatures of all features, and weights of forced and free ones."""
    n_forced = n_columns_of(data, region.forced)
    fill(z, 0.0)
    fill(curvature, 0.0)
    for j in region.forced:
        z[j] = 1.0
    copy_to(last.w[:n_forced], w)
    starts = starts_of(data, region.free, n_forced)
    position = new_indices(z.shape[0])
    for t in range(region.free.shape[0]):
        position[region.free[t]] = starts[t]
    fill(w[n_forced : starts[starts.shape[0] - 1]], 0.0)
    at = starts_of(data, last.features, n_forced)
    for t in range(last.features.shape[0]):
        j = last.features[t]
        z[j] = last.z[t]
        curvature[j] = last.curvature[t]
        copy_to(last.w[at[t] : at[t + 1]], w[position[j] :])


@jit_new
def _decide(data, region, alpha, squares, cutoff, decision):
    """Screen the features of a region; the number of those decided."""
    decided = screen(
        alpha, squares, region.forced, region.free, region.k, data.costs, region.budget,
        cutoff,
    )  # fmt: skip
    copy_to(decided, decision)
    count = 0
    for j in range(decided.shape[0]):
        count += decided[j] != 0
    return count


@jit
def _write(relaxed, n_before, answer):
    """Write all numbers of an answer except those of screening."""
    answer["bound"] = relaxed.bound
    answer["price"] = relaxed.price
    answer["primal"] = relaxed.last.value
    answer["rounds"] = relaxed.rounds - n_before
    answer["iterations"] = relaxed.iterations
    answer["finished"] = relaxed.finished
    answer["n_working"] = relaxed.working_set.features.shape[0]
    answer["n_decided"] = 0


@jit_new
def _solve_task(data, tasks, answers, t):
    """Solve one task and write its answer."""
    task, answer = tasks.table[t], answers.table[t]
    alpha, squares = answers.alpha[t], answers.squares[t]
    region, at = _region(tasks, t), task["at_free"]
    goal = RelaxationGoal(
        task["tol"],
        task["fine_tol"],
        task["cutoff"],
        task["max_rounds"],
        task["rough"] != 0,
        task["n_before"],
    )
    relaxed = relax(data, region, _start(tasks, t), goal, alpha, squares)
    _write(relaxed, goal.n_before, answer)
    copy_to(relaxed.working_set.side, answers.side[t])
    copy_to(relaxed.working_set.features, answers.working[at:])
    _write_primal(
        data,
        region,
        relaxed.last,
        answers.z[t],
        answers.curvature[t],
        answers.w[task["at_w"] :],
    )
    if relaxed.bound <= goal.cutoff:
        decision = answers.decision[at:]
        answer["n_decided"] = _decide(
            data, region, alpha, squares, goal.cutoff, decision
        )


# --- The entry ------------------------------------------------------------------------
#
# SVMs and relaxations share it: otherwise the interior point, which takes longest to
# compile, would be compiled twice.

# Where the entries of one argument end and those of the next begin.
_DATA = len(Data._fields)
_SVM = _DATA + len(SVMTask._fields)
_TASKS = _SVM + len(Tasks._fields)
_NO_FEATURES = np.empty(0, dtype=np.int64)
_NO_SIDES = np.empty((0, 0), dtype=np.int8)
_NOTHING = np.empty((0, 0))
NO_WEIGHTS = np.empty(0)
# Placeholders in calls for relaxations, and in calls for an SVM.
NO_SVM = SVMTask(_NO_FEATURES, 0.0, 0.0, NO_WEIGHTS, 0)
NO_TASKS = Tasks(
    np.empty(0, dtype=TASK), _NO_FEATURES, _NO_FEATURES, _NO_FEATURES, _NO_SIDES
)
NO_ANSWERS = Answers(
    np.empty(0, dtype=ANSWER), _NOTHING, _NO_SIDES, _NOTHING, _NOTHING, _NOTHING,
    NO_WEIGHTS, np.empty(0, dtype=np.int8), _NO_FEATURES,
)  # fmt: skip


@jit_nogil
def _solve(*parts):
    """``solve``, given the concatenated entries of its arguments."""
    data = Data(*parts[:_DATA])
    tasks = Tasks(*parts[_SVM:_TASKS])
    if tasks.table.shape[0] == 0:
        svm = solve_svm(data, SVMTask(*parts[_DATA:_SVM]))
    else:
        answers = Answers(*parts[_TASKS:])
        for t in range(tasks.table.shape[0]):
            _solve_task(data, tasks, answers, t)
        svm = SVM(new_vector(0), 0.0, new_vector(0), 0.0, 0.0, 0)
    return svm.w, svm.b, svm.alpha, svm.primal, svm.dual, svm.rounds


def solve(data, svm, tasks, answers):
    """Solve all tasks or, if there are none, an SVM, which is returned.

    Ends early, with bounds that are weaker but valid, once the flag of the data is set.
    """
    # Numba takes longer to unpack a named tuple than its separate entries.
    return SVM(*_solve(*data, *svm, *tasks, *answers))
