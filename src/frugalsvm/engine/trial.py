"""TrialEngine: begins with the interior point, and changes to batches if they pay."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import NamedTuple

import numpy as np

from .batched import BatchedEngine
from .native import NativeEngine
from .protocol import Engine, RelaxationRequest, RelaxationResult
from .work import batched_work, request_work, setup_work

# Smaller bounds count as zero.
LEAST_BOUND = 1e-300


class _Relaxed(NamedTuple):
    """A relaxation by the interior point: its request, bound and work."""

    request: RelaxationRequest
    bound: float
    work: float


def worth_trying(engine: Engine) -> bool:
    """Whether there are enough features and samples for a trial."""
    least = engine.parameters.batch.trial_size
    return min(engine.n_features, engine.n_samples) >= least


class TrialEngine(BatchedEngine):
    """Engine that relaxes some nodes in both ways, once, and goes on in the better one.

    Shapes alone do not tell which that is: an interior point may need only a few
    samples and features of large data. The choice depends on work and bounds, not on
    the clock.

    Parameters
    ----------
    native : NativeEngine
    """

    def __init__(self, native: NativeEngine):
        super().__init__(native)
        self._open_nodes_in_batches, self.open_nodes = self.open_nodes, 1
        self._is_settled = False
        self._root: RelaxationRequest | None = None
        self._work = 0.0
        parameters = native.parameters.batch
        # Matrices may take as much as the nodes before them, and not more.
        setup = setup_work(native, parameters.first_steps)
        self._least_work = max(parameters.trial_after, setup)
        # The last relaxations.
        self._relaxed = deque[_Relaxed](maxlen=parameters.trial_nodes)
        self._lock = Lock()

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations in the way that is chosen, and choose when it is time."""
        if self.open_nodes > 1:
            return super().solve(requests)
        results = NativeEngine.solve(self, requests)
        if not self._is_settled:
            with self._lock:
                self._note(requests, results)
        return results

    def _note(
        self, requests: list[RelaxationRequest], results: list[RelaxationResult]
    ) -> None:
        """Count work, keep the last nodes for the trial, and decide when it is time."""
        for request, result in zip(requests, results, strict=True):
            if request.region.free.size == 0 or self._is_settled:
                continue
            work = request_work(self, request, result)
            self._work += work
            if self._root is None:
                self._root = request
            elif request.n_before == 0 and result.bound <= request.cutoff:
                self._relaxed.append(_Relaxed(request, result.bound, work))
            is_full = len(self._relaxed) == self._relaxed.maxlen
            if is_full and self._work > self._least_work:
                self._settle()

    def _settle(self) -> None:
        parameters = self.parameters.batch
        self._is_settled = True
        # The first nodes take far more than those deeper in the tree.
        work = min(node.work for node in self._relaxed)
        steps = parameters.max_rounds * parameters.steps
        is_cheap = work >= parameters.trial_speedup * batched_work(self, steps)
        if is_cheap and self._loss() <= parameters.trial_loss:
            self.open_nodes = self._open_nodes_in_batches
        self._relaxed.clear()

    def _loss(self) -> float:
        """How much smaller bounds in a batch are, on average."""
        assert self._root is not None
        self._make_first_state([self._root])
        if self._first_state is None:
            return np.inf
        requests = [node.request for node in self._relaxed]
        indices = list(range(len(requests)))
        tried = self._in_batches(requests, indices, self.parameters.batch.new_steps)
        if len(tried) < len(requests):
            # States overflowed, or memory is short.
            return np.inf
        bounds = np.array([node.bound for node in self._relaxed])
        batch_bounds = np.array([tried[t].bound for t in indices])
        # Not more than one either way: a bound may be zero.
        largest = np.maximum(np.maximum(bounds, batch_bounds), LEAST_BOUND)
        return float(np.mean((bounds - batch_bounds) / largest))
