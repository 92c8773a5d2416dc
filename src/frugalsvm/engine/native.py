"""NativeEngine: compiled code for dense data in memory."""

from __future__ import annotations

import numpy as np

from ..kernels.bounds import (
    bound_and_price,
    dual_bound,
    repair_machines,
    row_norm_bounds,
)
from ..kernels.chain import ChainResult, ChainTask, run_chain
from ..kernels.data import NEVER, Data
from ..kernels.solver import NO_ANSWERS, NO_SVM, NO_TASKS, NO_WEIGHTS, solve
from ..kernels.svm import SVMTask, near_samples
from ..kernels.tasks import ANSWER, TASK, Answers, Tasks
from .columns import Columns
from .parameters import DEFAULTS, EngineParameters
from .protocol import (
    DualBound,
    RelaxationRequest,
    RelaxationResult,
    SupportSVM,
    WorkingSet,
)
from .region import Region


class NativeEngine:
    """Engine for dense data in memory.

    One call solves several requests and releases the GIL meanwhile: reacquiring it
    takes about as long as solving a small request.

    Parameters
    ----------
    data : Data
    parameters : EngineParameters, optional
    columns : Columns, optional
        Those of the data; by default every feature is one column.
    """

    def __init__(
        self,
        data: Data,
        parameters: EngineParameters = DEFAULTS,
        columns: Columns | None = None,
    ):
        self.data = data
        self.columns = Columns.single(len(data.A)) if columns is None else columns
        self.parameters = parameters

    @classmethod
    def of(
        cls,
        A: np.ndarray,
        y: np.ndarray,
        C: np.ndarray,
        intercept: bool = True,
        stop: np.ndarray = NEVER,
    ) -> NativeEngine:
        """An engine for signed rows without a problem; all costs are 1."""
        costs = np.ones(A.shape[0])
        return cls(Data(A, row_norm_bounds(A), y, C, intercept, costs, stop))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.columns.n_features

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.data.y.shape[0]

    @property
    def n_entries(self) -> int:
        """Number of data entries read by a product with all features."""
        return self.data.A.size

    @property
    def costs(self) -> np.ndarray:
        """Costs of the features."""
        return self.data.costs

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations by one compiled call."""
        count, n, m = len(requests), self.n_features, self.n_samples
        table, n_weights = [], []
        at_forced, at_free, at_working, at_w = 0, 0, 0, 0
        for request in requests:
            region = request.region
            n_forced, n_free = region.forced.shape[0], region.free.shape[0]
            n_working = request.start.features.shape[0]
            table.append(
                (at_forced, n_forced, at_free, n_free, at_working, n_working, region.k,
                 region.budget, request.tol, request.fine_tol, request.cutoff,
                 request.max_rounds, request.rough, request.n_before, at_w)
            )  # fmt: skip
            n_weights.append(self.columns.count(region.forced, region.free))
            at_w += n_weights[-1]
            at_forced += n_forced
            at_free += n_free
            at_working += n_working
        packed = Tasks(
            np.array(table, dtype=TASK),
            np.concatenate([t.region.forced for t in requests]),
            np.concatenate([t.region.free for t in requests]),
            np.concatenate([t.start.features for t in requests]),
            np.array([t.start.side for t in requests]),
        )
        found = Answers(
            np.empty(count, dtype=ANSWER), np.empty((count, m)),
            np.empty((count, m), dtype=np.int8), np.empty((count, n)),
            np.empty((count, n)), np.empty((count, n)), np.empty(at_w),
            np.zeros(at_free, dtype=np.int8), np.empty(at_free, dtype=np.int64),
        )  # fmt: skip
        solve(self.data, NO_SVM, packed, found)
        results = []
        for t, row in enumerate(found.table.tolist()):
            at_free, n_free, at_w = table[t][2], table[t][3], table[t][-1]
            bound, price, primal, rounds, iterations, finished, decided, size = row
            working_set = WorkingSet(
                found.working[at_free : at_free + size], found.side[t]
            )
            results.append(
                RelaxationResult(
                    bound, price, primal, rounds, iterations, finished != 0,
                    found.alpha[t], found.squares[t], found.z[t], found.curvature[t],
                    found.w[at_w : at_w + n_weights[t]], working_set,
                    found.decision[at_free : at_free + n_free], decided > 0,
                )
            )  # fmt: skip
        return results

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """Solve the SVM restricted to some features, problem (SVM) of the paper.

        A warm start begins further along the central path than a cold one, which saves
        a third to a half of the iterations after the exchange of one feature. With many
        samples it begins with those near the margin.

        Parameters
        ----------
        support : integer array
            The features that may be used.
        tol : float
            Relative duality gap to reach.
        cutoff : float
            Stop as soon as the dual value exceeds it, since the support is then
            useless.
        warm_w : array, optional
            Weights of their columns for a similar support, zero for new features.
        """
        task = SVMTask(
            np.array(support, dtype=np.int64),
            float(tol),
            float(cutoff),
            NO_WEIGHTS if warm_w is None else warm_w,
            near_samples(self.n_samples, self.columns.count(support)),
        )
        return SupportSVM(*solve(self.data, task, NO_TASKS, NO_ANSWERS))

    def run_chain(self, task: ChainTask) -> ChainResult:
        """Run a chain of exchanges for tempering; see ``kernels.chain``."""
        return run_chain(self.data, task)

    def bound(self, region: Region, alpha: np.ndarray) -> DualBound:
        """A valid bound of a region from any dual point."""
        data = self.data
        return DualBound(
            *dual_bound(
                data.A, data.norms, data.starts, data.columns, data.signs, data.y,
                data.C, data.intercept, data.costs, region.forced, region.free,
                region.k, region.budget, data.n_machines, alpha,
            )
        )  # fmt: skip

    def unclipped_bound(self, region: Region, found: RelaxationResult) -> float:
        """The bound of a result, which may be negative."""
        return bound_and_price(
            found.alpha, found.squares, region.forced, region.free, region.k,
            self.data.costs, region.budget,
        )[0]  # fmt: skip

    def first_features(self, free: np.ndarray, size: int) -> np.ndarray:
        """The free features most correlated with the balanced labels."""
        data = self.data
        alpha = repair_machines(0.5 * data.C, data.y, data.C, True, data.n_machines)
        scores = self.columns.norms(self.products(alpha))[free]
        return free[np.argsort(-scores, kind="stable")[:size]]

    def products(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all columns."""
        return self.data.A @ alpha

    def squares(self, alpha: np.ndarray) -> np.ndarray:
        """What features are worth at a dual point, with rounding errors."""
        return self.columns.squares(self.products(alpha))

    def signed_rows(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of the columns of some features."""
        return self.data.A[self.columns.of(features)]
