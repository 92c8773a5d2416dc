"""The loss: ``sum_i C_i max(0, 1 - y_i (w x_i + b))``, one C per sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..checker import objective_bound
from .validation import check_weights, freeze


@dataclass(frozen=True, eq=False)
class HingeLoss:
    """The weights of the hinge loss.

    Its conjugate is linear on ``0 <= alpha_i <= C_i``; kernels and checker rely on it.

    Attributes
    ----------
    weights : ndarray
        C times the weight of each sample, zero for samples that are dropped.
    C : ndarray of shape (n_kept,)
        The positive ones.
    sample_weight : ndarray or None
        The multipliers of C, as the user gave them.
    """

    weights: np.ndarray
    C: np.ndarray
    sample_weight: np.ndarray | None

    @classmethod
    def of(cls, C: float, sample_weight: ArrayLike | None, n_samples: int) -> HingeLoss:
        """Validated weights."""
        weights = check_weights(C, sample_weight, n_samples)
        given = None if sample_weight is None else np.array(sample_weight)
        return cls(freeze(weights), freeze(np.array(weights[weights > 0])), given)

    @classmethod
    def of_kept(cls, C: np.ndarray) -> HingeLoss:
        """Weights of samples all of which are kept, as multipliers of a C of 1."""
        return cls(freeze(C), C, np.array(C))

    @property
    def kept(self) -> np.ndarray:
        """Mask of the samples of positive weight."""
        return self.weights > 0

    def with_C(self, C: float) -> HingeLoss:
        """The loss with another C."""
        return HingeLoss.of(C, self.sample_weight, self.weights.size)

    def objective(
        self, rows: np.ndarray, y: np.ndarray, w: np.ndarray, b: float
    ) -> float:
        """``1/2 ||w||^2`` and the loss, rounded up, given the signed rows of w."""
        return objective_bound(rows, y, self.C, w, b)
