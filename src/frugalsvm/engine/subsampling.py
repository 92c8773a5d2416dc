"""Samples drawn at random, class by class, with weights that stand for all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Drawn(NamedTuple):
    """Some of the samples in increasing order, and what they weigh.

    Attributes
    ----------
    samples : integer array
    C : array
        Their weights, those of each class scaled to sum to what all of it weigh.
    """

    samples: np.ndarray
    C: np.ndarray


def draw(
    y: np.ndarray,
    C: np.ndarray,
    size: int,
    rng: np.random.Generator,
    least: int = 1,
) -> Drawn:
    """Draw about ``size`` samples, and ``least`` of each class that has so many."""
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
    return Drawn(both[order], np.concatenate(weights)[order])


def _one_of_each(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """One number out of each of ``size`` equal stretches of ``range(count)``.

    Neighbours in a table are often alike, so that this is better than any of them, and
    it is much quicker to draw.
    """
    ends = np.arange(size + 1) * count // max(size, 1)
    return rng.integers(ends[:-1], ends[1:]) if size else ends[:0]
