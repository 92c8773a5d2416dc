"""Relaxations of several nodes solved in one compiled call.

Threads that search one tree need the interpreter between nodes, and handing it over
takes about as long as a small node. So each thread works on several nodes at a time:
their requests are packed into arrays, solved by one call that leaves the interpreter to
the others, and unpacked.
"""

from functools import cache

import numpy as np
from numba import int64, njit, types

from .convex import Convex, answer
from .interior_point import interior_point


def _solve_many(
    solve, A, norms, y, C, intercept, costs, cold, sizes, numbers, node_free, features,
    side, R, h, alpha, squares, z, w, margins, means, results,
):  # fmt: skip
    """Solve every row of the packed arrays and write what comes out into the rest."""
    m = y.shape[0]
    for t in range(sizes.shape[0]):
        p, free, listed, n_rows = sizes[t]
        rows = np.empty((n_rows, free))
        for r in range(n_rows):
            for j in range(free):
                rows[r, j] = R[t, r, j]
        found = solve(
            A, norms, y, C, intercept, costs, node_free[t, :listed].copy(),
            numbers[t, 0], features[t, :p].copy(), side[t], rows,
            h[t, :n_rows].copy(), numbers[t, 1], numbers[t, 2], cold, 1.0, True,
        )  # fmt: skip
        for i in range(m):
            alpha[t, i] = found[0][i]
            margins[t, i] = found[7][i]
        for j in range(A.shape[0]):
            squares[t, j] = found[2][j]
        for j in range(free):
            z[t, j] = found[4][j]
        for j in range(found[5].shape[0]):
            w[t, j] = found[5][j]
        for j in range(p):
            means[t, j] = found[9][j]
        results[t, 0] = found[1]
        results[t, 1] = found[3]
        results[t, 2] = found[6]
        results[t, 3] = found[8]
        results[t, 4] = found[10]


@cache
def _compiled(signature):
    """``_solve_many`` for a signature of ``interior_point``.

    The solver is passed as a pointer: linking it in would compile it once more.
    """
    floats = types.Array(types.float64, 2, "C")
    integers = types.Array(int64, 2, "C")
    data = signature.args[:6]
    return njit(
        types.void(
            types.FunctionType(signature), *data, signature.args[14], integers, floats,
            integers, integers, types.Array(types.int8, 2, "C"),
            types.Array(types.float64, 3, "C"), floats, *[floats] * 7,
        ),
        nogil=True,
    )(_solve_many)  # fmt: skip


def _answer_together(data, requests):
    """The answers to several plain requests, by one compiled call."""
    signature = _signature(data)
    if signature is None:
        return [answer(data, request) for request in requests]
    n, m = data.A.shape
    count = len(requests)
    sizes = np.array(
        [
            (q.features.shape[0], q.R.shape[1], q.node_free.shape[0], q.R.shape[0])
            for q in requests
        ]
    )
    numbers = np.array([(q.budget, q.tol, q.cutoff) for q in requests])
    width, _, listed, n_rows = sizes.max(axis=0).tolist()
    node_free = np.empty((count, listed), dtype=np.int64)
    features = np.empty((count, width), dtype=np.int64)
    side = np.empty((count, m), dtype=np.int8)
    R = np.empty((count, n_rows, width))
    h = np.empty((count, n_rows))
    for t, request in enumerate(requests):
        features[t, : request.features.shape[0]] = request.features
        node_free[t, : request.node_free.shape[0]] = request.node_free
        rows, free = request.R.shape
        R[t, :rows, :free] = request.R
        h[t, :rows] = request.h
        side[t] = request.side
    alpha, margins = np.empty((count, m)), np.empty((count, m))
    squares = np.empty((count, n))
    z, w, means = (np.empty((count, width + 1)) for _ in range(3))
    results = np.empty((count, 5))
    _compiled(signature)(
        interior_point, *data, np.empty(0), sizes, numbers, node_free, features, side,
        R, h, alpha, squares, z, w, margins, means, results,
    )  # fmt: skip
    for t, request in enumerate(requests):
        request.side[:] = side[t]
    extra = 1 if data.intercept else 0
    return [
        Convex(
            alpha[t], dual, squares[t], bound, z[t, :free], w[t, : p + extra], primal,
            margins[t], value, means[t, :p], int(iterations),
        )
        for t, ((p, free, _, _), (dual, bound, primal, value, iterations)) in enumerate(
            zip(sizes.tolist(), results.tolist(), strict=True)
        )
    ]  # fmt: skip


def _signature(data):
    """How ``interior_point`` was compiled for these data, or None if not yet."""
    readonly = not data.A.flags.writeable
    for signature in interior_point.nopython_signatures:
        if signature.args[0].mutable != readonly:
            return signature
    return None


def run_together(data, many):
    """Answer the requests of several generators side by side; what they return."""
    values = [None] * len(many)
    waiting = {}
    for t, steps in enumerate(many):
        _advance(t, steps, None, waiting, values)
    while waiting:
        plain = [t for t, request in waiting.items() if request.is_plain]
        answers = {}
        if len(plain) > 1:
            found = _answer_together(data, [waiting[t] for t in plain])
            answers.update(zip(plain, found, strict=True))
        for t in [t for t in waiting if t not in answers]:
            answers[t] = answer(data, waiting[t])
        waiting = {}
        for t, found in answers.items():
            _advance(t, many[t], found, waiting, values)
    return values


def _advance(t, steps, found, waiting, values):
    try:
        waiting[t] = next(steps) if found is None else steps.send(found)
    except StopIteration as end:
        values[t] = end.value
