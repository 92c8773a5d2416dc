"""Merging of samples that a few sparse features do not distinguish.

Samples of one class with zeros in all features of a support are the same point. One
sample with their total weight replaces them, which is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .parameters import DEFAULTS, EngineParameters


class Merged(NamedTuple):
    """Signed rows with merged samples.

    Attributes
    ----------
    A : array (p, m)
        The remaining samples, then the merged ones.
    y, C : arrays (m,)
    samples : integer array
        The remaining samples in the original numbering.
    groups : list of integer arrays
        The samples in each merged one.
    weights : array
        C of all original samples.
    """

    A: np.ndarray
    y: np.ndarray
    C: np.ndarray
    samples: np.ndarray
    groups: list[np.ndarray]
    weights: np.ndarray

    def spread(self, alpha: np.ndarray) -> np.ndarray:
        """Dual variables of all samples: each gets its share of that of its group."""
        whole = np.empty(self.weights.shape[0])
        whole[self.samples] = alpha[: self.samples.size]
        merged = alpha[self.samples.size :]
        for group, value, weight in zip(
            self.groups, merged, self.C[self.samples.size :], strict=True
        ):
            whole[group] = self.weights[group] * (value / weight)
        return whole


def merge_zeros(
    A: np.ndarray,
    y: np.ndarray,
    C: np.ndarray,
    parameters: EngineParameters = DEFAULTS,
) -> Merged | None:
    """Merge the samples whose features are all zero; None if there are few."""
    if A.shape[1] < parameters.merging_min_samples:
        return None
    is_used = A.any(axis=0)
    samples = np.flatnonzero(is_used)
    if samples.size > (1.0 - parameters.merging_min_fraction) * A.shape[1]:
        return None
    groups = [np.flatnonzero(~is_used & (y == sign)) for sign in (1.0, -1.0)]
    groups = [group for group in groups if group.size]
    rows = np.zeros((A.shape[0], samples.size + len(groups)))
    rows[:, : samples.size] = A[:, samples]
    signs = [y[group[0]] for group in groups]
    sums = [C[group].sum() for group in groups]
    return Merged(
        rows, np.append(y[samples], signs), np.append(C[samples], sums), samples,
        groups, C,
    )  # fmt: skip
