"""Requests to the interior point, and the generators that make them.

A solver of nodes yields a ``Request``, is sent the ``Convex`` that answers it, and goes
on. So several nodes can be worked on side by side and answered together (``batch``);
``run`` answers the requests of one.
"""

from typing import NamedTuple

import numpy as np

from .interior_point import interior_point


class Convex(NamedTuple):
    """What ``interior_point`` returns; see there."""

    alpha: np.ndarray
    dual: float
    squares: np.ndarray
    bound: float
    z: np.ndarray
    w: np.ndarray
    primal: float
    margins: np.ndarray
    value: float
    means: np.ndarray
    iterations: int


# Starts to try in turn: (unit, proportional). The first is right for nearly all data;
# extreme scales of features or weights may need another.
_STARTS = ((1.0, True), (100.0, False), (1e4, True), (1e-4, True), (10.0, False))


class Data(NamedTuple):
    """What all solves of a problem have in common; see ``interior_point``."""

    A: np.ndarray
    norms: np.ndarray
    y: np.ndarray
    C: np.ndarray
    intercept: bool
    costs: np.ndarray


class Request(NamedTuple):
    """What distinguishes one solve from another; see ``interior_point``."""

    node_free: np.ndarray
    budget: float
    features: np.ndarray
    side: np.ndarray
    R: np.ndarray
    h: np.ndarray
    tol: float
    cutoff: float
    warm_w: np.ndarray
    unit: float
    proportional: bool

    @property
    def is_plain(self):
        """Whether it starts as most do."""
        return self.unit == 1.0 and self.warm_w.shape[0] == 0


def convex_steps(node_free, budget, features, side, R, h, tol, cutoff, warm_w=None):
    """Solve with other starts if the first ends above the tolerance.

    A generator: yields a ``Request``, is sent the ``Convex`` that answers it, and
    returns one that combines the best primal and dual points. So requests of several
    nodes can be answered together; ``run`` answers those of one.

    A warm start begins further down the central path than a cold one: a third to a half
    fewer iterations after exchanging one feature of a support.
    """
    best = None
    iterations = 0
    starts = _STARTS
    if warm_w is not None:
        starts = ((0.1, True), *_STARTS)
    for attempt, (unit, proportional) in enumerate(starts):
        start = warm_w if warm_w is not None and attempt == 0 else _COLD
        found = yield Request(
            node_free, budget, features, side, R, h, tol, cutoff, start, unit,
            proportional,
        )  # fmt: skip
        iterations += found.iterations
        best = found if best is None else _better(best, found)
        if best.dual > cutoff or best.primal - best.dual <= tol * abs(best.primal):
            break
    if best.iterations < iterations:
        best = best._replace(iterations=iterations)
    return best


def answer(data, request):
    """The ``Convex`` of a ``Request``."""
    return Convex(*interior_point(*data, *request))


def run(data, steps):
    """Answer the requests of a generator one by one; what it returns."""
    try:
        request = next(steps)
        while True:
            request = steps.send(answer(data, request))
    except StopIteration as end:
        return end.value


_COLD = np.empty(0)


def _better(one, two):
    """The better dual point of two solutions with the better primal point."""
    dual = one if (one.bound, one.dual) >= (two.bound, two.dual) else two
    primal = one if one.primal <= two.primal else two
    return Convex(*dual[:4], *primal[4:])
