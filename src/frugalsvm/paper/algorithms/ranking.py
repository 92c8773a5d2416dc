"""Rankings of the features by a relaxed solution u, and the groups of kernel search."""

from __future__ import annotations

import numpy as np

from ...problem.problem import Problem

# Closer values of u count as equal, given the accuracy of interior points.
SAME_U = 1e-6


def rank_features(problem: Problem, u: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """The features that may be chosen, by increasing u.

    Ties, which are common at u = 1, are broken by the larger ``c_j^2`` at the dual
    point, then by index.
    """
    features = problem.candidates
    rounded = np.round(u[features] / SAME_U)
    return features[np.lexsort((features, -squares[features], rounded))]


def prefer(first: np.ndarray, ranked: np.ndarray) -> np.ndarray:
    """A ranking that begins with given features; others follow as ranked."""
    usable = first[np.isin(first, ranked)]
    return np.concatenate([usable, ranked[~np.isin(ranked, usable)]])


def make_groups(ranked: np.ndarray, rho: int, spread: bool = False) -> list[np.ndarray]:
    """Groups of rho consecutive features; the last one has the remainder, too.

    With ``spread``, each group has features of all ranks instead.

    N is the floor of n / rho as in the paper's algorithm, and the last group has the
    remaining features as in its text, so up to 2 rho - 1 of them. n is the number of
    ranked features: constant ones, which cannot help, are not among them.
    """
    if ranked.size == 0:
        return []
    count = max(1, ranked.size // rho)
    if spread:
        return [ranked[first::count] for first in range(count)]
    ends = rho * np.arange(1, count)
    return np.split(ranked, ends)
