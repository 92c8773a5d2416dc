"""What an engine is asked, and what it answers."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from .region import Region


class WorkingSet(NamedTuple):
    """The features and samples that matter at a region.

    Attributes
    ----------
    features : integer array
        Free features to work on.
    side : array (m,)
        0 for samples to work on; the others keep alpha = C (1) or alpha = 0 (-1).
    """

    features: np.ndarray
    side: np.ndarray


class RelaxationRequest(NamedTuple):
    """The relaxation of a region; an SVM if no feature is free.

    Attributes
    ----------
    region : Region
        Its free features are affordable.
    start : ActiveSet
        Features and samples to begin with.
    tol : float
        Relative gap to reach.
    fine_tol : float
        ... where the gap at ``tol`` leaves it open whether the bound can exceed the
        cutoff.
    cutoff : float
        Stop once the bound exceeds it.
    max_rounds : int
        Stop after so many rounds; the bound holds all the same.
    rough : bool
        Whether first rounds need not be accurate.
    n_before : int, default=0
        Rounds of the tasks that this one continues.
    """

    region: Region
    start: WorkingSet
    tol: float
    fine_tol: float
    cutoff: float
    max_rounds: int
    rough: bool
    n_before: int = 0

    def continued(self, found: RelaxationResult) -> RelaxationRequest:
        """The task that goes on where an answer ended."""
        return self._replace(
            start=found.active, rough=False, n_before=self.n_before + found.rounds
        )


class RelaxationResult(NamedTuple):
    """What came out of a task.

    Attributes
    ----------
    bound, price : float
        Valid bound of the region, and the price of the cost budget behind it.
    primal : float
        Primal value.
    rounds, iterations : int
    finished : bool
        Whether more rounds would bring nothing.
    alpha : array (m,)
        Dual point behind the bound, repaired.
    squares, z : arrays (n,)
        Upper bounds of ``c_j^2`` at that point, and the z of all features.
    curvature : array (n,)
        How fast the value grows when z_j is moved, for some features; zero for others.
    w : array
        Weights of the forced and the free features.
    active : ActiveSet
        What mattered, or where to go on if it is not finished.
    decision : array
        What screening says about each free feature, if the bound is not beyond the
        cutoff.
    decides : bool
        Whether that is anything.
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
    active: WorkingSet
    decision: np.ndarray
    decides: bool


class SupportSVM(NamedTuple):
    """The SVM on a support: weights, intercept, dual point and the two values.

    ``rounds`` says how often it was solved until no sample was missing.
    """

    w: np.ndarray
    b: float
    alpha: np.ndarray
    primal: float
    dual: float
    rounds: int = 1


class DualBound(NamedTuple):
    """A valid bound of a region, and what it was computed from.

    Attributes
    ----------
    bound : float
    alpha : array (m,)
        The dual point, repaired.
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
    """Who holds the data and answers for them."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def n_entries(self) -> int:
        """Entries of the data that a product with all features reads."""

    @property
    def costs(self) -> np.ndarray:
        """Costs of the features."""

    def solve(self, tasks: list[RelaxationRequest]) -> list[RelaxationResult]:
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

    def unclipped_bound(self, region: Region, found: RelaxationResult) -> float:
        """The bound of an answer, below zero if it is."""

    def first_features(self, free: np.ndarray, size: int) -> np.ndarray:
        """The free features that are worth most where nothing is known yet."""

    def products(self, alpha: np.ndarray) -> np.ndarray:
        """``c = A alpha`` for all features."""

    def gather(self, features: np.ndarray) -> np.ndarray:
        """The signed rows of some features."""

    def margins(self, support: np.ndarray, w: np.ndarray, b: float) -> np.ndarray:
        """``y_i (w x_i + b)`` of all samples."""
