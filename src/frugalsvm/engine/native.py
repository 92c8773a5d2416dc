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
from ..kernels.svm import SVMTask, near_samples
from ..kernels.tasks import (
    ANSWER,
    NO_ANSWERS,
    NO_SVM,
    NO_TASKS,
    NO_WEIGHTS,
    TASK,
    Answers,
    Tasks,
    solve,
)
from .columns import Columns
from .parameters import DEFAULTS, EngineParameters
from .protocol import (
    DualBound,
    Region,
    RelaxationRequest,
    RelaxationResult,
    SupportSVM,
    WorkingSet,
)


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
        answers = Answers(
            np.empty(count, dtype=ANSWER),
            np.empty((count, m)),
            np.empty((count, m), dtype=np.int8),
            np.empty((count, n)),
            np.empty((count, n)),
            np.empty((count, n)),
            np.empty(at_w),
            np.zeros(at_free, dtype=np.int8),
            np.empty(at_free, dtype=np.int64),
        )
        solve(self.data, NO_SVM, packed, answers)
        results = []
        for t, row in enumerate(answers.table.tolist()):
            at_free, n_free, at_w = table[t][2], table[t][3], table[t][-1]
            bound, price, primal, rounds, iterations, finished, decided, size = row
            working_set = WorkingSet(
                answers.working[at_free : at_free + size], answers.side[t]
            )
            results.append(
                RelaxationResult(
                    bound, price, primal, rounds, iterations, finished != 0,
                    answers.alpha[t], answers.squares[t], answers.z[t],
                    answers.curvature[t], answers.w[at_w : at_w + n_weights[t]],
                    working_set,
                    answers.decision[at_free : at_free + n_free], decided > 0,
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

    def unclipped_bound(self, region: Region, result: RelaxationResult) -> float:
        """The bound of a result, which may be negative."""
        return bound_and_price(
            result.alpha,
            result.squares,
            region.forced,
            region.free,
            region.k,
            self.data.costs,
            region.budget,
        )[0]

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
        """The worth of features at a dual point, with rounding errors."""
        return self.columns.squares(self.products(alpha))

    def signed_rows(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of the columns of some features."""
        return self.data.A[self.columns.of(features)]


# --- Several machines that share their features ---------------------------------------
#
# On a support the machines are independent SVMs, each solved by its own engine.
# Relaxations couple them, since all have the same z: a compiled call solves them as
# one, in which a feature is the group of its columns in all machines.


class SharedEngine(NativeEngine):
    """Engine for several machines, with dense data in memory.

    Parameters
    ----------
    data : Data
        Of all machines.
    parameters : EngineParameters
    columns : Columns
        Of all machines.
    engines : list of NativeEngine
        One for each machine.
    """

    def __init__(
        self,
        data: Data,
        parameters: EngineParameters,
        columns: Columns,
        engines: list[NativeEngine],
    ):
        super().__init__(data, parameters, columns)
        self._engines = engines

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """The SVMs on a support; ends early once their values exceed the cutoff.

        ``b`` has an intercept for each machine.
        """
        at = self._positions(support)
        w, b = np.zeros(at.size), np.zeros(len(self._engines))
        alpha = np.zeros((len(self._engines), self._engines[0].n_samples))
        primal, dual, rounds = 0.0, 0.0, 0
        for k, engine in enumerate(self._engines):
            svm = engine.solve_svm(
                support,
                tol=tol,
                cutoff=cutoff - dual,
                warm_w=None if warm_w is None else warm_w[at[k]],
            )
            w[at[k]], b[k], alpha[k] = svm.w, svm.b, svm.alpha
            primal, dual = primal + svm.primal, dual + svm.dual
            rounds = max(rounds, svm.rounds)
            if dual > cutoff:
                # No objective is negative: the others need not be solved.
                primal = np.inf
                break
        return SupportSVM(w, b, alpha.ravel(), primal, dual, rounds)

    def _positions(self, support: np.ndarray) -> np.ndarray:
        """Positions of the columns of each machine among those of some features."""
        n_machines = len(self._engines)
        return self._engines[0].columns.in_repeated(support, n_machines)

    def products(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all columns."""
        parts = alpha.reshape(len(self._engines), -1)
        pairs = zip(self._engines, parts, strict=True)
        return np.concatenate([engine.products(part) for engine, part in pairs])

    def signed_rows(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of the columns of some features, zero for other machines."""
        rows = np.zeros((self.columns.count(features), self.n_samples))
        n_samples = self._engines[0].n_samples
        for k, at in enumerate(self._positions(features)):
            machine_rows = self._engines[k].signed_rows(features)
            rows[at, k * n_samples : (k + 1) * n_samples] = machine_rows
        return rows
