"""NativeEngine: dense data in memory, answered by compiled code."""

from __future__ import annotations

import numpy as np

from ..kernels.bounds import bound_and_price, dual_bound, repair_dual, row_norm_bounds
from ..kernels.data import NEVER, Data
from ..kernels.rounds import (
    DUAL,
    INTERCEPT,
    MAX_ROUNDS,
    N_FORCED,
    N_WARM,
    PRIMAL,
    solve_tasks,
)
from .protocol import ActiveSet, Answer, DualBound, SupportSVM, Task
from .region import Region

# Read-only like the arrays of a Problem: numba compiles once for each kind.
_NOTHING = np.empty(0)
_NOTHING.setflags(write=False)
_COLD = np.empty(0)
# What only relaxations have.
_NO_FEATURES = np.empty(0, dtype=np.int64)
_NO_DECISION = np.empty(0, dtype=np.int8)
_NO_SQUARES = np.empty((1, 0))


class NativeEngine:
    """Answers for dense data in memory.

    One call solves several tasks and lets other threads run meanwhile: handing the
    interpreter over takes about as long as solving a small task.

    Parameters
    ----------
    data : Data
    """

    def __init__(self, data: Data):
        self.data = data

    @classmethod
    def of(
        cls,
        A: np.ndarray,
        y: np.ndarray,
        C: np.ndarray,
        intercept: bool = True,
        stop: np.ndarray = NEVER,
    ) -> NativeEngine:
        """An engine for signed rows that belong to no problem, all costs being 1."""
        costs = np.ones(A.shape[0])
        return cls(Data(A, row_norm_bounds(A), y, C, intercept, costs, stop))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.data.A.shape[0]

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.data.A.shape[1]

    @property
    def costs(self) -> np.ndarray:
        """Costs of the features."""
        return self.data.costs

    def solve(self, tasks: list[Task]) -> list[Answer]:
        """Solve relaxations by one compiled call."""
        data, count, (n, m) = self.data, len(tasks), self.data.A.shape
        sizes = [
            (t.region.forced.shape[0], t.region.free.shape[0],
             t.start.features.shape[0], 0, t.region.k, t.n_before, t.max_rounds,
             t.rough)
            for t in tasks
        ]  # fmt: skip
        numbers = [(t.region.budget, t.tol, t.fine_tol, t.cutoff) for t in tasks]
        free = np.concatenate([t.region.free for t in tasks])
        forced = np.concatenate([t.region.forced for t in tasks])
        side = np.array([t.start.side for t in tasks])
        alpha = np.empty((count, m))
        squares = np.empty((count, n))
        z = np.zeros((count, n))
        w = np.empty(forced.shape[0] + free.shape[0])
        decision = np.zeros(free.shape[0], dtype=np.int8)
        working = np.empty(free.shape[0], dtype=np.int64)
        results = np.empty((count, 10))
        solve_tasks(
            *data, np.array(sizes, dtype=np.int64), np.array(numbers), forced, free,
            np.concatenate([t.start.features for t in tasks]), _COLD, side, alpha,
            squares, z, w, decision, working, results,
        )  # fmt: skip
        answers = []
        start, at = 0, 0
        for t, (row, size) in enumerate(zip(results.tolist(), sizes, strict=True)):
            (bound, primal, _, _, rounds, iterations, finished, n_active, n_decided,
             price) = row  # fmt: skip
            end, to = start + size[0] + size[1], at + size[1]
            active = ActiveSet(working[at : at + int(n_active)], side[t])
            answers.append(
                Answer(
                    bound, price, primal, int(rounds), int(iterations), finished != 0.0,
                    alpha[t], squares[t], z[t], w[start:end], active, decision[at:to],
                    n_decided > 0.0,
                )
            )  # fmt: skip
            start, at = end, to
        return answers

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """Solve the SVM restricted to some features, problem (SVM) of the paper.

        A warm start begins further down the central path than a cold one: a third to a
        half fewer iterations after exchanging one feature of a support.

        Parameters
        ----------
        support : integer array (p,)
            The features that may be used.
        tol : float
            Relative duality gap to reach.
        cutoff : float
            Stop as soon as the dual value exceeds it: the support is of no use then.
        warm_w : array (p,), optional
            Weights of a similar support, zero for the features that are new.
        """
        data = self.data
        if warm_w is None:
            warm_w = _COLD
        elif data.intercept:
            warm_w = np.append(warm_w, 0.0)
        # One task, packed by hand: a search solves so many that it counts.
        sizes = np.zeros((1, 8), dtype=np.int64)
        sizes[0, N_FORCED] = support.shape[0]
        sizes[0, N_WARM] = warm_w.shape[0]
        sizes[0, MAX_ROUNDS] = 1
        m = data.y.shape[0]
        w = np.empty(support.shape[0])
        alpha = np.empty((1, m))
        results = np.empty((1, 10))
        solve_tasks(
            data.A, _NOTHING, data.y, data.C, data.intercept, _NOTHING, data.stop,
            sizes, np.array([[np.inf, tol, tol, cutoff]]),
            np.array(support, dtype=np.int64), _NO_FEATURES, _NO_FEATURES, warm_w,
            np.zeros((1, m), dtype=np.int8), alpha, _NO_SQUARES, _NO_SQUARES, w,
            _NO_DECISION, _NO_FEATURES, results,
        )  # fmt: skip
        found = results[0]
        return SupportSVM(
            w,
            float(found[INTERCEPT]),
            alpha[0],
            float(found[PRIMAL]),
            float(found[DUAL]),
        )

    def bound(self, region: Region, alpha: np.ndarray) -> DualBound:
        """A valid bound of a region from any dual point."""
        data = self.data
        return DualBound(
            *dual_bound(
                data.A, data.norms, data.y, data.C, data.intercept, data.costs,
                region.forced, region.free, region.k, region.budget, alpha,
            )
        )  # fmt: skip

    def unclipped_bound(self, region: Region, found: Answer) -> float:
        """The bound of an answer, below zero if it is."""
        return bound_and_price(
            found.alpha, found.squares, region.forced, region.free, region.k,
            self.data.costs, region.budget,
        )[0]  # fmt: skip

    def first_features(self, free: np.ndarray, size: int) -> np.ndarray:
        """The free features most correlated with the balanced labels."""
        data = self.data
        alpha = repair_dual(0.5 * data.C, data.y, data.C, True)
        scores = np.abs(self.price(alpha))[free]
        return free[np.argsort(-scores, kind="stable")[:size]]

    def price(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all features."""
        return self.data.A @ alpha

    def gather(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of some features."""
        return self.data.A[features]

    def margins(self, support: np.ndarray, w: np.ndarray, b: float) -> np.ndarray:
        """``y_i (w x_i + b)`` of all samples."""
        return w @ self.gather(support) + b * self.data.y
