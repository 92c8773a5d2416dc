"""SharedEngine: several machines that share their features.

For a given support the machines are independent SVMs, each solved by an engine of its
own. Relaxations couple them, since all have the same z: a compiled call solves them as
one, in which a feature is the group of its columns in all machines.
"""

from __future__ import annotations

import numpy as np

from ..kernels.data import Data
from .columns import Columns
from .native import NativeEngine
from .parameters import EngineParameters
from .protocol import SupportSVM


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
            found = engine.solve_svm(
                support, tol=tol, cutoff=cutoff - dual,
                warm_w=None if warm_w is None else warm_w[at[k]],
            )  # fmt: skip
            w[at[k]], b[k], alpha[k] = found.w, found.b, found.alpha
            primal, dual = primal + found.primal, dual + found.dual
            rounds = max(rounds, found.rounds)
            if dual > cutoff:
                # No objective is negative: the others need not be solved.
                primal = np.inf
                break
        return SupportSVM(w, b, alpha.ravel(), primal, dual, rounds)

    def _positions(self, support: np.ndarray) -> np.ndarray:
        """Where the columns of each machine are among those of some features."""
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
            own = self._engines[k].signed_rows(features)
            rows[at, k * n_samples : (k + 1) * n_samples] = own
        return rows
