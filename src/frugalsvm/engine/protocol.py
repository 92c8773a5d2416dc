"""Regions, requests to an engine, its results, and the protocol of engines."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from .columns import Columns
from .parameters import EngineParameters


class Region(NamedTuple):
    """A set of supports: which features are decided and which are free.

    Attributes
    ----------
    forced : integer array
        Features that are used.
    free : integer array
        Features to choose from; all others are excluded.
    k : int
        Maximum number of free features that may be chosen.
    budget : float
        Their maximum total cost; may be infinite.
    """

    forced: np.ndarray
    free: np.ndarray
    k: int
    budget: float

    def fits(self, costs: np.ndarray) -> bool:
        """Whether all free features fit the budgets."""
        return self.free.shape[0] <= self.k and bool(
            np.isinf(self.budget) or costs[self.free].sum() <= self.budget
        )

    def is_decided(self, costs: np.ndarray) -> bool:
        """Whether nothing is left to decide: no feature fits, or all of them do."""
        return self.k == 0 or self.fits(costs)

    def affordable(self, costs: np.ndarray) -> Region:
        """The region without the free features that cost more than the budget."""
        if np.isinf(self.budget):
            return self
        return self._replace(free=self.free[costs[self.free] <= self.budget])

    def settled(self, costs: np.ndarray) -> Region:
        """The region without free features if it is decided, else unchanged."""
        if not self.is_decided(costs):
            return self
        chosen = self.free if self.k > 0 else self.free[:0]
        forced = np.concatenate([self.forced, chosen])
        return Region(forced, self.free[:0], 0, self.budget)


class WorkingSet(NamedTuple):
    """The working set of features and samples for a region.

    Attributes
    ----------
    features : integer array
        Free features to work on.
    side : array (m,)
        0 for samples to work on; the others keep alpha = C (1) or alpha = 0 (-1).
    state : array, optional
        Where the batch engine continues: see ``engine.batched``.
    """

    features: np.ndarray
    side: np.ndarray
    state: np.ndarray | None = None


class RelaxationRequest(NamedTuple):
    """A request for the relaxation of a region; an SVM if no feature is free.

    Attributes
    ----------
    region : Region
        Each of its free features fits the budgets.
    start : WorkingSet
        The initial working set.
    tol : float
        Relative gap to reach.
    fine_tol : float
        Relative gap to reach if the gap at ``tol`` leaves open whether the bound can
        exceed the cutoff.
    cutoff : float
        Stop once the bound exceeds it.
    max_rounds : int
        Maximum number of rounds; the bound is valid regardless.
    rough : bool
        Whether the first rounds may be inaccurate.
    n_before : int, default=0
        Rounds of the requests that this one continues.
    """

    region: Region
    start: WorkingSet
    tol: float
    fine_tol: float
    cutoff: float
    max_rounds: int
    rough: bool
    n_before: int = 0

    def continued(self, result: RelaxationResult) -> RelaxationRequest:
        """The request that continues from a result."""
        return self._replace(
            start=result.working_set,
            rough=False,
            n_before=self.n_before + result.rounds,
        )


class RelaxationResult(NamedTuple):
    """The result of a relaxation request.

    Attributes
    ----------
    bound, price : float
        Valid bound of the region, and the price of the cost budget in it.
    primal : float
        Primal value.
    rounds, iterations : int
    finished : bool
        Whether more rounds would not help.
    alpha : array (m,)
        Repaired dual point of the bound.
    squares, z : arrays (n,)
        Upper bounds of ``c_j^2`` at that point, and the z of all features.
    curvature : array (n,)
        Growth of the value when z_j is moved, for some features; zero for others.
    w : array
        Weights of the columns of the forced and the free features.
    working_set : WorkingSet
        The final working set, or where to continue if not finished.
    decision : array
        The screening decision for each free feature, if the bound does not exceed the
        cutoff.
    decides : bool
        Whether screening decides any feature.
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
    curvature: np.ndarray
    w: np.ndarray
    working_set: WorkingSet
    decision: np.ndarray
    decides: bool


class SupportSVM(NamedTuple):
    """The SVM on a support: weights, intercept, dual point and the two values.

    ``rounds`` is the number of solves until no sample was missing. ``b`` has an
    intercept for each of several machines.
    """

    w: np.ndarray
    b: Any
    alpha: np.ndarray
    primal: float
    dual: float
    rounds: int = 1


class DualBound(NamedTuple):
    """A valid bound of a region, and the data it was computed from.

    Attributes
    ----------
    bound : float
    alpha : array (m,)
        The repaired dual point.
    squares : array (n,)
        Upper bounds of ``c_j^2`` at that point.
    price : float
        Price of the cost budget.
    """

    bound: float
    alpha: np.ndarray
    squares: np.ndarray
    price: float


class Engine(Protocol):
    """Holds the data and computes with them.

    Attributes
    ----------
    parameters : EngineParameters
    columns : Columns
        The columns of the data that features consist of.
    """

    parameters: EngineParameters
    columns: Columns

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_entries(self) -> int:
        """Number of data entries read by a product with all features."""

    @property
    def costs(self) -> np.ndarray:
        """Costs of the features."""

    def solve(self, requests: list[RelaxationRequest]) -> list[RelaxationResult]:
        """Solve relaxations, all in one call."""

    def solve_svm(
        self,
        support: np.ndarray,
        *,
        tol: float = 1e-8,
        cutoff: float = np.inf,
        warm_w: np.ndarray | None = None,
    ) -> SupportSVM:
        """The SVM on a support; ends early once its value exceeds the cutoff."""

    def bound(self, region: Region, alpha: np.ndarray) -> DualBound:
        """A valid bound of a region from any dual point."""

    def unclipped_bound(self, region: Region, result: RelaxationResult) -> float:
        """The bound of a result, which may be negative."""

    def first_features(self, free: np.ndarray, size: int) -> np.ndarray:
        """The most promising free features if no dual point is known."""

    def products(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all columns."""

    def squares(self, alpha: np.ndarray) -> np.ndarray:
        """The worth of features at a dual point, with rounding errors."""

    def signed_rows(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of the columns of some features."""
