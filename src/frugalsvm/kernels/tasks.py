"""Tasks for the compiled solver, and the generators that make them.

Whoever solves nodes yields a list of ``Task``, is sent a list of ``Answer``, and goes
on. So many nodes can be worked on side by side (``together``) and answered by one
compiled call (``answer``), in which other threads may run: handing the interpreter over
takes about as long as solving a small node. ``run`` answers the tasks of a generator.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from .rounds import solve_tasks

# Yields lists of tasks, is sent lists of answers.
Steps = Generator[list["Task"], list["Answer"], Any]

_COLD = np.empty(0)


class Data(NamedTuple):
    """What all tasks of a problem have in common.

    Attributes
    ----------
    A : array (n, m)
        Signed features, ``y_i x_ij``.
    norms : array (n,)
        Upper bounds of the row norms.
    y, C : arrays (m,)
        Labels and positive weights.
    intercept : bool
        Whether a free intercept is fitted.
    costs : array (n,)
        Costs of the features.
    stop : array (1,)
        Compiled code comes to an end once another thread sets it.
    """

    A: np.ndarray
    norms: np.ndarray
    y: np.ndarray
    C: np.ndarray
    intercept: bool
    costs: np.ndarray
    stop: np.ndarray


class Task(NamedTuple):
    """A relaxation; an SVM if no feature is free.

    Attributes
    ----------
    forced, free : integer arrays
        Features that are used, and those among which the relaxation chooses.
    k, budget : int, float
        How many of the free ones, and at what cost; ``budget`` may be infinite.
    working : integer array
        Free features to begin with.
    side : array (m,)
        0 for the samples to begin with; the others keep alpha = C (1) or 0 (-1).
    tol : float
        Relative gap to reach.
    fine_tol : float
        ... where the gap at ``tol`` leaves it open whether the bound can exceed the
        cutoff.
    cutoff : float
        Stop once the bound exceeds it.
    max_rounds : int
        Stop after so many rounds; the bound holds all the same.
    rough : bool
        Whether first rounds need not be accurate.
    n_before : int, default=0
        Rounds of the tasks that this one continues.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float
    working: np.ndarray
    side: np.ndarray
    tol: float
    fine_tol: float
    cutoff: float
    max_rounds: int
    rough: bool
    n_before: int = 0

    def continued(self, found: "Answer") -> "Task":
        """The task that goes on where an answer ended."""
        return self._replace(
            working=found.working, side=found.side, rough=False,
            n_before=self.n_before + found.rounds,
        )  # fmt: skip


class Answer(NamedTuple):
    """What came out of a task.

    Attributes
    ----------
    bound, price : float
        Valid bound, and the price of the cost budget behind it.
    primal : float
        Primal value.
    rounds, iterations : int
    finished : bool
        Whether more rounds would bring nothing.
    alpha : array (m,)
        Dual point behind the bound, repaired.
    squares, z : arrays (n,)
        Upper bounds of ``c_j^2`` at that point, and the z of all features.
    w : array
        Weights of the forced and the free features.
    working, side : arrays
        What mattered, or where to go on if it is not finished.
    decision : array
        What screening says about each free feature, if the bound is not beyond the
        cutoff.
    decides : bool
        Whether that is anything.
    """

    bound: float
    price: float
    primal: float
    rounds: int
    iterations: int
    finished: bool
    alpha: np.ndarray
    squares: np.ndarray
    z: np.ndarray
    w: np.ndarray
    working: np.ndarray
    side: np.ndarray
    decision: np.ndarray
    decides: bool


def answer(data: Data, tasks: list[Task]) -> list[Answer]:
    """Solve tasks by one compiled call."""
    count, (n, m) = len(tasks), data.A.shape
    sizes = [
        (t.forced.shape[0], t.free.shape[0], t.working.shape[0], 0, t.k, t.n_before,
         t.max_rounds, t.rough)
        for t in tasks
    ]  # fmt: skip
    numbers = [(t.budget, t.tol, t.fine_tol, t.cutoff) for t in tasks]
    free = np.concatenate([t.free for t in tasks])
    forced = np.concatenate([t.forced for t in tasks])
    side = np.array([t.side for t in tasks])
    alpha = np.empty((count, m))
    squares = np.empty((count, n))
    z = np.zeros((count, n))
    w = np.empty(forced.shape[0] + free.shape[0])
    decision = np.zeros(free.shape[0], dtype=np.int8)
    working = np.empty(free.shape[0], dtype=np.int64)
    results = np.empty((count, 10))
    solve_tasks(
        *data, np.array(sizes, dtype=np.int64), np.array(numbers), forced, free,
        np.concatenate([t.working for t in tasks]), _COLD, side, alpha, squares, z, w,
        decision, working, results,
    )  # fmt: skip
    answers = []
    start, at = 0, 0
    for t, (row, size) in enumerate(zip(results.tolist(), sizes, strict=True)):
        bound, primal, _, _, rounds, iterations, finished, n_focus, n_decided, price = (
            row
        )
        end, to = start + size[0] + size[1], at + size[1]
        answers.append(
            Answer(
                bound, price, primal, int(rounds), int(iterations), finished != 0.0,
                alpha[t], squares[t], z[t], w[start:end],
                working[at : at + int(n_focus)], side[t], decision[at:to],
                n_decided > 0.0,
            )
        )  # fmt: skip
        start, at = end, to
    return answers


def run(data: Data, steps: Steps) -> Any:
    """Answer the tasks of a generator; what it returns."""
    try:
        tasks = next(steps)
        while True:
            tasks = steps.send(answer(data, tasks))
    except StopIteration as end:
        return end.value


def together(many: list[Steps]) -> Steps:
    """One generator that runs several side by side and returns what they return."""
    values = [None] * len(many)
    waiting: dict[int, list[Task]] = {}
    for t, steps in enumerate(many):
        _advance(t, steps, None, waiting, values)
    while waiting:
        asked = list(waiting.items())
        answers = yield [task for _, tasks in asked for task in tasks]
        waiting = {}
        at = 0
        for t, tasks in asked:
            own = answers[at : at + len(tasks)]
            at += len(tasks)
            _advance(t, many[t], own, waiting, values)
    return values


def _advance(t, steps, answers, waiting, values):
    try:
        waiting[t] = next(steps) if answers is None else steps.send(answers)
    except StopIteration as end:
        values[t] = end.value
