"""Solution: the SVM on a support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Solution:
    """The SVM on a support: sorted features, weights, intercept and dual point.

    With several machines, the weights are those of ``Problem.columns``, and there is an
    intercept for each.
    """

    support: np.ndarray
    w: np.ndarray
    b: Any
    alpha: np.ndarray
    objective: float

    @property
    def key(self) -> tuple[int, ...]:
        """The support as a hashable value."""
        return tuple(self.support.tolist())
