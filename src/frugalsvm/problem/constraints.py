"""The constraints on features, and the loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..checker import objective_bound
from .validation import (
    check_costs,
    check_indices,
    check_max_features,
    check_weights,
    freeze,
)

# Costs are sums of floats: a budget of 0.3 must admit 0.1 + 0.2. Bounds hold for a
# slightly larger budget, so that rounding of sums cannot invalidate them.
COST_SLACK, BOUND_SLACK = 0.999e-9, 1e-9


def remaining_budget(budget: float, spent: float) -> float:
    """The rest of a budget, rounded up so that bounds cannot profit from rounding."""
    return float((budget - spent) + 1e-12 * (budget + spent))


@dataclass(frozen=True, eq=False)
class Constraints:
    """Budgets, and features that are included or excluded.

    Attributes
    ----------
    max_features : int
    costs : ndarray of shape (n_features,)
        1 by default.
    max_cost : float
        Infinite if there are no costs.
    include, exclude : ndarrays of int
        Increasing. Included features count against both budgets.
    has_costs : bool
    """

    max_features: int
    costs: np.ndarray
    max_cost: float
    include: np.ndarray
    exclude: np.ndarray
    has_costs: bool

    @classmethod
    def of(
        cls,
        n_features: int,
        max_features: int | None,
        feature_costs: ArrayLike | None,
        max_cost: float | None,
        include: Iterable[int],
        exclude: Iterable[int],
    ) -> Constraints:
        """Validated constraints."""
        budget = check_max_features(max_features, n_features)
        costs, limit = check_costs(feature_costs, max_cost, n_features)
        return cls(
            budget,
            costs,
            limit,
            check_indices("include", include, n_features),
            check_indices("exclude", exclude, n_features),
            feature_costs is not None,
        )._checked()

    def _checked(self) -> Constraints:
        both = np.intersect1d(self.include, self.exclude)
        if both.size:
            raise ValueError(
                f"include and exclude overlap in feature(s) {both.tolist()}; remove "
                "them from one of the two."
            )
        if self.include.size > self.max_features:
            raise ValueError(
                f"include has {self.include.size} features but max_features is "
                f"{self.max_features}; raise max_features or include fewer."
            )
        price = self.costs[self.include].sum()
        if not price <= self.cost_budget:
            raise ValueError(
                f"the features in include cost {price:g} but max_cost is "
                f"{self.max_cost:g}; raise max_cost or include fewer."
            )
        return self

    @property
    def cost_budget(self) -> float:
        """``max_cost`` with an allowance for rounding in sums of costs."""
        return self.max_cost * (1.0 + COST_SLACK)

    @property
    def allowed(self) -> np.ndarray:
        """Mask of the features that are neither included nor excluded."""
        allowed = np.ones(self.costs.size, dtype=bool)
        allowed[self.include] = False
        allowed[self.exclude] = False
        return allowed

    def remaining(self) -> tuple[int, float]:
        """Both budgets without the included features, rounded up."""
        budget = self.max_cost * (1.0 + BOUND_SLACK)
        if np.isfinite(budget):
            budget = remaining_budget(budget, self.costs[self.include].sum())
        return int(self.max_features - self.include.size), float(budget)

    def admits(self, support: np.ndarray) -> bool:
        """Whether a set of features satisfies all constraints."""
        return bool(
            support.size <= self.max_features
            and self.costs[support].sum() <= self.cost_budget
            and np.isin(self.include, support).all()
            and not np.isin(support, self.exclude).any()
        )

    def with_budget(
        self, max_features: int | None, max_cost: float | None
    ) -> Constraints:
        """Other budgets; None keeps the present ``max_cost``."""
        limit = self.max_cost
        if max_cost is not None:
            costs = self.costs if self.has_costs else None
            _, limit = check_costs(costs, max_cost, self.costs.size)
        budget = check_max_features(max_features, self.costs.size)
        return replace(self, max_features=budget, max_cost=limit)._checked()

    def requiring(self, feature: int) -> Constraints:
        """The constraints with one more included feature."""
        include = freeze(np.union1d(self.include, [feature]))
        return replace(self, include=include)._checked()

    def restrict(self, features: np.ndarray) -> Constraints:
        """The constraints on some of the features, renumbered."""
        return replace(
            self,
            max_features=min(self.max_features, len(features)),
            costs=freeze(self.costs[features]),
            include=freeze(np.flatnonzero(np.isin(features, self.include))),
            exclude=freeze(np.flatnonzero(np.isin(features, self.exclude))),
        )


# --- The loss: ``sum_i C_i max(0, 1 - y_i (w x_i + b))``, one C per sample ------------


@dataclass(frozen=True, eq=False)
class HingeLoss:
    """The weights of the hinge loss.

    Its conjugate is linear on ``0 <= alpha_i <= C_i``; kernels and checker rely on it.

    Attributes
    ----------
    weights : ndarray
        C times the weight of each sample, zero for samples that are dropped.
    C : ndarray
        The positive weights.
    sample_weight : ndarray or None
        The multipliers of C.
    """

    weights: np.ndarray
    C: np.ndarray
    sample_weight: np.ndarray | None

    @classmethod
    def of(cls, C: float, sample_weight: ArrayLike | None, n_samples: int) -> HingeLoss:
        """Validated weights."""
        weights = check_weights(C, sample_weight, n_samples)
        multipliers = None if sample_weight is None else np.array(sample_weight)
        positive = np.array(weights[weights > 0])
        return cls(freeze(weights), freeze(positive), multipliers)

    @classmethod
    def of_positive(cls, C: np.ndarray) -> HingeLoss:
        """The loss with positive weights of all samples, as multipliers of a C of 1."""
        return cls(freeze(C), C, np.array(C))

    @property
    def is_positive(self) -> np.ndarray:
        """Mask of the samples of positive weight."""
        return self.weights > 0

    def with_C(self, C: float) -> HingeLoss:
        """The loss with another C."""
        return HingeLoss.of(C, self.sample_weight, self.weights.size)

    def objective(
        self, rows: np.ndarray, y: np.ndarray, w: np.ndarray, b: float
    ) -> float:
        """``1/2 ||w||^2`` and the loss, rounded up, from the signed rows of w."""
        return objective_bound(rows, y, self.C, w, b)
