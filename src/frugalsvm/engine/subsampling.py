"""Weighted random subsamples, stratified by class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Subsample(NamedTuple):
    """A subsample in increasing order, and its weights.

    Attributes
    ----------
    samples : integer array
    C : array
        Their weights, scaled so that each class keeps its total weight.
    """

    samples: np.ndarray
    C: np.ndarray


def draw(
    y: np.ndarray,
    C: np.ndarray,
    size: int,
    rng: np.random.Generator,
    least: int = 1,
) -> Subsample:
    """Draw about ``size`` samples, if possible at least ``least`` of each class."""
    samples, weights = [], []
    for sign in (1.0, -1.0):
        members = np.flatnonzero(y == sign)
        wanted = max(round(size * members.size / y.size), least)
        chosen = members[_one_of_each(members.size, min(wanted, members.size), rng)]
        samples.append(chosen)
        some = C[chosen]
        weights.append(some * (C[members].sum() / some.sum()))
    both = np.concatenate(samples)
    order = np.argsort(both)
    return Subsample(both[order], np.concatenate(weights)[order])


def _one_of_each(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """One number from each of ``size`` equal segments of ``range(count)``.

    Neighbouring rows of a table are often alike, so this is better than uniform
    sampling, and it is much quicker.
    """
    ends = np.arange(size + 1) * count // max(size, 1)
    return rng.integers(ends[:-1], ends[1:]) if size else ends[:0]
