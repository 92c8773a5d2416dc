"""The engines that relax the nodes of a tree, by name."""

from __future__ import annotations

from typing import cast

import numpy as np

from ..engine.batched import BatchedEngine, why_not_batched
from ..engine.native import NativeEngine
from ..engine.perspective import region_request
from ..engine.protocol import Engine
from ..engine.trial import TrialEngine, may_pay
from ..problem.problem import Problem
from ..run.compilation import tiny_problem
from ..run.stopping import StopCondition

AUTO, ALONE, TOGETHER = ENGINES = ("auto", "interior-point", "batched")


def engine_of(problem: Problem, name: str) -> Engine:
    """The engine of a name; ValueError if it does not take a problem."""
    native = problem.engine
    if name == ALONE:
        return native
    obstacle = _obstacle(problem)
    if name == AUTO:
        is_tried = obstacle is None and may_pay(native)
        return TrialEngine(cast(NativeEngine, native)) if is_tried else native
    if obstacle is not None:
        raise ValueError(
            f"method_options['engine'] = {name!r} does not take {obstacle}; leave the "
            "default."
        )
    return BatchedEngine(cast(NativeEngine, native))


def warm_up(stop: StopCondition) -> None:
    """Compile what batches need besides the kernels of all trees."""
    problem = tiny_problem()
    engine = BatchedEngine(cast(NativeEngine, problem.engine))
    request = region_request(
        engine, problem.root_region(), None, tol=1e-2, fine_tol=1e-2, cutoff=np.inf,
        max_rounds=1,
    )  # fmt: skip
    for _ in range(2):
        # The first call makes the state from which the second continues.
        engine.solve([request])


def nodes_together(engine: Engine | None) -> int:
    """How many open nodes an engine should be given at a time."""
    return engine.open_nodes if isinstance(engine, BatchedEngine) else 1


def _obstacle(problem: Problem) -> str | None:
    """What keeps a problem from being solved in batches, if anything."""
    if np.isfinite(problem.cost_budget):
        return "feature costs"
    return why_not_batched(problem.engine)
