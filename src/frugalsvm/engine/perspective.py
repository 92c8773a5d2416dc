"""The relaxation DSCoP of a region, exact for any number of features and samples.

An engine solves it in rounds on a working set of features and samples. Without prior
information, the first working set has the features most correlated with the labels; a
child node begins with the ``WorkingSet`` of its parent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.working_set import LARGE_FRACTION
from .columns import smallest
from .protocol import Engine, Region, RelaxationRequest, RelaxationResult, WorkingSet

# Working sets only grow after a few rounds, so this limit is never reached.
MAX_CALLS = 1000


class RegionRelaxation(NamedTuple):
    """Solution of a region's relaxation.

    ``alpha`` is repaired and ``bound`` holds in floating point; ``z`` belongs to
    all features, ``w`` to all columns; ``squares`` are upper bounds of ``c_j^2``.
    """

    bound: float
    primal: float
    alpha: np.ndarray
    squares: np.ndarray
    z: np.ndarray
    w: np.ndarray
    rounds: int
    iterations: int


def region_request(
    engine: Engine,
    region: Region,
    working_set: WorkingSet | None,
    *,
    tol: float,
    fine_tol: float,
    cutoff: float,
    max_rounds: int,
) -> RelaxationRequest:
    """The request to relax a region whose free features all fit the budgets."""
    start = _first_working_set(engine, region, working_set)
    rough = working_set is None and start.features.shape[0] < region.free.shape[0]
    return RelaxationRequest(region, start, tol, fine_tol, cutoff, max_rounds, rough)


def _first_working_set(
    engine: Engine, region: Region, working_set: WorkingSet | None
) -> WorkingSet:
    """The initial working set."""
    free, k = region.free, region.k
    if working_set is None:
        side = np.zeros(engine.n_samples, dtype=np.int8)
    else:
        side = working_set.side
        if working_set.state is not None:
            return working_set._replace(features=free)
    if free.shape[0] <= max(engine.parameters.solved_at_once, 4 * k):
        return WorkingSet(free, side)
    if working_set is None:
        size = max(engine.parameters.first_working_set, 2 * k)
        return WorkingSet(engine.first_features(free, size), side)
    inside = np.zeros(engine.n_features, dtype=bool)
    inside[working_set.features] = True
    working = free[inside[free]]
    usable = k < working.shape[0] <= LARGE_FRACTION * free.shape[0]
    return WorkingSet(working if usable else free, side)


def _working_set_near(engine: Engine, region: Region, alpha: np.ndarray) -> WorkingSet:
    """The features with the highest prices at a dual point, and all samples."""
    size = max(engine.parameters.first_working_set, 2 * region.k)
    squares = engine.squares(alpha)[region.free]
    features = region.free[smallest(-squares, size)]
    return WorkingSet(np.sort(features), np.zeros(engine.n_samples, dtype=np.int8))


def _best_on_ray(
    engine: Engine, region: Region, result: RelaxationResult
) -> RelaxationResult:
    """The result at its dual point or, if better, at a fraction of it.

    With T the sum of alpha and P the penalty, ``LB(t alpha) = t T - t^2 P / 2`` is
    largest at t = T / P. Only points far from optimal have T < P.
    """
    total = result.alpha.sum()
    penalty = 2.0 * (total - engine.unclipped_bound(region, result))
    if not 0.0 < total < penalty < np.inf:
        return result
    better = engine.bound(region, (total / penalty) * result.alpha)
    if better.bound <= result.bound:
        return result
    return result._replace(**better._asdict())


def perspective(
    engine: Engine,
    region: Region,
    tol: float = 1e-6,
    cutoff: float = np.inf,
    should_stop: Callable[[], bool] | None = None,
    near: np.ndarray | None = None,
) -> RegionRelaxation:
    """Solve DSCoP at a region.

    Parameters
    ----------
    engine : Engine
    region : Region
    tol : float
        Relative gap between primal value and bound.
    cutoff : float
        Stop once the bound exceeds this value.
    should_stop : callable, optional
        Called between rounds; the bound is valid whenever it stops.
    near : array (m,), optional
        Dual point of a similar problem; the first working set has the features with the
        highest prices there.

    Returns
    -------
    RegionRelaxation
    """
    region = region.affordable(engine.costs).settled(engine.costs)
    working_set = None if near is None else _working_set_near(engine, region, near)
    request = region_request(
        engine,
        region,
        working_set,
        tol=tol,
        fine_tol=tol,
        cutoff=cutoff,
        max_rounds=engine.parameters.rounds_at_a_time,
    )
    result = best = engine.solve([request])[0]
    rounds, iterations = result.rounds, result.iterations
    for _ in range(MAX_CALLS):
        done = result.finished or best.bound > cutoff
        done |= result.primal - best.bound <= tol * abs(result.primal)
        if done or (should_stop is not None and should_stop()):
            break
        request = request.continued(result)
        result = engine.solve([request])[0]
        rounds += result.rounds
        iterations += result.iterations
        if result.bound > best.bound:
            best = result
    best = _best_on_ray(engine, region, best)
    columns = engine.columns
    w = np.zeros(columns.n_columns)
    w[columns.of(np.concatenate([region.forced, region.free]))] = result.w
    return RegionRelaxation(
        best.bound,
        result.primal,
        best.alpha,
        best.squares,
        result.z,
        w,
        rounds,
        iterations,
    )
